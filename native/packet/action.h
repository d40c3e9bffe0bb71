/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a network function decided about one packet: forward or drop, which fields to rewrite, what
 * to count. Functions decide; this applies, the same way in every execution architecture, so that
 * the actions of a whole chain can be composed into one (the consistent policy execution path of
 * [Lean]).
 */
#ifndef WEIR_PACKET_ACTION_H
#define WEIR_PACKET_ACTION_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "headers.h"
#include "ledger.h"

enum weir_action_set {
	WEIR_SET_MAC = 1 << 0, /* both addresses */
	WEIR_SET_SRC_IP = 1 << 1,
	WEIR_SET_DST_IP = 1 << 2,
	WEIR_SET_SRC_PORT = 1 << 3, /* for ICMP echo: the identifier, as dst_port too */
	WEIR_SET_DST_PORT = 1 << 4,
};
#define WEIR_SET_TUPLE (WEIR_SET_SRC_IP | WEIR_SET_DST_IP | WEIR_SET_SRC_PORT | WEIR_SET_DST_PORT)

#define WEIR_IPV4_TTL_OFFSET 8
#define WEIR_IPV4_CHECKSUM_OFFSET 10
#define WEIR_IPV6_HOP_LIMIT_OFFSET 7

/* TAKE: the function keeps or answers the packet itself, by its take(); always with `once`. */
enum weir_verdict { WEIR_FORWARD, WEIR_DROP, WEIR_TAKE };

/* Packets and bytes (L2 without FCS) of whatever a function counts. One writer. */
struct weir_counter {
	uint64_t packets;
	uint64_t bytes;
};

/* Something that happens for each packet of a flow, decided once: first member of what it works on.
 * Returns false if the packet is to be dropped, for the effect's `drop_reason`. */
struct weir_effect {
	bool (*run)(struct weir_effect *effect, const struct rte_mbuf *packet, uint64_t now_tsc);
	uint8_t drop_reason; /* index in the drop reasons of the function that owns it */
};

struct weir_invalidation_list;

/* One cache line. A function gets it with `set` 0, FORWARD, no effects and `once` false. */
struct weir_action {
	uint8_t set;	     /* enum weir_action_set */
	uint8_t verdict;     /* enum weir_verdict */
	uint8_t drop_reason; /* with WEIR_DROP or WEIR_TAKE: index in the function's drop reasons */
	uint8_t ttl_decrement;
	uint8_t egress; /* index in the path's outputs */
	bool has_egress;
	/* This packet's alone: later packets of its flow must be decided anew (a TCP flag that
	 * changes a session's state, a fragment, a verdict that is still open). */
	bool once;
	uint8_t zero;
	/* Destination, then source: as in the frame. */
	struct rte_ether_addr dst_mac;
	struct rte_ether_addr src_mac;
	/* Network byte order. */
	uint32_t src_ip;
	uint32_t dst_ip;
	uint16_t src_port;
	uint16_t dst_port;
	/* Each counted, or NULL. */
	struct weir_counter *counters[2];
	/* Run, or NULL. */
	struct weir_effect *effect;
	/* The object whose change ends this decision (a session, a route, a back-end), or NULL. */
	struct weir_invalidation_list *invalidation;
};
static_assert(sizeof(struct weir_action) == 64, "one cache line");

static inline void
weir_action_clear(struct weir_action *action)
{
	memset(action, 0, 8);
	action->counters[0] = NULL;
	action->counters[1] = NULL;
	action->effect = NULL;
	action->invalidation = NULL;
}

static inline void
weir_action_drop(struct weir_action *action, uint8_t reason)
{
	action->verdict = WEIR_DROP;
	action->drop_reason = reason;
}

/* This packet alone: what refuses it may have changed when the next one of its flow comes. */
static inline void
weir_action_drop_once(struct weir_action *action, uint8_t reason)
{
	weir_action_drop(action, reason);
	action->once = true;
}

/* The frame has an IP header whose TTL is larger than `by`. TTL is the first byte of its word: `by`
 * less there is `by` more in the first byte of the checksum (RFC 1624, equation 3). */
static inline void
weir_ttl_decrement(uint8_t *frame, struct weir_headers *headers, uint8_t by)
{
	uint8_t *ip = frame + headers->l3_offset;
	uint16_t checksum;
	uint32_t sum;

	headers->ttl -= by;
	if (unlikely(headers->network == WEIR_NETWORK_IPV6)) {
		ip[WEIR_IPV6_HOP_LIMIT_OFFSET] = headers->ttl;
		return;
	}
	ip[WEIR_IPV4_TTL_OFFSET] = headers->ttl;
	memcpy(&checksum, ip + WEIR_IPV4_CHECKSUM_OFFSET, 2);
	sum = checksum + rte_cpu_to_be_16((uint16_t)(by << 8));
	checksum = (uint16_t)(sum + (sum >= UINT16_MAX));
	memcpy(ip + WEIR_IPV4_CHECKSUM_OFFSET, &checksum, 2);
}

/* The addresses and ports of an IPv4 packet. */
void weir_action_rewrite_tuple(const struct weir_action *action, uint8_t *frame,
			       struct weir_headers *headers);

static inline void
weir_headers_set_group(struct weir_headers *headers, const struct rte_ether_addr *destination)
{
	headers->flags &= ~WEIR_HEADER_GROUP;
	headers->flags |= rte_is_multicast_ether_addr(destination) * WEIR_HEADER_GROUP;
}

/*
 * Rewrites `packet` and brings `headers` up to date; IP and L4 checksums follow (a UDP checksum of
 * 0 stays 0, RFC 768; ICMP's follows its identifier). Addresses are rewritten in IPv4 only. The
 * caller has looked at verdict, counter and effect.
 */
static inline void
weir_action_apply(const struct weir_action *action, struct rte_mbuf *packet,
		  struct weir_headers *headers)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);

	if ((action->set & WEIR_SET_TUPLE) != 0 && headers->network == WEIR_NETWORK_IPV4)
		weir_action_rewrite_tuple(action, frame, headers);
	if (action->ttl_decrement != 0 && headers->l3_offset != 0)
		weir_ttl_decrement(frame, headers, action->ttl_decrement);
	if ((action->set & WEIR_SET_MAC) != 0) {
		memcpy(frame, &action->dst_mac, 2 * RTE_ETHER_ADDR_LEN);
		weir_headers_set_group(headers, &action->dst_mac);
	}
}

/* Brings `headers` up to date as weir_action_apply() does, for rewrites that another core applies
 * later. */
void weir_action_update_headers(const struct weir_action *action, struct weir_headers *headers);

/*
 * Adds what a later function decided on the packet to what those before it did: together they are
 * the whole chain's action, once the caller has written the tuple that leaves into it. Counters,
 * effects and invalidation lists are not of it: they happen where they were decided.
 */
void weir_action_compose(struct weir_action *all, const struct weir_action *next);

/* The addresses and ports that leave: the last part of composing. */
static inline void
weir_action_set_tuple(struct weir_action *all, const struct weir_tuple *leaves)
{
	all->src_ip = leaves->src_ip;
	all->dst_ip = leaves->dst_ip;
	all->src_port = leaves->src_port;
	all->dst_port = leaves->dst_port;
}

#endif
