/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock by which a network card stamps what it receives, as a line in the time-stamp counter's
 * time: tsc + (stamp - ticks) x cycles_per_tick. It is drawn anew several times a second
 * (port/device_clock.h), and less exact the older it is.
 */
#ifndef WEIR_ENGINE_ARRIVAL_CLOCK_H
#define WEIR_ENGINE_ARRIVAL_CLOCK_H

#include <stdint.h>

struct weir_arrival_clock {
	int field_offset; /* of the stamp in a packet buffer (rte_mbuf_dyn.h) */
	uint64_t flag;	  /* of ol_flags: the packet has one */
	uint64_t ticks, tsc;
	double cycles_per_tick;
	double uncertainty_cycles,
		rate_uncertainty; /* at `tsc`, and more with every cycle from it */
	unsigned int steps; /* how often somebody has set the clock since the port was opened */
};

/* 0 for a stamp so far off that it can only be wrong. */
static inline uint64_t
weir_arrival_tsc(const struct weir_arrival_clock *clock, uint64_t stamp)
{
	double cycles = (double)(int64_t)(stamp - clock->ticks) * clock->cycles_per_tick;

	return cycles > -0x1p62 && cycles < 0x1p62 ? clock->tsc + (uint64_t)(int64_t)cycles : 0;
}

/* How far a time by the line can be off at `now_tsc`. */
static inline int64_t
weir_arrival_uncertainty(const struct weir_arrival_clock *clock, uint64_t now_tsc)
{
	double age = (double)(int64_t)(now_tsc - clock->tsc);

	return (int64_t)(clock->uncertainty_cycles +
			 clock->rate_uncertainty * (age < 0 ? -age : age));
}

#endif
