/* SPDX-License-Identifier: Apache-2.0 */
/* What enters the tunnel of its UE (TS 29.281, section 4.2). */
#include "upf.h"

/* Puts the packet into the tunnel: the Ethernet header moves down, and what the frame has behind
 * the IP packet goes. */
static inline void
encapsulate(struct rte_mbuf *packet, uint16_t l3_offset, uint16_t l3_bytes,
	    const struct weir_gtpu_prepared *outer, const struct weir_gtpu_tunnel *tunnel)
{
	const uint16_t outer_bytes = outer->bytes;
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(packet, outer_bytes);

	upf_move_ethernet(frame, frame + outer_bytes, l3_offset);
	upf_cut(packet, (uint32_t)outer_bytes + l3_offset + l3_bytes);
	weir_gtpu_write_outer(outer, tunnel, l3_bytes, frame + l3_offset);
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
	const struct weir_gtpu_tunnel *tunnel;
	const enum upf_drop reason =
		upf_rules_admit(upf, session, false, user, rte_pktmbuf_data_len(packet) - l3_offset,
				WEIR_GTPU_NO_QFI, now_tsc, &tunnel);

	if (reason == UPF_PASSES) {
		encapsulate(packet, l3_offset, headers->l3_bytes, &upf->outer, tunnel);
		return true;
	}
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
	}
	upf_drop(packet, reason, ledger);
	return false;
}

void
upf_into_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct upf_asked *asked = upf->asked;
	struct upf_session *session[WEIR_BURST]; /* NULL: of no UE */
	uint32_t found[WEIR_BURST];
	uint16_t kept = 0;

	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_tuple *tuple = &batch->headers[i].tuple;

		asked->key[i].ip = upf_user_ip(tuple->src_ip, tuple->dst_ip, batch->direction);
	}
	weir_flow_table_find(upf->by_ue, asked->at, found, batch->count);
	for (uint16_t i = 0; i < batch->count; i++) {
		session[i] = found[i] != WEIR_FLOW_NONE ? &upf->sessions[found[i]] : NULL;
		if (likely(session[i] != NULL))
			rte_prefetch0(&session[i]->ue);
	}
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct rte_mbuf *packet = batch->packet[i];

		switch ((enum weir_network)headers->network) {
		case WEIR_NETWORK_IPV4:
			if (!forward(upf, session[i], packet, headers, batch->now_tsc, ledger))
				continue;
			break;
		case WEIR_NETWORK_IPV6: /* no UE has an IPv6 address */
			upf_drop(packet, UPF_DROP_UNKNOWN_UE, ledger);
			continue;
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
