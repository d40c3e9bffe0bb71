/* SPDX-License-Identifier: Apache-2.0 */
/* Routes come and go while packets flow. */
#include "station.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "engine/chain.h"

struct route_arguments {
	char prefix[WEIR_OPTION_TEXT_BYTES];
	struct rte_ether_addr next_hop;
	char via[WEIR_OPTION_TEXT_BYTES];
	uint64_t egress;
};

#define PREFIX_ARGUMENT                                                                            \
	{                                                                                          \
		.name = "prefix", .type = WEIR_OPTION_TEXT,                                        \
		.help = "IPv4 or IPv6, such as 10.0.0.0/8 or 2001:db8::/32.",                      \
		.offset = offsetof(struct route_arguments, prefix),                                \
	}

static const struct weir_option add_arguments[] = {
	PREFIX_ARGUMENT,
	{
		.name = "next_hop",
		.type = WEIR_OPTION_MAC,
		.help = "The MAC address of the next hop.",
		.offset = offsetof(struct route_arguments, next_hop),
	},
	{
		.name = "egress",
		.type = WEIR_OPTION_INT,
		.default_text = "0",
		.min = 0,
		.max = WEIR_OUTPUTS_MAX - 1,
		.help = "The output of the path by which the next hop is reached; with `via` its "
			"link says it.",
		.offset = offsetof(struct route_arguments, egress),
	},
	{
		.name = "via",
		.type = WEIR_OPTION_TEXT,
		.help = "In place of next_hop: the address of a router on a link of its own.",
		.offset = offsetof(struct route_arguments, via),
	},
};

static const struct weir_option delete_arguments[] = {PREFIX_ARGUMENT};

struct load_arguments {
	char routes[WEIR_OPTION_TEXT_BYTES];
};

static const struct weir_option load_arguments[] = {
	{
		.name = "routes",
		.type = WEIR_OPTION_FILE,
		.help = "A file as option `routes` takes it.",
		.offset = offsetof(struct load_arguments, routes),
	},
};

static int
route_parse(const struct route_arguments *arguments, const char *where, struct l3fwd_route *route,
	    struct weir_error *error)
{
	memset(route, 0, sizeof(*route));
	if (!l3fwd_prefix_parse(arguments->prefix, route))
		return weir_fail(error, "bad_argument", where,
				 "a prefix such as 10.0.0.0/8 or 2001:db8::/32", NULL,
				 "'%s' is not a prefix, or has host bits", arguments->prefix);
	route->target.mac = arguments->next_hop;
	route->target.egress = arguments->egress;
	return 0;
}

/* Keeps the route for commit(). */
static int
keep(const struct l3fwd_route *route, const char *where, void **prepared, struct weir_error *error)
{
	*prepared = malloc(sizeof(*route));
	if (*prepared == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory");
	memcpy(*prepared, route, sizeof(*route));
	return 0;
}

static int
add_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	    struct weir_error *error)
{
	const struct l3fwd *l3fwd = state;
	struct l3fwd_route route;

	if (route_parse(arguments, where, &route, error) < 0)
		return -1;
	if (((const struct route_arguments *)arguments)->via[0] != '\0') {
		const char *wrong = l3fwd_gateway_parse(
			l3fwd, ((const struct route_arguments *)arguments)->via, &route);

		if (wrong != NULL)
			return weir_fail(error, "bad_argument", where,
					 "the address of a neighbour as `via`", NULL, "%s", wrong);
	} else if (!l3fwd_is_station(&route.target.mac))
		return weir_fail(error, "bad_argument", where, "the MAC address of a station", NULL,
				 "next_hop is not given, or is a group address");
	if (l3fwd_is_own(l3fwd->routing, &route))
		return weir_fail(error, "bad_argument", where, "a prefix of another route", NULL,
				 "%s is the router's own: its addresses are options",
				 ((const struct route_arguments *)arguments)->prefix);
	if (l3fwd_route_room(l3fwd, l3fwd->routing, &route, "route-add", where, error) < 0)
		return -1;
	return keep(&route, where, prepared, error);
}

static void
add_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct l3fwd *l3fwd = state;

	l3fwd_route_add(l3fwd, l3fwd->routing, prepared, cache);
}

static int
delete_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct l3fwd *l3fwd = state;
	struct l3fwd_route route;
	uint32_t number;

	if (route_parse(arguments, where, &route, error) < 0)
		return -1;
	number = weir_prefix_table_find(&l3fwd->routing->tables[route.family], &route.prefix);
	if (number == 0)
		return weir_fail(error, "bad_argument", where, "a prefix that has a route", NULL,
				 "there is no route for just %s",
				 ((const struct route_arguments *)arguments)->prefix);
	if (l3fwd_is_connected(l3fwd->routing, &route, number) ||
	    (l3fwd->station != NULL && l3fwd_station_connects(l3fwd->station, &route)))
		return weir_fail(error, "bad_argument", where, "a prefix of another route", NULL,
				 "%s is the router's own: its addresses are options",
				 ((const struct route_arguments *)arguments)->prefix);
	return keep(&route, where, prepared, error);
}

static void
delete_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct l3fwd *l3fwd = state;

	l3fwd_route_delete(l3fwd, l3fwd->routing, prepared, cache);
}

static int
load_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	     struct weir_error *error)
{
	const struct load_arguments *load = arguments;

	if (load->routes[0] == '\0')
		return weir_fail(error, "bad_argument", where, "the path of a file", NULL,
				 "routes-load needs `routes`");
	*prepared = l3fwd_routing_load(state, load->routes, where, error);
	return *prepared != NULL ? 0 : -1;
}

static bool
always(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	(void)tuple;
	(void)direction;
	(void)argument;
	return true;
}

/* Every decision rests on a route of before, or on there being none. `prepared` takes the routes of
 * before. */
static void
load_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct l3fwd *l3fwd = state;
	struct l3fwd_routing *loaded = prepared;
	struct l3fwd_routing before = *l3fwd->routing;

	weir_flow_cache_forget_if(cache, l3fwd, always, NULL);
	*l3fwd->routing = *loaded;
	*loaded = before;
}

static void
load_release(void *prepared)
{
	l3fwd_routing_free(prepared);
}

const struct weir_command l3fwd_commands[3] = {
	{
		.name = "route-add",
		.help = "Adds a route, or leads its prefix to another next hop.",
		.options = add_arguments,
		.option_count = RTE_DIM(add_arguments),
		.arguments_size = sizeof(struct route_arguments),
		.prepare = add_prepare,
		.commit = add_commit,
		.release = free,
	},
	{
		.name = "route-delete",
		.help = "Deletes the route of just this prefix.",
		.options = delete_arguments,
		.option_count = RTE_DIM(delete_arguments),
		.arguments_size = sizeof(struct route_arguments),
		.prepare = delete_prepare,
		.commit = delete_commit,
		.release = free,
	},
	{
		.name = "routes-load",
		.help = "Replaces all routes by those of a file, at once.",
		.options = load_arguments,
		.option_count = RTE_DIM(load_arguments),
		.arguments_size = sizeof(struct load_arguments),
		.prepare = load_prepare,
		.commit = load_commit,
		.release = load_release,
	},
};
