/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatchers, appliers and collectors from JSON. */
#include "hops_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "queue_json.h"
#include "verb.h"

/* What a kind of area asks of its queues. */
static const struct shape {
	unsigned int inputs, outputs;
	bool from_rings, to_rings;
	struct weir_hops *(*create)(const char *name, unsigned int core,
				    const struct weir_hop *hops, unsigned int count);
} shapes[] = {
	[WEIR_AREA_DISPATCHER] = {1, WEIR_OUTPUTS_MAX, false, true, weir_dispatcher_create},
	[WEIR_AREA_APPLIER] = {1, 1, true, true, weir_applier_create},
	[WEIR_AREA_COLLECTOR] = {WEIR_INPUTS_MAX, WEIR_OUTPUTS_MAX, true, false,
				 weir_collector_create},
};

static int
hop_from_json(const json_t *object, const struct shape *shape, const char *where,
	      struct weir_hop *hop, struct weir_error *error)
{
	static const char *const known[] = {"name", "direction", "in", "out", NULL};
	const char *name = NULL;
	struct weir_place in = weir_at(where, "in"), out = weir_at(where, "out");

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_name(object, "name", true, WEIR_NAME_BYTES_MAX, where, &name, error) < 0 ||
	    weir_direction_from_json(object, where, &hop->direction, error) < 0 ||
	    weir_queues_from_json(json_object_get(object, "in"), in.text, hop->inputs,
				  shape->inputs, &hop->input_count, error) < 0 ||
	    weir_queues_from_json(json_object_get(object, "out"), out.text, hop->out.queue,
				  shape->outputs, &hop->out.count, error) < 0)
		return -1;
	if (shape->from_rings &&
	    weir_queues_are_rings(hop->inputs, hop->input_count, in.text, error) < 0)
		return -1;
	if (shape->to_rings &&
	    weir_queues_are_rings(hop->out.queue, hop->out.count, out.text, error) < 0)
		return -1;
	snprintf(hop->name, sizeof(hop->name), "%s", name);
	return 0;
}

struct weir_area *
weir_hops_from_json(const json_t *object, enum weir_area_kind kind, const char *name,
		    unsigned int core, const char *where, struct weir_error *error)
{
	const struct shape *shape = &shapes[kind];
	struct weir_hops *made = NULL;
	const json_t *paths;
	struct weir_hop *hops;
	char path_where[96];
	size_t count, index;
	json_t *path;

	if (weir_take_array(object, "paths", where, &paths, error) < 0)
		return NULL;
	count = json_array_size(paths);
	if (count == 0 || count > WEIR_HOPS_MAX) {
		weir_fail(error, "bad_argument", weir_at(where, "paths").text, "1 to 64 paths",
			  NULL, "area '%s' has %zu paths", name, count);
		return NULL;
	}
	hops = calloc(count, sizeof(*hops));
	json_array_foreach((json_t *)paths, index, path)
	{
		snprintf(path_where, sizeof(path_where), "%s.paths[%zu]", where, index);
		if (hops == NULL || hop_from_json(path, shape, path_where, &hops[index], error) < 0)
			break;
	}
	if (hops != NULL && index == count)
		made = shape->create(name, core, hops, count);
	if (made == NULL && (hops == NULL || index == count))
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for area '%s'", name);
	free(hops);
	return made != NULL ? &made->area : NULL;
}

int
weir_dispatcher_connect(const json_t *object, struct weir_hops *dispatcher, const char *where,
			struct weir_error *error)
{
	static const char *const known[] = {"area", "stage", NULL};
	const json_t *steer = json_object_get(object, "steer");
	struct weir_place at = weir_at(where, "steer");
	const char *area = NULL, *name = NULL;
	const struct weir_stage *stage;
	struct weir_chain *chain;

	if (steer == NULL)
		return 0;
	if (weir_refuse_unknown(steer, at.text, known, error) < 0 ||
	    weir_take_string(steer, "area", true, at.text, &area, error) < 0 ||
	    weir_take_string(steer, "stage", true, at.text, &name, error) < 0)
		return -1;
	chain = weir_chain_named(area);
	stage = chain != NULL ? weir_chain_stage_named(chain, name) : NULL;
	if (stage == NULL || stage->nf->steer == NULL)
		return weir_fail(error, "bad_argument", at.text,
				 "the area and the name of a stage whose function steers", NULL,
				 "there is no such stage '%s' in '%s'", name, area);
	weir_dispatcher_steer_by(dispatcher, stage->nf, stage->state);
	return 0;
}
