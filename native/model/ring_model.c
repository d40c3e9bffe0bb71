/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model: packets that one core hands to another through a ring, as areas do. The ring is DPDK's in
 * its C11 form: that of x86-64 has the same orders from the processor, which no model of C11 knows.
 */
#define RTE_USE_C11_MEM_MODEL
#include "checker.h"

#include "engine/queue.h"

struct rte_eth_fp_ops rte_eth_fp_ops[RTE_MAX_ETHPORTS]; /* queues that are devices: none here */

#define SIZE 2 /* one packet at a time has room */
#define PACKETS 2

static struct {
	struct rte_ring ring;
	void *slots[SIZE];
} line;
static struct rte_mbuf packets[PACKETS];
static struct weir_queue queue = {.kind = WEIR_QUEUE_RING, .ring = &line.ring};

static void *
give(void *unused)
{
	for (unsigned int i = 0; i < PACKETS; i++) {
		struct rte_mbuf *packet = &packets[i];

		packet->pkt_len = i + 1;
		if (weir_queue_transmit(&queue, &packet, 1) == 0)
			break;
	}
	return unused;
}

int
main(void)
{
	struct rte_mbuf *packet;
	long giver;
	unsigned int taken = 0;

	line.ring.size = SIZE;
	line.ring.mask = SIZE - 1;
	line.ring.capacity = SIZE - 1;
	line.ring.prod.sync_type = RTE_RING_SYNC_ST;
	line.ring.cons.sync_type = RTE_RING_SYNC_ST;
	giver = model_thread(give);
	for (unsigned int i = 0; i < PACKETS; i++) {
		if (weir_queue_receive(&queue, &packet, 1) == 1)
			model_assert(packet->pkt_len == ++taken);
	}
	model_join(giver);
	return 0;
}
