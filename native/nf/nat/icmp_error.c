/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICMP errors (RFC 5508, section 4): an error names the packet that caused it, as it was where the
 * error arose. The packet inside is given the addresses and ports that it had on the other side of
 * the NAT, then the error itself goes to who sent that packet. Errors refresh no mapping (REQ-6).
 */
#include <rte_ip.h>

#include "packet/icmp_error.h"

#include "nat.h"

/* RFC 5508, REQ-3: the checksums of the message and of the IP header inside must be right; that of
 * the transport inside is not looked at. */
static bool
is_sound(const struct rte_mbuf *packet, const struct weir_headers *headers,
	 const struct weir_icmp_error *error)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t bytes = headers->l3_offset + headers->l3_bytes - headers->l4_offset;

	return rte_raw_cksum(frame + headers->l4_offset, bytes) == 0xffff &&
	       rte_raw_cksum(frame + error->ip_offset, error->l4_offset - error->ip_offset) ==
		       0xffff;
}

/* To the inside address of a pair, which sent the packet. */
static bool
to_paired(const struct nat *nat, struct weir_tuple *inner, struct weir_action *action)
{
	uint32_t inside = nat_paired_inside(&nat->pairs, inner->src_ip);

	if (inside == 0)
		return false;
	inner->src_ip = inside;
	action->set = WEIR_SET_DST_IP;
	action->dst_ip = inside;
	return true;
}

/* From outside, about a packet that came from inside (REQ-4): to the inside host that sent it. */
static bool
from_outside(const struct nat *nat, const struct weir_tuple *outer, struct weir_tuple *inner,
	     struct weir_action *action)
{
	const struct nat_session *session;

	if (inner->src_ip != outer->dst_ip)
		return false;
	if (to_paired(nat, inner, action))
		return true;
	session = nat_session_find(nat, nat->by_external, inner->src_ip, inner->src_port,
				   inner->protocol);
	if (session == NULL)
		return false;
	if (nat->filtering != NAT_FILTER_NONE && !nat_is_static(nat, session) &&
	    nat_permission(nat, session, inner->dst_ip, inner->dst_port) == NULL)
		return false;
	inner->src_ip = session->inside.ip;
	inner->src_port = session->inside.port;
	action->set = WEIR_SET_DST_IP;
	action->dst_ip = session->inside.ip;
	return true;
}

/* About a packet that one inside host sent to another's external endpoint (REQ-7). */
static bool
to_hairpin_sender(const struct nat *nat, const struct weir_tuple *outer, struct weir_tuple *inner,
		  struct weir_action *action)
{
	const struct nat_session *sender;

	if (inner->src_ip != outer->dst_ip)
		return false;
	if (!to_paired(nat, inner, action)) {
		sender = nat_session_find(nat, nat->by_external, inner->src_ip, inner->src_port,
					  inner->protocol);
		if (sender == NULL || inner->protocol == IPPROTO_ICMP)
			return false;
		inner->src_ip = sender->inside.ip;
		inner->src_port = sender->inside.port;
		action->set = WEIR_SET_DST_IP;
		action->dst_ip = sender->inside.ip;
	}
	action->has_egress = nat->hairpin_output != 0;
	action->egress = nat->hairpin_output;
	return true;
}

/* From inside, about a packet that went there (REQ-5): from the external address that the packet
 * was for. */
static bool
from_inside(const struct nat *nat, const struct weir_tuple *outer, struct weir_tuple *inner,
	    struct weir_action *action)
{
	const struct nat_session *session = NULL;
	uint32_t external = nat_paired_external(&nat->pairs, inner->dst_ip);

	if (external == 0) {
		session = nat_session_find(nat, nat->by_inside, inner->dst_ip, inner->dst_port,
					   inner->protocol);
		if (session == NULL)
			return false;
		external = session->external.ip;
	}
	if (nat_leads_inside(nat, outer->dst_ip) && !to_hairpin_sender(nat, outer, inner, action))
		return false;
	inner->dst_ip = external;
	if (session != NULL) {
		inner->dst_port = session->external.port;
		if (inner->protocol == IPPROTO_ICMP)
			inner->src_port = session->external.port;
	}
	action->set |= WEIR_SET_SRC_IP;
	action->src_ip = external;
	return true;
}

void
nat_icmp_error(struct nat *nat, struct rte_mbuf *packet, const struct weir_headers *headers,
	       enum weir_direction direction, struct weir_action *action)
{
	struct weir_icmp_error error;
	struct weir_tuple inner;
	bool known =
		weir_icmp_error_parse(packet, headers, &error) && is_sound(packet, headers, &error);

	if (known) {
		inner = error.tuple;
		known = direction == WEIR_INBOUND
				? from_outside(nat, &headers->tuple, &inner, action)
				: from_inside(nat, &headers->tuple, &inner, action);
	}
	if (!known) {
		nat_drop(action, NAT_DROP_ICMP);
		return;
	}
	action->once = true;
	weir_icmp_error_rewrite(packet, headers, &error, &inner);
}
