/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of an area, ports and rings: each packet to a chosen one, or round-robin. */
#ifndef WEIR_ENGINE_OUTPUTS_H
#define WEIR_ENGINE_OUTPUTS_H

#include "packet/ledger.h"
#include "queue.h"

#define WEIR_OUTPUTS_MAX 16

/* Every packet handed over is counted in one of the three. */
struct weir_outputs {
	unsigned int count;
	struct weir_queue queue[WEIR_OUTPUTS_MAX];
	unsigned int turn; /* weir_outputs_send_round_robin(): the output of the next packet */
	uint64_t tx_packets;
	uint64_t tx_queue_full;
	uint64_t no_output; /* sent to an output that is not there */
};

/* Packet i to the output choice[i], in their order; `count` at most WEIR_BURST. What cannot be sent
 * is freed. */
void weir_outputs_send(struct weir_outputs *outputs, struct rte_mbuf **packets,
		       const uint8_t *choice, uint16_t count);

/*
 * One packet to each output, round-robin. Outputs are rings. A consumer that takes one packet from
 * each in the same order restores the order. At the first full ring the rest of the burst is
 * dropped (`tx_queue_full`), and the next burst begins with that ring.
 */
void weir_outputs_send_round_robin(struct weir_outputs *outputs, struct rte_mbuf **packets,
				   uint16_t count);

#endif
