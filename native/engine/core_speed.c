/* SPDX-License-Identifier: Apache-2.0 */
#include "core_speed.h"

#include <rte_cycles.h>

#include "packet/ledger.h"

#define WARM_UP_STEPS 10
/* A step takes some three to five cycles of a core, whose clock may be much slower than the
 * counter: more is an interruption. */
#define STEP_CYCLES_MOST 64

/* Chains that do not wait for each other, and loads beside them: no unit of the core is idle, and
 * its caches hold next to no trace of it. */
static void
work(unsigned int steps)
{
	static const uint64_t words[8] __rte_cache_aligned = {3, 1, 4, 1, 5, 9, 2, 6};
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (uint64_t i = 0; i < steps; i++) {
		a += b ^ i;
		b += c ^ i;
		c += d ^ i;
		d += e ^ i;
		e += f ^ i;
		f += a ^ i;
		a ^= words[i * 7 % 8];
		c ^= words[i * 13 % 8];
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
}

uint64_t
weir_core_speed_count(struct weir_core_speed *speed)
{
	uint64_t start, cycles;

	work(WARM_UP_STEPS);
	start = rte_rdtsc_precise();
	work(WEIR_CORE_SPEED_STEPS);
	cycles = rte_rdtsc_precise() - start;
	if (cycles > (uint64_t)STEP_CYCLES_MOST * WEIR_CORE_SPEED_STEPS)
		return 0;
	weir_count(&speed->pieces, 1);
	weir_count(&speed->cycles, cycles);
	return cycles;
}
