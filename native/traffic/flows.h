/* SPDX-License-Identifier: Apache-2.0 */
/* The five-tuples of a stream, made once, with the part of the checksums that depends on them. */
#ifndef WEIR_TRAFFIC_FLOWS_H
#define WEIR_TRAFFIC_FLOWS_H

#include "frame.h"

/* 16 bytes, all in network order; sums without the length and without the stamp (its sum is a
 * constant). */
struct weir_flow {
	uint32_t src_ip; /* IPv6: the last four bytes */
	uint32_t dst_ip;
	uint16_t src_port;
	uint16_t dst_port;
	uint16_t ip_sum;
	uint16_t l4_sum;
};

/* Fields vary over this many values each; a single varied field gives no more flows than that. */
#define WEIR_FLOW_RADIX 32768

struct weir_flows {
	uint32_t count;
	struct weir_flow *flow;
	/* Order of sending: flow[order[i]] for i = 0 … order_count - 1, then again. NULL: flow[i].
	 */
	uint32_t *order;
	uint32_t order_count;
	uint32_t *drawn; /* the order that was drawn, which may rest; NULL: none */
};

int weir_flows_make(const struct weir_stream_config *config, struct weir_flows *flows,
		    struct weir_error *error);
/* In turn, or again in the order that was drawn. */
void weir_flows_in_turn(struct weir_flows *flows, bool in_turn);
/* Gives all flows the addresses and ports of the configuration again. */
void weir_flows_renew(const struct weir_stream_config *config, struct weir_flows *flows);
/* Makes the sums of flows whose addresses or ports have been changed. */
void weir_flows_sum(const struct weir_stream_config *config, struct weir_flows *flows);
void weir_flows_free(struct weir_flows *flows);

#endif
