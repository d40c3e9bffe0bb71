/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the build for ThreadSanitizer alone: pools of packets whose buffers' way from the thread that
 * frees one to the thread that takes it is told, buffer by buffer, as DPDK's own pools are in
 * libraries that the sanitizer does not see into. The pools are DPDK's rings as ever. This file is
 * itself not instrumented.
 */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);
struct rte_mempool *__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int count,
						   unsigned int cache_size, uint16_t private_size,
						   uint16_t data_room_size, int socket_id);

static int
make(struct rte_mempool *pool)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), RTE_MEMPOOL_MZ_FORMAT, pool->name);
	ring = rte_ring_create(name, rte_align32pow2(pool->size + 1), pool->socket_id, 0);
	if (ring == NULL)
		return -rte_errno;
	pool->pool_data = ring;
	return 0;
}

static void
unmake(struct rte_mempool *pool)
{
	rte_ring_free(pool->pool_data);
}

static int
give(struct rte_mempool *pool, void *const *objects, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		__tsan_release(objects[i]);
	return rte_ring_mp_enqueue_bulk(pool->pool_data, objects, count, NULL) == 0 ? -ENOBUFS : 0;
}

static int
take(struct rte_mempool *pool, void **objects, unsigned int count)
{
	if (rte_ring_mc_dequeue_bulk(pool->pool_data, objects, count, NULL) == 0)
		return -ENOBUFS;
	for (unsigned int i = 0; i < count; i++)
		__tsan_acquire(objects[i]);
	return 0;
}

static unsigned int
count_free(const struct rte_mempool *pool)
{
	return rte_ring_count(pool->pool_data);
}

static const struct rte_mempool_ops told = {
	.name = "weir_tsan",
	.alloc = make,
	.free = unmake,
	.enqueue = give,
	.dequeue = take,
	.get_count = count_free,
};
RTE_MEMPOOL_REGISTER_OPS(told)

struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int count, unsigned int cache_size,
			       uint16_t private_size, uint16_t data_room_size, int socket_id)
{
	return rte_pktmbuf_pool_create_by_ops(name, count, cache_size, private_size, data_room_size,
					      socket_id, told.name);
}
