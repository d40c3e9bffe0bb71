/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "history.h"

struct core {
	unsigned int cpu;
	unsigned int lcore;
	unsigned int area_count;
	struct weir_area *areas[WEIR_AREAS_PER_CORE_MAX];
	bool ledger;
	uint64_t stall_cycles;
	uint64_t time_cycles;	    /* until both clocks are read again */
	struct weir_core_time time; /* the loop's own */
	uint64_t pace_cycles;	    /* until the next piece of work is timed */
	uint64_t pace_tsc;	    /* when one was */
	/* The gap that ends now: whether a long poll in it was looked at, and what the host took.
	 */
	bool attributed;
	uint64_t host_cycles;
	const char *blamed; /* the area whose poll it was */
	/* Written by the loop, read by the control thread. */
	uint64_t loops;
	struct weir_pace pace;
	struct weir_stalls stalls;
	uint64_t gap_count, piece_count;
	struct weir_gap gaps[WEIR_GAPS_KEPT];
	struct weir_piece pieces[WEIR_PIECES_KEPT];
} __rte_cache_aligned;

static struct core cores[WEIR_CORES_MAX];
static unsigned int core_count;
static bool running;
static bool stop_asked;
static struct weir_loop_options started_with;

int
weir_cores_set(const unsigned int *cpus, const unsigned int *lcores, unsigned int count)
{
	if (count == 0 || count > WEIR_CORES_MAX)
		return -1;
	memset(cores, 0, sizeof(cores));
	for (unsigned int i = 0; i < count; i++) {
		cores[i].cpu = cpus[i];
		cores[i].lcore = lcores[i];
	}
	core_count = count;
	return 0;
}

unsigned int
weir_core_count(void)
{
	return core_count;
}

unsigned int
weir_core_number(unsigned int index)
{
	return cores[index].cpu;
}

unsigned int
weir_core_lcore(unsigned int index)
{
	return cores[index].lcore;
}

static struct core *
core_of(unsigned int cpu)
{
	for (unsigned int i = 0; i < core_count; i++) {
		if (cores[i].cpu == cpu)
			return &cores[i];
	}
	return NULL;
}

bool
weir_core_known(unsigned int cpu)
{
	return core_of(cpu) != NULL;
}

int
weir_area_add(struct weir_area *area, struct weir_error *error)
{
	struct core *core = core_of(area->core);

	if (running)
		return weir_fail(error, "bad_state", area->name, NULL, "send `stop` first",
				 "areas cannot be added while the loops run");
	if (core == NULL)
		return weir_fail(error, "bad_argument", area->name, "a CPU given with --cores",
				 "start weir-dp with that CPU in --cores",
				 "CPU %u is not one of this process's polling cores", area->core);
	if (core->area_count == WEIR_AREAS_PER_CORE_MAX)
		return weir_fail(error, "bad_argument", area->name, "at most 256 areas on one core",
				 "place some areas on another core", "CPU %u is full", area->core);
	core->areas[core->area_count++] = area;
	return 0;
}

void
weir_areas_clear(void)
{
	for (unsigned int i = 0; i < core_count; i++)
		cores[i].area_count = 0;
}

/* Between two readings little time must be stolen that no gap shows. */
#define CORE_TIME_READS_PER_S 250

static inline void
keep_time(struct core *core, uint64_t now_tsc)
{
	/* Signed: attribute() may just have read them, later than now_tsc. */
	if (unlikely((int64_t)(now_tsc - core->time.tsc) > (int64_t)core->time_cycles))
		core->time = weir_core_time_read();
}

static void
keep_piece(struct core *core, uint64_t cycles)
{
	core->pace_tsc = rte_rdtsc();
	if (cycles == 0)
		return;
	*weir_history_at(core->pieces, core->piece_count, WEIR_PIECES_KEPT) =
		(struct weir_piece){.end_tsc = core->pace_tsc, .cycles = cycles};
	weir_history_added(&core->piece_count);
}

/* Returns the time: now_tsc, or later, as this is no area's work. */
static inline uint64_t
keep_pace(struct core *core, uint64_t now_tsc)
{
	if (likely(now_tsc - core->pace_tsc <= core->pace_cycles))
		return now_tsc;
	keep_piece(core, weir_pace_count(&core->pace));
	return core->pace_tsc;
}

/* One poll took as long as a stall. What the host took is counted with the gap that it is part of.
 */
static void
attribute(struct core *core, struct weir_area *area, uint64_t cycles, bool had_packets)
{
	core->attributed = true;
	if (weir_stall_is_hosts(&core->time, cycles)) {
		core->host_cycles += cycles;
	} else if (had_packets) {
		weir_count(&area->ledger.long_polls, 1);
		weir_count(&area->ledger.long_cycles, cycles);
		core->blamed = area->name;
	}
}

static void
keep_gap(struct core *core, uint64_t end_tsc, uint64_t gap)
{
	*weir_history_at(core->gaps, core->gap_count, WEIR_GAPS_KEPT) = (struct weir_gap){
		.end_tsc = end_tsc,
		.cycles = gap,
		.host_cycles = core->host_cycles,
		.area = core->host_cycles == 0 ? core->blamed : NULL,
	};
	weir_history_added(&core->gap_count);
}

/* For those whose work waits by the clock. */
static void
say_back(struct core *core, uint64_t now, uint64_t gap)
{
	for (unsigned int i = 0; i < core->area_count; i++) {
		core->areas[i]->gone_tsc = now - gap;
		core->areas[i]->back_tsc = now;
	}
}

static inline void
watch_for_stall(struct core *core, uint64_t now, uint64_t gap)
{
	if (likely(gap <= core->stall_cycles))
		return;
	weir_count(&core->stalls.count, 1);
	weir_count(&core->stalls.total_cycles, gap);
	if (gap > weir_counted(&core->stalls.longest_cycles))
		__atomic_store_n(&core->stalls.longest_cycles, gap, __ATOMIC_RELAXED);
	if (!core->attributed && weir_stall_is_hosts(&core->time, gap))
		core->host_cycles = gap;
	if (core->host_cycles > 0) {
		weir_count(&core->stalls.host_count, 1);
		weir_count(&core->stalls.host_cycles, core->host_cycles);
		say_back(core, now, gap);
	}
	keep_gap(core, now, gap);
	core->attributed = false;
	core->host_cycles = 0;
	core->blamed = NULL;
}

static void
run_call(struct weir_area *area, struct weir_area_call *call)
{
	call->run(call->argument);
	__atomic_store_n(&area->call, NULL, __ATOMIC_RELEASE);
}

void
weir_area_run(struct weir_area *area, void (*run)(void *argument), void *argument)
{
	struct weir_area_call call = {.run = run, .argument = argument};

	if (!running) {
		run(argument);
		return;
	}
	__atomic_store_n(&area->call, &call, __ATOMIC_RELEASE);
	while (__atomic_load_n(&area->call, __ATOMIC_ACQUIRE) != NULL)
		usleep(50);
}

/* One time-stamp an area: the end of a poll is the beginning of the next. */
static __rte_always_inline void
poll_all(struct core *core, const bool ledger)
{
	uint64_t now = rte_rdtsc();
	uint64_t last = now;

	core->time = weir_core_time_read();
	core->pace_tsc = now;
	/* The gap in which the loop stopped was not watched for. */
	core->attributed = false;
	core->host_cycles = 0;
	core->blamed = NULL;
	while (!__atomic_load_n(&stop_asked, __ATOMIC_RELAXED)) {
		watch_for_stall(core, now, now - last);
		last = now;
		keep_time(core, now);
		now = keep_pace(core, now);
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
	struct core *core = argument;

	if (core->ledger)
		poll_all(core, true);
	else
		poll_all(core, false);
	return 0;
}

void
weir_loops_start(const struct weir_loop_options *options)
{
	if (running)
		return;
	if (options != &started_with)
		started_with = *options;
	__atomic_store_n(&stop_asked, false, __ATOMIC_RELAXED);
	weir_long_batch_cycles = UINT64_MAX;
	for (unsigned int i = 0; i < core_count; i++) {
		cores[i].ledger = options->ledger;
		cores[i].stall_cycles =
			(uint64_t)options->stall_threshold_us[i] * rte_get_tsc_hz() / 1000000;
		cores[i].time_cycles = rte_get_tsc_hz() / CORE_TIME_READS_PER_S;
		cores[i].pace_cycles = rte_get_tsc_hz() / WEIR_PACES_PER_S;
		if (cores[i].stall_cycles < weir_long_batch_cycles)
			weir_long_batch_cycles = cores[i].stall_cycles;
	}
	for (unsigned int i = 0; i < core_count; i++) {
		rte_eal_remote_launch(loop, &cores[i], cores[i].lcore);
	}
	running = true;
}

void
weir_loops_stop(void)
{
	if (!running)
		return;
	__atomic_store_n(&stop_asked, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < core_count; i++)
		rte_eal_wait_lcore(cores[i].lcore);
	running = false;
}

bool
weir_loops_running(void)
{
	return running;
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

	if (!running)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* the caller's writes, then the counts */
	for (unsigned int i = 0; i < core_count; i++)
		before[i] = __atomic_load_n(&cores[i].loops, __ATOMIC_ACQUIRE);
	for (unsigned int i = 0; i < core_count; i++) {
		while (__atomic_load_n(&cores[i].loops, __ATOMIC_ACQUIRE) == before[i])
			rte_delay_us_sleep(20); /* the loop may need this CPU */
	}
}

uint64_t
weir_core_loops(unsigned int index)
{
	return weir_counted(&cores[index].loops);
}

struct weir_pace
weir_core_pace(unsigned int index)
{
	const struct weir_pace *pace = &cores[index].pace;

	return (struct weir_pace){
		.pieces = weir_counted(&pace->pieces),
		.cycles = weir_counted(&pace->cycles),
	};
}

struct weir_stalls
weir_core_stalls(unsigned int index)
{
	const struct weir_stalls *stalls = &cores[index].stalls;

	return (struct weir_stalls){
		.count = weir_counted(&stalls->count),
		.total_cycles = weir_counted(&stalls->total_cycles),
		.longest_cycles = weir_counted(&stalls->longest_cycles),
		.host_count = weir_counted(&stalls->host_count),
		.host_cycles = weir_counted(&stalls->host_cycles),
	};
}

void
weir_core_stalls_begin(unsigned int index)
{
	__atomic_store_n(&cores[index].stalls.longest_cycles, 0, __ATOMIC_RELAXED);
}

unsigned int
weir_core_gaps(unsigned int index, uint64_t from, struct weir_gap *gaps, uint64_t *next)
{
	const struct core *core = &cores[index];

	return weir_history_read(core->gaps, sizeof(*gaps), &core->gap_count, WEIR_GAPS_KEPT, from,
				 gaps, next);
}

unsigned int
weir_core_pieces(unsigned int index, uint64_t from, struct weir_piece *pieces, uint64_t *next)
{
	const struct core *core = &cores[index];

	return weir_history_read(core->pieces, sizeof(*pieces), &core->piece_count,
				 WEIR_PIECES_KEPT, from, pieces, next);
}
