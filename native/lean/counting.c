/* SPDX-License-Identifier: Apache-2.0 */
/* What batches cost in instructions, one by one, and in what hardware counts. */
#include "batches.h"

#include <stdio.h>
#include <string.h>

#include <rte_common.h>

/* --- instruction by instruction ----------------------------------------------------------------
 */

void
weir_lean_pass(struct weir_lean *lean, struct weir_lean_stepped *stepped)
{
	struct weir_batch batch;
	struct rte_mbuf **packets = weir_lean_batch_begin(lean, &batch);

	if (stepped != NULL)
		weir_steps_begin(lean->path);
	weir_path_run(lean->path, &batch);
	if (stepped != NULL) {
		weir_steps_end(&stepped->steps);
		stepped->batches++;
		stepped->packets += WEIR_BURST;
	}
	weir_lean_batch_end(lean, &batch, packets);
}

void
weir_lean_step(struct weir_lean *lean, uint64_t batches, struct weir_lean_stepped *stepped)
{
	uint64_t all = (lean->frames->count + WEIR_BURST - 1) / WEIR_BURST;
	uint64_t every = RTE_MAX(all / batches, 1UL);

	memset(stepped, 0, sizeof(*stepped));
	for (uint64_t i = 0; i < batches * every; i++)
		weir_lean_pass(lean, i % every == 0 ? stepped : NULL);
}

/* --- hardware counters -------------------------------------------------------------------------
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
		struct rte_mbuf **packets = weir_lean_batch_begin(lean, &batch);

		if (target == 0) {
			count_nothing(probe);
			weir_path_run(lean->path, &batch);
		} else if (target == 1) {
			count_path(lean, probe, &batch);
		} else {
			count_stage(lean, probe, target - 2, &batch);
		}
		weir_lean_batch_end(lean, &batch, packets);
	}
	counted->batches = batches;
	counted->packets = batches * WEIR_BURST;
	weir_probe_take(probe, counted->sums);
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
