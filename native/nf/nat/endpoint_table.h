/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an endpoint (address, port, protocol; seen from inside or from outside) to the number of its
 * mapping. Keys are 8 bytes, five to a bucket of one cache line, so that a look-up costs one miss;
 * a full bucket sends keys on to its neighbours and counts them, so that look-ups end early.
 */
#ifndef WEIR_NF_NAT_ENDPOINT_TABLE_H
#define WEIR_NF_NAT_ENDPOINT_TABLE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#define NAT_NONE UINT32_MAX
#define NAT_BUCKET_KEYS 5

struct nat_bucket {
	uint64_t key[NAT_BUCKET_KEYS]; /* 0: free */
	uint32_t value[NAT_BUCKET_KEYS];
	uint32_t passed; /* keys that were put further on because this bucket was full */
};
static_assert(sizeof(struct nat_bucket) == RTE_CACHE_LINE_SIZE, "one miss a look-up");

struct nat_endpoint_table {
	struct nat_bucket *buckets;
	uint64_t mask;
	uint64_t seed;
};

enum nat_side { NAT_INSIDE, NAT_EXTERNAL };

/* Address and port in network byte order. Never 0, as protocols are not. */
static inline uint64_t
nat_endpoint_key(enum nat_side side, uint32_t ip, uint16_t port, uint8_t protocol)
{
	return ip | (uint64_t)port << 32 | (uint64_t)protocol << 48 | (uint64_t)side << 56;
}

/* The finalizer of SplitMix64: every bit of the key moves every bit of the result. */
static inline uint64_t
nat_mix(uint64_t key)
{
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
	key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
	return key ^ (key >> 31);
}

static inline uint64_t
nat_endpoint_hash(const struct nat_endpoint_table *table, uint64_t key)
{
	return nat_mix(key ^ table->seed);
}

static inline const struct nat_bucket *
nat_endpoint_bucket(const struct nat_endpoint_table *table, uint64_t hash)
{
	return &table->buckets[(hash >> 16) & table->mask];
}

static inline void
nat_endpoint_prefetch(const struct nat_endpoint_table *table, uint64_t hash)
{
	rte_prefetch0(nat_endpoint_bucket(table, hash));
}

/* The rest of a look-up, behind a bucket that sent keys on. */
uint32_t nat_endpoint_find_further(const struct nat_endpoint_table *table, uint64_t key,
				   uint64_t hash);

/* The value of `key`, whose hash the caller has, or NAT_NONE. */
static inline uint32_t
nat_endpoint_find(const struct nat_endpoint_table *table, uint64_t key, uint64_t hash)
{
	const struct nat_bucket *bucket = nat_endpoint_bucket(table, hash);
	uint32_t found = NAT_NONE;

	for (unsigned int i = 0; i < NAT_BUCKET_KEYS; i++)
		found = bucket->key[i] == key ? bucket->value[i] : found;
	if (unlikely(found == NAT_NONE && bucket->passed != 0))
		return nat_endpoint_find_further(table, key, hash);
	return found;
}

/* Room for `keys` keys, in ordinary or huge pages, empty. -1: no memory. */
int nat_endpoint_table_init(struct nat_endpoint_table *table, uint32_t keys, uint64_t seed);
void nat_endpoint_table_fini(struct nat_endpoint_table *table);

/* Adds a key that is not there. False: it would be too far from its place, and nothing was changed;
 * at the load that init() plans for that does not happen by chance. */
bool nat_endpoint_add(struct nat_endpoint_table *table, uint64_t key, uint32_t value);
/* Takes out a key that is there. */
void nat_endpoint_remove(struct nat_endpoint_table *table, uint64_t key);

#endif
