/* SPDX-License-Identifier: Apache-2.0 */
/* The tester's areas, from JSON: `generator` and `receiver`, `clients` and `servers`. */
#include "areas.h"
#include "dataplane.h"
#include "path_json.h"
#include "port/port.h"
#include "traffic/connections/connections.h"

struct tester_fields {
	struct weir_area_head head; /* first */
	struct weir_port *port;
};

static const struct weir_field tester_fields[] = {
	WEIR_AREA_FIELDS,
	{"port", WEIR_FIELD_READ, true, .read = weir_read_port,
	 WEIR_INTO(struct tester_fields, port)},
	{0},
};

static struct weir_area *
from_json(const json_t *object, const char *where,
	  struct weir_area *(*create)(const char *name, unsigned int core,
				      const struct weir_queue *queue, uint16_t port_id,
				      struct weir_error *error),
	  struct weir_error *error)
{
	struct tester_fields fields;

	if (weir_read(object, where, tester_fields, &fields, error) < 0)
		return NULL;
	fields.port->has_area = true;
	return create(fields.head.name, fields.head.core, &fields.port->queue, fields.port->id,
		      error);
}

static struct weir_area *
generator_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_generator_create, error);
}

static struct weir_area *
receiver_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_receiver_create, error);
}

static struct weir_area *
clients_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_clients_create, error);
}

static struct weir_area *
servers_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	return from_json(object, where, weir_servers_create, error);
}

const struct weir_area_kind weir_tester_kinds[] = {
	{"generator", generator_from_json, weir_generator_destroy},
	{"receiver", receiver_from_json, weir_receiver_destroy},
	{"clients", clients_from_json, weir_clients_destroy},
	{"servers", servers_from_json, weir_servers_destroy},
	{0},
};
