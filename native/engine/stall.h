/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gap of a polling loop and its cause. The kernel's CPU clock of the thread stops while the
 * thread does not run (another program, SIGSTOP, a hypervisor that reports steal time). A gap most
 * of which that clock did not count is attributed to the host; any other to the area whose poll it
 * was, if that poll handled packets. Steal time that is not reported looks like work of the area.
 */
#ifndef WEIR_ENGINE_STALL_H
#define WEIR_ENGINE_STALL_H

#include <stdbool.h>
#include <stdint.h>

/* Gaps above the threshold; one writer. */
struct weir_stalls {
	uint64_t count;
	uint64_t total_cycles;
	uint64_t longest_cycles; /* since weir_core_stalls_begin() */
	/* Those of them that are attributed to the host. */
	uint64_t host_count;
	uint64_t host_cycles;
};

/* One of them. */
struct weir_gap {
	uint64_t end_tsc;
	uint64_t cycles;
	uint64_t host_cycles; /* what of it the host took; 0: not the host's */
	const char *area;     /* whose poll it was; NULL: the host's, or of no one poll */
};
#define WEIR_GAPS_KEPT 2048 /* of a core, the last ones */

/* Two clocks read together. */
struct weir_core_time {
	uint64_t tsc;
	uint64_t thread_ns;
};

/* Reads both on the thread that calls; some microseconds in a virtual machine. */
struct weir_core_time weir_core_time_read(void);

/* For how long the thread has not run since that reading on it. */
uint64_t weir_core_away_cycles(const struct weir_core_time *since);
/* Whether a gap of so many cycles that has just ended was the host's. `last`: an earlier reading on
 * this thread, not long before the gap; it is brought up to date. */
bool weir_stall_is_hosts(struct weir_core_time *last, uint64_t gap_cycles);

#endif
