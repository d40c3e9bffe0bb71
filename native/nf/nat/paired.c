/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to and from an address of a pair (basic NAT, RFC 3022, section 2.1): neither ports nor a
 * mapping matter, but for a host that is asked by what mappings share.
 */
#include <rte_icmp.h>

#include "packet/icmp_error.h"

#include "decision.h"

/* Who is asked by an address that many share cannot be told; who asked, by the identifier. */
static inline bool
is_echo_request(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	return headers->tuple.protocol == IPPROTO_ICMP &&
	       *rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l4_offset) ==
		       RTE_IP_ICMP_ECHO_REQUEST;
}

void
nat_paired(const struct nat_work *work, uint16_t index, struct weir_action *action)
{
	struct nat *nat = work->nat;
	const struct weir_batch *batch = work->batch;
	struct rte_mbuf *packet = batch->packet[index];
	const struct weir_headers *headers = &batch->headers[index];
	const struct weir_tuple *tuple = &headers->tuple;
	bool is_fragment = (headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0;
	struct weir_icmp_error error;

	if (unlikely((headers->flags & WEIR_HEADER_L4_CUT) != 0)) {
		nat_drop(action, NAT_DROP_TRUNCATED);
		return;
	}
	if (tuple->protocol == IPPROTO_ICMP && !is_fragment &&
	    weir_icmp_error_parse(packet, headers, &error)) {
		nat_icmp_error(nat, packet, headers, batch->direction, action);
		return;
	}
	if (batch->direction == WEIR_INBOUND) {
		action->set |= WEIR_SET_DST_IP;
		action->dst_ip = nat_paired_inside(&nat->pairs, tuple->dst_ip);
		return;
	}
	if (!nat_hairpin_to_pair(nat, tuple->dst_ip, action) &&
	    nat_is_external(nat, tuple->dst_ip)) {
		struct nat_session *to =
			is_fragment ? NULL
				    : nat_session_find(nat, nat->by_external, tuple->dst_ip,
						       tuple->dst_port, tuple->protocol);

		if (to == NULL || is_echo_request(packet, headers)) {
			nat_drop(action, NAT_DROP_NO_MAPPING);
			return;
		}
		if (nat->filtering != NAT_FILTER_NONE &&
		    !nat_filter(work, to, WEIR_INBOUND,
				nat_paired_external(&nat->pairs, tuple->src_ip), tuple->src_port,
				action, NULL))
			return;
		action->once = true;
		action->invalidation = NULL;
		action->counters[0] = nat_counter_of(to, WEIR_INBOUND, headers);
		if (nat_is_control(headers))
			nat_follow_control(work, to, WEIR_INBOUND,
					   nat_paired_external(&nat->pairs, tuple->src_ip),
					   tuple->src_port, headers->tcp_flags);
		nat_set_destination(to, action);
		action->has_egress = nat->hairpin_output != 0;
		action->egress = nat->hairpin_output;
	}
	action->set |= WEIR_SET_SRC_IP;
	action->src_ip = nat_paired_external(&nat->pairs, tuple->src_ip);
}
