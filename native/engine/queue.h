/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a path: queue 0 of an ethdev port, a ring, or a port of Weir's own driver. Packets go
 * in and out in bursts; a queue belongs to one thread at a time.
 */
#ifndef WEIR_ENGINE_QUEUE_H
#define WEIR_ENGINE_QUEUE_H

#include <stdbool.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "tsan.h"

/* A driver outside DPDK. Both return how many packets changed hands, `count` at most; what
 * transmit() did not take stays the caller's. */
struct weir_queue_driver {
	uint16_t (*receive)(void *state, struct rte_mbuf **packets, uint16_t count);
	uint16_t (*transmit)(void *state, struct rte_mbuf **packets, uint16_t count);
	/* What transmit() takes is copied and given back to its pool before it returns. */
	bool copies;
};

enum weir_queue_kind {
	WEIR_QUEUE_NONE, /* receives nothing, takes nothing: behind a sink */
	WEIR_QUEUE_ETHDEV,
	WEIR_QUEUE_RING,
	WEIR_QUEUE_DRIVER,
};

struct weir_queue {
	enum weir_queue_kind kind;
	uint16_t ethdev_id;
	struct rte_ring *ring;
	const struct weir_queue_driver *driver;
	void *driver_state;
	char name[64];
};

static inline uint16_t
weir_queue_receive(const struct weir_queue *queue, struct rte_mbuf **packets, uint16_t count)
{
	switch (queue->kind) {
	case WEIR_QUEUE_ETHDEV:
		count = rte_eth_rx_burst(queue->ethdev_id, 0, packets, count);
		weir_tsan_take(packets, count);
		return count;
	case WEIR_QUEUE_RING:
		return rte_ring_dequeue_burst(queue->ring, (void **)packets, count, NULL);
	case WEIR_QUEUE_DRIVER:
		return queue->driver->receive(queue->driver_state, packets, count);
	case WEIR_QUEUE_NONE:
		break;
	}
	return 0;
}

/* Whether no packet that was transmitted is in use any more once the call has returned. */
static inline bool
weir_queue_copies(const struct weir_queue *queue)
{
	return queue->kind == WEIR_QUEUE_DRIVER && queue->driver->copies;
}

static inline uint16_t
weir_queue_transmit(const struct weir_queue *queue, struct rte_mbuf **packets, uint16_t count)
{
	switch (queue->kind) {
	case WEIR_QUEUE_ETHDEV:
		weir_tsan_give(packets, count);
		return rte_eth_tx_burst(queue->ethdev_id, 0, packets, count);
	case WEIR_QUEUE_RING:
		return rte_ring_enqueue_burst(queue->ring, (void **)packets, count, NULL);
	case WEIR_QUEUE_DRIVER:
		return queue->driver->transmit(queue->driver_state, packets, count);
	case WEIR_QUEUE_NONE:
		break;
	}
	return 0;
}

#endif
