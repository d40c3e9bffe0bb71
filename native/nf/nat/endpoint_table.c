/* SPDX-License-Identifier: Apache-2.0 */
#include "endpoint_table.h"

#include <rte_malloc.h>

/* How far from its own bucket a key may be. */
#define PROBES_MAX 32

int
nat_endpoint_table_init(struct nat_endpoint_table *table, uint32_t keys, uint64_t seed)
{
	/* At most half full: of 2 million keys in a million buckets, 1 in 70 is not in its own. */
	uint64_t buckets = rte_align64pow2((uint64_t)keys * 2 / NAT_BUCKET_KEYS + PROBES_MAX);

	table->buckets = rte_zmalloc("nat_endpoints", buckets * sizeof(*table->buckets),
				     sizeof(struct nat_bucket));
	table->mask = buckets - 1;
	table->seed = seed;
	return table->buckets == NULL ? -1 : 0;
}

void
nat_endpoint_table_fini(struct nat_endpoint_table *table)
{
	rte_free(table->buckets);
	table->buckets = NULL;
}

static inline struct nat_bucket *
bucket_at(const struct nat_endpoint_table *table, uint64_t hash, unsigned int step)
{
	return &table->buckets[((hash >> 16) + step) & table->mask];
}

static int
slot_of(const struct nat_bucket *bucket, uint64_t key)
{
	for (int i = 0; i < NAT_BUCKET_KEYS; i++) {
		if (bucket->key[i] == key)
			return i;
	}
	return -1;
}

uint32_t
nat_endpoint_find_further(const struct nat_endpoint_table *table, uint64_t key, uint64_t hash)
{
	for (unsigned int step = 1; step < PROBES_MAX; step++) {
		const struct nat_bucket *bucket = bucket_at(table, hash, step);
		int slot = slot_of(bucket, key);

		if (slot >= 0)
			return bucket->value[slot];
		if (bucket->passed == 0)
			return NAT_NONE;
	}
	return NAT_NONE;
}

bool
nat_endpoint_add(struct nat_endpoint_table *table, uint64_t key, uint32_t value)
{
	uint64_t hash = nat_endpoint_hash(table, key);

	for (unsigned int step = 0; step < PROBES_MAX; step++) {
		struct nat_bucket *bucket = bucket_at(table, hash, step);
		int slot = slot_of(bucket, 0);

		if (slot < 0)
			continue;
		bucket->key[slot] = key;
		bucket->value[slot] = value;
		for (unsigned int before = 0; before < step; before++)
			bucket_at(table, hash, before)->passed++;
		return true;
	}
	return false;
}

void
nat_endpoint_remove(struct nat_endpoint_table *table, uint64_t key)
{
	uint64_t hash = nat_endpoint_hash(table, key);

	for (unsigned int step = 0; step < PROBES_MAX; step++) {
		struct nat_bucket *bucket = bucket_at(table, hash, step);
		int slot = slot_of(bucket, key);

		if (slot < 0)
			continue;
		bucket->key[slot] = 0;
		for (unsigned int before = 0; before < step; before++)
			bucket_at(table, hash, before)->passed--;
		return;
	}
}
