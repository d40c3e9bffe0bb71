/* SPDX-License-Identifier: Apache-2.0 */
#include "batches.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#define WARM_UP_BATCHES 2048
#define WARM_UP_PASSES 32 /* of all frames: functions inspect some ten packets of a flow */
#define READINGS 4096
#define READING_CYCLES_MOST 1000 /* more: interrupted */
#define CLOCK_EVERY 10		 /* batches: a piece of additions, to know the core's own clock */
/* An interrupt takes microseconds, and often many more; a batch that is merely expensive does not.
 */
#define INTERRUPTED_RATIO 4
#define INTERRUPTED_US 5

/* --- time --------------------------------------------------------------------------------------
 */

static uint64_t
time_batch(struct weir_lean *lean, struct weir_batch *batch)
{
	uint64_t start = rte_rdtsc();

	weir_path_run(lean->path, batch);
	return rte_rdtsc() - start;
}

static int
by_size(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

/* The mean of the middle half. A median would move in the steps of the time-stamp counter, which
 * may be tens of cycles. */
static double
middle_of(uint32_t *values, uint64_t count)
{
	uint64_t first = count / 4, end = count - first, sum = 0;

	qsort(values, count, sizeof(*values), by_size);
	for (uint64_t i = first; i < end; i++)
		sum += values[i];
	return (double)sum / (end - first);
}

static void
note(const struct weir_path *path, struct weir_lean_timed *at)
{
	for (unsigned int i = 0; i < path->stage_count; i++) {
		const struct weir_stage_ledger *ledger = &path->stages[i].ledger;

		at->stages[i].packets_in = ledger->packets_in;
		at->stages[i].packets_out = ledger->packets_out;
		memcpy(at->stages[i].drops, ledger->drops, sizeof(ledger->drops));
	}
	at->fastpath = path->fastpath.ledger;
}

/* Adds packets and drops since `before`; cycles are summed up batch by batch. */
static void
add_since(const struct weir_path *path, const struct weir_lean_timed *before,
	  struct weir_lean_timed *timed)
{
	struct weir_lean_timed after;

	note(path, &after);
	for (unsigned int i = 0; i < path->stage_count; i++) {
		struct weir_lean_stage *stage = &timed->stages[i];

		stage->packets_in += after.stages[i].packets_in - before->stages[i].packets_in;
		stage->packets_out += after.stages[i].packets_out - before->stages[i].packets_out;
		for (unsigned int j = 0; j < WEIR_DROP_REASONS_MAX; j++)
			stage->drops[j] += after.stages[i].drops[j] - before->stages[i].drops[j];
	}
	timed->fastpath.hits += after.fastpath.hits - before->fastpath.hits;
	timed->fastpath.slow_packets += after.fastpath.slow_packets - before->fastpath.slow_packets;
}

/* Runs a batch; `series[0]` becomes its cycles, `series[(i + 1) * stride]` those of stage i, and
 * one behind the last stage what is left of the batch's. */
static void
time_stages(struct weir_lean *lean, struct weir_batch *batch, uint32_t *series, uint64_t stride)
{
	const struct weir_path *path = lean->path;
	uint64_t before[WEIR_STAGES_MAX];
	uint32_t rest;

	for (unsigned int i = 0; i < path->stage_count; i++)
		before[i] = path->stages[i].ledger.cycles;
	series[0] = rest = RTE_MIN(time_batch(lean, batch), (uint64_t)UINT32_MAX);
	for (unsigned int i = 0; i < path->stage_count; i++) {
		series[(i + 1) * stride] = path->stages[i].ledger.cycles - before[i];
		rest -= RTE_MIN(rest, series[(i + 1) * stride]);
	}
	series[(path->stage_count + 1) * stride] = rest;
}

/* The mean: one by one they are in steps of the counter. */
static double
reading_cycles(void)
{
	uint64_t sum = 0, before = rte_rdtsc();
	unsigned int count = 0;

	for (unsigned int i = 0; i < READINGS; i++) {
		uint64_t now = rte_rdtsc();

		if (now - before < READING_CYCLES_MOST) {
			sum += now - before;
			count++;
		}
		before = now;
	}
	return count > 0 ? (double)sum / count : 0;
}

/* The path is timed by a reading more than its area does: that is not of its cycles. */
static uint64_t
without_reading(const struct weir_lean *lean, uint64_t cycles, uint64_t batches)
{
	uint64_t readings = lean->reading_cycles * batches;

	return cycles > readings ? cycles - readings : 0;
}

/* The sums over the batches that nothing interrupted, then the middles: they sort. */
static void
sum_up(struct weir_lean *lean, uint64_t batches, uint64_t threshold_cycles,
       struct weir_lean_timed *timed)
{
	unsigned int stages = lean->path->stage_count;
	uint32_t *cycles = lean->cycles, *rest = cycles + (stages + 1) * batches;

	for (uint64_t i = 0; i < batches; i++) {
		if (cycles[i] > threshold_cycles) {
			timed->interrupted++;
			continue;
		}
		timed->cycles += cycles[i];
		timed->fastpath.cycles += rest[i];
		for (unsigned int j = 0; j < stages; j++)
			timed->stages[j].cycles += cycles[(j + 1) * batches + i];
	}
	timed->cycled = (batches - timed->interrupted) * WEIR_BURST;
	timed->cycles = without_reading(lean, timed->cycles, batches - timed->interrupted);
	timed->fastpath.cycles =
		without_reading(lean, timed->fastpath.cycles, batches - timed->interrupted);
	timed->middle = middle_of(cycles, batches);
	timed->fastpath_middle = middle_of(rest, batches);
	for (unsigned int j = 0; j < stages; j++)
		timed->stages[j].middle = middle_of(cycles + (j + 1) * batches, batches);
}

static uint64_t
interrupted_from(double usual_cycles)
{
	return INTERRUPTED_RATIO * usual_cycles + INTERRUPTED_US * (rte_get_tsc_hz() / 1000000);
}

/* --- the core's own clock ----------------------------------------------------------------------
 */

/* Since when, by a hardware counter, if there is one, and by the time-stamp counter. */
struct since {
	uint64_t core, tsc;
};

static struct since
begin_clock(struct weir_lean *lean)
{
	struct since since = {0};

	if (lean->probe == NULL || !weir_probe_core_cycles(lean->probe, &since.core))
		since.core = 0;
	since.tsc = rte_rdtsc();
	return since;
}

static void
end_clock(struct weir_lean *lean, struct since since, const struct weir_core_clock *clock,
	  struct weir_lean_timed *timed)
{
	uint64_t tsc = rte_rdtsc(), core;

	timed->core_per_tsc = weir_core_clock_ratio(clock);
	timed->by_hardware = since.core != 0 && weir_probe_core_cycles(lean->probe, &core);
	if (timed->by_hardware)
		timed->core_per_tsc = (double)(core - since.core) / (tsc - since.tsc);
	if (timed->core_per_tsc > 0)
		lean->core_per_tsc = timed->core_per_tsc;
}

/* --- later packets -----------------------------------------------------------------------------
 */

static void
finish(struct weir_lean *lean, uint64_t batches, uint64_t threshold_cycles,
       struct weir_lean_timed *timed)
{
	timed->batches = batches;
	timed->packets = batches * WEIR_BURST;
	sum_up(lean, batches, threshold_cycles, timed);
}

void
weir_lean_time(struct weir_lean *lean, uint64_t batches, struct weir_lean_timed *timed)
{
	struct weir_core_clock clock = {0};
	struct weir_lean_timed before;
	struct weir_batch batch;
	struct since since;

	memset(timed, 0, sizeof(*timed));
	note(lean->path, &before);
	since = begin_clock(lean);
	for (uint64_t i = 0; i < batches; i++) {
		struct rte_mbuf **packets = weir_lean_batch_begin(lean, &batch);

		time_stages(lean, &batch, lean->cycles + i, batches);
		timed->forwarded += batch.count;
		weir_lean_batch_end(lean, &batch, packets);
		if (i % CLOCK_EVERY == 0)
			weir_core_clock_time(&clock);
	}
	end_clock(lean, since, &clock, timed);
	finish(lean, batches, lean->threshold_cycles, timed);
	add_since(lean->path, &before, timed);
}

void
weir_lean_warm_up(struct weir_lean *lean)
{
	uint64_t batches =
		WARM_UP_PASSES * (((uint64_t)lean->frames->count + WEIR_BURST - 1) / WEIR_BURST);
	struct weir_lean_timed timed;

	for (uint64_t i = 0; i < batches; i++)
		weir_lean_pass(lean, NULL);
	lean->threshold_cycles = UINT64_MAX;
	lean->reading_cycles = reading_cycles();
	weir_lean_time(lean, WARM_UP_BATCHES, &timed);
	lean->threshold_cycles = interrupted_from(timed.middle);
}

/* --- first packets -----------------------------------------------------------------------------
 */

static void
time_first(struct weir_lean *lean, unsigned int index, unsigned int count,
	   struct weir_lean_timed *timed)
{
	struct weir_lean_timed before;
	struct weir_batch batch;
	struct rte_mbuf **packets = weir_lean_batch_begin(lean, &batch);

	note(lean->path, &before);
	time_stages(lean, &batch, lean->cycles + index, count);
	add_since(lean->path, &before, timed);
	timed->forwarded += batch.count;
	weir_lean_batch_end(lean, &batch, packets);
}

/* Whether batch `index` of `all` is the middle one of part `part` of so many equal ones. */
static bool
is_chosen(unsigned int index, unsigned int all, unsigned int part)
{
	unsigned int parts = RTE_MIN(all, (unsigned int)WEIR_LEAN_FIRST_BATCHES);

	return part < parts && index == (2 * part + 1) * all / (2 * parts);
}

unsigned int
weir_lean_first(struct weir_lean *lean, unsigned int wanted, struct weir_lean_timed *timed)
{
	unsigned int all = lean->first_count / WEIR_BURST, done = 0;
	unsigned int count = RTE_MIN(RTE_MIN(all, wanted), (unsigned int)WEIR_LEAN_FIRST_BATCHES);
	struct weir_core_clock clock = {0};
	uint32_t paths[WEIR_LEAN_FIRST_BATCHES];

	memset(timed, 0, sizeof(*timed));
	lean->reading_cycles = reading_cycles();
	for (unsigned int i = 0; i < all; i++) {
		if (done < count && is_chosen(i, all, done))
			time_first(lean, done++, count, timed);
		else
			weir_lean_pass(lean, NULL);
	}
	if (count == 0)
		return 0;
	for (unsigned int i = 0; i < WEIR_CORE_CLOCK_PIECES; i++)
		weir_core_clock_time(&clock);
	end_clock(lean, (struct since){0}, &clock, timed);
	memcpy(paths, lean->cycles, count * sizeof(paths[0]));
	finish(lean, count, interrupted_from(middle_of(paths, count)), timed);
	return count;
}

unsigned int
weir_lean_step_first(struct weir_lean *lean, struct weir_lean_stepped *stepped)
{
	unsigned int all = lean->first_count / WEIR_BURST;

	memset(stepped, 0, sizeof(*stepped));
	for (unsigned int i = 0; i < all; i++) {
		bool chosen = stepped->steps.total < WEIR_LEAN_FIRST_INSTRUCTIONS &&
			      is_chosen(i, all, stepped->batches);

		weir_lean_pass(lean, chosen ? stepped : NULL);
	}
	return stepped->batches;
}
