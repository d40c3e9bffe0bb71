/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPv6 addresses in the place of IPv4's: a tuple has their last 32 bits, and in zero[0] the number
 * of the first 96 bits of both, from 1 on; 0: IPv4. For the files of this folder.
 */
#ifndef WEIR_TRAFFIC_CONNECTIONS_PREFIXES_H
#define WEIR_TRAFFIC_CONNECTIONS_PREFIXES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WEIR_PREFIX_BYTES 12
#define WEIR_PREFIX_PAIRS_MAX 255 /* what a byte counts */

/* Of what arrives the source's and the destination's, of what is sent the other way round. */
struct weir_prefix_pair {
	uint8_t peer[WEIR_PREFIX_BYTES], own[WEIR_PREFIX_BYTES];
};

/* Those that one side knows; number n is at n - 1. */
struct weir_prefix_pairs {
	unsigned int count;
	unsigned int last; /* found last */
	struct weir_prefix_pair pair[WEIR_PREFIX_PAIRS_MAX];
};

/* From 16 bytes each: of a packet that arrived its source and its destination, of one that is sent
 * on as it is its destination and its source. */
static inline struct weir_prefix_pair
weir_prefix_pair(const uint8_t *peer, const uint8_t *own)
{
	struct weir_prefix_pair pair;

	memcpy(pair.peer, peer, sizeof(pair.peer));
	memcpy(pair.own, own, sizeof(pair.own));
	return pair;
}

/* NULL: IPv4. */
static inline const struct weir_prefix_pair *
weir_prefix_pair_numbered(const struct weir_prefix_pairs *pairs, uint8_t number)
{
	return number == 0 ? NULL : &pairs->pair[number - 1];
}

/* The pair's number; 0: there is none, and with `learn` no room for one more. */
static inline uint8_t
weir_prefix_pair_number(struct weir_prefix_pairs *pairs, const struct weir_prefix_pair *pair,
			bool learn)
{
	if (pairs->last < pairs->count &&
	    memcmp(&pairs->pair[pairs->last], pair, sizeof(*pair)) == 0)
		return (uint8_t)(pairs->last + 1);
	for (unsigned int i = 0; i < pairs->count; i++) {
		if (memcmp(&pairs->pair[i], pair, sizeof(*pair)) == 0) {
			pairs->last = i;
			return (uint8_t)(i + 1);
		}
	}
	if (!learn || pairs->count == WEIR_PREFIX_PAIRS_MAX)
		return 0;
	pairs->pair[pairs->count++] = *pair;
	return (uint8_t)pairs->count;
}

#endif
