/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions on packets, in passes over the batch so that the cache misses of all packets overlap:
 * what each is, and its endpoint; the look-ups of all; decisions in the packets' order, as an
 * earlier one may make the mapping that a later one needs.
 */
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "decision.h"

enum kind {
	KIND_ENDPOINT, /* has ports or an identifier: translated by its endpoint */
	KIND_LATER_FRAGMENT,
	KIND_OTHER_ICMP, /* an error, or nothing that is translated */
	KIND_UNTRANSLATED,
	KIND_PAIRED, /* to or from an address of a pair */
	KIND_DROP,   /* + enum nat_drop */
};

static inline bool
is_icmp_echo(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	uint8_t type = *rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l4_offset);

	return type == RTE_IP_ICMP_ECHO_REQUEST || type == RTE_IP_ICMP_ECHO_REPLY;
}

/* Whether it goes from one inside network to another. */
static inline bool
stays_inside(const struct nat *nat, const struct weir_headers *headers,
	     enum weir_direction direction)
{
	return unlikely(nat->untranslated.count != 0) && direction == WEIR_OUTBOUND &&
	       headers->network == WEIR_NETWORK_IPV4 &&
	       nat_spans_hold(&nat->untranslated, headers->tuple.dst_ip);
}

static inline unsigned int
kind_of(const struct nat *nat, const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	if (unlikely(headers->network == WEIR_NETWORK_IPV6) &&
	    nat->ipv6 == WEIR_UNKNOWN_IPV6_FORWARD)
		return KIND_UNTRANSLATED;
	if (unlikely(headers->network != WEIR_NETWORK_IPV4))
		return KIND_DROP + (headers->network == WEIR_NETWORK_MALFORMED ? NAT_DROP_MALFORMED
									       : NAT_DROP_NOT_IPV4);
	if (unlikely((headers->flags & WEIR_HEADER_L4_CUT) != 0))
		return KIND_DROP + NAT_DROP_TRUNCATED;
	switch (headers->tuple.protocol) {
	case IPPROTO_UDP:
	case IPPROTO_TCP:
		break;
	case IPPROTO_ICMP:
		if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) == 0 &&
		    !is_icmp_echo(packet, headers))
			return KIND_OTHER_ICMP;
		break;
	default:
		return KIND_DROP + NAT_DROP_PROTOCOL;
	}
	return (headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0 ? KIND_LATER_FRAGMENT
								  : KIND_ENDPOINT;
}

/* Of those that came from inside, or to it, by an address alone. */
static inline bool
is_paired(const struct nat *nat, const struct weir_headers *headers, enum weir_direction direction)
{
	if (likely(nat->pairs.count == 0) || headers->network != WEIR_NETWORK_IPV4)
		return false;
	return (direction == WEIR_OUTBOUND
			? nat_paired_external(&nat->pairs, headers->tuple.src_ip)
			: nat_paired_inside(&nat->pairs, headers->tuple.dst_ip)) != 0;
}

/* The mapping's counters say whether its connections were ever answered: what the fast path counted
 * is theirs first. */
void
nat_follow_control(const struct nat_work *work, struct nat_session *session,
		   enum weir_direction direction, uint32_t remote_ip, uint16_t remote_port,
		   uint8_t tcp_flags)
{
	weir_flow_cache_flush_for(work->batch->cache, &nat_life(work->nat, session)->invalidation);
	nat_tcp_control(work->nat, session, direction, remote_ip, remote_port, tcp_flags,
			work->now);
}

bool
nat_filter(const struct nat_work *work, struct nat_session *session, enum weir_direction direction,
	   uint32_t remote_ip, uint16_t remote_port, struct weir_action *action,
	   struct weir_counter **counter)
{
	struct nat_remote *remote;

	if (nat_is_static(work->nat, session))
		return true;
	if (direction == WEIR_OUTBOUND)
		remote = nat_permit(work->nat, session, remote_ip, remote_port);
	else
		remote = nat_permission(work->nat, session, remote_ip, remote_port);
	if (remote == NULL)
		return nat_drop(action, direction == WEIR_OUTBOUND ? NAT_DROP_REMOTES_EXHAUSTED
								   : NAT_DROP_FILTERED);
	action->invalidation = &remote->invalidation;
	if (direction == WEIR_OUTBOUND || work->nat->inbound_refresh) {
		remote->active_at = work->now;
		if (counter != NULL) {
			*counter = &remote->counter;
			remote->seen_packets++;
		}
	}
	return true;
}

struct nat_session *
nat_mapping_of(const struct nat_work *work, const struct weir_headers *headers,
	       struct weir_action *action)
{
	const struct weir_tuple *tuple = &headers->tuple;
	struct nat_session *session = nat_session_find(
		work->nat, work->nat->by_inside, tuple->src_ip, tuple->src_port, tuple->protocol);
	enum nat_drop reason = NAT_DROP_NO_MAPPING;

	if (session != NULL)
		return session;
	if ((headers->tcp_flags & RTE_TCP_RST_FLAG) == 0)
		session = nat_session_create(work->nat, tuple->src_ip, tuple->src_port,
					     tuple->protocol, work->now, &reason);
	if (session == NULL)
		nat_drop(action, reason);
	return session;
}

static inline void
outbound(const struct nat_work *work, struct nat_session *session,
	 const struct weir_headers *headers, struct weir_action *action)
{
	const struct weir_tuple *tuple = &headers->tuple;

	if (unlikely(nat_leads_inside(work->nat, tuple->dst_ip))) {
		nat_hairpin(work, headers, action);
		return;
	}
	if (unlikely(session == NULL)) {
		session = nat_mapping_of(work, headers, action);
		if (session == NULL)
			return;
	}
	action->invalidation = &nat_life(work->nat, session)->invalidation;
	if (work->nat->filtering != NAT_FILTER_NONE &&
	    !nat_filter(work, session, WEIR_OUTBOUND, tuple->dst_ip, tuple->dst_port, action,
			&action->counters[1]))
		return;
	action->counters[0] = nat_counter_of(session, WEIR_OUTBOUND, headers);
	if (unlikely(nat_is_control(headers))) {
		action->once = true;
		nat_follow_control(work, session, WEIR_OUTBOUND, tuple->dst_ip, tuple->dst_port,
				   headers->tcp_flags);
	}
	nat_set_source(session, action);
}

static inline void
inbound(const struct nat_work *work, struct nat_session *session,
	const struct weir_headers *headers, struct weir_action *action)
{
	const struct weir_tuple *tuple = &headers->tuple;

	if (unlikely(session == NULL)) {
		nat_drop(action, NAT_DROP_NO_MAPPING);
		return;
	}
	action->invalidation = &nat_life(work->nat, session)->invalidation;
	if (work->nat->filtering != NAT_FILTER_NONE &&
	    !nat_filter(work, session, WEIR_INBOUND, tuple->src_ip, tuple->src_port, action,
			&action->counters[1]))
		return;
	action->counters[0] = nat_counter_of(session, WEIR_INBOUND, headers);
	if (unlikely(nat_is_control(headers))) {
		action->once = true;
		nat_follow_control(work, session, WEIR_INBOUND, tuple->src_ip, tuple->src_port,
				   headers->tcp_flags);
	}
	nat_set_destination(session, action);
}

/* Neither an endpoint's packet nor frequent. */
static void
unusual(const struct nat_work *work, uint16_t index, unsigned int kind, struct weir_action *action)
{
	const struct weir_batch *batch = work->batch;
	const struct weir_headers *headers = &batch->headers[index];

	switch (kind) {
	case KIND_UNTRANSLATED:
		break;
	case KIND_PAIRED:
		nat_paired(work, index, action);
		break;
	case KIND_LATER_FRAGMENT:
		nat_fragment_follow(work->nat, batch, index, action);
		break;
	case KIND_OTHER_ICMP:
		nat_icmp_error(work->nat, batch->packet[index], headers, batch->direction, action);
		if ((headers->flags & WEIR_HEADER_FRAGMENT) != 0)
			nat_fragment_remember(work->nat, batch, index, action);
		break;
	default:
		nat_drop(action, kind - KIND_DROP);
		if (kind == KIND_DROP + NAT_DROP_TRUNCATED &&
		    (headers->flags & (WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT)) ==
			    WEIR_HEADER_FRAGMENT)
			nat_fragment_remember(work->nat, batch, index, action);
		break;
	}
}

static __rte_always_inline void
decide(struct nat *nat, const struct weir_batch *batch, struct weir_action *actions,
       const enum weir_direction direction)
{
	const struct nat_work work = {nat, batch, weir_session_time(batch->now_tsc)};
	uint8_t kinds[WEIR_BURST];
	struct nat_endpoint endpoints[WEIR_BURST];
	const void *keys[WEIR_BURST];
	uint32_t sessions[WEIR_BURST];

	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_tuple *tuple = &batch->headers[i].tuple;

		kinds[i] = stays_inside(nat, &batch->headers[i], direction) ? KIND_UNTRANSLATED
			   : is_paired(nat, &batch->headers[i], direction)
				   ? KIND_PAIRED
				   : kind_of(nat, batch->packet[i], &batch->headers[i]);
		endpoints[i] = (struct nat_endpoint){
			.ip = direction == WEIR_OUTBOUND ? tuple->src_ip : tuple->dst_ip,
			.port = direction == WEIR_OUTBOUND ? tuple->src_port : tuple->dst_port,
			.protocol = tuple->protocol,
		};
		keys[i] = &endpoints[i];
	}
	weir_flow_table_find(direction == WEIR_OUTBOUND ? nat->by_inside : nat->by_external, keys,
			     sessions, batch->count);
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct nat_session *session =
			sessions[i] == WEIR_FLOW_NONE ? NULL : &nat->sessions[sessions[i]];

		if (unlikely(kinds[i] != KIND_ENDPOINT)) {
			unusual(&work, i, kinds[i], &actions[i]);
			continue;
		}
		if (direction == WEIR_OUTBOUND)
			outbound(&work, session, headers, &actions[i]);
		else
			inbound(&work, session, headers, &actions[i]);
		if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0)) {
			actions[i].once = true;
			nat_fragment_remember(nat, batch, i, &actions[i]);
		}
	}
}

void
nat_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	if (batch->direction == WEIR_OUTBOUND)
		decide(state, batch, actions, WEIR_OUTBOUND);
	else
		decide(state, batch, actions, WEIR_INBOUND);
}
