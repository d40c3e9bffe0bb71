/* SPDX-License-Identifier: Apache-2.0 */
/* The packet buffers that all ports receive into. */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "engine/handover.h"
#include "port.h"

static struct rte_mempool *mempool;

/* Frames of 1522 bytes and a driver's headroom fit one buffer: no port makes segments. */
#define MBUF_DATA_BYTES (RTE_PKTMBUF_HEADROOM + 2048)
#define MEMPOOL_CACHE 256

/*
 * As rte_pktmbuf_pool_create() makes it, which without hugepages puts each buffer at the beginning
 * of a page of 4 KiB: all headers then want the same few lines of the first level of cache. No
 * device needs that there: its addresses are ours.
 */
static struct rte_mempool *
packed_pool(const char *name, unsigned int mbufs)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = MBUF_DATA_BYTES,
						   .mbuf_priv_size = WEIR_PRIVATE_BYTES};
	struct rte_mempool *pool;

	pool = rte_mempool_create_empty(
		name, mbufs, sizeof(struct rte_mbuf) + WEIR_PRIVATE_BYTES + MBUF_DATA_BYTES,
		MEMPOOL_CACHE, sizeof(private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

int
weir_ports_memory(unsigned int mbufs, struct weir_error *error)
{
	if (mempool != NULL)
		return 0;
	if (rte_eal_has_hugepages())
		mempool =
			rte_pktmbuf_pool_create("weir-ports", mbufs, MEMPOOL_CACHE,
						WEIR_PRIVATE_BYTES, MBUF_DATA_BYTES, SOCKET_ID_ANY);
	else
		mempool = packed_pool("weir-ports", mbufs);
	if (mempool == NULL)
		return weir_fail(error, "no_memory", "mbufs", NULL,
				 "reserve more hugepages, or ask for fewer or shorter queues",
				 "no memory for %u packet buffers: %s", mbufs,
				 rte_strerror(rte_errno));
	return 0;
}

struct rte_mempool *
weir_ports_mempool(void)
{
	return mempool;
}

void
weir_ports_memory_free(void)
{
	rte_mempool_free(mempool);
	mempool = NULL;
}

void
weir_packet_ring_free(struct rte_ring *ring)
{
	void *packet;

	while (rte_ring_dequeue(ring, &packet) == 0)
		rte_pktmbuf_free(packet);
	rte_ring_free(ring);
}
