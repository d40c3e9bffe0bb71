/* SPDX-License-Identifier: Apache-2.0 */
#include "pace.h"

#include <stdint.h>
#include <stdlib.h>

#include "clock.h"

#define PIECES 256
#define STEPS 1000
#define WORDS 4096 /* of memory that is read: 32 KiB, near the core */

static uint64_t memory[WORDS]; /* only read, by all cores */

static int
by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* Chains that do not wait for each other, and loads beside them: as much as a core does at once. */
static void
piece(uint64_t *sums)
{
	uint64_t a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5];

	for (uint64_t i = 0; i < STEPS; i++) {
		a += b ^ i;
		b += c ^ i;
		c += d ^ i;
		d += e ^ i;
		e += f ^ i;
		f += a ^ i;
		a ^= memory[i * 7 % WORDS];
		c ^= memory[i * 13 % WORDS];
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
	sums[4] = e;
	sums[5] = f;
}

double
weir_pace_cycles(void)
{
	uint64_t sums[6] = {1, 2, 3, 4, 5, 6};
	double cycles[PIECES];

	piece(sums);
	for (unsigned int i = 0; i < PIECES; i++) {
		uint64_t start = weir_lean_now();

		piece(sums);
		cycles[i] = (double)(weir_lean_now() - start);
	}
	qsort(cycles, PIECES, sizeof(cycles[0]), by_size);
	return cycles[PIECES / 2];
}
