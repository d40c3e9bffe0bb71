/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An execution area (EA): a software unit that can run alone on one core, with defined inputs and
 * outputs, and a cost per packet. A core's loop polls the areas placed on it in turn; many areas
 * may share one core.
 *
 * Every kind of area (a chain of stages, a traffic generator, a receiver) embeds struct weir_area
 * as its FIRST member and sets `poll`.
 */
#ifndef WEIR_ENGINE_AREA_H
#define WEIR_ENGINE_AREA_H

#include <stdint.h>

#include "packet/ledger.h"

struct weir_area;

/*
 * Does a bounded amount of work (at most one burst per input) and returns how many packets it
 * handled; 0 means idle. `now_tsc` is the time-stamp counter read at the start of this poll. Never
 * blocks, except in the system calls of a kernel port's driver.
 */
typedef uint32_t (*weir_area_poll_fn)(struct weir_area *area, uint64_t now_tsc);

/* Something to do on the area's thread between two polls. */
struct weir_area_call {
	void (*run)(void *argument);
	void *argument;
};

struct weir_area {
	weir_area_poll_fn poll;
	const char *name;  /* unique; owned by the area */
	unsigned int core; /* CPU number, not lcore id */
	struct weir_area_ledger ledger;
	struct weir_area_call *call; /* waiting to be run, or NULL */
	/* The last gap of its core's loop that is attributed to the host; 0: there was none.
	 * Written by the loop's thread. */
	uint64_t host_gap_begin_tsc, host_gap_end_tsc;
};

#endif
