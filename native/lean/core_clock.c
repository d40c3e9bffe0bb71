/* SPDX-License-Identifier: Apache-2.0 */
#include "core_clock.h"

#include <string.h>

#include "clock.h"
#include "order.h"

#define TIMES_4(text) text text text text
#define TIMES_16(text) TIMES_4(TIMES_4(text))
#define TIMES_64(text) TIMES_4(TIMES_16(text))

/* A piece is the difference of a long run and a short one: what reading the clock takes is in both.
 */
#define ADDS_LONG 64 /* of TIMES_64 */
#define ADDS_SHORT 4
/* What is so far from the usual piece was disturbed; steps of the counter do less. */
#define DISTURBED_RATIO 1.03

/* Registers, not a constant: some processors add small constants while renaming, in no time. */
static uint64_t
time_adds(unsigned int blocks)
{
	uint64_t sum = 1, value = 3, start = weir_lean_now();

	for (unsigned int i = 0; i < blocks; i++)
		__asm__ volatile(TIMES_64("add %1, %0\n\t") : "+r"(sum) : "r"(value) : "cc");
	return weir_lean_now() - start;
}

void
weir_core_clock_add(uint64_t additions)
{
	uint64_t sum = 1, value = 3;

	/* Many at once: around each single one there are processors that take two cycles. */
	for (; additions >= 16; additions -= 16)
		__asm__ volatile(TIMES_16("add %1, %0\n\t") : "+r"(sum) : "r"(value) : "cc");
	for (; additions > 0; additions--)
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(value) : "cc");
}

void
weir_core_clock_time(struct weir_core_clock *clock)
{
	uint64_t brief, whole;

	if (clock->count == WEIR_CORE_CLOCK_PIECES)
		return;
	(void)time_adds(1); /* what comes first waits for this code to come into the cache */
	brief = time_adds(ADDS_SHORT);
	whole = time_adds(ADDS_LONG);
	if (whole > brief) /* else the short one was interrupted */
		clock->tsc_per_add[clock->count++] =
			(double)(whole - brief) / (64 * (ADDS_LONG - ADDS_SHORT));
}

/* The mean of what is near the first quartile: interrupted long runs look slow, interrupted short
 * ones quick. */
double
weir_core_clock_ratio(const struct weir_core_clock *clock)
{
	double sorted[WEIR_CORE_CLOCK_PIECES], usual, sum = 0;
	unsigned int kept = 0;

	if (clock->count == 0)
		return 0;
	memcpy(sorted, clock->tsc_per_add, clock->count * sizeof(sorted[0]));
	weir_order(sorted, clock->count);
	usual = sorted[clock->count / 4];
	for (unsigned int i = 0; i < clock->count; i++) {
		if (sorted[i] * DISTURBED_RATIO >= usual && sorted[i] <= DISTURBED_RATIO * usual) {
			sum += sorted[i];
			kept++;
		}
	}
	return kept / sum;
}

/* --- what it retires at most -------------------------------------------------------------------
 */

#define TRIES 200
#define BLOCKS_LONG 72
#define BLOCKS_SHORT 8
#define LOOP_INSTRUCTIONS 2 /* count and branch, each time round */

/* Loops begin at a line of the cache: where a compiler places them must not decide. */
#define LOOP(body)                                                                                 \
	__asm__ volatile(".p2align 6\n2:\n\t" body "dec %0\n\tjnz 2b\n1:\n\t"                      \
			 : "+r"(blocks)::"c"                                                       \
					 "c")

static uint64_t
time_nothing(uint64_t blocks)
{
	uint64_t start = weir_lean_now();

	LOOP(TIMES_64("nop\n\t"));
	return weir_lean_now() - start;
}
#define NOTHING_INSTRUCTIONS 64

/* Comparing and branching are one to the processor: two such pairs among ten. */
#define PAIR "test %%rax, %%rax\n\tjc 1f\n\t"
#define TEN PAIR "nop\n\tnop\n\tnop\n\t" PAIR "nop\n\tnop\n\tnop\n\t"

static uint64_t
time_branches(uint64_t blocks)
{
	uint64_t start = weir_lean_now();

	LOOP(TIMES_4(TEN) TIMES_4(TEN));
	return weir_lean_now() - start;
}
#define BRANCHES_INSTRUCTIONS 80

static double
retired(uint64_t (*time)(uint64_t), unsigned int instructions, double ratio)
{
	uint64_t brief = UINT64_MAX, whole = UINT64_MAX;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t took = time(BLOCKS_SHORT);

		brief = took < brief ? took : brief;
		took = time(BLOCKS_LONG);
		whole = took < whole ? took : whole;
	}
	if (whole <= brief)
		return 0;
	return (instructions + LOOP_INSTRUCTIONS) * (double)(BLOCKS_LONG - BLOCKS_SHORT) /
	       ((whole - brief) * ratio);
}

double
weir_core_retires_most(void)
{
	struct weir_core_clock clock = {0};
	double nothing, branches, ratio;

	for (unsigned int i = 0; i < WEIR_CORE_CLOCK_PIECES; i++)
		weir_core_clock_time(&clock);
	ratio = weir_core_clock_ratio(&clock);
	if (ratio == 0)
		return 0;
	nothing = retired(time_nothing, NOTHING_INSTRUCTIONS, ratio);
	branches = retired(time_branches, BRANCHES_INSTRUCTIONS, ratio);
	return nothing > branches ? nothing : branches;
}
