/* SPDX-License-Identifier: Apache-2.0 */
#include "lean.h"

#include "clock_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#define WARM_UP_BATCHES 2048
#define STEPS_A_TICK (1000 / WEIR_LEAN_STEP_US) /* functions want their tick each millisecond */
/* An interrupt takes microseconds, and often many more; a batch that is merely dear does not. */
#define INTERRUPTED_RATIO 4
#define INTERRUPTED_US 5

static bool
refill(struct weir_lean *lean, struct rte_mbuf **packets)
{
	const struct weir_frames *frames = lean->frames;

	if (rte_pktmbuf_alloc_bulk(lean->pool, packets, WEIR_BURST) != 0)
		return false;
	for (unsigned int i = 0; i < WEIR_BURST; i++) {
		uint64_t offset = frames->offset[lean->next_frame];
		uint16_t length = frames->offset[lean->next_frame + 1] - offset;

		memcpy(rte_pktmbuf_mtod(packets[i], void *), frames->bytes + offset, length);
		packets[i]->data_len = length;
		packets[i]->pkt_len = length;
		if (++lean->next_frame == frames->count)
			lean->next_frame = 0;
	}
	return true;
}

int
weir_lean_open(struct weir_lean *lean, struct weir_chain *chain, struct weir_path *path,
	       const struct weir_frames *frames, struct rte_mempool *pool, struct weir_error *error)
{
	memset(lean, 0, sizeof(*lean));
	lean->chain = chain;
	lean->path = path;
	lean->frames = frames;
	lean->pool = pool;
	/* A time at which nothing looks as old as the beginning of time. */
	lean->now_tsc = 3600 * rte_get_tsc_hz();
	lean->cycles =
		malloc((path->stage_count + 2) * WEIR_LEAN_BATCHES_MAX * sizeof(*lean->cycles));
	for (unsigned int i = 0; i < WEIR_LEAN_AHEAD; i++) {
		if (lean->cycles == NULL || !refill(lean, lean->ahead[i])) {
			weir_lean_close(lean);
			return weir_fail(error, "no_memory", NULL, NULL, "give more --memory-mb",
					 "no memory for packets");
		}
	}
	return 0;
}

void
weir_lean_close(struct weir_lean *lean)
{
	for (unsigned int i = 0; i < WEIR_LEAN_AHEAD; i++) {
		if (lean->ahead[i][0] != NULL)
			rte_pktmbuf_free_bulk(lean->ahead[i], WEIR_BURST);
		lean->ahead[i][0] = NULL;
	}
	free(lean->cycles);
	lean->cycles = NULL;
}

/* The next batch, as an area makes it of what it received. */
static struct rte_mbuf **
begin_batch(struct weir_lean *lean, struct weir_batch *batch)
{
	struct rte_mbuf **packets = lean->ahead[lean->batch_number % WEIR_LEAN_AHEAD];

	memcpy(batch->packet, packets, sizeof(batch->packet));
	memset(batch->egress, 0, sizeof(batch->egress));
	batch->count = WEIR_BURST;
	batch->direction = lean->path->direction;
	batch->parsed = false;
	batch->hands_over = false;
	batch->cache = NULL;
	batch->now_tsc = lean->now_tsc;
	return packets;
}

/* What the batch took is given back before as much is taken anew: the buffers last. */
static void
end_batch(struct weir_lean *lean, struct weir_batch *batch, struct rte_mbuf **packets)
{
	if (batch->count > 0)
		rte_pktmbuf_free_bulk(batch->packet, batch->count);
	if (!refill(lean, packets))
		rte_panic("packet buffers are lost: a function neither forwards nor frees them\n");
	lean->batch_number++;
	lean->now_tsc += WEIR_LEAN_STEP_US * (rte_get_tsc_hz() / 1000000);
	if (lean->batch_number % STEPS_A_TICK == 0)
		weir_chain_tick(lean->chain, lean->now_tsc);
}

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

void
weir_lean_warm_up(struct weir_lean *lean)
{
	uint64_t batches = (lean->frames->count + WEIR_BURST - 1) / WEIR_BURST;
	struct weir_lean_timed timed;

	lean->threshold_cycles = UINT64_MAX;
	while (batches > 0) {
		uint64_t part = RTE_MIN(batches, (uint64_t)WEIR_LEAN_BATCHES_MAX);

		weir_lean_time(lean, part, &timed);
		batches -= part;
	}
	weir_lean_time(lean, WARM_UP_BATCHES, &timed);
	lean->step_cycles = weir_clock_step();
	lean->threshold_cycles =
		INTERRUPTED_RATIO * timed.middle + INTERRUPTED_US * (rte_get_tsc_hz() / 1000000);
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

/* Packets and drops since `before`; cycles are summed up batch by batch. */
static void
subtract(const struct weir_path *path, const struct weir_lean_timed *before,
	 struct weir_lean_timed *timed)
{
	struct weir_lean_timed after;

	note(path, &after);
	for (unsigned int i = 0; i < path->stage_count; i++) {
		struct weir_lean_stage *stage = &timed->stages[i];

		stage->packets_in = after.stages[i].packets_in - before->stages[i].packets_in;
		stage->packets_out = after.stages[i].packets_out - before->stages[i].packets_out;
		for (unsigned int j = 0; j < WEIR_DROP_REASONS_MAX; j++)
			stage->drops[j] = after.stages[i].drops[j] - before->stages[i].drops[j];
	}
	timed->fastpath.hits = after.fastpath.hits - before->fastpath.hits;
	timed->fastpath.walks = after.fastpath.walks - before->fastpath.walks;
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

/* The sums over the batches that nothing interrupted, then the middles: they sort. */
static void
sum_up(struct weir_lean *lean, uint64_t batches, struct weir_lean_timed *timed)
{
	unsigned int stages = lean->path->stage_count;
	uint32_t *cycles = lean->cycles, *rest = cycles + (stages + 1) * batches;

	for (uint64_t i = 0; i < batches; i++) {
		if (cycles[i] > lean->threshold_cycles) {
			timed->interrupted++;
			continue;
		}
		timed->cycles += cycles[i];
		timed->fastpath.cycles += rest[i];
		for (unsigned int j = 0; j < stages; j++)
			timed->stages[j].cycles += cycles[(j + 1) * batches + i];
	}
	timed->cycled = (batches - timed->interrupted) * WEIR_BURST;
	timed->middle = middle_of(cycles, batches);
	timed->fastpath_middle = middle_of(rest, batches);
	for (unsigned int j = 0; j < stages; j++)
		timed->stages[j].middle = middle_of(cycles + (j + 1) * batches, batches);
}

void
weir_lean_time(struct weir_lean *lean, uint64_t batches, struct weir_lean_timed *timed)
{
	struct weir_lean_timed before;
	struct weir_batch batch;

	memset(timed, 0, sizeof(*timed));
	note(lean->path, &before);
	for (uint64_t i = 0; i < batches; i++) {
		struct rte_mbuf **packets = begin_batch(lean, &batch);

		time_stages(lean, &batch, lean->cycles + i, batches);
		timed->forwarded += batch.count;
		end_batch(lean, &batch, packets);
	}
	timed->batches = batches;
	timed->packets = batches * WEIR_BURST;
	sum_up(lean, batches, timed);
	subtract(lean->path, &before, timed);
}

/* --- counters ----------------------------------------------------------------------------------
 */

/* The stages one by one, as the path runs them without a fast path; `stage` inside the region. */
static void
count_stage(struct weir_lean *lean, struct weir_probe *probe, unsigned int stage,
	    struct weir_batch *batch)
{
	for (unsigned int i = 0; i < lean->path->stage_count; i++) {
		if (i == stage)
			weir_probe_begin(probe);
		weir_stage_run(&lean->path->stages[i], batch);
		if (i == stage)
			weir_probe_end(probe);
	}
}

static void
count_path(struct weir_lean *lean, struct weir_probe *probe, struct weir_batch *batch)
{
	weir_probe_begin(probe);
	weir_path_run(lean->path, batch);
	weir_probe_end(probe);
}

static void
count_nothing(struct weir_probe *probe)
{
	weir_probe_begin(probe);
	weir_probe_end(probe);
}

static void
count_target(struct weir_lean *lean, struct weir_probe *probe, uint64_t batches,
	     unsigned int target, struct weir_lean_counted *counted)
{
	struct weir_batch batch;

	for (uint64_t i = 0; i < batches; i++) {
		struct rte_mbuf **packets = begin_batch(lean, &batch);

		if (target == 0) {
			count_nothing(probe);
			weir_path_run(lean->path, &batch);
		} else if (target == 1) {
			count_path(lean, probe, &batch);
		} else {
			count_stage(lean, probe, target - 2, &batch);
		}
		end_batch(lean, &batch, packets);
	}
	counted->batches = batches;
	counted->packets = batches * WEIR_BURST;
	weir_probe_take(probe, counted->label, counted->sums);
}

unsigned int
weir_lean_count(struct weir_lean *lean, struct weir_probe *probe, uint64_t batches,
		struct weir_lean_counted *counted)
{
	const struct weir_path *path = lean->path;
	unsigned int stages = path->fastpath.cache == NULL ? path->stage_count : 0;

	snprintf(counted[0].label, sizeof(counted[0].label), "empty");
	snprintf(counted[1].label, sizeof(counted[1].label), "path");
	for (unsigned int i = 0; i < stages; i++)
		snprintf(counted[i + 2].label, sizeof(counted[i + 2].label), "stage %u", i);
	for (unsigned int i = 0; i < stages + 2; i++)
		count_target(lean, probe, batches, i, &counted[i]);
	return stages + 2;
}
