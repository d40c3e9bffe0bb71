/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model: weir_loops_pass() and the polling loop. What was taken out before a pass is used by no
 * loop after it, though loops have no barrier of their own.
 *
 * membarrier(2) is modelled as what the kernel does: it interrupts the loop somewhere, which then
 * passes a full barrier, and returns when it has. Built with NO_MEMBARRIER it only is one on the
 * thread that calls.
 */
#include "checker.h"

#include <stdint.h>
#include <unistd.h>

#include <rte_cycles.h>

static void may_be_interrupted(void);
static inline uint64_t
no_time(void)
{
	may_be_interrupted();
	return 0;
}
/* The loop reads the clock behind each poll. */
#define rte_rdtsc() no_time()
#define usleep(us) ((void)(us))
#define rte_delay_us_sleep(us) ((void)(us))

/* As few as there can be: the checker follows every byte. */
#include "engine/core_speed.h"
#include "engine/stall.h"
#undef WEIR_GAPS_KEPT
#undef WEIR_PIECES_KEPT
#define WEIR_GAPS_KEPT 1
#define WEIR_PIECES_KEPT 1
#include "engine/loop.c"

#define PASSES 3

struct weir_core weir_cores[WEIR_CORES_MAX];
unsigned int weir_cores_used = 1;
bool weir_cores_polled = true;

static bool is_asked, has_answered;

static void
may_be_interrupted(void)
{
	if (!__atomic_load_n(&is_asked, __ATOMIC_ACQUIRE))
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&has_answered, true, __ATOMIC_RELEASE);
}

void
weir_barrier_in_all_threads(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#ifndef NO_MEMBARRIER
	__atomic_store_n(&is_asked, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&has_answered, __ATOMIC_ACQUIRE))
		;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static bool is_taken_out, is_freed;

static uint32_t
use(struct weir_area *area, uint64_t now_tsc)
{
	static unsigned int passes;
	bool found;

	(void)area, (void)now_tsc;
	if (++passes == PASSES)
		__atomic_store_n(&stop_asked, true, __ATOMIC_RELAXED);
	may_be_interrupted();
	found = !__atomic_load_n(&is_taken_out, __ATOMIC_RELAXED);
	may_be_interrupted();
	if (found)
		model_assert(!__atomic_load_n(&is_freed, __ATOMIC_RELAXED));
	return 0;
}

static struct weir_area area = {.poll = use};

struct weir_core_time
weir_core_time_read(void)
{
	return (struct weir_core_time){0};
}

static void *
poll_on(void *unused)
{
	poll_all(&weir_cores[0], false);
	return unused;
}

int
main(void)
{
	long poller;

	weir_cores[0].area_count = 1;
	weir_cores[0].areas[0] = &area;
	poller = model_thread(poll_on);
	__atomic_store_n(&is_taken_out, true, __ATOMIC_RELAXED);
	weir_loops_pass();
	__atomic_store_n(&is_freed, true, __ATOMIC_RELAXED);
	model_join(poller);
	return 0;
}
