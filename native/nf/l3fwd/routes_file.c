/* SPDX-License-Identifier: Apache-2.0 */
/* Routes as text: a line each, `prefix next-hop-mac [egress]` or `prefix via address`; # begins a
 * comment. In a list,
 * commas stand for the ends of lines. */
#include "station.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chain.h"
#include "toolkit/text_file.h"

#define BLANKS " \t\r\n"

bool
l3fwd_prefix_parse(const char *text, struct l3fwd_route *route)
{
	size_t address_length = strcspn(text, "/");
	const char *digits = text + address_length + 1;
	char address[INET6_ADDRSTRLEN];
	unsigned long length, longest;
	uint8_t *bytes = route->prefix.address;
	char *end;

	if (address_length >= sizeof(address))
		return false;
	memcpy(address, text, address_length);
	address[address_length] = '\0';
	memset(&route->prefix, 0, sizeof(route->prefix));
	route->family = strchr(address, ':') != NULL ? L3FWD_IPV6 : L3FWD_IPV4;
	if (inet_pton(route->family == L3FWD_IPV6 ? AF_INET6 : AF_INET, address, bytes) != 1)
		return false;
	longest = route->family == L3FWD_IPV6 ? 128 : 32;
	length = longest;
	if (text[address_length] == '/') {
		length = strtoul(digits, &end, 10);
		if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || length > longest)
			return false;
	}
	route->prefix.length = length;
	for (unsigned long bit = length; bit < longest; bit++) {
		if ((bytes[bit / 8] & 0x80 >> bit % 8) != 0)
			return false;
	}
	return true;
}

bool
l3fwd_is_station(const struct rte_ether_addr *mac)
{
	return rte_is_valid_assigned_ether_addr(mac) != 0;
}

static bool
egress_parse(const char *text, uint8_t *egress)
{
	char *end;
	unsigned long index = strtoul(text, &end, 10);

	*egress = (uint8_t)index;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && index < WEIR_OUTPUTS_MAX;
}

/* "default" is the zero address. */
static const char *
next_hop_parse(const struct l3fwd *l3fwd, const char *text, struct rte_ether_addr *mac)
{
	if (text != NULL && strcmp(text, "default") == 0) {
		memset(mac, 0, sizeof(*mac));
		return l3fwd_is_station(&l3fwd->dst_mac) &&
				       l3fwd_is_station(&l3fwd->inbound_dst_mac)
			       ? NULL
			       : "there is no default next hop: dst_mac is not the address of a "
				 "station";
	}
	return text != NULL && rte_ether_unformat_addr(text, mac) == 0 && l3fwd_is_station(mac)
		       ? NULL
		       : "the next hop is not the MAC address of a station";
}

const char *
l3fwd_gateway_parse(const struct l3fwd *l3fwd, const char *text, struct l3fwd_route *route)
{
	struct weir_ip_address *gateway = &route->target.gateway;
	const struct l3fwd_link *link;

	gateway->ipv6 = route->family == L3FWD_IPV6;
	if (text == NULL ||
	    inet_pton(gateway->ipv6 ? AF_INET6 : AF_INET, text, gateway->bytes) != 1)
		return "via is not followed by an address of the prefix's family";
	link = l3fwd->station != NULL ? l3fwd_link_of(l3fwd->station, gateway) : NULL;
	if (link == NULL)
		return "the address behind via is in no network of addresses or inbound_addresses";
	if (l3fwd_link_owns(link, gateway))
		return "the address behind via is the router's own";
	route->target.kind = L3FWD_HOP_GATEWAY;
	route->target.egress = link->egress;
	return NULL;
}

bool
l3fwd_is_connected(const struct l3fwd_routing *routing, const struct l3fwd_route *route,
		   uint32_t number)
{
	const struct weir_prefix_table *table = &routing->tables[route->family];
	uint8_t kind = routing->next_hops[weir_prefix_table_next_hop(table, number)].kind;

	return kind == L3FWD_HOP_CONNECTED || kind == L3FWD_HOP_OWN;
}

bool
l3fwd_is_own(const struct l3fwd_routing *routing, const struct l3fwd_route *route)
{
	const struct weir_prefix_table *table = &routing->tables[route->family];
	uint32_t number = weir_prefix_table_find(table, &route->prefix);

	return number != 0 &&
	       routing->next_hops[weir_prefix_table_next_hop(table, number)].kind == L3FWD_HOP_OWN;
}

/* What is wrong with the line, or NULL. An empty one has `*empty` set. */
static const char *
line_parse(const struct l3fwd *l3fwd, char *line, struct l3fwd_route *route, bool *empty)
{
	char *rest;
	const char *prefix, *mac, *egress, *wrong;

	line[strcspn(line, "#")] = '\0';
	prefix = strtok_r(line, BLANKS, &rest);
	*empty = prefix == NULL;
	if (*empty)
		return NULL;
	mac = strtok_r(NULL, BLANKS, &rest);
	egress = strtok_r(NULL, BLANKS, &rest);
	memset(route, 0, sizeof(*route));
	if (!l3fwd_prefix_parse(prefix, route))
		return "not a prefix, or one with host bits";
	if (mac != NULL && strcmp(mac, "via") == 0) {
		wrong = l3fwd_gateway_parse(l3fwd, egress, route);
		egress = NULL; /* its link says it */
	} else {
		wrong = next_hop_parse(l3fwd, mac, &route->target.mac);
	}
	if (wrong != NULL)
		return wrong;
	if (egress != NULL && !egress_parse(egress, &route->target.egress))
		return "the egress is not a number from 0 to 15";
	if (strtok_r(NULL, BLANKS, &rest) != NULL)
		return "more than prefix, MAC address and egress";
	return NULL;
}

static int
line_add(const struct l3fwd *l3fwd, struct l3fwd_routing *routing, char *line, const char *place,
	 const char *where, struct weir_error *error)
{
	struct l3fwd_route route;
	bool empty;
	const char *wrong = line_parse(l3fwd, line, &route, &empty);
	uint32_t before;

	if (wrong == NULL && empty)
		return 0;
	before = wrong == NULL
			 ? weir_prefix_table_find(&routing->tables[route.family], &route.prefix)
			 : 0;
	/* A station on its own network may be given by its MAC address. */
	if (before != 0 && !l3fwd_is_connected(routing, &route, before))
		wrong = "the prefix is there already";
	if (wrong == NULL && l3fwd_is_own(routing, &route))
		wrong = "it is an address of the router's own, or its network's broadcast";
	if (wrong != NULL)
		return weir_fail(error, "bad_argument", where,
				 "prefix next-hop-mac [egress], or prefix via address",
				 "for example: 10.0.0.0/8 02:00:00:00:00:01", "%s: %s", place,
				 wrong);
	if (l3fwd_route_room(l3fwd, routing, &route, place, where, error) < 0)
		return -1;
	l3fwd_route_add(l3fwd, routing, &route, NULL);
	return 0;
}

/* Without the route to dst_mac: routes are given. */
static struct l3fwd_routing *
routing_begin(const struct l3fwd *l3fwd, const char *where, struct weir_error *error)
{
	struct l3fwd_routing *routing = l3fwd_routing_create(l3fwd, where, error);

	if (routing != NULL)
		routing->next_hops[0].usable = false;
	return routing;
}

/* Of lines that one of `ends` ends; messages name the n-th as `before`n. Writes into them. */
static struct l3fwd_routing *
routing_of(const struct l3fwd *l3fwd, char *lines, const char *ends, const char *before,
	   const char *where, struct weir_error *error)
{
	struct l3fwd_routing *routing = routing_begin(l3fwd, where, error);
	char place[WEIR_OPTION_TEXT_BYTES + 16], *line;
	int status = 0;

	for (unsigned int number = 1;
	     routing != NULL && status == 0 && (line = strsep(&lines, ends)) != NULL; number++) {
		snprintf(place, sizeof(place), "%s%u", before, number);
		status = line_add(l3fwd, routing, line, place, where, error);
	}
	if (status == 0)
		return routing;
	l3fwd_routing_free(routing);
	return NULL;
}

struct l3fwd_routing *
l3fwd_routing_load(const struct l3fwd *l3fwd, const char *path, const char *where,
		   struct weir_error *error)
{
	size_t bytes;
	char *text = weir_text_file_read(path, &bytes, where, error);
	struct l3fwd_routing *routing;
	char before[WEIR_OPTION_TEXT_BYTES + 1];

	if (text == NULL)
		return NULL;
	snprintf(before, sizeof(before), "%s:", path);
	routing = routing_of(l3fwd, text, "\n", before, where, error);
	free(text);
	return routing;
}

struct l3fwd_routing *
l3fwd_routing_read(const struct l3fwd *l3fwd, const char *list, const char *where,
		   struct weir_error *error)
{
	char lines[WEIR_OPTION_TEXT_BYTES];

	snprintf(lines, sizeof(lines), "%s", list);
	return routing_of(l3fwd, lines, ",", "route_list, route ", where, error);
}
