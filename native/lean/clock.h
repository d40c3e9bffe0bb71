/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_LEAN_CLOCK_H
#define WEIR_LEAN_CLOCK_H

#include <stdint.h>

/* The time-stamp counter with fences: nothing of what is timed moves past it. */
static inline uint64_t
weir_lean_now(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
