/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache-lines-bench: what the memory alone costs a function that looks each packet up in a table.
 *
 *   cache-lines-bench EAL-ARGUMENTS -- KEYS ROUNDS
 *
 * As a flow table is read: for each of 32 packets the cache line of a bucket, drawn at random and
 * prefetched; then for each the line of its record, which the bucket leads to, prefetched; then a
 * counter of the record is changed. Nothing else is done, so that no function with two lines a
 * packet takes less. A round is a line of JSON: {"lines_0": cycles a packet, "lines_1": the bucket
 * alone, "lines_2": both}.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "engine/nf.h"

#define PACKETS_A_ROUND (1 << 20)
#define KEYS_A_BUCKET 4 /* as the flow table has room for: packet/flow_table.c */
#define LINES_MAX 2

struct line {
	uint64_t word[RTE_CACHE_LINE_SIZE / sizeof(uint64_t)];
} __rte_cache_aligned;

struct bench {
	uint32_t keys, bucket_mask;
	struct line *buckets, *records;
	uint64_t random;
	uint64_t read; /* so that reading is not left out */
};

static uint64_t
draw(struct bench *bench)
{
	bench->random ^= bench->random << 13; /* Marsaglia's xorshift */
	bench->random ^= bench->random >> 7;
	bench->random ^= bench->random << 17;
	return bench->random;
}

/* Written once, so that each page is there. */
static struct line *
lines_of(const char *name, size_t count)
{
	struct line *lines = rte_zmalloc(name, count * sizeof(*lines), RTE_CACHE_LINE_SIZE);

	if (lines == NULL)
		rte_exit(1, "cache-lines-bench: no memory for %zu %s\n", count, name);
	for (size_t i = 0; i < count; i++)
		lines[i].word[0] = i;
	return lines;
}

static __rte_always_inline void
run_batch(struct bench *bench, const unsigned int lines)
{
	uint64_t drawn[WEIR_BURST];
	struct line *records[WEIR_BURST];

	for (unsigned int i = 0; i < WEIR_BURST; i++) {
		drawn[i] = draw(bench);
		if (lines > 0)
			rte_prefetch0(&bench->buckets[drawn[i] & bench->bucket_mask]);
	}
	for (unsigned int i = 0; i < WEIR_BURST; i++) {
		uint64_t number = drawn[i] >> 32;

		if (lines > 0)
			number += bench->buckets[drawn[i] & bench->bucket_mask].word[0];
		records[i] = &bench->records[number % bench->keys];
		if (lines > 1)
			rte_prefetch0(records[i]);
	}
	for (unsigned int i = 0; i < WEIR_BURST; i++) {
		if (lines > 1)
			records[i]->word[1]++;
		else
			bench->read += (uintptr_t)records[i];
	}
}

static double
run_round(struct bench *bench, unsigned int lines)
{
	uint64_t begin = rte_rdtsc_precise();

	for (uint32_t done = 0; done < PACKETS_A_ROUND; done += WEIR_BURST) {
		switch (lines) {
		case 0:
			run_batch(bench, 0);
			break;
		case 1:
			run_batch(bench, 1);
			break;
		default:
			run_batch(bench, LINES_MAX);
			break;
		}
	}
	return (double)(rte_rdtsc_precise() - begin) / PACKETS_A_ROUND;
}

int
main(int argc, char **argv)
{
	static struct bench bench = {.random = 88172645463325252};
	int used = rte_eal_init(argc, argv);
	unsigned int rounds;

	if (used < 0 || argc - used != 3)
		rte_exit(2, "usage: cache-lines-bench EAL-ARGUMENTS -- KEYS ROUNDS\n");
	bench.keys = strtoul(argv[used + 1], NULL, 10);
	rounds = strtoul(argv[used + 2], NULL, 10);
	if (bench.keys == 0)
		rte_exit(2, "cache-lines-bench: expected one key at least\n");
	bench.bucket_mask = rte_align32pow2(RTE_MAX(bench.keys / KEYS_A_BUCKET, 1U)) - 1;
	bench.buckets = lines_of("buckets", (size_t)bench.bucket_mask + 1);
	bench.records = lines_of("records", bench.keys);
	for (unsigned int round = 0; round < rounds; round++) {
		printf("{");
		for (unsigned int lines = 0; lines <= LINES_MAX; lines++)
			printf("%s\"lines_%u\": %.2f", lines == 0 ? "" : ", ", lines,
			       run_round(&bench, lines));
		printf("}\n");
	}
	return bench.read == 1; /* it never is */
}
