/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that belong to each other, one inside and one external (basic NAT, RFC 3022,
 * section 2.1): what has the one is given the other, whatever its protocol and ports, and nothing
 * is remembered. */
#ifndef WEIR_NF_NAT_PAIRS_H
#define WEIR_NF_NAT_PAIRS_H

#include <stdint.h>

#include "engine/error.h"

#define NAT_PAIRS_MAX 512

/* Addresses in network byte order. */
struct nat_pair {
	uint32_t from, to;
};

/* Each pair twice, ordered by where one comes from. */
struct nat_pairs {
	uint32_t count;
	struct nat_pair of_inside[NAT_PAIRS_MAX];
	struct nat_pair of_external[NAT_PAIRS_MAX];
};

/* Reads "203.0.113.5 10.0.0.5, 203.0.113.6 10.0.0.6": external address first. -1 with `error`. */
int nat_pairs_read(struct nat_pairs *pairs, const char *list, const char *where,
		   struct weir_error *error);

/* The other address of the pair; 0: it has none. A binary search. */
uint32_t nat_pair_to(const struct nat_pair *pairs, uint32_t count, uint32_t from);

static inline uint32_t
nat_paired_external(const struct nat_pairs *pairs, uint32_t inside)
{
	return pairs->count == 0 ? 0 : nat_pair_to(pairs->of_inside, pairs->count, inside);
}

static inline uint32_t
nat_paired_inside(const struct nat_pairs *pairs, uint32_t external)
{
	return pairs->count == 0 ? 0 : nat_pair_to(pairs->of_external, pairs->count, external);
}

#endif
