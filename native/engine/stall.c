/* SPDX-License-Identifier: Apache-2.0 */
#include "stall.h"

#include <time.h>

#include <rte_cycles.h>

#include "packet/ledger.h"

struct weir_core_time
weir_core_time_read(void)
{
	/* First: a thread is stopped when a system call returns, behind which the time-stamp would
	 * have passed over what the thread's clock did not count. */
	uint64_t tsc = rte_rdtsc();
	struct timespec thread;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread);
	return (struct weir_core_time){
		.tsc = tsc,
		.thread_ns = (uint64_t)thread.tv_sec * 1000000000 + (uint64_t)thread.tv_nsec,
	};
}

static double
away_cycles(const struct weir_core_time *from, const struct weir_core_time *to)
{
	double passed = (double)(to->tsc - from->tsc);
	double ran = (double)(to->thread_ns - from->thread_ns) / 1e9 * (double)rte_get_tsc_hz();

	return passed - ran;
}

uint64_t
weir_core_away_cycles(const struct weir_core_time *since)
{
	struct weir_core_time now = weir_core_time_read();
	double away = away_cycles(since, &now);

	return away > 0 ? (uint64_t)away : 0;
}

bool
weir_stall_is_hosts(struct weir_core_time *last, uint64_t gap_cycles)
{
	struct weir_core_time now = weir_core_time_read();
	double away = away_cycles(last, &now);

	*last = now;
	return away >= (double)gap_cycles / 2;
}
