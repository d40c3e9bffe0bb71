/* SPDX-License-Identifier: Apache-2.0 */
/* What enters the tunnel of its UE (TS 29.281, section 4.2). */
#include "one_packet.h"

/* Puts the packet into the tunnel: the Ethernet header moves down, and what the frame has behind
 * the IP packet goes. */
static inline void
encapsulate(struct rte_mbuf *packet, uint16_t l3_offset, uint16_t l3_bytes,
	    const struct weir_gtpu_prepared *outer, const struct weir_gtpu_tunnel *tunnel)
{
	const uint16_t outer_bytes = outer->bytes;
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(packet, outer_bytes);

	upf_move_ethernet(frame, frame + outer_bytes, l3_offset, RTE_BE16(RTE_ETHER_TYPE_IPV4));
	upf_cut(packet, (uint32_t)outer_bytes + l3_offset + l3_bytes);
	weir_gtpu_write_outer(outer, tunnel, l3_bytes, frame + l3_offset);
}

static struct upf_owner
owner_of(const struct upf *upf, const struct upf_session *session, const struct upf_rule *rule)
{
	return (struct upf_owner){.place = (uint32_t)(session - upf->sessions),
				  .rule = rule != NULL ? (uint32_t)(rule - upf->rules) : 0};
}

/* A packet that is to wait; who has a first one is told where that is asked for, once. */
static __rte_noinline bool
keep(struct upf *upf, struct upf_flow *flow, uint32_t *queue, struct upf_owner owner,
     struct rte_mbuf *packet, const struct weir_headers *headers, uint64_t now_tsc,
     struct weir_stage_ledger *ledger)
{
	const struct upf_kept kept = {.packet = packet,
				      .since_tsc = now_tsc,
				      .l3_offset = headers->l3_offset,
				      .l3_bytes = headers->l3_bytes};

	if ((flow->held_by & UPF_NOTIFIES) != 0 &&
	    upf_buffer_note(upf, owner, owner.rule != 0 ? upf->rules[owner.rule].id : 0))
		flow->held_by &= (uint8_t)~UPF_NOTIFIES;
	if (upf_buffer_keep(&upf->buffer, queue, flow->kept_most, &kept, owner))
		weir_count(&ledger->held, 1);
	else
		upf_drop(packet, UPF_DROP_BUFFER_FULL, ledger);
	return false;
}

enum upf_drop
upf_into_tunnel_kept(struct upf *upf, const struct upf_kept *kept, struct upf_owner owner)
{
	struct upf_session *session = &upf->sessions[owner.place];
	struct upf_rule *rule = owner.rule != 0 ? &upf->rules[owner.rule] : NULL;
	const struct upf_flow *flow = rule != NULL ? &rule->flow : &session->into;

	if ((flow->held_by & UPF_HELD_BY_RULES) != 0) /* it has rules now, and waited before */
		return UPF_DROP_KEPT_IN_VAIN;
	if ((flow->held_by & UPF_HELD_BY_ACTION) != 0)
		return UPF_DROP_BY_ACTION;
	if ((flow->held_by & UPF_HELD_BY_GATE) != 0)
		return UPF_DROP_GATE;
	if (rule != NULL && !upf_rule_is_within_quotas(upf, rule, !upf->out_of_way, kept->l3_bytes))
		return UPF_DROP_QUOTA;
	if (rule != NULL) {
		upf_rule_count(upf, rule, !upf->out_of_way, kept->l3_bytes);
	} else {
		weir_count(&session->into.passed.packets, 1);
		weir_count(&session->into.passed.bytes, kept->l3_bytes);
	}
	encapsulate(kept->packet, kept->l3_offset, kept->l3_bytes, &upf->outer,
		    rule != NULL ? &rule->tunnel : &session->tunnel);
	return UPF_PASSES;
}

/* The same for a session whose rules say what becomes of which packet; apart from the others, which
 * pay nothing for it. */
static __rte_noinline bool
forward_by_rules(struct upf *upf, struct upf_session *session, struct rte_mbuf *packet,
		 const struct weir_headers *headers, uint64_t now_tsc,
		 struct weir_stage_ledger *ledger)
{
	const uint16_t l3_offset = headers->l3_offset;
	const uint8_t *user = rte_pktmbuf_mtod_offset(packet, const uint8_t *, l3_offset);
	struct upf_rule *rule;
	const enum upf_drop reason = upf_rules_admit(upf, session, false, user, headers->l3_bytes,
						     WEIR_GTPU_NO_QFI, now_tsc, &rule);

	if (reason == UPF_PASSES) {
		encapsulate(packet, l3_offset, headers->l3_bytes, &upf->outer, &rule->tunnel);
		return true;
	}
	if (reason == UPF_WAITS)
		return keep(upf, &rule->flow, &rule->queue, owner_of(upf, session, rule), packet,
			    headers, now_tsc, ledger);
	upf_drop(packet, reason, ledger);
	return false;
}

/* One IP packet, of the UE of `session` or of none. False: it was dropped. */
static inline bool
forward(struct upf *upf, struct upf_session *session, struct rte_mbuf *packet,
	const struct weir_headers *headers, uint64_t now_tsc, struct weir_stage_ledger *ledger)
{
	const uint16_t outer_bytes = upf->outer.bytes;
	const uint16_t l3_offset = headers->l3_offset, l3_bytes = headers->l3_bytes;
	enum upf_drop reason;

	if (unlikely(session == NULL)) {
		reason = UPF_DROP_UNKNOWN_UE;
	} else if (unlikely(rte_pktmbuf_headroom(packet) < outer_bytes ||
			    l3_bytes + outer_bytes > upf->n3_mtu_bytes)) {
		reason = UPF_DROP_TOO_LONG;
	} else {
		reason = upf_admit(upf, &session->into, l3_bytes, now_tsc);
		if (likely(reason == UPF_PASSES)) {
			encapsulate(packet, l3_offset, l3_bytes, &upf->outer, &session->tunnel);
			return true;
		}
		if (reason == UPF_BY_RULES)
			return forward_by_rules(upf, session, packet, headers, now_tsc, ledger);
		if (reason == UPF_WAITS)
			return keep(upf, &session->into, &session->queue,
				    owner_of(upf, session, NULL), packet, headers, now_tsc, ledger);
	}
	upf_drop(packet, reason, ledger);
	return false;
}

/* The sessions of a batch's IPv6 packets. */
static __rte_noinline void
find_by_prefix(const struct upf *upf, const struct weir_batch *batch,
	       struct upf_session *session[WEIR_BURST])
{
	struct upf_prefix key[WEIR_BURST];
	const void *at[WEIR_BURST];
	uint32_t found[WEIR_BURST];
	uint16_t place[WEIR_BURST];
	unsigned int count = 0;

	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];

		if (headers->network != WEIR_NETWORK_IPV6)
			continue;
		key[count] = upf_prefix_of(
			upf_user_ipv6(rte_pktmbuf_mtod_offset(batch->packet[i],
							      const struct rte_ipv6_hdr *,
							      headers->l3_offset),
				      batch->direction),
			&upf->prefix_mask);
		at[count] = &key[count];
		place[count++] = i;
	}
	if (count == 0)
		return;
	weir_flow_table_find(upf->by_prefix, at, found, count);
	for (unsigned int i = 0; i < count; i++) {
		if (found[i] == WEIR_FLOW_NONE)
			continue;
		session[place[i]] = &upf->sessions[found[i]];
		rte_prefetch0(&session[place[i]]->ue);
	}
}

void
upf_into_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct upf_asked *asked = upf->asked;
	struct upf_session *session[WEIR_BURST]; /* NULL: of no UE */
	uint32_t found[WEIR_BURST];
	bool others = false; /* packets of no IPv4 address that is known */
	uint16_t kept = 0;

	upf_learn_link(&upf->link, batch);
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_tuple *tuple = &batch->headers[i].tuple;

		asked->key[i].ip = upf_user_ip(tuple->src_ip, tuple->dst_ip, batch->direction);
	}
	weir_flow_table_find(upf->by_ue, asked->at, found, batch->count);
	for (uint16_t i = 0; i < batch->count; i++) {
		session[i] = found[i] != WEIR_FLOW_NONE ? &upf->sessions[found[i]] : NULL;
		if (likely(session[i] != NULL))
			rte_prefetch0(&session[i]->ue);
		else
			others = true;
	}
	if (unlikely(others))
		find_by_prefix(upf, batch, session);
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct rte_mbuf *packet = batch->packet[i];

		switch ((enum weir_network)headers->network) {
		case WEIR_NETWORK_IPV4:
		case WEIR_NETWORK_IPV6:
			if (!forward(upf, session[i], packet, headers, batch->now_tsc, ledger))
				continue;
			break;
		case WEIR_NETWORK_MALFORMED:
			upf_drop(packet, UPF_DROP_MALFORMED, ledger);
			continue;
		case WEIR_NETWORK_OTHER:
			break;
		}
		if (unlikely(kept != i)) {
			batch->egress[kept] = batch->egress[i];
			batch->packet[kept] = packet;
		}
		kept++;
	}
	batch->count = kept;
}
