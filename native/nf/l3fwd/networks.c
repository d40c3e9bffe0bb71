/* SPDX-License-Identifier: Apache-2.0 */
/* What is on the links of a station: its addresses, the networks that they are in, the routes
 * there. */
#include "station.h"

#include <string.h>

struct weir_ip_address
l3fwd_network_end(const struct l3fwd_network *network, bool ones)
{
	struct weir_ip_address address = network->address;

	for (unsigned int bit = network->length; bit < l3fwd_address_bits(&address); bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		if (ones)
			address.bytes[bit / 8] |= mask;
		else
			address.bytes[bit / 8] &= (uint8_t)~mask;
	}
	return address;
}

bool
l3fwd_network_has(const struct l3fwd_network *network, const struct weir_ip_address *address)
{
	const struct l3fwd_network other = {.address = *address, .length = network->length};
	const struct weir_ip_address mine = l3fwd_network_end(network, false);
	const struct weir_ip_address its = l3fwd_network_end(&other, false);

	return address->ipv6 == network->address.ipv6 && weir_ip_address_is(&mine, &its);
}

bool
l3fwd_networks_have(const struct l3fwd_networks *networks, const struct weir_ip_address *address)
{
	for (unsigned int i = 0; i < networks->count; i++) {
		if (l3fwd_network_has(&networks->network[i], address))
			return true;
	}
	return false;
}

bool
l3fwd_station_connects(const struct l3fwd_station *station, const struct l3fwd_route *route)
{
	const struct weir_ip_address at =
		weir_ip_address(route->prefix.address, route->family == L3FWD_IPV6);

	for (unsigned int i = 0; i < RTE_DIM(station->links); i++) {
		const struct l3fwd_networks *own = &station->links[i].own;

		for (unsigned int j = 0; j < own->count; j++) {
			if (own->network[j].length == route->prefix.length &&
			    l3fwd_network_has(&own->network[j], &at))
				return true;
		}
	}
	return false;
}

bool
l3fwd_link_owns(const struct l3fwd_link *link, const struct weir_ip_address *address)
{
	for (unsigned int i = 0; i < link->own.count; i++) {
		if (weir_ip_address_is(&link->own.network[i].address, address))
			return true;
	}
	return false;
}

bool
l3fwd_is_link_local(const struct weir_ip_address *address)
{
	return address->ipv6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

const struct weir_ip_address *
l3fwd_link_speaks(const struct l3fwd_link *link, const struct weir_ip_address *to)
{
	const struct weir_ip_address *any = NULL;

	for (unsigned int i = 0; i < link->own.count; i++) {
		const struct l3fwd_network *own = &link->own.network[i];

		if (own->address.ipv6 != to->ipv6)
			continue;
		if (l3fwd_network_has(own, to))
			return &own->address;
		if (any == NULL && !l3fwd_is_link_local(&own->address))
			any = &own->address;
	}
	return any;
}

const struct l3fwd_link *
l3fwd_link_of(const struct l3fwd_station *station, const struct weir_ip_address *address)
{
	for (unsigned int i = 0; i < RTE_DIM(station->links); i++) {
		if (!l3fwd_is_link_local(address) &&
		    l3fwd_networks_have(&station->links[i].own, address))
			return &station->links[i];
	}
	return NULL;
}

bool
l3fwd_station_owns(const struct l3fwd_station *station, enum weir_direction link,
		   const struct weir_ip_address *address)
{
	const struct l3fwd_link *other = l3fwd_link_of(station, address);

	return l3fwd_link_owns(&station->links[link], address) ||
	       (other != NULL && l3fwd_link_owns(other, address));
}

static int
connect_to(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
	   const struct weir_ip_address *address, unsigned int length, enum l3fwd_hop_kind kind,
	   uint8_t egress, const char *where, struct weir_error *error)
{
	struct l3fwd_route route = {
		.family = address->ipv6 ? L3FWD_IPV6 : L3FWD_IPV4,
		.prefix = {.length = (uint8_t)length},
		.target = {.kind = (uint8_t)kind, .egress = egress},
	};

	memcpy(route.prefix.address, address->bytes, sizeof(address->bytes));
	if (l3fwd_route_room(l3fwd, routing, &route, "addresses", where, error) < 0)
		return -1;
	l3fwd_route_add(l3fwd, routing, &route, NULL);
	return 0;
}

/* The network; in it the router's own address, and in IPv4 those of no station (RFC 1122,
 * 3.2.1.3), which no packet is forwarded to. */
static int
connect_network(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		const struct l3fwd_link *link, const struct l3fwd_network *network,
		const char *where, struct weir_error *error)
{
	const struct weir_ip_address first = l3fwd_network_end(network, false);
	const struct weir_ip_address last = l3fwd_network_end(network, true);
	const unsigned int whole = l3fwd_address_bits(&network->address);
	const bool has_broadcast = !network->address.ipv6 && network->length <= 30;

	if (network->length < whole &&
	    connect_to(l3fwd, routing, &first, network->length, L3FWD_HOP_CONNECTED, link->egress,
		       where, error) < 0)
		return -1;
	if (has_broadcast && (connect_to(l3fwd, routing, &first, whole, L3FWD_HOP_OWN, link->egress,
					 where, error) < 0 ||
			      connect_to(l3fwd, routing, &last, whole, L3FWD_HOP_OWN, link->egress,
					 where, error) < 0))
		return -1;
	return connect_to(l3fwd, routing, &network->address, whole, L3FWD_HOP_OWN, link->egress,
			  where, error);
}

int
l3fwd_station_connect(const struct l3fwd *l3fwd, struct l3fwd_routing *routing, const char *where,
		      struct weir_error *error)
{
	for (unsigned int side = 0; side < RTE_DIM(l3fwd->station->links); side++) {
		const struct l3fwd_link *link = &l3fwd->station->links[side];

		for (unsigned int i = 0; i < link->own.count; i++) {
			if (!l3fwd_is_link_local(&link->own.network[i].address) &&
			    connect_network(l3fwd, routing, link, &link->own.network[i], where,
					    error) < 0)
				return -1;
		}
	}
	return 0;
}
