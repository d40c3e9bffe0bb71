/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separated data: the area that owns the functions' state decides, and leaves to another area,
 * which has no state, what is to be written into the packet. What it leaves travels in the packet
 * buffer's private area, which every pool of packets therefore has.
 */
#ifndef WEIR_ENGINE_HANDOVER_H
#define WEIR_ENGINE_HANDOVER_H

#include <assert.h>

#include <rte_mbuf.h>

#include "packet/action.h"

struct weir_handover {
	struct weir_headers headers; /* of the packet as it still is */
	struct weir_action action;   /* of the whole chain, composed */
} __rte_cache_aligned;
static_assert(offsetof(struct weir_handover, action) + offsetof(struct weir_action, counters) ==
		      RTE_CACHE_LINE_SIZE,
	      "what the other core reads is one cache line");

/* What rte_pktmbuf_pool_create() is asked for. */
#define WEIR_PRIVATE_BYTES sizeof(struct weir_handover)
static_assert(WEIR_PRIVATE_BYTES % RTE_CACHE_LINE_SIZE == 0, "frames stay where they would begin");

static inline struct weir_handover *
weir_handover_of(struct rte_mbuf *packet)
{
	return rte_mbuf_to_priv(packet);
}

/* For a packet of which nothing is decided yet. */
static inline void
weir_handover_begin(struct rte_mbuf *packet, const struct weir_headers *headers)
{
	struct weir_handover *handover = weir_handover_of(packet);

	handover->headers = *headers;
	weir_action_clear(&handover->action);
}

#endif
