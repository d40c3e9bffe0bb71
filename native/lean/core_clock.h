/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's own clock, where nobody lets us read a counter of it: additions of which each waits
 * for the one before take one cycle of the core each, on every processor of this architecture.
 */
#ifndef WEIR_LEAN_CORE_CLOCK_H
#define WEIR_LEAN_CORE_CLOCK_H

#include <stdint.h>

#define WEIR_CORE_CLOCK_PIECES 64

/* Pieces of additions, timed between other work; beyond the last one no more are kept. */
struct weir_core_clock {
	unsigned int count;
	double tsc_per_add[WEIR_CORE_CLOCK_PIECES];
};

/* Times one piece, a microsecond or so, on the thread that calls. */
void weir_core_clock_time(struct weir_core_clock *clock);
/* Cycles of the core for one of the time-stamp counter, of the pieces that nothing disturbed. 0:
 * there is none. */
double weir_core_clock_ratio(const struct weir_core_clock *clock);

/* So many additions, each waiting for the one before. */
void weir_core_clock_add(uint64_t additions);

/* The most instructions that this core was seen to retire in a cycle of its own: of instructions
 * that ask for nothing, alone and with branches that are fused and not taken. Half a millisecond.
 */
double weir_core_retires_most(void);

#endif
