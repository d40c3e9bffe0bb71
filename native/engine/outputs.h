/* SPDX-License-Identifier: Apache-2.0 */
/* Where packets leave an area: ports and rings, each packet to one of them, or to all in turn. */
#ifndef WEIR_ENGINE_OUTPUTS_H
#define WEIR_ENGINE_OUTPUTS_H

#include "packet/ledger.h"
#include "queue.h"

#define WEIR_OUTPUTS_MAX 16

/* Every packet handed over is counted in one of the three. */
struct weir_outputs {
	unsigned int count;
	struct weir_queue queue[WEIR_OUTPUTS_MAX];
	unsigned int turn; /* weir_outputs_deal(): whose the next packet is */
	uint64_t tx_packets;
	uint64_t tx_queue_full;
	uint64_t no_output; /* sent to an output that is not there */
};

/* Packet i to the output choice[i], in their order; `count` at most WEIR_BURST. What cannot be sent
 * is freed. */
void weir_outputs_send(struct weir_outputs *outputs, struct rte_mbuf **packets,
		       const uint8_t *choice, uint16_t count);

/*
 * One packet to each output, strictly in turn: whoever takes one from each, in the same turn, has
 * their order back. Outputs are rings. A packet that finds its ring full is freed, and the turn
 * stays.
 */
void weir_outputs_deal(struct weir_outputs *outputs, struct rte_mbuf **packets, uint16_t count);

#endif
