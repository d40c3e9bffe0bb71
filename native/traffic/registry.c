/* SPDX-License-Identifier: Apache-2.0 */
/* Registry of the tester: generators and receivers by port, streams by index, and the state of the
 * run that all areas read. */
#include <string.h>

#include "stream.h"

uint16_t weir_epoch;
bool weir_run_closed;

struct weir_stream *weir_streams[WEIR_STREAMS_MAX];
unsigned int weir_streams_used;

struct list {
	unsigned int count;
	uint16_t port_id[WEIR_STREAMS_MAX];
	struct weir_area *area[WEIR_STREAMS_MAX];
};

static struct list generators, receivers;

static struct weir_area *
area_of(const struct list *list, uint16_t port_id)
{
	for (unsigned int i = 0; i < list->count; i++) {
		if (list->port_id[i] == port_id)
			return list->area[i];
	}
	return NULL;
}

struct weir_area *
weir_generator_of(uint16_t port_id)
{
	return area_of(&generators, port_id);
}

struct weir_area *
weir_receiver_of(uint16_t port_id)
{
	return area_of(&receivers, port_id);
}

int
weir_tester_area_add(struct weir_area *area, bool sends, uint16_t port_id, struct weir_error *error)
{
	struct list *list = sends ? &generators : &receivers;
	const char *kind = sends ? "generator" : "receiver";
	const struct weir_area *other = area_of(list, port_id);

	if (other != NULL)
		return weir_fail(error, "bad_argument", area->name, "a port without one", NULL,
				 "the port has a %s already: '%s'", kind, other->name);
	if (list->count == WEIR_STREAMS_MAX)
		return weir_fail(error, "bad_argument", area->name,
				 "at most 64 generators and 64 receivers", NULL, "too many %ss",
				 kind);
	list->port_id[list->count] = port_id;
	list->area[list->count++] = area;
	return 0;
}

static void
take_out(struct list *list, const struct weir_area *area)
{
	for (unsigned int i = 0; i < list->count; i++) {
		if (list->area[i] != area)
			continue;
		list->count--;
		memmove(&list->area[i], &list->area[i + 1],
			(list->count - i) * sizeof(list->area[0]));
		memmove(&list->port_id[i], &list->port_id[i + 1],
			(list->count - i) * sizeof(list->port_id[0]));
		return;
	}
}

void
weir_tester_area_remove(struct weir_area *area)
{
	take_out(&generators, area);
	take_out(&receivers, area);
}

unsigned int
weir_generator_count(void)
{
	return generators.count;
}

struct weir_area *
weir_generator_at(unsigned int index)
{
	return generators.area[index];
}

unsigned int
weir_receiver_count(void)
{
	return receivers.count;
}

struct weir_area *
weir_receiver_at(unsigned int index)
{
	return receivers.area[index];
}

unsigned int
weir_stream_count(void)
{
	return weir_streams_used;
}

struct weir_stream *
weir_stream_at(unsigned int index)
{
	return weir_streams[index];
}

uint16_t
weir_stream_id(unsigned int index)
{
	return weir_streams[index]->config.id;
}
