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

/* Decades: a burst that takes longer at its rate ends there, so that time in cycles holds it. */
#define UPF_AHEAD_MAX_CYCLES 0x1p62

/* Whether so many bytes more are within the maximum bit rate, and how far `ahead_cycles` of now the
 * flow is after them. */
static inline bool
upf_is_below_mbr(const struct upf *upf, const struct upf_flow *flow, uint32_t bytes,
		 uint64_t now_tsc, double *ahead_cycles)
{
	const double cycles_per_byte = (double)flow->cycles_per_byte;
	const double burst_cycles = (double)upf->mbr_burst_bytes * cycles_per_byte;

	*ahead_cycles = bytes * cycles_per_byte;
	if (flow->due_tsc >= now_tsc)
		*ahead_cycles +=
			(double)(int64_t)(flow->due_tsc - now_tsc) + flow->due_fraction / 256.0;
	return *ahead_cycles <= RTE_MIN(burst_cycles, UPF_AHEAD_MAX_CYCLES);
}

/* They pass: the flow is so far ahead of now. */
static inline void
upf_spend(struct upf_flow *flow, uint64_t now_tsc, double ahead_cycles)
{
	const int64_t whole_cycles = (int64_t)ahead_cycles;

	flow->due_tsc = now_tsc + (uint64_t)whole_cycles;
	flow->due_fraction = (uint8_t)((ahead_cycles - (double)whole_cycles) * 256.0);
}

/* Counts a packet that goes on, and gives UPF_PASSES; UPF_BY_RULES: nothing is decided, rules say
 * it; UPF_WAITS: it is within the rate, and not counted yet; else why it is dropped. */
static inline enum upf_drop
upf_admit(const struct upf *upf, struct upf_flow *flow, uint32_t bytes, uint64_t now_tsc)
{
	if (flow->held_by != 0) {
		double ahead_cycles;

		if ((flow->held_by & UPF_HELD_BY_RULES) != 0)
			return UPF_BY_RULES;
		if ((flow->held_by & UPF_HELD_BY_ACTION) != 0)
			return UPF_DROP_BY_ACTION;
		if ((flow->held_by & UPF_HELD_BY_GATE) != 0)
			return UPF_DROP_GATE;
		if (!upf_is_below_mbr(upf, flow, bytes, now_tsc, &ahead_cycles))
			return UPF_DROP_ABOVE_MBR;
		upf_spend(flow, now_tsc, ahead_cycles);
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
