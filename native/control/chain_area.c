/* SPDX-License-Identifier: Apache-2.0 */
/* Areas that run functions, `chain` and `state_core`: from JSON, and in the ledger. */
#include <stdio.h>
#include <string.h>

#include "areas.h"
#include "dataplane.h"
#include "offload_json.h"
#include "options_json.h"
#include "path_json.h"

/* The stage of that name that was made before, on another path or this one. */
static const struct weir_stage *
stage_named(const struct weir_chain *chain, const char *name)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		const struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			if (strcmp(path->stages[j].name, name) == 0)
				return &path->stages[j];
		}
	}
	return NULL;
}

struct stage_fields {
	const char *nf, *name;
	const json_t *options;
	uint32_t worker, workers; /* of functions that split what they have: which of how many */
};

static const struct weir_field stage_fields[] = {
	{"nf", WEIR_FIELD_STRING, true, WEIR_INTO(struct stage_fields, nf)},
	{"name", WEIR_FIELD_NAME, .max = sizeof(((struct weir_stage *)0)->name) - 1,
	 WEIR_INTO(struct stage_fields, name)},
	{"options", WEIR_FIELD_JSON, WEIR_INTO(struct stage_fields, options)},
	{"worker", WEIR_FIELD_COUNT, .max = WEIR_OUTPUTS_MAX - 1,
	 WEIR_INTO(struct stage_fields, worker)},
	{"workers", WEIR_FIELD_COUNT, .min = 1, .max = WEIR_OUTPUTS_MAX, .default_value = 1,
	 WEIR_INTO(struct stage_fields, workers)},
	{0},
};

static const struct weir_nf *
nf_named(const char *name, const char *where, bool must_decide, struct weir_error *error)
{
	const struct weir_nf *nf = weir_nf_find(name);

	if (nf == NULL && weir_nf_lacks(name) != NULL)
		weir_fail(error, "bad_argument", where, weir_nf_lacks(name),
			  "install them and build weir-dp anew",
			  "this weir-dp was built without '%s'", name);
	else if (nf == NULL)
		weir_fail(error, "bad_argument", where, "a name that weir-dp --describe lists",
			  NULL, "there is no network function '%s'", name);
	else if (must_decide && nf->decide == NULL)
		weir_fail(error, "bad_argument", where,
			  "functions that decide: see weir-dp --describe", NULL,
			  "%s cannot leave its work to others", name);
	else
		return nf;
	return NULL;
}

/* Creates the stage's state; if there are several workers, gives it its share (nf->share). */
static int
create_state(struct weir_stage *stage, const struct stage_fields *fields,
	     const struct weir_option_values *values, const char *where, struct weir_error *error)
{
	stage->state = weir_nf_create(stage->nf, values->value, values->count,
				      weir_at(where, "options").text, error);
	if (stage->state == NULL)
		return -1;
	if (fields->workers == 1 || stage->nf->share == NULL ||
	    stage->nf->share(stage->state, fields->worker, fields->workers, where, error) == 0)
		return 0;
	weir_nf_destroy(stage->nf, stage->state);
	stage->state = NULL;
	return -1;
}

/* A stage whose name is there already is the same function once more, with the same state. */
static int
stage_from_json(const json_t *object, const char *where, const struct weir_chain *chain,
		struct weir_stage *stage, struct weir_error *error)
{
	const struct weir_stage *same = NULL;
	struct weir_option_values values;
	struct stage_fields fields;

	if (weir_read(object, where, stage_fields, &fields, error) < 0 ||
	    weir_options_from_json(fields.options, weir_at(where, "options").text, &values, error) <
		    0)
		return -1;
	if (fields.worker >= fields.workers)
		return weir_fail(error, "bad_argument", weir_at(where, "worker").text,
				 "a whole number below `workers`", NULL, "'worker' cannot be %u",
				 fields.worker);
	stage->nf = nf_named(fields.nf, weir_at(where, "nf").text, chain->hands_over, error);
	if (stage->nf == NULL)
		return -1;
	if (fields.name != NULL) {
		snprintf(stage->name, sizeof(stage->name), "%s", fields.name);
		same = stage_named(chain, fields.name);
	}
	if (same == NULL)
		return create_state(stage, &fields, &values, where, error);
	if (same->nf != stage->nf || values.count > 0)
		return weir_fail(error, "bad_argument", where,
				 "the same function, and options at its first place only", NULL,
				 "'%s' is a %s already", fields.name, same->nf->name);
	stage->state = same->state;
	stage->shares_state = true;
	return 0;
}

/* Where the path's packets go. A state core's go to rings, each of one rewrite worker. */
static int
outputs_from_json(const json_t *out, const char *where, bool hands_over, struct weir_path *path,
		  struct weir_error *error)
{
	struct weir_place at = weir_at(where, "out");

	if (out == NULL) {
		path->out.count = 1;
		if (path->stage_count > 0 && !path->stages[path->stage_count - 1].nf->returns)
			return 0;
		return weir_fail(error, "bad_argument", where, "`out`, or a sink as the last stage",
				 NULL, "path '%s' has no way out", path->name);
	}
	if (weir_queues_from_json(out, at.text, path->out.queue, WEIR_OUTPUTS_MAX, &path->out.count,
				  error) < 0)
		return -1;
	return hands_over ? weir_queues_are_rings(path->out.queue, path->out.count, at.text, error)
			  : 0;
}

struct path_fields {
	const char *name, *in;
	enum weir_direction direction;
	const json_t *stages, *out;
};

static const struct weir_field path_fields[] = {
	{"name", WEIR_FIELD_NAME, true, .max = WEIR_NAME_BYTES_MAX,
	 WEIR_INTO(struct path_fields, name)},
	{"direction", WEIR_FIELD_CHOICE, .choices = weir_directions,
	 WEIR_INTO(struct path_fields, direction)},
	{"in", WEIR_FIELD_STRING, true, WEIR_INTO(struct path_fields, in)},
	{"stages", WEIR_FIELD_LIST, .max = WEIR_STAGES_MAX, WEIR_INTO(struct path_fields, stages)},
	{"out", WEIR_FIELD_JSON, WEIR_INTO(struct path_fields, out)},
	{0},
};

/* The next stage of the last path of the chain, which is the target. */
static int
next_stage_from_json(const json_t *object, const char *where, void *target,
		     struct weir_error *error)
{
	struct weir_chain *chain = target;
	struct weir_path *path = &chain->paths[chain->path_count - 1];

	if (stage_from_json(object, where, chain, &path->stages[path->stage_count], error) < 0)
		return -1;
	path->stage_count++;
	return 0;
}

/* The next path of the chain, which is the target. */
static int
path_from_json(const json_t *object, const char *where, void *target, struct weir_error *error)
{
	struct weir_chain *chain = target;
	struct weir_path *path = &chain->paths[chain->path_count++];
	struct path_fields fields;

	if (weir_read(object, where, path_fields, &fields, error) < 0 ||
	    weir_queue_from_name(fields.in, weir_at(where, "in").text, &path->in, error) < 0)
		return -1;
	snprintf(path->name, sizeof(path->name), "%s", fields.name);
	path->direction = fields.direction;
	if (weir_read_each(fields.stages, weir_at(where, "stages").text, next_stage_from_json,
			   chain, error) < 0)
		return -1;
	return outputs_from_json(fields.out, where, chain->hands_over, path, error);
}

struct chain_fields {
	struct weir_area_head head; /* first */
	const json_t *paths;
	uint32_t fastpath_flows;
	const json_t *offload;
};

static const struct weir_field chain_fields[] = {
	WEIR_AREA_FIELDS,
	{"paths", WEIR_FIELD_LIST, true, 1, WEIR_PATHS_MAX, WEIR_INTO(struct chain_fields, paths)},
	{"fastpath_flows", WEIR_FIELD_COUNT, .min = 1, .max = 1 << 24,
	 WEIR_INTO(struct chain_fields, fastpath_flows)},
	{"offload", WEIR_FIELD_JSON, WEIR_INTO(struct chain_fields, offload)},
	{0},
};

static struct weir_area *
from_json(const json_t *object, const char *where,
	  struct weir_chain *(*create)(const char *name, unsigned int core, bool ledger),
	  struct weir_error *error)
{
	struct chain_fields fields;
	struct weir_chain *chain;

	if (weir_read(object, where, chain_fields, &fields, error) < 0)
		return NULL;
	chain = create(fields.head.name, fields.head.core, weir_dataplane.loop.ledger);
	if (chain == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for area '%s'",
			  fields.head.name);
		return NULL;
	}
	if (weir_read_each(fields.paths, weir_at(where, "paths").text, path_from_json, chain,
			   error) < 0 ||
	    weir_chain_complete(chain, fields.fastpath_flows, error) < 0 ||
	    weir_offload_from_json(fields.offload, weir_at(where, "offload").text, chain, error) <
		    0) {
		weir_chain_destroy(chain);
		return NULL;
	}
	return &chain->area;
}

static struct weir_area *
chain_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_chain_create, error);
}

static struct weir_area *
state_core_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_state_core_create, error);
}

static void
destroy(struct weir_area *area)
{
	weir_chain_destroy((struct weir_chain *)area);
}

static json_t *
stage_to_json(const struct weir_stage *stage)
{
	const struct weir_stage_ledger *ledger = &stage->ledger;
	json_t *drops = json_object();

	for (unsigned int i = 0; i < stage->nf->drop_reason_count; i++)
		json_object_set_new(drops, stage->nf->drop_reasons[i].symbol,
				    weir_counter_json(&ledger->drops[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "nf", stage->nf->name, "in",
			 weir_counter_json(&ledger->packets_in), "out",
			 weir_counter_json(&ledger->packets_out), "held",
			 weir_counter_json(&ledger->held), "originated",
			 weir_counter_json(&ledger->originated), "cycles",
			 weir_counter_json(&ledger->cycles), "long_cycles",
			 weir_counter_json(&ledger->long_cycles), "drops", drops);
}

static json_t *
path_to_json(const struct weir_path *path)
{
	const struct weir_fastpath_ledger *fastpath = &path->fastpath.ledger;
	json_t *stages = json_array(), *object;

	for (unsigned int i = 0; i < path->stage_count; i++)
		json_array_append_new(stages, stage_to_json(&path->stages[i]));
	object = weir_path_json(path->name, &path->in, 1, &path->out, &path->rx_packets, stages);
	json_object_set_new(
		object, "fastpath",
		path->fastpath.cache == NULL
			? json_null()
			: json_pack("{s:o, s:o, s:o, s:I}", "hits",
				    weir_counter_json(&fastpath->hits), "slow_packets",
				    weir_counter_json(&fastpath->slow_packets), "cycles",
				    weir_counter_json(&fastpath->cycles), "flows",
				    (json_int_t)weir_flow_cache_count(path->fastpath.cache)));
	weir_offload_into_json(path, object);
	return object;
}

static void
add_paths(const struct weir_area *area, json_t *list)
{
	const struct weir_chain *chain = (const struct weir_chain *)area;

	for (unsigned int i = 0; i < chain->path_count; i++)
		json_array_append_new(list, path_to_json(&chain->paths[i]));
}

const struct weir_area_kind weir_chain_kinds[] = {
	{"chain", chain_from_json, destroy, .add_paths = add_paths, .runs_functions = true},
	{"state_core", state_core_from_json, destroy, .add_paths = add_paths,
	 .runs_functions = true},
	{0},
};
