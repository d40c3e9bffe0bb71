/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For ThreadSanitizer, which does not see into DPDK's libraries: packets that go through a device
 * are handed over there, with barriers of the driver. Nothing in any other build.
 */
#ifndef WEIR_ENGINE_TSAN_H
#define WEIR_ENGINE_TSAN_H

#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif

struct rte_mbuf;

/* Before the device has them. */
static inline void
weir_tsan_give(struct rte_mbuf *const *packets, uint16_t count)
{
#if defined(__SANITIZE_THREAD__)
	for (uint16_t i = 0; i < count; i++)
		__tsan_release(packets[i]);
#else
	(void)packets, (void)count;
#endif
}

/* After the device gave them. */
static inline void
weir_tsan_take(struct rte_mbuf *const *packets, uint16_t count)
{
#if defined(__SANITIZE_THREAD__)
	for (uint16_t i = 0; i < count; i++)
		__tsan_acquire(packets[i]);
#else
	(void)packets, (void)count;
#endif
}

#endif
