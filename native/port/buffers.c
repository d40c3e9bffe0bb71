/* SPDX-License-Identifier: Apache-2.0 */
/* The packet buffers that all ports receive into. */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "engine/handover.h"
#include "engine/made_packet.h"
#include "port.h"

static struct rte_mempool *mempool;
static uint16_t frame_bytes_max = WEIR_STANDARD_FRAME_BYTES;

#define MEMPOOL_CACHE 256

uint16_t
weir_ports_frame_bytes_max(void)
{
	return frame_bytes_max;
}

unsigned int
weir_ports_room_bytes(void)
{
	return frame_bytes_max > WEIR_STANDARD_FRAME_BYTES ? WEIR_JUMBO_ROOM_BYTES
							   : WEIR_ROOM_BYTES;
}

/*
 * As rte_pktmbuf_pool_create() makes it, which without hugepages puts each buffer at the beginning
 * of a page of 4 KiB: all headers then want the same few lines of the first level of cache. No
 * device needs that there: its addresses are ours.
 */
static struct rte_mempool *
packed_pool(const char *name, unsigned int mbufs, uint16_t data_bytes)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = data_bytes,
						   .mbuf_priv_size = WEIR_PRIVATE_BYTES};
	struct rte_mempool *pool;

	pool = rte_mempool_create_empty(
		name, mbufs, sizeof(struct rte_mbuf) + WEIR_PRIVATE_BYTES + data_bytes,
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
weir_ports_memory(unsigned int mbufs, uint16_t frame_bytes, struct weir_error *error)
{
	uint16_t data_bytes;

	if (mempool != NULL)
		return 0;
	frame_bytes_max = frame_bytes;
	data_bytes = RTE_PKTMBUF_HEADROOM + weir_ports_room_bytes();
	if (rte_eal_has_hugepages())
		mempool = rte_pktmbuf_pool_create("weir-ports", mbufs, MEMPOOL_CACHE,
						  WEIR_PRIVATE_BYTES, data_bytes, SOCKET_ID_ANY);
	else
		mempool = packed_pool("weir-ports", mbufs, data_bytes);
	if (mempool == NULL)
		return weir_fail(error, "no_memory", "mbufs", NULL,
				 "reserve more hugepages, or ask for fewer or shorter queues",
				 "no memory for %u packet buffers: %s", mbufs,
				 rte_strerror(rte_errno));
	weir_made_packets_from(mempool);
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
	weir_made_packets_from(NULL);
	rte_mempool_free(mempool);
	mempool = NULL;
	frame_bytes_max = WEIR_STANDARD_FRAME_BYTES;
}

void
weir_packet_ring_free(struct rte_ring *ring)
{
	void *packet;

	while (rte_ring_dequeue(ring, &packet) == 0)
		rte_pktmbuf_free(packet);
	rte_ring_free(ring);
}
