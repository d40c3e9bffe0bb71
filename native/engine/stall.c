/* SPDX-License-Identifier: Apache-2.0 */
#include "stall.h"

#include <time.h>

#include <rte_cycles.h>

#include "packet/ledger.h"

struct weir_core_time
weir_core_time_read(void)
{
	struct timespec thread;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread);
	return (struct weir_core_time){
		.tsc = rte_rdtsc(),
		.thread_ns = (uint64_t)thread.tv_sec * 1000000000 + (uint64_t)thread.tv_nsec,
	};
}

bool
weir_stall_is_hosts(struct weir_core_time *last, uint64_t gap_cycles)
{
	struct weir_core_time now = weir_core_time_read();
	double passed = (double)(now.tsc - last->tsc);
	double ran = (double)(now.thread_ns - last->thread_ns) / 1e9 * (double)rte_get_tsc_hz();

	*last = now;
	return passed - ran >= (double)gap_cycles / 2;
}
