/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Longest prefix match for IPv4 and IPv6, up to 16 M routes: a trie with strides of 24 bits and
 * then 8 (DIR-24-8: Gupta, Lin, McKeown, "Routing lookups in hardware at memory access speeds",
 * 1998), and a small table in front for prefixes shorter than /12.
 *
 * A prefix is written at its own level alone: an entry has its best route and its child side by
 * side, and a look-up keeps the last route that it passed. So a change writes 4,096 entries at the
 * most, whatever lies below the prefix; nothing is handed down, and nothing moves up.
 *
 * Why not DPDK's (22.11; figures in nf/l3fwd/l3fwd.md): rte_fib6 loses room at each removal and
 * rte_fib overwrites all routes when 0.0.0.0/0 joins 0.0.0.0/1 and 128.0.0.0/1; rte_lpm takes a
 * time quadratic in the routes; rte_lpm6 looks addresses up one after the other.
 *
 * Memory is taken when prefixes need it, at most: 32 KiB for /0 to /11; 128 MiB for /12 to /24; 2
 * KiB for each network of /24, /32, /40... that has longer prefixes; and about 60 bytes for each of
 * `routes_max`, of DPDK's memory, with the first prefix.
 *
 * Look-ups are for one thread; changes for the same thread, or another while it waits.
 */
#ifndef WEIR_NF_L3FWD_PREFIX_TABLE_H
#define WEIR_NF_L3FWD_PREFIX_TABLE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#define WEIR_PREFIX_ROUTES_MAX ((1U << 24) - 1)
#define WEIR_PREFIX_GROUPS_MAX ((1U << 24) - 1)
#define WEIR_PREFIX_LOOKUPS_MAX 32

#define WEIR_PREFIX_WIDE_BITS 12
#define WEIR_PREFIX_TOP_BITS 24
#define WEIR_PREFIX_GROUP_BITS 8

/* An address and how many of its first bits count. IPv4 uses the first four bytes; the rest, and
 * bits beyond the length, are 0. Network byte order: a key to hash, in words of eight bytes, and to
 * compare as bytes. */
struct weir_ip_prefix {
	alignas(8) uint8_t address[16];
	uint8_t length;
	uint8_t zero[7];
};

/* A route's number, from 1, and the next hop that it was added with; as one word. 0: no route. */
typedef uint64_t weir_prefix_found;

static inline uint32_t
weir_prefix_route(weir_prefix_found found)
{
	return (uint32_t)(found >> 16) & 0xffffff;
}

static inline uint16_t
weir_prefix_next_hop(weir_prefix_found found)
{
	return (uint16_t)found;
}

/* An entry: next hop (bits 0 to 15), route (16 to 39), child group (40 to 63). */
typedef uint64_t weir_prefix_entry;
#define WEIR_PREFIX_FOUND_MASK ((UINT64_C(1) << 40) - 1)
#define WEIR_PREFIX_CHILD_SHIFT 40

struct weir_prefix_table {
	/* NULL: no prefix of these lengths ever was. */
	weir_prefix_entry *wide;   /* by the first 12 bits: /0 to /11 */
	weir_prefix_entry *top;	   /* by the first 24 bits: /12 to /24 */
	weir_prefix_entry *groups; /* 256 entries each; group 0 is not used */
	struct weir_prefix_control *control;
};

/* A table without routes, for addresses of one family. Takes no tables yet. -1: no memory. */
int weir_prefix_table_init(struct weir_prefix_table *table, uint32_t routes_max,
			   uint32_t groups_max);
void weir_prefix_table_free(struct weir_prefix_table *table);

enum weir_prefix_room {
	WEIR_PREFIX_ROOM,
	WEIR_PREFIX_NO_ROUTES, /* routes_max are there */
	WEIR_PREFIX_NO_GROUPS, /* groups_max are used, or fewer are left than it needs */
	WEIR_PREFIX_NO_MEMORY,
};

/* Whether the prefix can be added; takes the memory that this needs. May run beside look-ups. */
enum weir_prefix_room weir_prefix_table_room(struct weir_prefix_table *table,
					     const struct weir_ip_prefix *prefix);

/* The number of the route that has just this prefix; 0: none. */
uint32_t weir_prefix_table_find(const struct weir_prefix_table *table,
				const struct weir_ip_prefix *prefix);

/* The next hop that a route of this number was last added with. */
uint16_t weir_prefix_table_next_hop(const struct weir_prefix_table *table, uint32_t route);

/* Adds the prefix, for which there is room, or changes its next hop; the number of its route. */
uint32_t weir_prefix_table_add(struct weir_prefix_table *table, const struct weir_ip_prefix *prefix,
			       uint16_t next_hop);

/* Removes the prefix; the number that its route had, or 0 if there is none. */
uint32_t weir_prefix_table_remove(struct weir_prefix_table *table,
				  const struct weir_ip_prefix *prefix);

/* The highest number that a route can have; not less than routes_max. */
uint32_t weir_prefix_table_highest(const struct weir_prefix_table *table);

static inline weir_prefix_found
weir_prefix_better(weir_prefix_entry entry, weir_prefix_found found)
{
	return (entry & WEIR_PREFIX_FOUND_MASK) != 0 ? entry & WEIR_PREFIX_FOUND_MASK : found;
}

static inline const weir_prefix_entry *
weir_prefix_child(const struct weir_prefix_table *table, weir_prefix_entry entry, uint8_t byte)
{
	return &table->groups[(entry >> WEIR_PREFIX_CHILD_SHIFT) << WEIR_PREFIX_GROUP_BITS | byte];
}

static inline weir_prefix_found
weir_prefix_wide(const struct weir_prefix_table *table, uint32_t first_bits)
{
	return table->wide != NULL ? table->wide[first_bits >> (32 - WEIR_PREFIX_WIDE_BITS)] : 0;
}

/* An address that is looked up soon: its entry is on the way then. */
static inline void
weir_prefix_prefetch_ipv4(const struct weir_prefix_table *table, uint32_t address)
{
	if (likely(table->top != NULL))
		rte_prefetch0(&table->top[address >> 8]);
}

/* Looks up to 32 IPv4 addresses up at once, host byte order; each better prefetched. */
static inline void
weir_prefix_lookup_ipv4(const struct weir_prefix_table *table, const uint32_t *addresses,
			weir_prefix_found *found, unsigned int count)
{
	const weir_prefix_entry *child[WEIR_PREFIX_LOOKUPS_MAX];
	uint8_t deeper[WEIR_PREFIX_LOOKUPS_MAX];
	unsigned int deeper_count = 0;

	if (table->top == NULL) {
		for (unsigned int i = 0; i < count; i++)
			found[i] = weir_prefix_wide(table, addresses[i]);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		weir_prefix_entry entry = table->top[addresses[i] >> 8];

		found[i] = entry & WEIR_PREFIX_FOUND_MASK;
		if (found[i] == 0)
			found[i] = weir_prefix_wide(table, addresses[i]);
		if (entry >> WEIR_PREFIX_CHILD_SHIFT != 0) {
			child[deeper_count] =
				weir_prefix_child(table, entry, (uint8_t)addresses[i]);
			rte_prefetch0(child[deeper_count]);
			deeper[deeper_count++] = i;
		}
	}
	for (unsigned int i = 0; i < deeper_count; i++)
		found[deeper[i]] = weir_prefix_better(*child[i], found[deeper[i]]);
}

/* Looks up to 32 IPv6 addresses up at once, level by level, so that the memory latencies of all
 * overlap. */
static inline void
weir_prefix_lookup_ipv6(const struct weir_prefix_table *table, const uint8_t *const *addresses,
			weir_prefix_found *found, unsigned int count)
{
	const weir_prefix_entry *at[WEIR_PREFIX_LOOKUPS_MAX];
	uint8_t lane[WEIR_PREFIX_LOOKUPS_MAX];
	unsigned int lanes = 0;

	for (unsigned int i = 0; i < count; i++) {
		const uint8_t *address = addresses[i];
		uint32_t first = (uint32_t)address[0] << 24 | address[1] << 16 | address[2] << 8;

		found[i] = weir_prefix_wide(table, first);
		if (table->top != NULL) {
			at[lanes] = &table->top[first >> 8];
			rte_prefetch0(at[lanes]);
			lane[lanes++] = i;
		}
	}
	for (unsigned int byte = 3; lanes > 0; byte++) {
		unsigned int left = 0;

		for (unsigned int i = 0; i < lanes; i++) {
			weir_prefix_entry entry = *at[i];
			uint8_t which = lane[i];

			found[which] = weir_prefix_better(entry, found[which]);
			if (entry >> WEIR_PREFIX_CHILD_SHIFT == 0)
				continue;
			at[left] = weir_prefix_child(table, entry, addresses[which][byte]);
			rte_prefetch0(at[left]);
			lane[left++] = which;
		}
		lanes = left;
	}
}

#endif
