/* SPDX-License-Identifier: Apache-2.0 */
/* The generators and receivers of this process, by the port that they serve. */
#include <string.h>

#include "stream.h"

struct list {
	unsigned int count;
	struct weir_area *area[WEIR_STREAMS_MAX];
};

static struct list generators, receivers;

struct weir_area *
weir_generator_of(uint16_t port_id)
{
	for (unsigned int i = 0; i < generators.count; i++) {
		if (weir_generator_port(generators.area[i]) == port_id)
			return generators.area[i];
	}
	return NULL;
}

struct weir_area *
weir_receiver_of(uint16_t port_id)
{
	for (unsigned int i = 0; i < receivers.count; i++) {
		if (weir_receiver_port_id(receivers.area[i]) == port_id)
			return receivers.area[i];
	}
	return NULL;
}

int
weir_tester_area_add(struct weir_area *area, bool sends, struct weir_error *error)
{
	struct list *list = sends ? &generators : &receivers;
	const char *kind = sends ? "generator" : "receiver";
	const struct weir_area *other = sends ? weir_generator_of(weir_generator_port(area))
					      : weir_receiver_of(weir_receiver_port_id(area));

	if (other != NULL)
		return weir_fail(error, "bad_argument", area->name, "a port without one", NULL,
				 "the port has a %s already: '%s'", kind, other->name);
	if (list->count == WEIR_STREAMS_MAX)
		return weir_fail(error, "bad_argument", area->name,
				 "at most 64 generators and 64 receivers", NULL, "too many %ss",
				 kind);
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
weir_receiver_count(void)
{
	return receivers.count;
}

struct weir_area *
weir_receiver_at(unsigned int index)
{
	return receivers.area[index];
}

void
weir_tester_areas_clear(void)
{
	for (unsigned int i = 0; i < generators.count; i++)
		weir_generator_take(generators.area[i], NULL, 0);
	for (unsigned int i = 0; i < receivers.count; i++)
		weir_receiver_take(receivers.area[i], NULL);
}
