/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From inside to the external endpoint of another inside host: both ends are translated (RFC 4787,
 * REQ-9a: with the external source). It rests on two mappings, so each packet is decided anew.
 */
#include "decision.h"

void
nat_hairpin(const struct nat_work *work, const struct weir_headers *headers,
	    struct weir_action *action)
{
	const struct weir_tuple *tuple = &headers->tuple;
	struct nat *nat = work->nat;
	struct nat_session *to = nat_session_find(nat, nat->by_external, tuple->dst_ip,
						  tuple->dst_port, tuple->protocol);
	struct nat_session *from;

	if (nat_paired_inside(&nat->pairs, tuple->dst_ip) != 0) {
		from = nat_mapping_of(work, headers, action);
		if (from == NULL || (nat->filtering != NAT_FILTER_NONE &&
				     !nat_filter(work, from, WEIR_OUTBOUND, tuple->dst_ip,
						 tuple->dst_port, action, NULL)))
			return;
		action->once = true;
		action->invalidation = NULL;
		action->counters[0] = nat_counter_of(from, WEIR_OUTBOUND, headers);
		if (nat_is_control(headers))
			nat_follow_control(work, from, WEIR_OUTBOUND, tuple->dst_ip,
					   tuple->dst_port, headers->tcp_flags);
		nat_set_source(from, action);
		nat_hairpin_to_pair(nat, tuple->dst_ip, action);
		return;
	}
	if (to == NULL || tuple->protocol == IPPROTO_ICMP) {
		bool ours =
			nat_owns_lane(nat, nat_external_lane(nat, tuple->dst_ip, tuple->dst_port));

		nat_drop(action, ours ? NAT_DROP_NO_MAPPING : NAT_DROP_OTHER_WORKER);
		return;
	}
	from = nat_mapping_of(work, headers, action);
	if (from == NULL)
		return;
	if (nat->filtering != NAT_FILTER_NONE &&
	    (!nat_filter(work, from, WEIR_OUTBOUND, tuple->dst_ip, tuple->dst_port, action, NULL) ||
	     !nat_filter(work, to, WEIR_INBOUND, from->external.ip, from->external.port, action,
			 NULL)))
		return;
	action->once = true;
	action->invalidation = NULL;
	action->counters[0] = nat_counter_of(from, WEIR_OUTBOUND, headers);
	action->counters[1] = nat_counter_of(to, WEIR_INBOUND, headers);
	if (nat_is_control(headers)) {
		nat_follow_control(work, from, WEIR_OUTBOUND, tuple->dst_ip, tuple->dst_port,
				   headers->tcp_flags);
		nat_follow_control(work, to, WEIR_INBOUND, from->external.ip, from->external.port,
				   headers->tcp_flags);
	}
	nat_set_source(from, action);
	nat_set_destination(to, action);
	action->has_egress = nat->hairpin_output != 0;
	action->egress = nat->hairpin_output;
}
