/* SPDX-License-Identifier: Apache-2.0 */
#include "path_json.h"

#include <stdio.h>

#include "dataplane.h"
#include "engine/nf.h"
#include "port/port.h"

const char *const weir_directions[] = {
	[WEIR_OUTBOUND] = "outbound",
	[WEIR_INBOUND] = "inbound",
	NULL,
};

int
weir_read_port(const json_t *name, const char *where, void *target, struct weir_error *error)
{
	struct weir_port **port = target;

	if (!json_is_string(name))
		return weir_fail(error, "bad_argument", where, "a string", NULL,
				 "the name of a port has the wrong type");
	*port = weir_port_find(json_string_value(name));
	if (*port == NULL)
		return weir_fail(error, "bad_argument", where, "the name of a configured port",
				 NULL, "there is no port '%s'", json_string_value(name));
	return 0;
}

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

json_t *
weir_counter_json(const uint64_t *counter)
{
	return json_integer((json_int_t)weir_counted(counter));
}

static json_t *
queue_names(const struct weir_queue *queues, unsigned int queue_count)
{
	json_t *names = json_array();

	for (unsigned int i = 0; i < queue_count; i++)
		json_array_append_new(names, json_string(queues[i].name));
	return names;
}

json_t *
weir_path_json(const char *name, const struct weir_queue *inputs, unsigned int input_count,
	       const struct weir_outputs *out, const uint64_t *rx_packets, json_t *stages)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o}", "name", name, "inputs",
			 queue_names(inputs, input_count), "outputs",
			 queue_names(out->queue, out->count), "rx_packets",
			 weir_counter_json(rx_packets), "tx_packets",
			 weir_counter_json(&out->tx_packets), "drops", "tx_queue_full",
			 weir_counter_json(&out->tx_queue_full), "no_output",
			 weir_counter_json(&out->no_output), "stages", stages);
}
