/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a core is now. A virtual CPU is often one of two threads of a physical core; nobody in
 * the machine sees when the other one works for somebody else, except by what takes longer then.
 */
#ifndef WEIR_ENGINE_PACE_H
#define WEIR_ENGINE_PACE_H

#include <stdint.h>

#include <rte_cycles.h>

/* Pieces of work that a polling loop timed between its polls; one writer. */
struct weir_pace {
	uint64_t pieces;
	uint64_t cycles; /* that they took together */
};

/* One of them. */
struct weir_piece {
	uint64_t end_tsc;
	uint64_t cycles;
};
#define WEIR_PIECES_KEPT 8192 /* of a core, the last ones: four seconds */

/* Does so many steps of work that leaves no unit of the core idle and next to no trace in its
 * caches. */
void weir_pace_work(unsigned int steps);

#define WEIR_PACE_STEPS 200
#define WEIR_PACES_PER_S 2000

/* Times one piece of WEIR_PACE_STEPS, a third of a microsecond or so, on the thread that calls, and
 * counts it. Returns its cycles; 0 of one that was interrupted, which is a stall and no pace. */
uint64_t weir_pace_count(struct weir_pace *pace);

#endif
