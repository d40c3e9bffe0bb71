/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l3fwd with addresses of its own: a station on two links, which answers ARP, neighbour discovery
 * and echo requests, finds its neighbours, and says by ICMP what it could not forward.
 *
 * What it makes, and packets that waited for a neighbour, stand in a queue of the path by whose
 * direction they leave, until that path is polled.
 */
#ifndef WEIR_NF_L3FWD_STATION_H
#define WEIR_NF_L3FWD_STATION_H

#include "forwarder.h"
#include "packet/icmp_message.h"
#include "packet/neighbour_message.h"
#include "toolkit/error_rate.h"
#include "toolkit/neighbours.h"

#define L3FWD_ADDRESSES_MAX 32
#define L3FWD_OUTGOING_MAX 1024

struct l3fwd_network {
	struct weir_ip_address address;
	uint8_t length;
};

struct l3fwd_networks {
	unsigned int count;
	struct l3fwd_network network[L3FWD_ADDRESSES_MAX];
};

/* One of the two, by enum weir_direction of what leaves by it: the outer and the inner one. */
struct l3fwd_link {
	struct rte_ether_addr mac;
	uint8_t egress;
	uint64_t mtu_bytes;	       /* 0: as long as any packet */
	struct l3fwd_networks own;     /* addresses, each with the prefix that is on the link */
	struct l3fwd_networks proxied; /* whose ARP and solicitations it answers as well */
};

/* What is to become of a packet of the queue. */
enum l3fwd_outgoing_kind {
	L3FWD_ORIGINATED,
	L3FWD_RESOLVED,	  /* it waited for its neighbour */
	L3FWD_UNRESOLVED, /* it did in vain: dropped, with an error to its sender */
	L3FWD_DISPLACED,  /* a newer one waits in its place */
};

struct l3fwd_outgoing {
	struct rte_mbuf *packet;
	uint8_t kind;	  /* enum l3fwd_outgoing_kind */
	uint8_t released; /* enum weir_released */
	uint8_t egress;
};

struct l3fwd_outgoing_queue {
	uint32_t first, count;
	struct l3fwd_outgoing slot[L3FWD_OUTGOING_MAX];
};

struct l3fwd_station {
	const struct l3fwd *l3fwd;
	struct l3fwd_link links[2];
	struct weir_neighbours *neighbours;
	struct l3fwd_outgoing_queue outgoing[2];
	/* The token bucket of errors: time that was not used yet, in time-stamp cycles. */
	struct weir_error_rate errors;
	uint64_t errors_sent, errors_suppressed, answers_lost; /* one writer */
};

/* Whether options give it any address; if so, checks them. -1 with `error`. */
int l3fwd_station_init(struct l3fwd *l3fwd, const char *where, struct weir_error *error);
void l3fwd_station_free(struct l3fwd_station *station);

/* Adds the routes to its own addresses and to the networks that they are in. */
int l3fwd_station_connect(const struct l3fwd *l3fwd, struct l3fwd_routing *routing,
			  const char *where, struct weir_error *error);

/* Of an address of that family. */
static inline unsigned int
l3fwd_address_bits(const struct weir_ip_address *address)
{
	return 8 * weir_ip_address_bytes(address->ipv6);
}

/* The network's prefix, with host bits 0, or 1 with `ones`: its first address, or its last. */
struct weir_ip_address l3fwd_network_end(const struct l3fwd_network *network, bool ones);
bool l3fwd_network_has(const struct l3fwd_network *network, const struct weir_ip_address *address);
bool l3fwd_is_link_local(const struct weir_ip_address *address);
/* Whether just that prefix is a network that one of the links is in. */
bool l3fwd_station_connects(const struct l3fwd_station *station, const struct l3fwd_route *route);
/* The link that an address is on; NULL: none. */
const struct l3fwd_link *l3fwd_link_of(const struct l3fwd_station *station,
				       const struct weir_ip_address *address);
bool l3fwd_networks_have(const struct l3fwd_networks *networks,
			 const struct weir_ip_address *address);
bool l3fwd_link_owns(const struct l3fwd_link *link, const struct weir_ip_address *address);
/* Whether it is the router's: on either link, or a link-local one on that link. */
bool l3fwd_station_owns(const struct l3fwd_station *station, enum weir_direction link,
			const struct weir_ip_address *address);
/* The link's own address to speak with to another one, or of that family at all; NULL: none. */
const struct weir_ip_address *l3fwd_link_speaks(const struct l3fwd_link *link,
						const struct weir_ip_address *to);

/* What is decided of the next hop of number `number` that must be resolved, or is the router. */
void l3fwd_station_resolve(const struct l3fwd *l3fwd, const struct weir_batch *batch,
			   uint16_t index, uint16_t number, struct weir_action *action);
/* What a station decides otherwise than a mere forwarder: it says what it drops, and knows MTUs. */
void l3fwd_station_review(const struct l3fwd *l3fwd, const struct weir_batch *batch,
			  struct weir_action *actions);

/* Puts a packet of its own into the queue; frees it where that has no room. */
void l3fwd_station_send(struct l3fwd_station *station, enum weir_direction link,
			struct rte_mbuf *packet, enum weir_released released);
/* The source or the destination, as the packet has it. */
struct weir_ip_address l3fwd_address_at(const struct rte_mbuf *packet,
					const struct weir_headers *headers, bool source);
/* Says to the sender of a packet, which came by `direction`, what became of it; or frees it.
 * `detail`: of weir_icmp_error_make(). */
void l3fwd_station_complain(struct l3fwd_station *station, enum weir_direction direction,
			    struct rte_mbuf *packet, const struct weir_headers *headers,
			    enum weir_icmp_cause cause, uint64_t detail, uint64_t now_tsc);
/* Answers an echo request to one of its addresses. */
void l3fwd_station_echo(struct l3fwd_station *station, enum weir_direction link,
			struct rte_mbuf *packet, const struct weir_headers *headers);
bool l3fwd_station_has_room(const struct l3fwd_station *station, enum weir_direction direction);

/* Of struct weir_nf. */
void l3fwd_take(void *state, const struct weir_batch *batch, uint16_t index,
		const struct weir_action *action, struct weir_stage_ledger *ledger);
void l3fwd_listen(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
void l3fwd_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);

/* Of struct weir_neighbours_owner, whose state is the station. */
void l3fwd_solicit(void *state, const struct weir_neighbour *neighbour, bool alone);
void l3fwd_resolved(void *state, const struct weir_neighbour *neighbour,
		    const struct weir_neighbour_held *held);
void l3fwd_refused(void *state, const struct weir_neighbour_held *held,
		   enum weir_neighbour_refusal why);

#endif
