/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_json.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "dataplane.h"
#include "port/port.h"

int
weir_queue_from_name(const char *name, const char *where, struct weir_queue *queue,
		     struct weir_error *error)
{
	struct weir_port *port = weir_port_find(name);

	if (port != NULL) {
		*queue = port->queue;
		port->has_area = true;
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

int
weir_queues_from_json(const json_t *names, const char *where, struct weir_queue *queues,
		      unsigned int max, unsigned int *count, struct weir_error *error)
{
	size_t length = json_is_array(names) ? json_array_size(names) : 1;
	char expected[32];

	snprintf(expected, sizeof(expected), "1 to %u names", max);
	if (length == 0 || length > max)
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "a list of %zu names", length);
	for (size_t i = 0; i < length; i++) {
		const json_t *name = json_is_array(names) ? json_array_get(names, i) : names;

		if (!json_is_string(name))
			return weir_fail(error, "bad_argument", where, "a name or a list of names",
					 NULL, "one of the names is not a string");
		if (weir_queue_from_name(json_string_value(name), where, &queues[i], error) < 0)
			return -1;
		*count = i + 1;
	}
	return 0;
}

int
weir_queues_are_rings(const struct weir_queue *queues, unsigned int count, const char *where,
		      struct weir_error *error)
{
	for (unsigned int i = 0; i < count; i++) {
		if (queues[i].kind != WEIR_QUEUE_RING)
			return weir_fail(error, "bad_argument", where,
					 "the names of rings of this request", NULL,
					 "'%s' is a port", queues[i].name);
	}
	return 0;
}

int
weir_direction_from_json(const json_t *object, const char *where, enum weir_direction *direction,
			 struct weir_error *error)
{
	const char *name = "outbound";

	if (weir_take_string(object, "direction", false, where, &name, error) < 0)
		return -1;
	*direction = strcmp(name, "inbound") == 0 ? WEIR_INBOUND : WEIR_OUTBOUND;
	if (*direction == WEIR_INBOUND || strcmp(name, "outbound") == 0)
		return 0;
	return weir_fail(error, "bad_argument", weir_at(where, "direction").text,
			 "outbound or inbound", NULL, "there is no direction '%s'", name);
}
