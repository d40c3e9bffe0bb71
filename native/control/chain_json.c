/* SPDX-License-Identifier: Apache-2.0 */
/* A chain from JSON: its paths, their queues and stages. */
#include "chain_json.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "dataplane.h"
#include "options_json.h"
#include "queue_json.h"
#include "verb.h"

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

/* Tells a new state which of how many it is; on failure it is destroyed. */
static int
share(const json_t *object, const char *where, struct weir_stage *stage, struct weir_error *error)
{
	uint64_t worker = 0, workers = 1;

	if (weir_take_count(object, "workers", 1, WEIR_OUTPUTS_MAX, where, &workers, error) == 0 &&
	    weir_take_count(object, "worker", 0, workers - 1, where, &worker, error) == 0 &&
	    (workers == 1 || stage->nf->share == NULL ||
	     stage->nf->share(stage->state, worker, workers, where, error) == 0))
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
	static const char *const known[] = {"nf", "name", "options", "worker", "workers", NULL};
	struct weir_option_values values;
	struct weir_place options_at = weir_at(where, "options");
	const json_t *options = json_object_get(object, "options");
	const struct weir_stage *same = NULL;
	const char *nf = NULL, *name = NULL;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_string(object, "nf", true, where, &nf, error) < 0 ||
	    weir_take_name(object, "name", false, sizeof(stage->name) - 1, where, &name, error) <
		    0 ||
	    weir_options_from_json(options, options_at.text, &values, error) < 0)
		return -1;
	stage->nf = weir_nf_find(nf);
	if (stage->nf == NULL && weir_nf_lacks(nf) != NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "nf").text,
				 weir_nf_lacks(nf), "install them and build weir-dp anew",
				 "this weir-dp was built without '%s'", nf);
	if (stage->nf == NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "nf").text,
				 "a name that weir-dp --describe lists", NULL,
				 "there is no network function '%s'", nf);
	if (chain->hands_over && stage->nf->decide == NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "nf").text,
				 "functions that decide: see weir-dp --describe", NULL,
				 "%s cannot leave its work to others", nf);
	if (name != NULL) {
		snprintf(stage->name, sizeof(stage->name), "%s", name);
		same = stage_named(chain, name);
	}
	if (same == NULL) {
		stage->state = weir_nf_create(stage->nf, values.value, values.count,
					      options_at.text, error);
		return stage->state != NULL ? share(object, where, stage, error) : -1;
	}
	if (same->nf != stage->nf || values.count > 0)
		return weir_fail(error, "bad_argument", where,
				 "the same function, and options at its first place only", NULL,
				 "'%s' is a %s already", name, same->nf->name);
	stage->state = same->state;
	stage->shares_state = true;
	return 0;
}

/* Where the path's packets go. An owner's go to rings, of which each is an applier's. */
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

static int
path_from_json(const json_t *object, const char *where, const struct weir_chain *chain,
	       struct weir_path *path, struct weir_error *error)
{
	static const char *const known[] = {"name", "direction", "in", "stages", "out", NULL};
	const char *name = NULL, *in = NULL;
	const json_t *stages;
	char stage_where[96];
	size_t index;
	json_t *stage;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_name(object, "name", true, WEIR_NAME_BYTES_MAX, where, &name, error) < 0 ||
	    weir_take_string(object, "in", true, where, &in, error) < 0 ||
	    weir_take_array(object, "stages", where, &stages, error) < 0 ||
	    weir_direction_from_json(object, where, &path->direction, error) < 0 ||
	    weir_queue_from_name(in, weir_at(where, "in").text, &path->in, error) < 0)
		return -1;
	snprintf(path->name, sizeof(path->name), "%s", name);
	if (json_array_size(stages) > WEIR_STAGES_MAX)
		return weir_fail(error, "bad_argument", weir_at(where, "stages").text,
				 "at most 16 stages", NULL, "too many stages");
	json_array_foreach((json_t *)stages, index, stage)
	{
		snprintf(stage_where, sizeof(stage_where), "%s.stages[%zu]", where, index);
		if (stage_from_json(stage, stage_where, chain, &path->stages[index], error) < 0)
			return -1;
		path->stage_count++;
	}
	return outputs_from_json(json_object_get(object, "out"), where, chain->hands_over, path,
				 error);
}

struct weir_area *
weir_chain_from_json(const json_t *object, bool owner, const char *name, unsigned int core,
		     const char *where, struct weir_error *error)
{
	const json_t *paths;
	uint64_t flows = 0;
	struct weir_chain *chain;
	char path_where[96];
	size_t index;
	json_t *path;

	if (weir_take_array(object, "paths", where, &paths, error) < 0)
		return NULL;
	if (json_array_size(paths) == 0 || json_array_size(paths) > WEIR_PATHS_MAX) {
		weir_fail(error, "bad_argument", weir_at(where, "paths").text, "1 to 8 paths", NULL,
			  "area '%s' has %zu paths", name, json_array_size(paths));
		return NULL;
	}
	chain = owner ? weir_owner_create(name, core, weir_dataplane.loop.ledger)
		      : weir_chain_create(name, core, weir_dataplane.loop.ledger);
	if (chain == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for area '%s'", name);
		return NULL;
	}
	json_array_foreach((json_t *)paths, index, path)
	{
		snprintf(path_where, sizeof(path_where), "%s.paths[%zu]", where, index);
		chain->path_count++;
		if (path_from_json(path, path_where, chain, &chain->paths[index], error) < 0) {
			weir_chain_destroy(chain);
			return NULL;
		}
	}
	if (weir_take_count(object, "fastpath_flows", 1, 1 << 24, where, &flows, error) < 0 ||
	    weir_chain_complete(chain, flows, error) < 0) {
		weir_chain_destroy(chain);
		return NULL;
	}
	return &chain->area;
}
