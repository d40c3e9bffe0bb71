/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "barrier.h"
#include "cores.h"
#include "lcore_wait.h"
#include "stage.h"

static bool stop_asked;
static struct weir_loop_options started_with;

/* Between two readings little time must be stolen that no gap shows. */
#define CORE_TIME_READS_PER_S 250

/* A loop comes by every few microseconds, unless its core is away: who sleeps meanwhile waits for a
 * hundred. */
#define CALL_SOON_US 20

static inline void
keep_time(struct weir_core *core, uint64_t now_tsc)
{
	/* Signed: attribute() may just have read them, later than now_tsc. */
	if (unlikely((int64_t)(now_tsc - core->time.tsc) > (int64_t)core->time_cycles))
		core->time = weir_core_time_read();
}

static void
keep_piece(struct weir_core *core, uint64_t cycles)
{
	core->piece_tsc = rte_rdtsc();
	if (cycles == 0)
		return;
	const struct weir_piece piece = {.end_tsc = core->piece_tsc, .cycles = cycles};

	weir_history_add(core->pieces[0], &piece, WEIR_HISTORY_WORDS(piece), WEIR_PIECES_KEPT,
			 &core->piece_count);
}

/* Returns the time: now_tsc, or later, as this is no area's work. */
static inline uint64_t
keep_speed(struct weir_core *core, uint64_t now_tsc)
{
	if (likely(now_tsc - core->piece_tsc <= core->piece_cycles))
		return now_tsc;
	keep_piece(core, weir_core_speed_count(&core->speed));
	return core->piece_tsc;
}

/* One poll took as long as a stall. What the host took is counted with the gap that it is part of.
 */
static void
attribute(struct weir_core *core, struct weir_area *area, uint64_t cycles, bool had_packets)
{
	if (core->attributed_cycles == 0)
		core->time_before = core->time;
	core->attributed_cycles += cycles;
	if (weir_stall_is_hosts(&core->time, cycles)) {
		core->host_cycles += cycles;
	} else if (had_packets) {
		weir_count(&area->ledger.long_polls, 1);
		weir_count(&area->ledger.long_cycles, cycles);
		core->blamed = area->name;
	}
}

static void
keep_gap(struct weir_core *core, uint64_t end_tsc, uint64_t gap)
{
	const struct weir_gap kept = {
		.end_tsc = end_tsc,
		.cycles = gap,
		.host_cycles = core->host_cycles,
		.area = core->host_cycles == 0 ? core->blamed : NULL,
	};

	weir_history_add(core->gaps[0], &kept, WEIR_HISTORY_WORDS(kept), WEIR_GAPS_KEPT,
			 &core->gap_count);
}

/* Tells the core's areas when the host had it: a generator skips what was due then. */
static void
note_host_gap(struct weir_core *core, uint64_t now, uint64_t gap)
{
	for (unsigned int i = 0; i < core->area_count; i++) {
		core->areas[i]->host_gap_begin_tsc = now - gap;
		core->areas[i]->host_gap_end_tsc = now;
	}
}

static inline void
watch_for_stall(struct weir_core *core, uint64_t now, uint64_t gap)
{
	if (likely(gap <= core->stall_cycles))
		return;
	weir_count(&core->stalls.count, 1);
	weir_count(&core->stalls.total_cycles, gap);
	if (gap > weir_counted(&core->stalls.longest_cycles))
		__atomic_store_n(&core->stalls.longest_cycles, gap, __ATOMIC_RELAXED);
	if (core->attributed_cycles == 0) {
		if (weir_stall_is_hosts(&core->time, gap))
			core->host_cycles = gap;
	} else if (gap - RTE_MIN(gap, core->attributed_cycles) > core->stall_cycles) {
		/* Not in the polls that were long, but between them: then it is no area's. */
		uint64_t away = RTE_MIN(weir_core_away_cycles(&core->time_before), gap);

		core->host_cycles = RTE_MAX(core->host_cycles, away);
	}
	if (core->host_cycles > 0) {
		weir_count(&core->stalls.host_count, 1);
		weir_count(&core->stalls.host_cycles, core->host_cycles);
		note_host_gap(core, now, gap);
	}
	keep_gap(core, now, gap);
	core->attributed_cycles = 0;
	core->host_cycles = 0;
	core->blamed = NULL;
}

static void
run_call(struct weir_area *area, struct weir_area_call *call)
{
	call->run(call->argument);
	__atomic_store_n(&area->call, NULL, __ATOMIC_RELEASE);
}

/* Whether a loop that runs polls the area. */
static bool
is_polled(const struct weir_area *area)
{
	for (unsigned int i = 0; weir_cores_polled && i < weir_cores_used; i++) {
		for (unsigned int j = 0; j < weir_cores[i].area_count; j++) {
			if (weir_cores[i].areas[j] == area)
				return true;
		}
	}
	return false;
}

void
weir_area_run(struct weir_area *area, void (*run)(void *argument), void *argument)
{
	struct weir_area_call call = {.run = run, .argument = argument};
	const uint64_t soon_tsc = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * CALL_SOON_US;

	if (!is_polled(area)) {
		run(argument);
		return;
	}
	__atomic_store_n(&area->call, &call, __ATOMIC_RELEASE);
	while (__atomic_load_n(&area->call, __ATOMIC_ACQUIRE) != NULL) {
		if (rte_rdtsc() < soon_tsc)
			rte_pause();
		else
			usleep(50);
	}
}

/* One time-stamp an area: the end of a poll is the beginning of the next. */
static __rte_always_inline void
poll_all(struct weir_core *core, const bool ledger)
{
	uint64_t now = rte_rdtsc();
	uint64_t last = now;

	core->time = weir_core_time_read();
	core->piece_tsc = now;
	/* The gap in which the loop stopped was not watched for. */
	core->attributed_cycles = 0;
	core->host_cycles = 0;
	core->blamed = NULL;
	while (!__atomic_load_n(&stop_asked, __ATOMIC_RELAXED)) {
		watch_for_stall(core, now, now - last);
		last = now;
		keep_time(core, now);
		now = keep_speed(core, now);
		for (unsigned int i = 0; i < core->area_count; i++) {
			struct weir_area *area = core->areas[i];
			struct weir_area_call *call =
				__atomic_load_n(&area->call, __ATOMIC_ACQUIRE);
			uint32_t handled;

			if (unlikely(call != NULL))
				run_call(area, call);
			handled = area->poll(area, now);
			uint64_t end = rte_rdtsc();

			if (ledger) {
				weir_count(&area->ledger.polls, 1);
				if (handled != 0) {
					weir_count(&area->ledger.busy_cycles, end - now);
				} else {
					weir_count(&area->ledger.empty_polls, 1);
					weir_count(&area->ledger.idle_cycles, end - now);
				}
			}
			if (unlikely(end - now > core->stall_cycles)) {
				attribute(core, area, end - now, handled != 0);
				end = rte_rdtsc(); /* reading the clocks is no area's work */
			}
			now = end;
		}
		if (core->area_count == 0) {
			rte_pause();
			now = rte_rdtsc();
		}
		/* Release: weir_loops_pass() orders what the control thread reads behind it. */
		__atomic_store_n(&core->loops, core->loops + 1, __ATOMIC_RELEASE);
	}
}

static int
loop(void *argument)
{
	struct weir_core *core = argument;

	if (core->ledger)
		poll_all(core, true);
	else
		poll_all(core, false);
	__atomic_store_n(&core->has_ended, true, __ATOMIC_RELEASE);
	return 0;
}

void
weir_loops_start(const struct weir_loop_options *options)
{
	if (weir_cores_polled)
		return;
	if (options != &started_with)
		started_with = *options;
	__atomic_store_n(&stop_asked, false, __ATOMIC_RELAXED);
	weir_long_batch_cycles = UINT64_MAX;
	for (unsigned int i = 0; i < weir_cores_used; i++) {
		weir_cores[i].ledger = options->ledger;
		weir_cores[i].stall_cycles =
			(uint64_t)options->stall_threshold_us[i] * rte_get_tsc_hz() / 1000000;
		weir_cores[i].time_cycles = rte_get_tsc_hz() / CORE_TIME_READS_PER_S;
		weir_cores[i].piece_cycles = rte_get_tsc_hz() / WEIR_CORE_SPEED_PER_S;
		if (weir_cores[i].stall_cycles < weir_long_batch_cycles)
			weir_long_batch_cycles = weir_cores[i].stall_cycles;
	}
	for (unsigned int i = 0; i < weir_cores_used; i++) {
		__atomic_store_n(&weir_cores[i].has_ended, false, __ATOMIC_RELAXED);
		rte_eal_remote_launch(loop, &weir_cores[i], weir_cores[i].lcore);
	}
	weir_cores_polled = true;
}

void
weir_loops_stop(void)
{
	if (!weir_cores_polled)
		return;
	__atomic_store_n(&stop_asked, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < weir_cores_used; i++) {
		weir_lcore_wait(weir_cores[i].lcore);
		/* Then all that the loop wrote is to be seen, whatever DPDK does. */
		(void)__atomic_load_n(&weir_cores[i].has_ended, __ATOMIC_ACQUIRE);
	}
	weir_cores_polled = false;
}

bool
weir_loops_running(void)
{
	return weir_cores_polled;
}

void
weir_loops_resume(void)
{
	weir_loops_start(&started_with);
}

void
weir_loops_pass(void)
{
	uint64_t before[WEIR_CORES_MAX];

	if (!weir_cores_polled)
		return;
	/* The caller's writes, then the counts. In the loops: without it a load of the next pass
	 * can come before the store that ends this one is to be seen, and so before the caller's
	 * writes.
	 */
	weir_barrier_in_all_threads();
	for (unsigned int i = 0; i < weir_cores_used; i++)
		before[i] = __atomic_load_n(&weir_cores[i].loops, __ATOMIC_ACQUIRE);
	for (unsigned int i = 0; i < weir_cores_used; i++) {
		while (__atomic_load_n(&weir_cores[i].loops, __ATOMIC_ACQUIRE) == before[i])
			rte_delay_us_sleep(20); /* the loop may need this CPU */
	}
}
