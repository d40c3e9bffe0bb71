/* SPDX-License-Identifier: Apache-2.0 */
#include "handover.h"
#include "hops.h"

static void
apply(struct rte_mbuf **packets, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		rte_prefetch0(weir_handover_of(packets[i]));
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], void *));
	}
	for (uint16_t i = 0; i < count; i++) {
		const struct weir_handover *handover = weir_handover_of(packets[i]);
		struct weir_headers headers = handover->headers;

		weir_action_apply(&handover->action, packets[i], &headers);
	}
}

static uint32_t
poll_hop(struct weir_hop *hop)
{
	struct rte_ring *in = hop->inputs[0].ring, *out = hop->out.queue[0].ring;
	struct rte_mbuf *packets[WEIR_BURST];
	uint16_t room = RTE_MIN(rte_ring_free_count(out), (unsigned int)WEIR_BURST);
	uint16_t count = rte_ring_dequeue_burst(in, (void **)packets, room, NULL);

	if (count == 0)
		return 0;
	weir_count(&hop->rx_packets, count);
	apply(packets, count);
	rte_ring_enqueue_bulk(out, (void **)packets, count, NULL);
	weir_count(&hop->out.tx_packets, count);
	return count;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct weir_hops *worker = (struct weir_hops *)area;
	uint32_t handled = 0;

	(void)now_tsc;
	for (unsigned int i = 0; i < worker->count; i++)
		handled += poll_hop(&worker->hops[i]);
	return handled;
}

struct weir_hops *
weir_rewrite_worker_create(const char *name, unsigned int core, const struct weir_hop *hops,
			   unsigned int count)
{
	return weir_hops_create(sizeof(struct weir_hops), name, core, poll, hops, count);
}
