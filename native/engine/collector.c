/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "handover.h"
#include "hops.h"

/* Packets taken from one input, whose turn has not come. */
struct lane {
	uint16_t next, end;
	struct rte_mbuf *packets[WEIR_BURST];
};

struct hop_lanes {
	unsigned int turn;
	struct lane lanes[WEIR_INPUTS_MAX];
};

struct collector {
	struct weir_hops base; /* first */
	struct hop_lanes *hops;
};

static inline struct rte_mbuf *
take(struct lane *lane, const struct weir_queue *input)
{
	if (lane->next == lane->end) {
		lane->next = 0;
		lane->end = weir_queue_receive(input, lane->packets, WEIR_BURST);
		for (uint16_t i = 0; i < lane->end; i++)
			rte_prefetch0(weir_handover_of(lane->packets[i]));
	}
	return lane->next < lane->end ? lane->packets[lane->next++] : NULL;
}

static uint32_t
poll_hop(struct weir_hop *hop, struct hop_lanes *lanes)
{
	struct rte_mbuf *packets[WEIR_BURST];
	uint8_t egress[WEIR_BURST];
	uint16_t count = 0;

	while (count < WEIR_BURST) {
		unsigned int turn = lanes->turn;
		struct rte_mbuf *packet = take(&lanes->lanes[turn], &hop->inputs[turn]);

		if (packet == NULL)
			break;
		egress[count] = weir_handover_of(packet)->action.egress;
		packets[count++] = packet;
		lanes->turn = turn + 1 == hop->input_count ? 0 : turn + 1;
	}
	if (count == 0)
		return 0;
	weir_count(&hop->rx_packets, count);
	weir_outputs_send(&hop->out, packets, egress, count);
	return count;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct collector *collector = (struct collector *)area;
	uint32_t handled = 0;

	(void)now_tsc;
	for (unsigned int i = 0; i < collector->base.count; i++)
		handled += poll_hop(&collector->base.hops[i], &collector->hops[i]);
	return handled;
}

static void
free_lanes(struct weir_hops *base)
{
	struct collector *collector = (struct collector *)base;

	for (unsigned int i = 0; i < base->count; i++) {
		for (unsigned int j = 0; j < base->hops[i].input_count; j++) {
			struct lane *lane = &collector->hops[i].lanes[j];

			rte_pktmbuf_free_bulk(&lane->packets[lane->next], lane->end - lane->next);
		}
	}
	free(collector->hops);
}

struct weir_hops *
weir_collector_create(const char *name, unsigned int core, const struct weir_hop *hops,
		      unsigned int count)
{
	struct weir_hops *base =
		weir_hops_create(sizeof(struct collector), name, core, poll, hops, count);
	struct collector *collector = (struct collector *)base;

	if (base == NULL)
		return NULL;
	collector->hops = calloc(count, sizeof(*collector->hops));
	if (collector->hops == NULL) {
		weir_hops_destroy(base);
		return NULL;
	}
	base->free_own = free_lanes;
	return base;
}
