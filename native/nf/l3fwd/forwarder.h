/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of l3fwd: its state, its routes, and what its commands change. */
#ifndef WEIR_NF_L3FWD_FORWARDER_H
#define WEIR_NF_L3FWD_FORWARDER_H

#include <rte_ether.h>
#include <rte_hash.h>

#include "engine/flow_cache.h"
#include "engine/nf.h"
#include "packet/ip_address.h"
#include "prefix_table.h"

struct l3fwd_station;

enum l3fwd_family { L3FWD_IPV4, L3FWD_IPV6, L3FWD_FAMILIES };

enum l3fwd_hop_kind {
	L3FWD_HOP_FIXED,     /* a MAC address that is given */
	L3FWD_HOP_GATEWAY,   /* a router whose address is given: resolved */
	L3FWD_HOP_CONNECTED, /* the destination itself, on a link of ours: resolved */
	L3FWD_HOP_OWN,	     /* nowhere: it is the router's */
};

/* Where a route leads, and a key: no holes. MAC address zero: the next hop that options name. */
struct l3fwd_target {
	struct rte_ether_addr mac;
	uint8_t egress;
	uint8_t kind; /* enum l3fwd_hop_kind */
	struct weir_ip_address gateway;
	uint8_t zero;
};

/* The same, as packets need it. */
struct l3fwd_next_hop {
	/* By direction: destination, then source, as in the frame. */
	uint8_t addresses[2][2 * RTE_ETHER_ADDR_LEN];
	uint8_t egress;
	bool usable;
	uint8_t kind;	 /* enum l3fwd_hop_kind; the addresses are those of a fixed one */
	uint32_t routes; /* that lead there */
};

/* All routes, at one place, so that one pointer changes when they are replaced. */
struct l3fwd_routing {
	struct weir_prefix_table tables[L3FWD_FAMILIES];
	/* By the route's number; NULL: there never was a route of that family. */
	struct weir_invalidation_list *invalidation[L3FWD_FAMILIES];
	/* By number. 0 is for packets without a route: dst_mac, unless there is a file. */
	struct l3fwd_next_hop *next_hops;
	struct rte_hash *targets; /* struct l3fwd_target; position + 1 is the next hop's number */
};

struct l3fwd {
	struct l3fwd_routing *routing;
	char routes[WEIR_OPTION_TEXT_BYTES], route_list[WEIR_OPTION_TEXT_BYTES];
	struct rte_ether_addr src_mac, dst_mac;
	struct rte_ether_addr inbound_src_mac, inbound_dst_mac;
	uint64_t routes_max[L3FWD_FAMILIES];
	uint64_t groups_max[L3FWD_FAMILIES];
	uint64_t next_hops_max;
	uint64_t inside_output; /* 0: addresses go by direction */
	/* Of a router that is a station on its links; by enum weir_direction of what leaves there.
	 */
	char addresses[2][WEIR_OPTION_TEXT_BYTES], answers_for[2][WEIR_OPTION_TEXT_BYTES];
	uint64_t mtu_bytes[2];
	uint64_t neighbours_max, icmp_errors_pps;
	bool errors_pass_all;
	struct l3fwd_station *station; /* NULL: no addresses of its own */
};

struct l3fwd_route {
	enum l3fwd_family family;
	struct weir_ip_prefix prefix;
	struct l3fwd_target target;
};

/* In the order in which a packet is checked. */
enum l3fwd_drop {
	L3FWD_DROP_NOT_IP,
	L3FWD_DROP_MALFORMED,
	L3FWD_DROP_LINK_BROADCAST,
	L3FWD_DROP_BAD_CHECKSUM,
	L3FWD_DROP_MARTIAN,
	L3FWD_DROP_MULTICAST,
	L3FWD_DROP_SOURCE_ROUTE,
	L3FWD_DROP_NO_ROUTE,
	L3FWD_DROP_TTL_EXPIRED,
	L3FWD_DROP_TOO_BIG,
	L3FWD_DROP_FOR_ROUTER,
	L3FWD_DROP_NEIGHBOUR_UNRESOLVED,
	L3FWD_DROP_NEIGHBOUR_QUEUE_FULL,
	L3FWD_DROP_NEIGHBOUR_TABLE_FULL,
	L3FWD_DROPS,
};

/* None but dst_mac; those of the file at `path`; those of `list`, joined by commas. NULL with
 * `error`. */
struct l3fwd_routing *l3fwd_routing_create(const struct l3fwd *l3fwd, const char *where,
					   struct weir_error *error);
struct l3fwd_routing *l3fwd_routing_load(const struct l3fwd *l3fwd, const char *path,
					 const char *where, struct weir_error *error);
struct l3fwd_routing *l3fwd_routing_read(const struct l3fwd *l3fwd, const char *list,
					 const char *where, struct weir_error *error);
void l3fwd_routing_free(struct l3fwd_routing *routing);

/* Whether the route can be added; takes the memory that this needs. May run beside look-ups. -1
 * with `error`, whose message begins with `what`. */
int l3fwd_route_room(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		     const struct l3fwd_route *route, const char *what, const char *where,
		     struct weir_error *error);
/* Adds a route for which there is room, or leads the prefix elsewhere; forgets the decisions that
 * this changes. */
void l3fwd_route_add(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
		     const struct l3fwd_route *route, struct weir_flow_cache *cache);
void l3fwd_route_delete(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
			const struct l3fwd_route *route, struct weir_flow_cache *cache);

/* The next hop of what goes to that address, 4 or 16 bytes, and its number. */
const struct l3fwd_next_hop *l3fwd_next_hop_to(const struct l3fwd *l3fwd,
					       const struct weir_ip_address *address,
					       uint16_t *number);
/* The target of a next hop that a route leads to. */
const struct l3fwd_target *l3fwd_target_of(const struct l3fwd_routing *routing, uint16_t number);

/* "10.0.0.0/8", "2001:db8::/32", an address alone; host bits are refused. */
bool l3fwd_prefix_parse(const char *text, struct l3fwd_route *route);
/* The target of a route `via` that address; NULL, or what is wrong with it. */
const char *l3fwd_gateway_parse(const struct l3fwd *l3fwd, const char *text,
				struct l3fwd_route *route);
/* Whether the route of that number, which the prefix has, is one to an address or network of the
 * router's own. */
bool l3fwd_is_connected(const struct l3fwd_routing *routing, const struct l3fwd_route *route,
			uint32_t number);
/* Whether just that prefix is an address of the router's own, or a broadcast of its networks. */
bool l3fwd_is_own(const struct l3fwd_routing *routing, const struct l3fwd_route *route);
/* Whether frames can be sent there: not zero, not a group. */
bool l3fwd_is_station(const struct rte_ether_addr *mac);

void l3fwd_decide(void *state, const struct weir_batch *batch, struct weir_action *actions);
bool l3fwd_forward(void *state, struct weir_batch *batch);

extern const struct weir_command l3fwd_commands[3];

#endif
