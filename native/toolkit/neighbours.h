/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stations that are reached on a link, by address: the neighbour cache of RFC 4861, section 7.3,
 * with its states, timers and constants, for IPv6 and for IPv4 alike. Packets to one that is not
 * resolved yet wait here, few of them. One thread.
 *
 * Time is a frame's or a tick's, never read. What must be sent, and what becomes of packets that
 * waited, the owner is told.
 */
#ifndef WEIR_TOOLKIT_NEIGHBOURS_H
#define WEIR_TOOLKIT_NEIGHBOURS_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "engine/flow_cache.h"
#include "packet/ip_address.h"

/* RFC 4861, section 10. */
#define WEIR_NEIGHBOUR_MULTICAST_SOLICIT_MAX 3
#define WEIR_NEIGHBOUR_UNICAST_SOLICIT_MAX 3
#define WEIR_NEIGHBOUR_RETRANSMIT_MS 1000
#define WEIR_NEIGHBOUR_REACHABLE_MS 30000 /* the base: times a random number from 0.5 to 1.5 */
#define WEIR_NEIGHBOUR_DELAY_MS 5000

/* Packets that wait for one neighbour, and for all. */
#define WEIR_NEIGHBOUR_HELD_MAX 4
#define WEIR_NEIGHBOURS_HELD_MAX 256

/* On which of a function's links; a key without holes. */
struct weir_neighbour_key {
	struct weir_ip_address address;
	uint8_t link;
};
static_assert(sizeof(struct weir_neighbour_key) == 18, "a key without holes");

enum weir_neighbour_state {
	WEIR_NEIGHBOUR_FREE, /* no entry */
	WEIR_NEIGHBOUR_INCOMPLETE,
	WEIR_NEIGHBOUR_REACHABLE,
	WEIR_NEIGHBOUR_STALE,
	WEIR_NEIGHBOUR_DELAY,
	WEIR_NEIGHBOUR_PROBE,
};

struct weir_neighbour_held {
	struct rte_mbuf *packet;
	uint8_t direction; /* of the path that it came by; enum weir_direction */
};

struct weir_neighbour {
	struct weir_neighbour_key key;
	uint8_t state;	   /* enum weir_neighbour_state */
	uint8_t solicited; /* times, in this state */
	uint8_t held_count;
	struct rte_ether_addr mac; /* from REACHABLE on */
	uint64_t due_tsc;	   /* when the state, or the wait for an answer, ends */
	/* What was sent there, the fast path's a quarter of a second late; and what that was when
	 * it became stale: more means that it is used. */
	struct weir_counter sent;
	uint64_t sent_before;
	struct weir_invalidation_list invalidation; /* decisions that rest on `mac` */
	struct rte_mempool *pool;		    /* of the packet that asked for it first */
	struct weir_neighbour_held held[WEIR_NEIGHBOUR_HELD_MAX]; /* the oldest first */
};

/* Why a packet that waited goes no further. */
enum weir_neighbour_refusal { WEIR_NEIGHBOUR_UNRESOLVED, WEIR_NEIGHBOUR_QUEUE_FULL };

struct weir_neighbours_owner {
	void *state;
	/* Ask for the neighbour: all, or with `alone` just that station. */
	void (*solicit)(void *state, const struct weir_neighbour *neighbour, bool alone);
	/* A packet that waited is the owner's again: its neighbour has an address now; or not. */
	void (*resolved)(void *state, const struct weir_neighbour *neighbour,
			 const struct weir_neighbour_held *held);
	void (*refused)(void *state, const struct weir_neighbour_held *held,
			enum weir_neighbour_refusal why);
};

struct weir_neighbours;

/* Room for `neighbours_max`. NULL: no memory. weir_neighbours_free() frees what waits, too. */
struct weir_neighbours *weir_neighbours_create(uint32_t neighbours_max,
					       const struct weir_neighbours_owner *owner);
void weir_neighbours_free(struct weir_neighbours *neighbours);

uint32_t weir_neighbours_count(const struct weir_neighbours *neighbours);
/* Packets that wait. */
uint32_t weir_neighbours_held(const struct weir_neighbours *neighbours);

/* The entry, or NULL; valid until the next call that takes a time. */
struct weir_neighbour *weir_neighbours_find(const struct weir_neighbours *neighbours,
					    const struct weir_neighbour_key *key);
/* Whether frames can be sent there. */
static inline bool
weir_neighbour_has_mac(const struct weir_neighbour *neighbour)
{
	return neighbour->state >= WEIR_NEIGHBOUR_REACHABLE;
}

enum weir_neighbours_room {
	WEIR_NEIGHBOURS_HOLDS,
	WEIR_NEIGHBOURS_FULL,
	WEIR_NEIGHBOURS_HELD_FULL
};

/*
 * Keeps the packet until the neighbour is resolved, which this begins; the fifth one takes the
 * place of the oldest (RFC 4861, 7.2.2). Else the packet stays the caller's: no room for the
 * neighbour, since none is stale, or for the packet.
 */
enum weir_neighbours_room weir_neighbours_hold(struct weir_neighbours *neighbours,
					       const struct weir_neighbour_key *key,
					       const struct weir_neighbour_held *held,
					       uint64_t now_tsc, struct weir_flow_cache *cache);

/* A neighbour said its own address while asking for ours: an entry is made (RFC 826; RFC 4861,
 * 7.2.3), or changed. `known_only`: it asked for somebody else's, so none is made. */
void weir_neighbours_heard(struct weir_neighbours *neighbours, const struct weir_neighbour_key *key,
			   const struct rte_ether_addr *mac, bool known_only,
			   struct rte_mempool *pool, uint64_t now_tsc,
			   struct weir_flow_cache *cache);

/* An advertisement (RFC 4861, 7.2.5) or an ARP reply. `mac` zero: it says none. */
void weir_neighbours_advertised(struct weir_neighbours *neighbours,
				const struct weir_neighbour_key *key,
				const struct rte_ether_addr *mac, bool solicited, bool override,
				uint64_t now_tsc, struct weir_flow_cache *cache);

/* About every millisecond: looks at a share of the entries, all of them within a quarter of a
 * second. */
void weir_neighbours_tick(struct weir_neighbours *neighbours, uint64_t now_tsc,
			  struct weir_flow_cache *cache);

#endif
