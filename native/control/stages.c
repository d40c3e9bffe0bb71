/* SPDX-License-Identifier: Apache-2.0 */
#include "stages.h"

#include "engine/hops.h"

#include "dataplane.h"

static bool
is_fed_by(const struct weir_chain *chain, const struct weir_outputs *out)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		for (unsigned int j = 0; j < out->count; j++) {
			if (chain->paths[i].in.kind == WEIR_QUEUE_RING &&
			    chain->paths[i].in.ring == out->queue[j].ring)
				return true;
		}
	}
	return false;
}

/* The areas of functions that `dispatcher` brings packets to. */
static unsigned int
workers_of(const struct weir_hops *dispatcher, struct weir_named_stage *workers)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < weir_dataplane.area_count && count < WEIR_WORKERS_MAX; i++) {
		const struct weir_placed_area *placed = &weir_dataplane.areas[i];

		if (placed->kind->runs_functions &&
		    is_fed_by((struct weir_chain *)placed->area, &dispatcher->hops[0].out))
			workers[count++].chain = (struct weir_chain *)placed->area;
	}
	return count;
}

int
weir_stages_named(const char *area, const char *stage, struct weir_named_stage *stages,
		  struct weir_error *error)
{
	const struct weir_placed_area *placed = weir_area_named(area);
	unsigned int count = 0;

	if (placed != NULL && placed->kind->dispatches)
		count = workers_of((struct weir_hops *)placed->area, stages);
	else if (placed != NULL && placed->kind->runs_functions)
		stages[count++].chain = (struct weir_chain *)placed->area;
	if (count == 0)
		return weir_fail(error, "bad_argument", "area",
				 "the name of an area of functions, or of their dispatcher", NULL,
				 "there is no such area '%s'", area);
	for (unsigned int i = 0; i < count; i++) {
		stages[i].stage = weir_chain_stage_named(stages[i].chain, stage);
		if (stages[i].stage == NULL)
			return weir_fail(
				error, "bad_argument", "stage", "the name of a stage of that area",
				NULL, "area '%s' has no stage '%s'", stages[i].chain->name, stage);
	}
	return (int)count;
}
