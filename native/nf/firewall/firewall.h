/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the state of a firewall and its sessions. */
#ifndef WEIR_NF_FIREWALL_FIREWALL_H
#define WEIR_NF_FIREWALL_FIREWALL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_icmp.h>

#include "engine/flow_cache.h"
#include "packet/flow_table.h"
#include "packet/icmpv6_error.h"
#include "toolkit/held_fragments.h"
#include "toolkit/ipv6_numbers.h"
#include "toolkit/rule_change.h"
#include "toolkit/rule_reload.h"
#include "toolkit/ruled_frames.h"
#include "toolkit/session_timeouts.h"

enum firewall_drop {
	FIREWALL_DROP_DENIED,
	FIREWALL_DROP_NO_SESSION,
	FIREWALL_DROP_TABLE_FULL,
	FIREWALL_DROP_NOT_IPV4,
	FIREWALL_DROP_MALFORMED,
	FIREWALL_DROP_TRUNCATED,
	FIREWALL_DROP_FRAGMENT_TIMEOUT,
	FIREWALL_DROP_FRAGMENTS_FULL,
};

enum session_flag {
	SESSION_USED = 1 << 0,
	SESSION_REVERSED = 1 << 1, /* who began it is the key's destination */
	/* TCP's; a session without any of these is a connection that is not answered yet. */
	SESSION_ESTABLISHED = 1 << 2,
	SESSION_FIN_BEGINNER = 1 << 3,
	SESSION_FIN_ANSWERER = 1 << 4,
	SESSION_RESET = 1 << 5,
};
#define SESSION_CLOSED (SESSION_FIN_BEGINNER | SESSION_FIN_ANSWERER)

/* key.zero[0] of a session of IPv6, whose addresses are numbers of `addresses`. */
#define SESSION_KEY_IPV6 6

/* A flow and its answers. Its key is the tuple of one direction: of the two, the one whose source
 * is the smaller number; of ICMP echo, that of the requests, so that who answers cannot ask. */
struct session {
	struct weir_tuple key;
	struct weir_counter counter; /* of both directions */
	struct weir_invalidation_list invalidation;
	uint32_t seen_packets; /* of the counter, up to active_at */
	uint32_t active_at;    /* in weir_session_time() */
	uint32_t generation;   /* of the rules that permitted it last */
	uint32_t flags;	       /* enum session_flag */
};
static_assert(sizeof(struct session) <= RTE_CACHE_LINE_SIZE, "one miss a session");

struct firewall {
	struct weir_rule_set *rules;
	struct weir_flow_table *table; /* number of each session, by key */
	struct session *sessions;
	struct weir_fragments *fragments;
	struct weir_ipv6_numbers *addresses; /* of both ends of each session of IPv6 */
	uint32_t generation;		     /* of the rules, and of flushes */
	uint32_t flushed;		     /* sessions of generations before it are over */
	uint32_t session_high;		     /* slots from here on were never used */
	uint64_t sessions_used;		     /* by weir_count(): the control thread reads it */
	uint32_t free_count;
	uint32_t *free_slots; /* slots below session_high; the last is taken first */
	uint32_t sweep;	      /* where tick() goes on */
	struct weir_session_timeouts timeouts;
	uint32_t other_timeout;

	/* Options. */
	uint64_t session_count;
	uint64_t ipv6_address_count;
	struct weir_session_timeouts_s timeouts_s;
	uint64_t other_timeout_s;
	struct weir_fragment_options fragment_options;
	unsigned int default_verdict; /* enum weir_default */
	struct weir_ruled_frames frames;
	bool syn_first;
	char path[WEIR_OPTION_TEXT_BYTES];
};

static inline bool
firewall_is_flushed(const struct firewall *firewall, const struct session *session)
{
	return unlikely((int32_t)(session->generation - firewall->flushed) < 0);
}

/* Of a tuple as keys have it (see firewall_tuple()). */
static inline bool
firewall_is_icmp(const struct weir_tuple *tuple)
{
	return tuple->protocol ==
	       (unlikely(tuple->zero[0] == SESSION_KEY_IPV6) ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

/* Of a packet. */
static inline bool
firewall_packet_is_icmp(const struct weir_headers *headers)
{
	return headers->tuple.protocol ==
	       (unlikely(headers->network == WEIR_NETWORK_IPV6) ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

/* Whether the ICMP echo message at `l4`, or any other packet, is an answer of its session. */
static inline bool
firewall_is_echo_reply(const struct weir_tuple *tuple, const uint8_t *l4)
{
	return unlikely(firewall_is_icmp(tuple)) &&
	       *l4 == (tuple->protocol == IPPROTO_ICMP ? RTE_IP_ICMP_ECHO_REPLY
						       : WEIR_ICMPV6_ECHO_REPLY);
}

/* The session's key for a packet's tuple; true: the packet goes from the key's destination to its
 * source. */
static inline bool
firewall_key(const struct weir_tuple *tuple, bool is_echo_reply, struct weir_tuple *key)
{
	uint64_t src = (uint64_t)tuple->src_ip << 16 | tuple->src_port;
	uint64_t dst = (uint64_t)tuple->dst_ip << 16 | tuple->dst_port;
	bool reversed = unlikely(firewall_is_icmp(tuple)) ? is_echo_reply : dst < src;
	/* Without branches: which side is the smaller number cannot be predicted. */
	uint64_t low = reversed ? dst : src;
	uint64_t high = reversed ? src : dst;

	*key = (struct weir_tuple){
		.src_ip = (uint32_t)(low >> 16),
		.dst_ip = (uint32_t)(high >> 16),
		.src_port = (uint16_t)low,
		.dst_port = (uint16_t)high,
		.protocol = tuple->protocol,
		.zero = {tuple->zero[0]},
	};
	return reversed;
}

/* sessions.c */

/* -1: no memory; fini() frees what there is. */
int firewall_sessions_init(struct firewall *firewall);
void firewall_sessions_fini(struct firewall *firewall);
/* So many may begin soon: their memory comes while rules are asked. */
void firewall_sessions_prefetch(const struct firewall *firewall, unsigned int count);
/* NULL: as many as there may be. */
struct session *firewall_session_begin(struct firewall *firewall, const struct weir_tuple *key,
				       bool reversed, uint32_t now);
void firewall_session_end(struct firewall *firewall, struct session *session,
			  struct weir_flow_cache *cache);
struct session *firewall_session_find(const struct firewall *firewall,
				      const struct weir_tuple *key);
/* Whether the rules permit its first packet. */
bool firewall_session_permitted(const struct firewall *firewall, const struct session *session,
				const struct weir_rule_set *rules);
/* Whether the present rules permit it; if not, it ends. */
bool firewall_session_holds(struct firewall *firewall, struct session *session,
			    struct weir_flow_cache *cache);
/* The tuple that its rule is about: of its first packet; of IPv6 without its addresses. */
struct weir_tuple firewall_session_tuple(const struct session *session);
/* Follows a segment with SYN, FIN or RST. */
void firewall_session_follow_tcp(struct session *session, bool from_beginner, uint8_t tcp_flags,
				 uint32_t now);
/* Ends what was idle too long, and what the rules refuse since they were changed; all sessions are
 * looked at within 4,096 ticks. */
void firewall_tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache);
/* Whether a flow of the fast path rests on a session that `rules` refuse. */
struct firewall_judging {
	const struct firewall *firewall;
	const struct weir_rule_set *rules;
	const struct weir_rule_change *change; /* if only this may have refused it; or NULL */
};
bool firewall_is_refused(const struct weir_tuple *tuple, enum weir_direction direction,
			 void *judging);

/* What is remembered of a first fragment that rules permit without a session, above all numbers of
 * sessions. */
#define FIREWALL_FRAGMENT_PERMITTED (UINT32_MAX - UINT8_MAX)

/* The same of one that was dropped, above that; and from that the reason again. */
static inline uint32_t
firewall_fragment_dropped(uint32_t reason)
{
	return UINT32_MAX - reason;
}

/* ipv6.c */

/* The tuple as keys have it: of IPv6 with numbers in the place of its addresses, of which one that
 * no session has is WEIR_IPV6_NUMBER_NONE. */
struct weir_tuple firewall_ipv6_tuple(const struct firewall *firewall, const uint8_t src_ip[16],
				      const uint8_t dst_ip[16], const struct weir_tuple *tuple);
struct weir_tuple firewall_tuple(const struct firewall *firewall, const struct rte_mbuf *packet,
				 const struct weir_headers *headers);
/* The same for a session that begins, which lets them go when it ends. False: no room for them. */
bool firewall_hold_addresses(struct firewall *firewall, const struct rte_mbuf *packet,
			     const struct weir_headers *headers, struct weir_tuple *tuple);
void firewall_let_addresses_go(struct firewall *firewall, const struct weir_tuple *tuple);
/* The first packet of a session of IPv6, as rules see it. */
struct weir_ipv6_tuple firewall_session_ipv6_tuple(const struct firewall *firewall,
						   const struct session *session);
/* Whether the rules permit the packet, of either family. */
bool firewall_permits(const struct firewall *firewall, const struct rte_mbuf *packet,
		      const struct weir_headers *headers);

/* rare.c */

/* Whether the packet can begin no session: not IP that rules decide on, a cut header, a later
 * fragment, ICMP other than echo. */
static inline bool
firewall_is_rare(const struct firewall *firewall, const struct rte_mbuf *packet,
		 const struct weir_headers *headers)
{
	if (unlikely(headers->network != WEIR_NETWORK_IPV4) &&
	    (headers->network != WEIR_NETWORK_IPV6 ||
	     weir_ruled_frame(&firewall->frames, packet, headers) != WEIR_RULED))
		return true;
	if ((headers->flags & (WEIR_HEADER_L4_CUT | WEIR_HEADER_LATER_FRAGMENT)) != 0)
		return true;
	return unlikely(firewall_packet_is_icmp(headers)) &&
	       !weir_icmp_is_echo(
		       headers->tuple.protocol,
		       *rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l4_offset));
}

/* Decides on such a packet, by the rules alone or the session of another packet. */
void firewall_decide_rare(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
			  struct weir_action *action);

/* decide.c */

void firewall_decide(void *state, const struct weir_batch *batch, struct weir_action *actions);

#endif
