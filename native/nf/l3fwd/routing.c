/* SPDX-License-Identifier: Apache-2.0 */
/* Routes and the next hops that they share. */
#include "station.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <rte_hash_crc.h>
#include <rte_malloc.h>

static_assert(sizeof(struct l3fwd_target) == 26, "a key without holes");
static_assert(sizeof(struct l3fwd_next_hop) == 32, "two next hops a cache line");

static struct rte_hash *
targets_create(uint32_t count)
{
	static atomic_uint made;
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		.entries = RTE_MAX(count, 8U),
		.key_len = sizeof(struct l3fwd_target),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all that it has room for */
	};

	snprintf(name, sizeof(name), "next-hops-%u", atomic_fetch_add(&made, 1));
	return rte_hash_create(&parameters);
}

static void
addresses_set(struct l3fwd_next_hop *hop, enum weir_direction direction,
	      const struct rte_ether_addr *destination, const struct rte_ether_addr *source)
{
	memcpy(hop->addresses[direction], destination, RTE_ETHER_ADDR_LEN);
	memcpy(hop->addresses[direction] + RTE_ETHER_ADDR_LEN, source, RTE_ETHER_ADDR_LEN);
}

/* Where the target leads, from each direction. */
static void
next_hop_set(const struct l3fwd *l3fwd, struct l3fwd_next_hop *hop,
	     const struct l3fwd_target *target)
{
	const struct rte_ether_addr *sources[] = {&l3fwd->src_mac, &l3fwd->inbound_src_mac};
	const struct rte_ether_addr *defaults[] = {&l3fwd->dst_mac, &l3fwd->inbound_dst_mac};

	for (enum weir_direction way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		enum weir_direction side = way;

		if (l3fwd->inside_output != 0)
			side = target->egress == l3fwd->inside_output ? WEIR_INBOUND
								      : WEIR_OUTBOUND;
		addresses_set(hop, way,
			      rte_is_zero_ether_addr(&target->mac) ? defaults[side] : &target->mac,
			      sources[side]);
	}
	hop->egress = target->egress;
	hop->kind = target->kind;
	hop->usable = true;
}

const struct l3fwd_target *
l3fwd_target_of(const struct l3fwd_routing *routing, uint16_t number)
{
	void *key = NULL;

	rte_hash_get_key_with_position(routing->targets, number - 1, &key);
	return key;
}

const struct l3fwd_next_hop *
l3fwd_next_hop_to(const struct l3fwd *l3fwd, const struct weir_ip_address *address,
		  uint16_t *number)
{
	const struct l3fwd_routing *routing = l3fwd->routing;
	const uint8_t *bytes = address->bytes;
	weir_prefix_found found;
	uint32_t ipv4;

	if (address->ipv6) {
		weir_prefix_lookup_ipv6(&routing->tables[L3FWD_IPV6], &bytes, &found, 1);
	} else {
		memcpy(&ipv4, bytes, sizeof(ipv4));
		ipv4 = rte_be_to_cpu_32(ipv4);
		weir_prefix_lookup_ipv4(&routing->tables[L3FWD_IPV4], &ipv4, &found, 1);
	}
	*number = weir_prefix_next_hop(found);
	return &routing->next_hops[*number];
}

struct l3fwd_routing *
l3fwd_routing_create(const struct l3fwd *l3fwd, const char *where, struct weir_error *error)
{
	struct l3fwd_routing *routing = rte_zmalloc("l3fwd", sizeof(*routing), 0);
	bool complete;

	if (routing == NULL)
		goto failed;
	routing->targets = targets_create(l3fwd->next_hops_max);
	routing->next_hops =
		rte_zmalloc("l3fwd-next-hops",
			    (RTE_MAX(l3fwd->next_hops_max, 8U) + 1) * sizeof(struct l3fwd_next_hop),
			    RTE_CACHE_LINE_SIZE);
	complete = routing->targets != NULL && routing->next_hops != NULL;
	for (unsigned int i = 0; i < L3FWD_FAMILIES && complete; i++)
		complete = weir_prefix_table_init(&routing->tables[i], l3fwd->routes_max[i],
						  l3fwd->groups_max[i]) == 0;
	if (!complete) {
		l3fwd_routing_free(routing);
		goto failed;
	}
	if (!rte_is_zero_ether_addr(&l3fwd->dst_mac) && l3fwd->station == NULL)
		next_hop_set(l3fwd, &routing->next_hops[0], &(struct l3fwd_target){.egress = 0});
	if (l3fwd->station != NULL && l3fwd_station_connect(l3fwd, routing, where, error) < 0) {
		l3fwd_routing_free(routing);
		return NULL;
	}
	return routing;
failed:
	weir_fail(error, "no_memory", where, NULL, "give weir-dp more with --memory-mb",
		  "no memory for the routes of l3fwd");
	return NULL;
}

void
l3fwd_routing_free(struct l3fwd_routing *routing)
{
	if (routing == NULL)
		return;
	for (unsigned int i = 0; i < L3FWD_FAMILIES; i++) {
		weir_prefix_table_free(&routing->tables[i]);
		rte_free(routing->invalidation[i]);
	}
	rte_hash_free(routing->targets);
	rte_free(routing->next_hops);
	rte_free(routing);
}

static bool
make_invalidation_lists(struct l3fwd_routing *routing, enum l3fwd_family family)
{
	size_t count = (size_t)weir_prefix_table_highest(&routing->tables[family]) + 1;

	if (routing->invalidation[family] == NULL)
		routing->invalidation[family] = rte_zmalloc(
			"l3fwd-invalidation", count * sizeof(struct weir_invalidation_list), 0);
	return routing->invalidation[family] != NULL;
}

/* Names of the families' limits in options and messages. */
static const char *const routes_options[] = {"ipv4_routes_max", "ipv6_routes_max"};
static const char *const groups_options[] = {"ipv4_groups_max", "ipv6_groups_max"};

int
l3fwd_route_room(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		 const struct l3fwd_route *route, const char *what, const char *where,
		 struct weir_error *error)
{
	enum l3fwd_family family = route->family;
	enum weir_prefix_room room =
		weir_prefix_table_room(&routing->tables[family], &route->prefix);
	char hint[96];

	if (room == WEIR_PREFIX_ROOM && !make_invalidation_lists(routing, family))
		room = WEIR_PREFIX_NO_MEMORY;
	switch (room) {
	case WEIR_PREFIX_ROOM:
		break;
	case WEIR_PREFIX_NO_ROUTES:
		snprintf(hint, sizeof(hint), "raise %s", routes_options[family]);
		return weir_fail(error, "bad_argument", where, NULL, hint,
				 "%s: there is room for %lu routes only", what,
				 l3fwd->routes_max[family]);
	case WEIR_PREFIX_NO_GROUPS:
		snprintf(hint, sizeof(hint), "raise %s", groups_options[family]);
		return weir_fail(error, "bad_argument", where, NULL, hint,
				 "%s: the %lu groups for prefixes longer than /24 are used up",
				 what, l3fwd->groups_max[family]);
	case WEIR_PREFIX_NO_MEMORY:
		return weir_fail(error, "no_memory", where, NULL,
				 "give weir-dp more with --memory-mb", "%s: no memory", what);
	}
	if (rte_hash_lookup(routing->targets, &route->target) < 0 &&
	    (uint64_t)rte_hash_count(routing->targets) >= l3fwd->next_hops_max)
		return weir_fail(error, "bad_argument", where, NULL, "raise next_hops_max",
				 "%s: there is room for %lu next hops only", what,
				 l3fwd->next_hops_max);
	return 0;
}

static uint16_t
next_hop_take(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
	      const struct l3fwd_target *target)
{
	int position = rte_hash_add_key(routing->targets, target);
	struct l3fwd_next_hop *hop = &routing->next_hops[position + 1];

	assert(position >= 0);
	if (hop->routes++ == 0)
		next_hop_set(l3fwd, hop, target);
	return position + 1;
}

static void
next_hop_release(struct l3fwd_routing *routing, uint16_t number)
{
	struct l3fwd_target target;
	void *key;

	if (--routing->next_hops[number].routes > 0)
		return;
	rte_hash_get_key_with_position(routing->targets, number - 1, &key);
	memcpy(&target, key, sizeof(target));
	rte_hash_del_key(routing->targets, &target);
}

struct added {
	const struct weir_prefix_table *table;
	uint32_t route;
};

static bool
always(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	(void)tuple;
	(void)direction;
	(void)argument;
	return true;
}

/* Decisions of a station rest on neighbours, not on routes. */
static void
forget_all_of_station(const struct l3fwd *l3fwd, struct weir_flow_cache *cache)
{
	if (l3fwd->station != NULL)
		weir_flow_cache_forget_if(cache, l3fwd, always, NULL);
}

/* Whether the route is now what the packet's destination leads to: until now it was another one, or
 * none. */
static bool
leads_there(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	const struct added *added = argument;
	uint32_t destination = rte_be_to_cpu_32(tuple->dst_ip);
	weir_prefix_found found;

	(void)direction;
	weir_prefix_lookup_ipv4(added->table, &destination, &found, 1);
	return weir_prefix_route(found) == added->route;
}

/* IPv6 decisions are not remembered: there is nothing to forget. */
void
l3fwd_route_add(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		const struct l3fwd_route *route, struct weir_flow_cache *cache)
{
	struct weir_prefix_table *table = &routing->tables[route->family];
	uint32_t before = weir_prefix_table_find(table, &route->prefix);
	uint16_t next_hop = next_hop_take(l3fwd, routing, &route->target);
	struct added added = {.table = table};

	if (before != 0)
		next_hop_release(routing, weir_prefix_table_next_hop(table, before));
	added.route = weir_prefix_table_add(table, &route->prefix, next_hop);
	if (before != 0)
		weir_flow_cache_forget(cache, &routing->invalidation[route->family][before]);
	else if (route->family == L3FWD_IPV4)
		weir_flow_cache_forget_if(cache, l3fwd, leads_there, &added);
	forget_all_of_station(l3fwd, cache);
}

void
l3fwd_route_delete(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		   const struct l3fwd_route *route, struct weir_flow_cache *cache)
{
	struct weir_prefix_table *table = &routing->tables[route->family];
	uint32_t number = weir_prefix_table_remove(table, &route->prefix);

	if (number == 0)
		return;
	weir_flow_cache_forget(cache, &routing->invalidation[route->family][number]);
	next_hop_release(routing, weir_prefix_table_next_hop(table, number));
	forget_all_of_station(l3fwd, cache);
}
