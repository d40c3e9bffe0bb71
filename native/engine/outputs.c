/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#include "nf.h"

static inline void
send_to(struct weir_outputs *outputs, const struct weir_queue *queue, struct rte_mbuf **packets,
	uint16_t count)
{
	uint16_t sent = weir_queue_transmit(queue, packets, count);

	weir_count(&outputs->tx_packets, sent);
	if (unlikely(sent < count)) {
		weir_count(&outputs->tx_queue_full, count - sent);
		rte_pktmbuf_free_bulk(&packets[sent], count - sent);
	}
}

static void
send_each_way(struct weir_outputs *outputs, struct rte_mbuf **packets, const uint8_t *choice,
	      uint16_t count)
{
	for (unsigned int i = 0; i < outputs->count; i++) {
		struct rte_mbuf *chosen[WEIR_BURST];
		uint16_t chosen_count = 0;

		for (uint16_t j = 0; j < count; j++) {
			if (choice[j] == i)
				chosen[chosen_count++] = packets[j];
		}
		if (chosen_count > 0)
			send_to(outputs, &outputs->queue[i], chosen, chosen_count);
	}
	for (uint16_t i = 0; i < count; i++) {
		if (unlikely(choice[i] >= outputs->count)) {
			weir_count(&outputs->no_output, 1);
			rte_pktmbuf_free(packets[i]);
		}
	}
}

void
weir_outputs_send(struct weir_outputs *outputs, struct rte_mbuf **packets, const uint8_t *choice,
		  uint16_t count)
{
	uint8_t any = 0;

	for (uint16_t i = 0; i < count; i++)
		any |= choice[i];
	if (likely(any == 0))
		send_to(outputs, &outputs->queue[0], packets, count);
	else
		send_each_way(outputs, packets, choice, count);
}

void
weir_outputs_send_round_robin(struct weir_outputs *outputs, struct rte_mbuf **packets,
			      uint16_t count)
{
	struct rte_mbuf *share[WEIR_OUTPUTS_MAX][WEIR_BURST];
	uint16_t share_count[WEIR_OUTPUTS_MAX] = {0};
	uint32_t room[WEIR_OUTPUTS_MAX];
	uint16_t taken = 0;

	for (unsigned int i = 0; i < outputs->count; i++)
		room[i] = rte_ring_free_count(outputs->queue[i].ring);
	for (unsigned int to = outputs->turn; taken < count && share_count[to] < room[to];) {
		share[to][share_count[to]++] = packets[taken++];
		to = to + 1 == outputs->count ? 0 : to + 1;
		outputs->turn = to;
	}
	for (unsigned int i = 0; i < outputs->count; i++) {
		if (share_count[i] > 0)
			rte_ring_enqueue_bulk(outputs->queue[i].ring, (void **)share[i],
					      share_count[i], NULL);
	}
	weir_count(&outputs->tx_packets, taken);
	if (unlikely(taken < count)) {
		weir_count(&outputs->tx_queue_full, count - taken);
		rte_pktmbuf_free_bulk(&packets[taken], count - taken);
	}
}
