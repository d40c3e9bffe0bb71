/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the classifier for IPv6, for ipv6_*.c alone. */
#ifndef WEIR_TOOLKIT_IPV6_CLASSIFIER_PARTS_H
#define WEIR_TOOLKIT_IPV6_CLASSIFIER_PARTS_H

#include <string.h>

#include "classifier_parts.h"
#include "ipv6_classifier.h"

__extension__ typedef unsigned __int128 ipv6_number;

/* The address as a number: the order of numbers is that of addresses. */
static inline ipv6_number
ipv6_number_of(const uint8_t address[16])
{
	uint64_t half[2];

	memcpy(half, address, sizeof(half));
	return (ipv6_number)rte_be_to_cpu_64(half[0]) << 64 | rte_be_to_cpu_64(half[1]);
}

static inline ipv6_number
ipv6_host_bits(unsigned int length)
{
	return length == 0 ? ~(ipv6_number)0 : ((ipv6_number)1 << (128 - length)) - 1;
}

/* --- which tables can have a rule for an address -----------------------------------------------
 */

#define IPV6_NO_TABLE UINT16_MAX

/* A prefix of some rule, and the table where that rule is, or IPV6_NO_TABLE. */
struct placed_ipv6_prefix {
	ipv6_number low;
	uint16_t table;
	uint8_t length;
};

/* Set i is of the addresses from low[i] up to low[i + 1]; low[0] is 0. */
struct ipv6_bounds {
	ipv6_number *low;
	struct table_set *sets;
	uint32_t count;
};

/* Sorts `prefixes`. False: no memory. */
bool ipv6_bounds_build(struct ipv6_bounds *bounds, struct placed_ipv6_prefix *prefixes,
		       uint32_t count);
void ipv6_bounds_free(struct ipv6_bounds *bounds);

static inline const struct table_set *
ipv6_bounds_find(const struct ipv6_bounds *bounds, ipv6_number address)
{
	uint32_t at = 0;

	/* The last bound that is not above the address. */
	for (uint32_t left = bounds->count; left > 1;) {
		uint32_t half = left / 2;

		at += bounds->low[at + half] <= address ? half : 0;
		left -= half;
	}
	return &bounds->sets[at];
}

/* --- tables and the whole ----------------------------------------------------------------------
 */

/* All rules of a pair of prefix lengths. Tables are in the order of their first rules. */
struct ipv6_table {
	ipv6_number src_mask, dst_mask;
	uint32_t first_index;
};

/* The rules under one pair of prefixes. */
struct ipv6_slot {
	ipv6_number src, dst;
	uint32_t table;
	uint32_t first_index;
	uint32_t reference; /* of classifier_parts.h; REFERENCE_NONE: a free slot */
};

struct weir_ipv6_classifier {
	struct ipv6_bounds src, dst;
	struct rule_lists lists;
	struct ipv6_table tables[TABLES_MAX];
	struct ipv6_slot *slots;
	uint32_t slot_mask;
	/* Rules of pairs that have no table, in their order. */
	struct weir_ipv6_rule *others;
	uint32_t *other_indexes;
	uint32_t other_count;
};

/* Where to look for a key, and further on if that slot is another's. */
static inline uint32_t
ipv6_place_of(const struct weir_ipv6_classifier *classifier, uint32_t table, ipv6_number src,
	      ipv6_number dst)
{
	uint32_t hash = rte_hash_crc_8byte((uint64_t)(src >> 64), table);

	hash = rte_hash_crc_8byte((uint64_t)src, hash);
	hash = rte_hash_crc_8byte((uint64_t)(dst >> 64), hash);
	return rte_hash_crc_8byte((uint64_t)dst, hash) & classifier->slot_mask;
}

#endif
