/* SPDX-License-Identifier: Apache-2.0 */
#include "services.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "toolkit/entries.h"
#include "endpoint.h"
#include "maglev.h"

uint16_t
lb_set_choose(const struct lb_set *set, uint16_t service, const struct weir_tuple *tuple)
{
	const uint16_t *table = set->services[service].table;
	uint64_t to = (uint64_t)ntohl(tuple->dst_ip) << 8 | tuple->protocol;
	uint64_t from = (uint64_t)ntohl(tuple->src_ip) << 32 |
			(uint64_t)ntohs(tuple->src_port) << 16 | ntohs(tuple->dst_port);

	if (table == NULL)
		return LB_NONE;
	return table[weir_mix(from + weir_mix(to)) % set->table_size];
}

bool
lb_set_has_address(const struct lb_set *set, uint32_t ip, uint8_t protocol, uint8_t role)
{
	for (uint32_t i = 0; i < LB_PLACES; i++) {
		struct lb_endpoint endpoint;

		memcpy(&endpoint, &set->places[i].endpoint, sizeof(endpoint));
		if (endpoint.ip == ip && endpoint.protocol == protocol && endpoint.role == role)
			return true;
	}
	return false;
}

static void
place(struct lb_set *set, struct lb_endpoint endpoint, uint16_t number)
{
	uint64_t word = lb_endpoint_word(endpoint);
	uint32_t at = rte_hash_crc_8byte(word, 0) % LB_PLACES;

	while (set->places[at].endpoint != 0)
		at = (at + 1) % LB_PLACES;
	set->places[at] = (struct lb_place){.endpoint = word, .number = number};
}

static uint16_t
service_at(struct lb_set *set, struct lb_endpoint vip)
{
	uint16_t number = lb_set_find(set, vip);

	if (number != LB_NONE || set->service_count == LB_SERVICES_MAX)
		return number;
	number = set->service_count++;
	set->services[number].at = vip;
	place(set, vip, number);
	return number;
}

/* Puts a back-end in, or takes a draining one back into service. Its number, or -1. */
static int
add(struct lb_set *set, uint16_t service, struct lb_endpoint at, const char *text,
    const char *where, struct weir_error *error)
{
	uint16_t number = lb_set_find(set, at);

	if (number != LB_NONE && set->backends[number].service != service)
		return weir_fail(error, "bad_argument", where,
				 "each back-end's address and port in one service of a protocol",
				 "give the back-end another port for this service",
				 "back-end %s is in another service", text);
	if (number != LB_NONE) {
		set->backends[number].state = LB_ACTIVE;
		return number;
	}
	for (number = 0; number < LB_BACKENDS_MAX; number++) {
		struct lb_backend *backend = &set->backends[number];

		if (backend->state != LB_FREE)
			continue;
		backend->at = at;
		backend->service = service;
		backend->state = LB_ACTIVE;
		place(set, at, number);
		return number;
	}
	return weir_fail(error, "bad_argument", where, "1,024 back-ends at most", NULL,
			 "there is no room for back-end %s", text);
}

static int
by_name(const void *left, const void *right)
{
	uint64_t a = ((const struct maglev_entry *)left)->name;
	uint64_t b = ((const struct maglev_entry *)right)->name;

	return (a > b) - (a < b);
}

/* Maglev's table over the active back-ends of one service. */
static int
fill_table(struct lb_set *set, uint16_t service, const char *where, struct weir_error *error)
{
	struct maglev_entry entries[LB_BACKENDS_MAX];
	unsigned int count = 0;
	uint16_t *table;

	for (uint16_t i = 0; i < LB_BACKENDS_MAX; i++) {
		const struct lb_backend *backend = &set->backends[i];

		if (backend->state == LB_ACTIVE && backend->service == service)
			entries[count++] = (struct maglev_entry){
				.name = (uint64_t)ntohl(backend->at.ip) << 16 |
					ntohs(backend->at.port),
				.number = i,
			};
	}
	set->services[service].table = NULL;
	if (count == 0)
		return 0;
	qsort(entries, count, sizeof(entries[0]), by_name);
	table = rte_malloc("maglev", set->table_size * sizeof(*table), RTE_CACHE_LINE_SIZE);
	if (table == NULL || !maglev_fill(table, set->table_size, entries, count)) {
		rte_free(table);
		return weir_fail(error, "no_memory", where, NULL, NULL,
				 "no memory for the balancer's tables");
	}
	set->services[service].table = table;
	return 0;
}

static int
fill_tables(struct lb_set *set, const char *where, struct weir_error *error)
{
	for (uint16_t i = 0; i < set->service_count; i++) {
		if (fill_table(set, i, where, error) < 0)
			return -1;
	}
	return 0;
}

/* One "SERVICE BACKEND" entry. */
static int
add_entry(void *argument, char *entry, const char *where, struct weir_error *error)
{
	struct lb_set *set = argument;
	char service[LB_ENDPOINT_TEXT], backend[LB_ENDPOINT_TEXT], more;
	struct lb_endpoint vip, at;
	uint16_t number;

	if (sscanf(entry, "%31s %31s %c", service, backend, &more) != 2)
		return weir_fail(error, "bad_argument", where,
				 "entries such as 203.0.113.10:80/tcp 10.0.0.1:8080", NULL,
				 "'%s' is not a service and a back-end", entry);
	if (lb_endpoints_parse(service, backend, &vip, &at, where, error) < 0)
		return -1;
	number = service_at(set, vip);
	if (number == LB_NONE)
		return weir_fail(error, "bad_argument", where, "64 services at most", NULL,
				 "there is no room for service %s", service);
	return add(set, number, at, backend, where, error) < 0 ? -1 : 0;
}

struct lb_set *
lb_set_create(const char *text, const char *path, uint32_t table_size, const char *where,
	      struct weir_error *error)
{
	struct lb_set *set = calloc(1, sizeof(*set));

	if (set == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the services");
		return NULL;
	}
	set->table_size = table_size;
	if (weir_entries_each("lb", text, path, add_entry, set, where, error) < 0 ||
	    fill_tables(set, where, error) < 0) {
		lb_set_free(set);
		return NULL;
	}
	return set;
}

void
lb_set_free(struct lb_set *set)
{
	if (set == NULL)
		return;
	for (uint16_t i = 0; i < set->service_count; i++)
		rte_free(set->services[i].table);
	free(set);
}

/* A copy without tables, which are still to be made. */
static struct lb_set *
copy_of(const struct lb_set *set)
{
	struct lb_set *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = *set;
	for (uint16_t i = 0; i < copy->service_count; i++)
		copy->services[i].table = NULL;
	return copy;
}

/* Rebuilds the hash of endpoints: a removed one leaves no gap. */
static void
place_all(struct lb_set *set)
{
	memset(set->places, 0, sizeof(set->places));
	for (uint16_t i = 0; i < set->service_count; i++)
		place(set, set->services[i].at, i);
	for (uint16_t i = 0; i < LB_BACKENDS_MAX; i++) {
		if (set->backends[i].state != LB_FREE)
			place(set, set->backends[i].at, i);
	}
}

static int
change_backend(struct lb_set *set, enum lb_change change, const char *service, const char *backend,
	       const char *where, struct weir_error *error)
{
	struct lb_endpoint vip, at;
	uint16_t service_number, number;

	if (lb_endpoints_parse(service, backend, &vip, &at, where, error) < 0)
		return -1;
	service_number = lb_set_find(set, vip);
	if (service_number == LB_NONE)
		return weir_fail(error, "bad_argument", where, "a service of this balancer", NULL,
				 "there is no service %s", service);
	if (change == LB_ADD)
		return add(set, service_number, at, backend, where, error);
	number = lb_set_find(set, at);
	if (number == LB_NONE || set->backends[number].service != service_number)
		return weir_fail(error, "bad_argument", where, "a back-end of that service", NULL,
				 "service %s has no back-end %s", service, backend);
	if (change == LB_DRAIN) {
		set->backends[number].state = LB_DRAINING;
	} else {
		set->backends[number].state = LB_FREE;
		set->backends[number].generation++;
		place_all(set);
	}
	return number;
}

struct lb_set *
lb_set_changed(const struct lb_set *set, enum lb_change change, const char *service,
	       const char *backend, uint16_t *number, const char *where, struct weir_error *error)
{
	struct lb_set *changed = copy_of(set);
	int found;

	if (changed == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the services");
		return NULL;
	}
	found = change_backend(changed, change, service, backend, where, error);
	if (found < 0 || fill_tables(changed, where, error) < 0) {
		lb_set_free(changed);
		return NULL;
	}
	*number = found;
	return changed;
}
