/* SPDX-License-Identifier: Apache-2.0 */
/* Areas from JSON. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "chain_json.h"
#include "dataplane.h"
#include "hops_json.h"
#include "port/port.h"
#include "traffic/traffic.h"
#include "verb.h"

const char *
weir_area_kind_name(enum weir_area_kind kind)
{
	static const char *const names[] = {
		[WEIR_AREA_CHAIN] = "chain",	       [WEIR_AREA_OWNER] = "owner",
		[WEIR_AREA_DISPATCHER] = "dispatcher", [WEIR_AREA_APPLIER] = "applier",
		[WEIR_AREA_COLLECTOR] = "collector",   [WEIR_AREA_GENERATOR] = "generator",
		[WEIR_AREA_RECEIVER] = "receiver",
	};

	return names[kind];
}

const struct weir_placed_area *
weir_area_named(const char *name)
{
	for (unsigned int i = 0; i < weir_dataplane.area_count; i++) {
		if (strcmp(weir_dataplane.areas[i].area->name, name) == 0)
			return &weir_dataplane.areas[i];
	}
	return NULL;
}

struct weir_chain *
weir_chain_named(const char *name)
{
	const struct weir_placed_area *placed = weir_area_named(name);

	return placed != NULL && weir_area_runs_functions(placed->kind)
		       ? (struct weir_chain *)placed->area
		       : NULL;
}

struct weir_stage *
weir_chain_stage_named(struct weir_chain *chain, const char *name)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			struct weir_stage *stage = &path->stages[j];
			const char *called = stage->name[0] != '\0' ? stage->name : stage->nf->name;

			if (!stage->shares_state && strcmp(called, name) == 0)
				return stage;
		}
	}
	return NULL;
}

void
weir_area_destroy(const struct weir_placed_area *placed)
{
	if (weir_area_runs_functions(placed->kind))
		weir_chain_destroy((struct weir_chain *)placed->area);
	else if (weir_area_has_hops(placed->kind))
		weir_hops_destroy((struct weir_hops *)placed->area);
	else if (placed->kind == WEIR_AREA_GENERATOR)
		weir_generator_destroy(placed->area);
	else
		weir_receiver_destroy(placed->area);
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
		weir_fail(error, "bad_argument", weir_at(where, "port").text,
			  "the name of a port of this request", NULL, "there is no port '%s'",
			  port_name);
		return NULL;
	}
	port->has_area = true;
	if (kind == WEIR_AREA_GENERATOR)
		return weir_generator_create(name, core, &port->queue, port->id, error);
	return weir_receiver_create(name, core, &port->queue, port->id, error);
}

static const char *const *
keys_of(enum weir_area_kind kind)
{
	static const char *const chain[] = {"name",  "core",	       "kind",
					    "paths", "fastpath_flows", NULL};
	static const char *const dispatcher[] = {"name", "core", "kind", "paths", "steer", NULL};
	static const char *const hops[] = {"name", "core", "kind", "paths", NULL};
	static const char *const tester[] = {"name", "core", "kind", "port", NULL};

	if (weir_area_runs_functions(kind))
		return chain;
	if (kind == WEIR_AREA_DISPATCHER)
		return dispatcher;
	return weir_area_has_hops(kind) ? hops : tester;
}

int
weir_area_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	const char *name = NULL, *kind_name = NULL;
	uint64_t core = UINT64_MAX;
	enum weir_area_kind kind = WEIR_AREA_CHAIN;
	struct weir_area *area;

	if (!json_is_object(object))
		return weir_refuse_unknown(object, where, keys_of(kind), error);
	if (weir_take_name(object, "name", true, WEIR_NAME_BYTES_MAX, where, &name, error) < 0 ||
	    weir_take_string(object, "kind", true, where, &kind_name, error) < 0 ||
	    weir_take_count(object, "core", 0, 4095, where, &core, error) < 0)
		return -1;
	while (kind < WEIR_AREA_KINDS && strcmp(weir_area_kind_name(kind), kind_name) != 0)
		kind++;
	if (kind == WEIR_AREA_KINDS)
		return weir_fail(
			error, "bad_argument", weir_at(where, "kind").text,
			"chain, owner, dispatcher, applier, collector, generator or receiver", NULL,
			"there is no kind of area '%s'", kind_name);
	if (weir_refuse_unknown(object, where, keys_of(kind), error) < 0)
		return -1;
	if (core == UINT64_MAX)
		return weir_missing(where, "core", error);
	if (weir_area_named(name) != NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text,
				 "a name of its own", NULL, "there is an area '%s' already", name);
	if (weir_dataplane.area_count == WEIR_AREAS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 256 areas", NULL,
				 "too many areas");
	if (weir_area_runs_functions(kind))
		area = weir_chain_from_json(object, kind == WEIR_AREA_OWNER, name, core, where,
					    error);
	else if (weir_area_has_hops(kind))
		area = weir_hops_from_json(object, kind, name, core, where, error);
	else
		area = tester_from_json(object, kind, name, core, where, error);
	if (area == NULL)
		return -1;
	weir_dataplane.areas[weir_dataplane.area_count++] =
		(struct weir_placed_area){.kind = kind, .area = area};
	return weir_area_add(area, error);
}

int
weir_area_connect(const json_t *object, const char *where, struct weir_error *error)
{
	const struct weir_placed_area *placed =
		weir_area_named(json_string_value(json_object_get(object, "name")));

	return placed->kind == WEIR_AREA_DISPATCHER
		       ? weir_dispatcher_connect(object, (struct weir_hops *)placed->area, where,
						 error)
		       : 0;
}
