/* SPDX-License-Identifier: Apache-2.0 */
#include "made_packet.h"

static struct rte_mempool *own_pool;

void
weir_made_packets_from(struct rte_mempool *pool)
{
	own_pool = pool;
}

struct rte_mbuf *
weir_made_packet(struct rte_mempool *otherwise)
{
	struct rte_mempool *pool = own_pool != NULL ? own_pool : otherwise;

	return pool != NULL ? rte_pktmbuf_alloc(pool) : NULL;
}
