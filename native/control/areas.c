/* SPDX-License-Identifier: Apache-2.0 */
/* Areas from JSON. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "dataplane.h"
#include "port/port.h"
#include "traffic/traffic.h"
#include "verb.h"

const char *
weir_area_kind_name(enum weir_area_kind kind)
{
	static const char *const names[] = {
		[WEIR_AREA_CHAIN] = "chain",
		[WEIR_AREA_GENERATOR] = "generator",
		[WEIR_AREA_RECEIVER] = "receiver",
	};

	return names[kind];
}

/* A port or ring by name into `queue`. */
static int
queue_of(const char *name, const char *where, struct weir_queue *queue, struct weir_error *error)
{
	struct weir_port *port = weir_port_find(name);

	if (port != NULL) {
		*queue = port->queue;
		return 0;
	}
	snprintf(queue->name, sizeof(queue->name), "%s", name);
	queue->kind = WEIR_QUEUE_RING;
	queue->ring = weir_ring_find(name);
	if (queue->ring != NULL)
		return 0;
	return weir_fail(error, "bad_argument", where, "the name of a port or ring of this request",
			 NULL, "there is no port or ring '%s'", name);
}

static int
stage_from_json(const json_t *object, const char *where, struct weir_stage *stage,
		struct weir_error *error)
{
	static const char *const known[] = {"nf", "options", NULL};
	struct weir_option_value values[32];
	char texts[32][64];
	unsigned int count = 0;
	const char *name = NULL;
	const char *key;
	json_t *value;
	json_t *options = json_object_get(object, "options");

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_string(object, "nf", true, where, &name, error) < 0)
		return -1;
	stage->nf = weir_nf_find(name);
	if (stage->nf == NULL)
		return weir_fail(error, "bad_argument", where,
				 "a name that weir-dp --describe lists", NULL,
				 "there is no network function '%s'", name);
	if (options != NULL && !json_is_object(options))
		return weir_fail(error, "bad_argument", where, "an object", NULL, "bad 'options'");
	json_object_foreach(options, key, value)
	{
		if (count == RTE_DIM(values))
			return weir_fail(error, "bad_argument", where, "at most 32 options", NULL,
					 "too many options");
		if (json_is_string(value))
			snprintf(texts[count], sizeof(texts[count]), "%s",
				 json_string_value(value));
		else if (json_is_integer(value))
			snprintf(texts[count], sizeof(texts[count]), "%lld",
				 (long long)json_integer_value(value));
		else if (json_is_boolean(value))
			snprintf(texts[count], sizeof(texts[count]), "%s",
				 json_is_true(value) ? "true" : "false");
		else
			return weir_fail(error, "bad_argument", where,
					 "a string, whole number or boolean", NULL,
					 "option '%s' has the wrong type", key);
		values[count] = (struct weir_option_value){.name = key, .text = texts[count]};
		count++;
	}
	stage->state = weir_nf_create(stage->nf, values, count, where, error);
	return stage->state != NULL ? 0 : -1;
}

static int
path_from_json(const json_t *object, const char *where, struct weir_path *path,
	       struct weir_error *error)
{
	static const char *const known[] = {"name", "in", "stages", "out", NULL};
	const char *name = NULL, *in = NULL, *out = NULL;
	const json_t *stages;
	char stage_where[96];
	size_t index;
	json_t *stage;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_string(object, "name", true, where, &name, error) < 0 ||
	    weir_take_string(object, "in", true, where, &in, error) < 0 ||
	    weir_take_string(object, "out", false, where, &out, error) < 0 ||
	    weir_take_array(object, "stages", where, &stages, error) < 0)
		return -1;
	snprintf(path->name, sizeof(path->name), "%s", name);
	if (queue_of(in, where, &path->in, error) < 0)
		return -1;
	if (json_array_size(stages) > WEIR_STAGES_MAX)
		return weir_fail(error, "bad_argument", where, "at most 16 stages", NULL,
				 "too many stages");
	json_array_foreach((json_t *)stages, index, stage)
	{
		snprintf(stage_where, sizeof(stage_where), "%s.stages[%zu]", where, index);
		if (stage_from_json(stage, stage_where, &path->stages[index], error) < 0)
			return -1;
		path->stage_count++;
	}
	if (out != NULL)
		return queue_of(out, where, &path->out, error);
	path->out.kind = WEIR_QUEUE_NONE;
	if (path->stage_count == 0 || path->stages[path->stage_count - 1].nf->returns)
		return weir_fail(error, "bad_argument", where, "`out`, or a sink as the last stage",
				 NULL, "path '%s' has no way out", name);
	return 0;
}

static struct weir_area *
chain_from_json(const json_t *object, const char *name, unsigned int core, const char *where,
		struct weir_error *error)
{
	const json_t *paths;
	struct weir_chain *chain;
	char path_where[96];
	size_t index;
	json_t *path;

	if (weir_take_array(object, "paths", where, &paths, error) < 0)
		return NULL;
	if (json_array_size(paths) == 0 || json_array_size(paths) > WEIR_PATHS_MAX) {
		weir_fail(error, "bad_argument", where, "1 to 8 paths", NULL,
			  "area '%s' has %zu paths", name, json_array_size(paths));
		return NULL;
	}
	chain = weir_chain_create(name, core, weir_dataplane.loop.ledger);
	if (chain == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for area '%s'", name);
		return NULL;
	}
	json_array_foreach((json_t *)paths, index, path)
	{
		snprintf(path_where, sizeof(path_where), "%s.paths[%zu]", where, index);
		chain->path_count++;
		if (path_from_json(path, path_where, &chain->paths[index], error) < 0) {
			weir_chain_destroy(chain);
			return NULL;
		}
	}
	return &chain->area;
}

static struct weir_area *
tester_from_json(const json_t *object, enum weir_area_kind kind, const char *name,
		 unsigned int core, const char *where, struct weir_error *error)
{
	const char *port_name = NULL;
	struct weir_port *port;

	if (weir_take_string(object, "port", true, where, &port_name, error) < 0)
		return NULL;
	port = weir_port_find(port_name);
	if (port == NULL) {
		weir_fail(error, "bad_argument", where, "the name of a port of this request", NULL,
			  "there is no port '%s'", port_name);
		return NULL;
	}
	if (kind == WEIR_AREA_GENERATOR)
		return weir_generator_create(name, core, &port->queue, port->id, error);
	return weir_receiver_create(name, core, &port->queue, port->id, error);
}

int
weir_area_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const char *const chain_keys[] = {"name", "core", "kind", "paths", NULL};
	static const char *const tester_keys[] = {"name", "core", "kind", "port", NULL};
	const char *name = NULL, *kind_name = NULL;
	uint64_t core = UINT64_MAX;
	enum weir_area_kind kind = WEIR_AREA_CHAIN;
	struct weir_area *area;

	if (weir_take_string(object, "name", true, where, &name, error) < 0 ||
	    weir_take_string(object, "kind", true, where, &kind_name, error) < 0 ||
	    weir_take_count(object, "core", 0, 4095, where, &core, error) < 0)
		return -1;
	while (kind <= WEIR_AREA_RECEIVER && strcmp(weir_area_kind_name(kind), kind_name) != 0)
		kind++;
	if (kind > WEIR_AREA_RECEIVER)
		return weir_fail(error, "bad_argument", where, "chain, generator or receiver", NULL,
				 "there is no kind of area '%s'", kind_name);
	if (weir_refuse_unknown(object, where, kind == WEIR_AREA_CHAIN ? chain_keys : tester_keys,
				error) < 0)
		return -1;
	if (core == UINT64_MAX)
		return weir_fail(error, "bad_argument", where, NULL, NULL, "'core' is missing");
	if (weir_dataplane.area_count == WEIR_AREAS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 256 areas", NULL,
				 "too many areas");
	area = kind == WEIR_AREA_CHAIN ? chain_from_json(object, name, core, where, error)
				       : tester_from_json(object, kind, name, core, where, error);
	if (area == NULL)
		return -1;
	weir_dataplane.areas[weir_dataplane.area_count++] =
		(struct weir_placed_area){.kind = kind, .area = area};
	return weir_area_add(area, error);
}
