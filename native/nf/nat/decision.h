/* SPDX-License-Identifier: Apache-2.0 */
/* What decisions on a packet are made of: its mapping, what filtering says, what counts it, and
 * what is set in it. */
#ifndef WEIR_NF_NAT_DECISION_H
#define WEIR_NF_NAT_DECISION_H

#include "nat.h"

/* What all of one decision needs. */
struct nat_work {
	struct nat *nat;
	const struct weir_batch *batch;
	uint32_t now;
};

static inline bool
nat_is_control(const struct weir_headers *headers)
{
	return (headers->tcp_flags & WEIR_TCP_EVENTS) != 0;
}

/* ICMP's identifier is both ports of the tuple. */
static inline void
nat_set_source(const struct nat_session *session, struct weir_action *action)
{
	action->set |= WEIR_SET_SRC_IP | WEIR_SET_SRC_PORT;
	action->src_ip = session->external.ip;
	action->src_port = session->external.port;
	if (session->inside.protocol == IPPROTO_ICMP) {
		action->set |= WEIR_SET_DST_PORT;
		action->dst_port = session->external.port;
	}
}

static inline void
nat_set_destination(const struct nat_session *session, struct weir_action *action)
{
	action->set |= WEIR_SET_DST_IP | WEIR_SET_DST_PORT;
	action->dst_ip = session->inside.ip;
	action->dst_port = session->inside.port;
	if (session->inside.protocol == IPPROTO_ICMP) {
		action->set |= WEIR_SET_SRC_PORT;
		action->src_port = session->inside.port;
	}
}

/* What counts the packet for the mapping, and so refreshes it; TCP's control segments are followed
 * by nat_tcp_control() instead. */
static inline struct weir_counter *
nat_counter_of(struct nat_session *session, enum weir_direction direction,
	       const struct weir_headers *headers)
{
	if (unlikely(nat_is_control(headers)))
		return NULL;
	return direction == WEIR_OUTBOUND ? &session->outbound : &session->inbound;
}

/* translate.c */

/* Follows a segment with SYN, FIN or RST. */
void nat_follow_control(const struct nat_work *work, struct nat_session *session,
			enum weir_direction direction, uint32_t remote_ip, uint16_t remote_port,
			uint8_t tcp_flags);
/* With filtering: the permission that the packet gives or needs, which `counter` then counts if it
 * is not NULL. False: there is none, and the packet is dropped. */
bool nat_filter(const struct nat_work *work, struct nat_session *session,
		enum weir_direction direction, uint32_t remote_ip, uint16_t remote_port,
		struct weir_action *action, struct weir_counter **counter);
/* The mapping of an inside endpoint, made now if need be; NULL: the packet is dropped. */
struct nat_session *nat_mapping_of(const struct nat_work *work, const struct weir_headers *headers,
				   struct weir_action *action);

/* hairpin.c */

void nat_hairpin(const struct nat_work *work, const struct weir_headers *headers,
		 struct weir_action *action);

/* paired.c */

/* On a packet from or to an address of a pair. */
void nat_paired(const struct nat_work *work, uint16_t index, struct weir_action *action);

#endif
