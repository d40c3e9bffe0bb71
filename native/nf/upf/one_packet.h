/* SPDX-License-Identifier: Apache-2.0 */
/* What both ways do with one packet: whether it may pass, and where its headers go. */
#ifndef WEIR_NF_UPF_ONE_PACKET_H
#define WEIR_NF_UPF_ONE_PACKET_H

#include "upf.h"

/* Puts an Ethernet header with its tags in front of a packet of that type (network byte order):
 * `to` and `from` are further apart than it is long. */
static inline void
upf_move_ethernet(uint8_t *to, const uint8_t *from, uint16_t l3_offset, uint16_t type)
{

	memcpy(to, from, 2 * RTE_ETHER_ADDR_LEN);
	if (unlikely(l3_offset > RTE_ETHER_HDR_LEN))
		memcpy(to + 2 * RTE_ETHER_ADDR_LEN, from + 2 * RTE_ETHER_ADDR_LEN,
		       l3_offset - RTE_ETHER_HDR_LEN);
	memcpy(to + l3_offset - sizeof(type), &type, sizeof(type));
}

/* Takes what a frame has behind its first `bytes` bytes, all of which are in its first buffer. */
static inline void
upf_cut(struct rte_mbuf *packet, uint32_t bytes)
{
	if (likely(packet->nb_segs == 1)) {
		packet->data_len = (uint16_t)bytes;
		packet->pkt_len = bytes;
	} else {
		rte_pktmbuf_trim(packet, (uint16_t)(rte_pktmbuf_pkt_len(packet) - bytes));
	}
}

/* Whether so many bytes more are within the maximum bit rate, and if so `due` after them. */
static inline bool
upf_is_below_mbr(const struct upf *upf, const struct upf_flow *flow, uint32_t bytes,
		 uint64_t now_tsc, uint64_t *due)
{
	*due = RTE_MAX(flow->due_tsc, now_tsc) + (uint64_t)(bytes * (double)flow->cycles_per_byte);
	return *due - now_tsc <=
	       (uint64_t)((double)upf->mbr_burst_bytes * (double)flow->cycles_per_byte);
}

/* Counts a packet that goes on, and gives UPF_PASSES; UPF_BY_RULES: nothing is decided, rules say
 * it; UPF_WAITS: it is within the rate, and not counted yet; else why it is dropped. */
static inline enum upf_drop
upf_admit(const struct upf *upf, struct upf_flow *flow, uint32_t bytes, uint64_t now_tsc)
{
	if (flow->held_by != 0) {
		uint64_t due;

		if ((flow->held_by & UPF_HELD_BY_RULES) != 0)
			return UPF_BY_RULES;
		if ((flow->held_by & UPF_HELD_BY_ACTION) != 0)
			return UPF_DROP_BY_ACTION;
		if ((flow->held_by & UPF_HELD_BY_GATE) != 0)
			return UPF_DROP_GATE;
		if (!upf_is_below_mbr(upf, flow, bytes, now_tsc, &due))
			return UPF_DROP_ABOVE_MBR;
		flow->due_tsc = due;
		if ((flow->held_by & UPF_HELD_BY_BUFFER) != 0)
			return UPF_WAITS;
	}
	weir_count(&flow->passed.packets, 1);
	weir_count(&flow->passed.bytes, bytes);
	return UPF_PASSES;
}

/* A packet that is dropped. */
static inline void
upf_drop(struct rte_mbuf *packet, enum upf_drop reason, struct weir_stage_ledger *ledger)
{
	weir_count(&ledger->drops[reason], 1);
	rte_pktmbuf_free(packet);
}

#endif
