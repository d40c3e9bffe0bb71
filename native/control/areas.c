/* SPDX-License-Identifier: Apache-2.0 */
/* Areas from JSON. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "chain_json.h"
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

struct weir_chain *
weir_chain_named(const char *name)
{
	for (unsigned int i = 0; i < weir_dataplane.area_count; i++) {
		const struct weir_placed_area *placed = &weir_dataplane.areas[i];

		if (placed->kind == WEIR_AREA_CHAIN && strcmp(placed->area->name, name) == 0)
			return (struct weir_chain *)placed->area;
	}
	return NULL;
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
	if (kind == WEIR_AREA_GENERATOR)
		return weir_generator_create(name, core, &port->queue, port->id, error);
	return weir_receiver_create(name, core, &port->queue, port->id, error);
}

int
weir_area_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const char *const chain_keys[] = {"name",  "core",	    "kind",
						 "paths", "fastpath_flows", NULL};
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
		return weir_fail(error, "bad_argument", weir_at(where, "kind").text,
				 "chain, generator or receiver", NULL,
				 "there is no kind of area '%s'", kind_name);
	if (weir_refuse_unknown(object, where, kind == WEIR_AREA_CHAIN ? chain_keys : tester_keys,
				error) < 0)
		return -1;
	if (core == UINT64_MAX)
		return weir_missing(where, "core", error);
	if (weir_dataplane.area_count == WEIR_AREAS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 256 areas", NULL,
				 "too many areas");
	area = kind == WEIR_AREA_CHAIN ? weir_chain_from_json(object, name, core, where, error)
				       : tester_from_json(object, kind, name, core, where, error);
	if (area == NULL)
		return -1;
	weir_dataplane.areas[weir_dataplane.area_count++] =
		(struct weir_placed_area){.kind = kind, .area = area};
	return weir_area_add(area, error);
}
