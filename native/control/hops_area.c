/* SPDX-License-Identifier: Apache-2.0 */
/* Areas that bring packets to functions and on from them, `dispatcher`, `rewrite_worker` and
 * `collector`: from JSON, and in the ledger. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/hops.h"
#include "areas.h"
#include "dataplane.h"
#include "path_json.h"

/* What a kind of area asks of its queues. */
struct shape {
	unsigned int inputs, outputs;
	bool from_rings, to_rings;
	struct weir_hops *(*create)(const char *name, unsigned int core,
				    const struct weir_hop *hops, unsigned int count);
};

struct hop_fields {
	const char *name;
	enum weir_direction direction;
	const json_t *in, *out;
};

static const struct weir_field hop_fields[] = {
	{"name", WEIR_FIELD_NAME, true, .max = WEIR_NAME_BYTES_MAX,
	 WEIR_INTO(struct hop_fields, name)},
	{"direction", WEIR_FIELD_CHOICE, .choices = weir_directions,
	 WEIR_INTO(struct hop_fields, direction)},
	{"in", WEIR_FIELD_JSON, true, WEIR_INTO(struct hop_fields, in)},
	{"out", WEIR_FIELD_JSON, true, WEIR_INTO(struct hop_fields, out)},
	{0},
};

/* The hops of an area while they are read. */
struct reading {
	const struct shape *shape;
	struct weir_hop *hops;
	unsigned int count;
};

static int
hop_from_json(const json_t *object, const char *where, void *target, struct weir_error *error)
{
	struct weir_place in = weir_at(where, "in"), out = weir_at(where, "out");
	struct reading *reading = target;
	const struct shape *shape = reading->shape;
	struct weir_hop *hop = &reading->hops[reading->count++];
	struct hop_fields fields;

	if (weir_read(object, where, hop_fields, &fields, error) < 0 ||
	    weir_queues_from_json(fields.in, in.text, hop->inputs, shape->inputs, &hop->input_count,
				  error) < 0 ||
	    weir_queues_from_json(fields.out, out.text, hop->out.queue, shape->outputs,
				  &hop->out.count, error) < 0)
		return -1;
	if (shape->from_rings &&
	    weir_queues_are_rings(hop->inputs, hop->input_count, in.text, error) < 0)
		return -1;
	if (shape->to_rings &&
	    weir_queues_are_rings(hop->out.queue, hop->out.count, out.text, error) < 0)
		return -1;
	snprintf(hop->name, sizeof(hop->name), "%s", fields.name);
	hop->direction = fields.direction;
	return 0;
}

struct hops_fields {
	struct weir_area_head head; /* first */
	const json_t *paths;
	const char *steer_area, *steer_stage; /* of dispatchers */
};

#define HOPS_FIELDS                                                                                \
	WEIR_AREA_FIELDS,                                                                          \
	{                                                                                          \
		"paths", WEIR_FIELD_LIST, true, 1, WEIR_HOPS_MAX,                                  \
			WEIR_INTO(struct hops_fields, paths)                                       \
	}

static const struct weir_field hops_fields[] = {HOPS_FIELDS, {0}};

static const struct weir_field steer_fields[] = {
	{"area", WEIR_FIELD_STRING, true, WEIR_INTO(struct hops_fields, steer_area)},
	{"stage", WEIR_FIELD_STRING, true, WEIR_INTO(struct hops_fields, steer_stage)},
	{0},
};

static const struct weir_field dispatcher_fields[] = {
	HOPS_FIELDS,
	{"steer", WEIR_FIELD_OBJECT, .fields = steer_fields},
	{0},
};

static struct weir_area *
from_json(const json_t *object, const char *where, const struct weir_field *table,
	  const struct shape *shape, struct weir_error *error)
{
	struct reading reading = {.shape = shape};
	struct weir_hops *made = NULL;
	struct hops_fields fields;
	int status;

	if (weir_read(object, where, table, &fields, error) < 0)
		return NULL;
	reading.hops = calloc(json_array_size(fields.paths), sizeof(*reading.hops));
	status = reading.hops == NULL ? 0
				      : weir_read_each(fields.paths, weir_at(where, "paths").text,
						       hop_from_json, &reading, error);
	if (reading.hops != NULL && status == 0)
		made = shape->create(fields.head.name, fields.head.core, reading.hops,
				     reading.count);
	if (made == NULL && status == 0)
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for area '%s'",
			  fields.head.name);
	free(reading.hops);
	return made != NULL ? &made->area : NULL;
}

static struct weir_area *
dispatcher_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const struct shape shape = {1, WEIR_OUTPUTS_MAX, false, true,
					   weir_dispatcher_create};

	return from_json(object, where, dispatcher_fields, &shape, error);
}

static struct weir_area *
rewrite_worker_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const struct shape shape = {1, 1, true, true, weir_rewrite_worker_create};

	return from_json(object, where, hops_fields, &shape, error);
}

static struct weir_area *
collector_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const struct shape shape = {WEIR_INPUTS_MAX, WEIR_OUTPUTS_MAX, true, false,
					   weir_collector_create};

	return from_json(object, where, hops_fields, &shape, error);
}

/* Connects the dispatcher to the stage whose steer() says which packets go to the same worker. */
static int
connect_dispatcher(struct weir_area *area, const json_t *object, const char *where,
		   struct weir_error *error)
{
	const struct weir_stage *stage;
	struct hops_fields fields;
	struct weir_chain *chain;

	if (weir_read(object, where, dispatcher_fields, &fields, error) < 0)
		return -1;
	if (fields.steer_area == NULL)
		return 0;
	chain = weir_chain_named(fields.steer_area);
	stage = chain != NULL ? weir_chain_stage_named(chain, fields.steer_stage) : NULL;
	if (stage == NULL || stage->nf->steer == NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "steer").text,
				 "the area and the name of a stage whose function steers", NULL,
				 "there is no such stage '%s' in '%s'", fields.steer_stage,
				 fields.steer_area);
	weir_dispatcher_steer_by((struct weir_hops *)area, stage->nf, stage->state);
	return 0;
}

static void
destroy(struct weir_area *area)
{
	weir_hops_destroy((struct weir_hops *)area);
}

static void
add_paths(const struct weir_area *area, json_t *list)
{
	const struct weir_hops *hops = (const struct weir_hops *)area;

	for (unsigned int i = 0; i < hops->count; i++) {
		const struct weir_hop *hop = &hops->hops[i];

		json_array_append_new(list,
				      weir_path_json(hop->name, hop->inputs, hop->input_count,
						     &hop->out, &hop->rx_packets, json_array()));
	}
}

const struct weir_area_kind weir_hops_kinds[] = {
	{"dispatcher", dispatcher_from_json, destroy, connect_dispatcher, add_paths,
	 .dispatches = true},
	{"rewrite_worker", rewrite_worker_from_json, destroy, .add_paths = add_paths},
	{"collector", collector_from_json, destroy, .add_paths = add_paths},
	{0},
};
