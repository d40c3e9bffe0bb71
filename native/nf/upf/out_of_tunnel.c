/* SPDX-License-Identifier: Apache-2.0 */
/* What comes in a tunnel (TS 29.281, section 4.2). */
#include <string.h>

#include "one_packet.h"

/* The packets of a batch that are in tunnels: their sessions come from memory together. */
struct tunnelled {
	unsigned int count;
	uint16_t place[WEIR_BURST];
	struct weir_gtpu gtpu[WEIR_BURST];
	struct upf_session *session[WEIR_BURST];
};

static inline bool
is_for_tunnels(const struct upf *upf, const struct weir_headers *headers)
{
	return headers->network == WEIR_NETWORK_IPV4 && headers->tuple.protocol == IPPROTO_UDP &&
	       headers->tuple.dst_ip == upf->own_ip;
}

/* What is for this function and no packet of a user. */
static enum upf_drop
handle_signal(struct upf *upf, const struct rte_mbuf *packet, const struct weir_headers *headers,
	      const struct weir_gtpu *gtpu)
{
	if (gtpu->message == WEIR_GTPU_ECHO_REQUEST)
		upf_answer_echo(upf, packet, headers, gtpu);
	return UPF_DROP_SIGNAL;
}

/* Sorts packet `index`. True: it goes on as it is. */
static inline bool
sort(struct upf *upf, struct weir_batch *batch, uint16_t index, struct tunnelled *tunnelled,
     struct weir_stage_ledger *ledger)
{
	const struct weir_headers *headers = &batch->headers[index];
	struct rte_mbuf *packet = batch->packet[index];
	struct weir_gtpu *gtpu = &tunnelled->gtpu[tunnelled->count];
	const uint32_t end = headers->l3_offset + headers->l3_bytes;

	if (unlikely(headers->network == WEIR_NETWORK_OTHER))
		return true; /* ARP and what else is of the link */
	if (unlikely(headers->network == WEIR_NETWORK_MALFORMED)) {
		upf_drop(packet, UPF_DROP_MALFORMED, ledger);
		return false;
	}
	if (unlikely(is_for_tunnels(upf, headers) &&
		     (headers->flags & WEIR_HEADER_FRAGMENT) != 0)) {
		upf_drop(packet, UPF_DROP_OUTER_FRAGMENT, ledger);
		return false;
	}
	if (unlikely(!is_for_tunnels(upf, headers) || headers->l4_offset == 0 ||
		     headers->tuple.dst_port != RTE_BE16(WEIR_GTPU_PORT))) {
		if (upf->other == UPF_OTHER_FORWARD)
			return true;
		upf_drop(packet, UPF_DROP_OTHER, ledger);
		return false;
	}
	if (unlikely(end > rte_pktmbuf_data_len(packet) ||
		     !weir_gtpu_parse_user(rte_pktmbuf_mtod_offset(packet, const uint8_t *,
								   headers->payload_offset),
					   end - headers->payload_offset, gtpu))) {
		upf_drop(packet, UPF_DROP_MALFORMED, ledger);
		return false;
	}
	if (unlikely(gtpu->message != WEIR_GTPU_G_PDU)) {
		upf_drop(packet, handle_signal(upf, packet, headers, gtpu), ledger);
		return false;
	}
	tunnelled->session[tunnelled->count] = upf_session_at_teid(upf, gtpu->teid);
	rte_prefetch0(tunnelled->session[tunnelled->count]);
	tunnelled->place[tunnelled->count++] = index;
	return false;
}

/* The user's packet: its bytes, or 0 if it is none of IPv4, or not all there. */
static inline uint32_t
user_bytes(const uint8_t *user, uint32_t room)
{
	const struct rte_ipv4_hdr *ip = (const void *)user;
	uint32_t bytes;

	if (room < sizeof(*ip) || ip->version_ihl >> 4 != 4 || rte_ipv4_hdr_len(ip) < sizeof(*ip))
		return 0;
	bytes = rte_be_to_cpu_16(ip->total_length);
	return bytes >= rte_ipv4_hdr_len(ip) && bytes <= room ? bytes : 0;
}

/* `ue_ip` 0: it has none, and what says so is not its. */
static inline bool
is_of_ue(const uint8_t *user, enum weir_direction direction, uint32_t ue_ip)
{
	uint32_t ips[2], ip; /* source, destination */

	memcpy(ips, user + offsetof(struct rte_ipv4_hdr, src_addr), sizeof(ips));
	ip = upf_user_ip(ips[0], ips[1], direction);
	return ip == ue_ip && ip != 0;
}

/* The Ethernet header moves up to the user's packet of that type, of `bytes` bytes, `offset` behind
 * it. */
static inline void
decapsulate(struct rte_mbuf *packet, uint16_t l3_offset, uint16_t offset, uint32_t bytes,
	    uint16_t type)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	const uint32_t length = l3_offset + bytes;
	const uint32_t least = RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN;

	upf_move_ethernet(frame + offset, frame, l3_offset, type);
	rte_pktmbuf_adj(packet, offset);
	upf_cut(packet, length);
	if (unlikely(length < least)) {
		void *padding = rte_pktmbuf_append(packet, (uint16_t)(least - length));

		if (padding != NULL)
			memset(padding, 0, least - length);
	}
}

/* An IPv6 packet: its bytes, or 0 if it is none, or not all there. */
static uint32_t
user_ipv6_bytes(const uint8_t *user, uint32_t room)
{
	const struct rte_ipv6_hdr *ip = (const void *)user;
	uint32_t bytes;

	if (room < sizeof(*ip) || user[0] >> 4 != 6)
		return 0;
	bytes = sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	return bytes <= room ? bytes : 0;
}

/* The same as below of what is no whole IPv4 packet; apart, as those pay nothing for it. */
static __rte_noinline bool
forward_ipv6(struct upf *upf, struct upf_session *session, struct rte_mbuf *packet,
	     const struct weir_headers *headers, const struct weir_gtpu *gtpu, uint64_t now_tsc,
	     struct weir_stage_ledger *ledger)
{
	const uint16_t user_offset = headers->payload_offset + gtpu->payload_offset;
	const uint8_t *user = rte_pktmbuf_mtod_offset(packet, const uint8_t *, user_offset);
	const uint32_t bytes = user_ipv6_bytes(user, gtpu->payload_bytes);
	enum upf_drop reason = UPF_DROP_MALFORMED;

	if (bytes != 0) {
		const struct upf_prefix prefix = upf_prefix_of(
			upf_user_ipv6((const void *)user, upf->out_of_way), &upf->prefix_mask);

		reason = upf_prefix_is(&prefix, &session->prefix) && upf_has_prefix(session)
				 ? upf_admit(upf, &session->out_of, bytes, now_tsc)
				 : UPF_DROP_SPOOFED;
		if (reason == UPF_BY_RULES)
			reason = upf_rules_admit(upf, session, true, user, bytes, gtpu->qfi,
						 now_tsc, NULL);
		if (reason == UPF_PASSES) {
			decapsulate(packet, headers->l3_offset, user_offset - headers->l3_offset,
				    bytes, RTE_BE16(RTE_ETHER_TYPE_IPV6));
			return true;
		}
	}
	upf_drop(packet, reason, ledger);
	return false;
}

/* One that came in a tunnel, of `session` if that has its TEID. False: it was dropped. */
static inline bool
forward(struct upf *upf, struct upf_session *session, struct rte_mbuf *packet,
	const struct weir_headers *headers, const struct weir_gtpu *gtpu, uint64_t now_tsc,
	struct weir_stage_ledger *ledger)
{
	const uint16_t user_offset = headers->payload_offset + gtpu->payload_offset;
	const uint8_t *user = rte_pktmbuf_mtod_offset(packet, const uint8_t *, user_offset);
	const uint32_t bytes = user_bytes(user, gtpu->payload_bytes);
	enum upf_drop reason;

	if (unlikely(gtpu->not_comprehended != 0)) {
		upf_notify_extensions(upf, packet, headers, now_tsc);
		reason = UPF_DROP_EXTENSION;
	} else if (unlikely(session->teid != gtpu->teid)) {
		if (gtpu->teid != 0) /* section 7.3.1 */
			upf_indicate_error(upf, packet, headers, gtpu, now_tsc);
		reason = UPF_DROP_UNKNOWN_TEID;
	} else if (unlikely(bytes == 0)) {
		return forward_ipv6(upf, session, packet, headers, gtpu, now_tsc, ledger);
	} else if (unlikely(!is_of_ue(user, upf->out_of_way, session->ue_ip))) {
		reason = UPF_DROP_SPOOFED;
	} else {
		reason = upf_admit(upf, &session->out_of, bytes, now_tsc);
		if (unlikely(reason == UPF_BY_RULES))
			reason = upf_rules_admit(upf, session, true, user, bytes, gtpu->qfi,
						 now_tsc, NULL);
		if (likely(reason == UPF_PASSES)) {
			decapsulate(packet, headers->l3_offset, user_offset - headers->l3_offset,
				    bytes, RTE_BE16(RTE_ETHER_TYPE_IPV4));
			return true;
		}
	}
	upf_drop(packet, reason, ledger);
	return false;
}

void
upf_out_of_tunnel(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct tunnelled tunnelled;
	uint16_t kept = 0, next = 0;
	uint32_t goes_on = 0;

	if (unlikely(!upf->link.went_there))
		upf_learn_link_back(&upf->link, batch);
	static_assert(WEIR_BURST <= 32, "a bit a packet");
	tunnelled.count = 0;
	for (uint16_t i = 0; i < batch->count; i++)
		goes_on |= (uint32_t)sort(upf, batch, i, &tunnelled, ledger) << i;
	for (unsigned int i = 0; i < tunnelled.count; i++) {
		const uint16_t at = tunnelled.place[i];

		goes_on |= (uint32_t)forward(upf, tunnelled.session[i], batch->packet[at],
					     &batch->headers[at], &tunnelled.gtpu[i],
					     batch->now_tsc, ledger)
			   << at;
	}
	if (likely(goes_on == (uint32_t)((1ull << batch->count) - 1)))
		return;
	for (; next < batch->count; next++) {
		if ((goes_on & (1u << next)) == 0)
			continue;
		batch->egress[kept] = batch->egress[next];
		batch->packet[kept++] = batch->packet[next];
	}
	batch->count = kept;
}
