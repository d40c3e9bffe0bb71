/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_table.h"

#include <assert.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <rte_vect.h>

#define SLOTS 8

/* Eight signatures first: one load compares them all. A free slot has number WEIR_FLOW_NONE. */
struct bucket {
	uint16_t signature[SLOTS];
	uint32_t number[SLOTS];
	uint32_t overflow; /* index of the next bucket for this place, or WEIR_FLOW_NONE */
	uint32_t zero[3];
} __rte_cache_aligned;
static_assert(sizeof(struct bucket) == 64, "one cache line");

struct weir_flow_table {
	uint32_t mask;	/* of the first buckets; the overflow buckets lie behind them */
	uint32_t spare; /* first of the free overflow buckets, chained by `overflow` */
	size_t stride;
	const uint8_t *keys;
	struct bucket *buckets;
};

static inline const uint8_t *
key_of(const struct weir_flow_table *table, uint32_t number)
{
	return table->keys + number * table->stride;
}

static inline uint64_t
hash_of(const void *key)
{
	uint64_t words[2];
	uint32_t low, high;

	memcpy(words, key, sizeof(words));
	low = rte_hash_crc_8byte(words[1], rte_hash_crc_8byte(words[0], 0x9e3779b9));
	high = rte_hash_crc_8byte(words[0] ^ 0x5bd1e995, rte_hash_crc_8byte(words[1], low));
	return (uint64_t)high << 32 | low;
}

static inline uint16_t
signature_of(uint64_t hash)
{
	return (uint16_t)(hash >> 48);
}

static inline bool
same_key(const void *left, const void *right)
{
	const __m128i a = _mm_loadu_si128(left);
	const __m128i b = _mm_loadu_si128(right);

	return _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) == 0xffff;
}

/* Two bits for each slot whose signature matches. */
static inline unsigned int
matches(const struct bucket *bucket, uint16_t signature)
{
	const __m128i all = _mm_load_si128((const __m128i *)bucket->signature);

	return _mm_movemask_epi8(_mm_cmpeq_epi16(all, _mm_set1_epi16((short)signature)));
}

struct weir_flow_table *
weir_flow_table_create(uint32_t capacity, const void *keys, size_t stride)
{
	/* Half full at most, so that few places need a second bucket; and enough of those even if
	 * all keys fall into one place. */
	uint32_t first = rte_align32pow2(RTE_MAX(capacity / (SLOTS / 2), 1U));
	uint32_t overflows = capacity / SLOTS + 1;
	struct weir_flow_table *table = rte_zmalloc("flow table", sizeof(*table), 0);

	if (table == NULL)
		return NULL;
	table->mask = first - 1;
	table->stride = stride;
	table->keys = keys;
	table->buckets =
		rte_malloc("flow buckets", (first + (size_t)overflows) * sizeof(struct bucket),
			   RTE_CACHE_LINE_SIZE);
	if (table->buckets == NULL) {
		rte_free(table);
		return NULL;
	}
	for (uint32_t i = 0; i < first + overflows; i++) {
		memset(&table->buckets[i], 0, sizeof(struct bucket));
		memset(table->buckets[i].number, 0xff, sizeof(table->buckets[i].number));
		table->buckets[i].overflow =
			i >= first && i + 1 < first + overflows ? i + 1 : WEIR_FLOW_NONE;
	}
	table->spare = first;
	return table;
}

void
weir_flow_table_free(struct weir_flow_table *table)
{
	if (table == NULL)
		return;
	rte_free(table->buckets);
	rte_free(table);
}

/* The first slot of the bucket with that signature; which key it has is not looked at. */
static inline uint32_t
likely_number(const struct bucket *bucket, uint16_t signature)
{
	unsigned int found = matches(bucket, signature);

	return found != 0 ? bucket->number[__builtin_ctz(found) / 2] : WEIR_FLOW_NONE;
}

static inline uint32_t
find_in(const struct weir_flow_table *table, const struct bucket *bucket, uint16_t signature,
	const void *key)
{
	for (;;) {
		unsigned int found = matches(bucket, signature);

		while (found != 0) {
			uint32_t number = bucket->number[__builtin_ctz(found) / 2];

			if (number != WEIR_FLOW_NONE && same_key(key_of(table, number), key))
				return number;
			found &= found - 1;
			found &= found - 1;
		}
		if (likely(bucket->overflow == WEIR_FLOW_NONE))
			return WEIR_FLOW_NONE;
		bucket = &table->buckets[bucket->overflow];
	}
}

void
weir_flow_table_find(const struct weir_flow_table *table, const void *const keys[],
		     uint32_t numbers[], unsigned int count)
{
	uint64_t hashes[WEIR_FLOW_BULK];

	for (unsigned int i = 0; i < count; i++) {
		hashes[i] = hash_of(keys[i]);
		rte_prefetch0(&table->buckets[hashes[i] & table->mask]);
	}
	for (unsigned int i = 0; i < count; i++) {
		const struct bucket *bucket = &table->buckets[hashes[i] & table->mask];
		uint32_t number = likely_number(bucket, signature_of(hashes[i]));

		if (number != WEIR_FLOW_NONE)
			rte_prefetch0(key_of(table, number));
	}
	for (unsigned int i = 0; i < count; i++)
		numbers[i] = find_in(table, &table->buckets[hashes[i] & table->mask],
				     signature_of(hashes[i]), keys[i]);
}

bool
weir_flow_table_put(struct weir_flow_table *table, uint32_t number)
{
	uint64_t hash = hash_of(key_of(table, number));
	struct bucket *bucket = &table->buckets[hash & table->mask];

	for (;;) {
		for (unsigned int i = 0; i < SLOTS; i++) {
			if (bucket->number[i] == WEIR_FLOW_NONE) {
				bucket->number[i] = number;
				bucket->signature[i] = signature_of(hash);
				return true;
			}
		}
		if (bucket->overflow == WEIR_FLOW_NONE)
			break;
		bucket = &table->buckets[bucket->overflow];
	}
	if (table->spare == WEIR_FLOW_NONE)
		return false;
	bucket->overflow = table->spare;
	bucket = &table->buckets[table->spare];
	table->spare = bucket->overflow;
	bucket->overflow = WEIR_FLOW_NONE;
	bucket->number[0] = number;
	bucket->signature[0] = signature_of(hash);
	return true;
}

/* An overflow bucket that became empty goes back to the spare ones. */
static void
give_back(struct weir_flow_table *table, struct bucket *before, struct bucket *bucket)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		if (bucket->number[i] != WEIR_FLOW_NONE)
			return;
	}
	uint32_t index = before->overflow;

	before->overflow = bucket->overflow;
	bucket->overflow = table->spare;
	table->spare = index;
}

/*
 * Slot `slot` of `bucket`, whose predecessor is `before`, becomes free, and what is last in the
 * chain moves into it: all buckets of a chain but its last one stay full, so that there are never
 * too few overflow buckets, whichever keys come and go.
 */
static void
free_slot(struct weir_flow_table *table, struct bucket *before, struct bucket *bucket,
	  unsigned int slot)
{
	struct bucket *last = bucket;

	bucket->number[slot] = WEIR_FLOW_NONE;
	bucket->signature[slot] = 0;
	for (; last->overflow != WEIR_FLOW_NONE; last = &table->buckets[last->overflow])
		before = last;
	for (unsigned int i = 0; last != bucket && i < SLOTS; i++) {
		if (last->number[i] == WEIR_FLOW_NONE)
			continue;
		bucket->number[slot] = last->number[i];
		bucket->signature[slot] = last->signature[i];
		last->number[i] = WEIR_FLOW_NONE;
		last->signature[i] = 0;
		break;
	}
	if (before != NULL)
		give_back(table, before, last);
}

void
weir_flow_table_take(struct weir_flow_table *table, uint32_t number)
{
	uint64_t hash = hash_of(key_of(table, number));
	struct bucket *before = NULL;
	struct bucket *bucket = &table->buckets[hash & table->mask];

	for (;;) {
		for (unsigned int i = 0; i < SLOTS; i++) {
			if (bucket->number[i] == number) {
				free_slot(table, before, bucket, i);
				return;
			}
		}
		assert(bucket->overflow != WEIR_FLOW_NONE);
		before = bucket;
		bucket = &table->buckets[bucket->overflow];
	}
}
