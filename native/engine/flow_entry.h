/* SPDX-License-Identifier: Apache-2.0 */
/* What the fast path keeps of one flow, what was counted there, and its way below the data plane
 * and back. */
#ifndef WEIR_ENGINE_FLOW_ENTRY_H
#define WEIR_ENGINE_FLOW_ENTRY_H

#include <assert.h>
#include <stddef.h>

#include "packet/action.h"
#include "packet/headers.h"
#include "offload.h"

#define WEIR_FLOW_OPERATIONS_MAX 8

/* One thing that happens for each packet of a flow, in the order of the chain's stages. */
struct weir_flow_operation {
	struct weir_counter *counter; /* or NULL: then `effect` */
	struct weir_effect *effect;
};

/*
 * The composed decision of a chain as it is kept: one cache line has all that most packets need.
 * They are counted here, and given to the functions' counters when the cache is flushed; but where
 * an effect may drop one on its way, each operation happens for each packet.
 */
struct weir_flow_entry {
	struct weir_tuple key;
	uint64_t bytes; /* not flushed yet, as `packets` */
	uint32_t packets;
	uint16_t ip_change, l4_change;
	uint32_t src_ip, dst_ip; /* that leave: as in the packet, four bytes each, then the ports */
	uint16_t src_port, dst_port;
	struct rte_ether_addr dst_mac, src_mac;
	uint8_t set;
	uint8_t verdict;
	uint8_t drop_reason;
	uint8_t drop_stage;
	uint8_t ttl_decrement;
	uint8_t egress; /* WEIR_FLOW_NO_EGRESS: as it is */
	bool has_effects;
	bool used; /* since the hand of the clock passed */
	/* The second line. */
	struct weir_flow_operation operations[WEIR_FLOW_OPERATIONS_MAX];
	uint8_t operation_count;
	uint8_t stage_of[WEIR_FLOW_OPERATIONS_MAX];
	uint8_t offload_refused; /* bits: enum weir_offload_refusal, counted already */
	uint8_t offload_idle;	 /* flushes without a packet below */
	uint32_t offload_place;	 /* below the data plane; WEIR_OFFLOAD_NONE: not there */
} __rte_cache_aligned;
static_assert(offsetof(struct weir_flow_entry, operations) == 64, "one cache line before them");
#define WEIR_FLOW_NO_EGRESS 0xff

/* Gives what it counted, here and below, to the functions' counters. `offload`: where it may live
 * below; NULL: nowhere. */
void weir_flow_entry_flush(struct weir_flow_entry *entry, struct weir_offload *offload);
/* The same in its turn: elephants go down, those that fell silent come up. */
void weir_flow_entry_turn(struct weir_flow_entry *entry, struct weir_offload *offload);
/* Back into software, with what it counted; nothing where it is there. */
void weir_flow_entry_revoke(struct weir_flow_entry *entry, struct weir_offload *offload);

#endif
