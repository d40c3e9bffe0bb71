/* SPDX-License-Identifier: Apache-2.0 */
#include "prefix_table.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#define WIDE_ENTRIES (1U << WEIR_PREFIX_WIDE_BITS)
#define TOP_ENTRIES (1U << WEIR_PREFIX_TOP_BITS)
#define GROUP_ENTRIES (1U << WEIR_PREFIX_GROUP_BITS)
#define HUGE_BYTES (UINT64_C(2) << 20)

static_assert(sizeof(struct weir_ip_prefix) == 24, "a key without holes");

/* What look-ups do not read. */
struct weir_prefix_control {
	uint32_t routes_max;
	uint32_t groups_max;
	uint32_t groups_used;
	uint32_t first_free_group; /* 0: none; the next one is in the group's first entry */
	uint32_t groups_begun;	   /* groups from here on were never used */
	struct rte_hash *prefixes; /* position + 1 is the route's number */
	struct route {
		uint16_t next_hop;
		uint8_t length;
	} * routes;
	uint16_t *holds; /* by group: its prefixes and children */
};

/* The entries of one array that a prefix covers. */
struct range {
	weir_prefix_entry *first;
	uint32_t count;
	unsigned int shortest; /* the lengths that are written in this array */
};

/* rte_hash has no fewer than eight positions, and uses all of them in turn. */
static uint32_t
numbers(const struct weir_prefix_control *control)
{
	return RTE_MAX(control->routes_max, 8U);
}

uint32_t
weir_prefix_table_highest(const struct weir_prefix_table *table)
{
	return numbers(table->control);
}

static bool
take_prefixes(struct weir_prefix_control *control)
{
	static atomic_uint made;
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		.entries = numbers(control),
		.key_len = sizeof(struct weir_ip_prefix),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		/* All of `entries` can be used, so that what room() promised holds. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	if (control->prefixes != NULL)
		return true;
	snprintf(name, sizeof(name), "prefixes-%u", atomic_fetch_add(&made, 1));
	control->routes = calloc((size_t)numbers(control) + 1, sizeof(struct route));
	if (control->routes == NULL)
		return false;
	control->prefixes = rte_hash_create(&parameters);
	if (control->prefixes == NULL) {
		free(control->routes);
		control->routes = NULL;
	}
	return control->prefixes != NULL;
}

static size_t
mapped_bytes(size_t entries)
{
	return RTE_ALIGN_CEIL(entries * sizeof(weir_prefix_entry), HUGE_BYTES);
}

/*
 * Zeroes on whole huge pages, if the kernel has them: look-ups at random take four times as long on
 * small ones. Not DPDK's memory, because most of it is never touched and so never taken. Look-ups
 * that run meanwhile find no array, or one without entries: the same.
 */
static bool
take_entries(weir_prefix_entry **entries, size_t count)
{
	size_t bytes = mapped_bytes(count);
	uint8_t *mapped, *aligned;

	if (*entries != NULL)
		return true;
	mapped = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapped == MAP_FAILED)
		return false;
	aligned = RTE_PTR_ALIGN_CEIL(mapped, HUGE_BYTES);
	if (aligned > mapped)
		munmap(mapped, aligned - mapped);
	if (aligned < mapped + HUGE_BYTES)
		munmap(aligned + bytes, mapped + HUGE_BYTES - aligned);
	madvise(aligned, bytes, MADV_HUGEPAGE);
	__atomic_store_n(entries, (weir_prefix_entry *)aligned, __ATOMIC_RELEASE);
	return true;
}

static bool
take_wide(struct weir_prefix_table *table)
{
	if (table->wide == NULL)
		__atomic_store_n(&table->wide, calloc(WIDE_ENTRIES, sizeof(*table->wide)),
				 __ATOMIC_RELEASE);
	return table->wide != NULL;
}

static void
give_entries(weir_prefix_entry *entries, size_t count)
{
	if (entries != NULL)
		munmap(entries, mapped_bytes(count));
}

static inline size_t
group_entries(const struct weir_prefix_control *control)
{
	return ((size_t)control->groups_max + 1) * GROUP_ENTRIES;
}

static bool
take_groups(struct weir_prefix_table *table)
{
	struct weir_prefix_control *control = table->control;

	if (control->holds == NULL)
		control->holds = calloc((size_t)control->groups_max + 1, sizeof(*control->holds));
	return control->holds != NULL && take_entries(&table->groups, group_entries(control));
}

int
weir_prefix_table_init(struct weir_prefix_table *table, uint32_t routes_max, uint32_t groups_max)
{
	memset(table, 0, sizeof(*table));
	table->control = calloc(1, sizeof(*table->control));
	if (table->control == NULL)
		return -1;
	table->control->routes_max = routes_max;
	table->control->groups_max = groups_max;
	table->control->groups_begun = 1;
	return 0;
}

void
weir_prefix_table_free(struct weir_prefix_table *table)
{
	if (table->control == NULL)
		return;
	free(table->wide);
	give_entries(table->top, TOP_ENTRIES);
	give_entries(table->groups, group_entries(table->control));
	rte_hash_free(table->control->prefixes);
	free(table->control->routes);
	free(table->control->holds);
	free(table->control);
	memset(table, 0, sizeof(*table));
}

static inline uint32_t
first_bits(const struct weir_ip_prefix *prefix)
{
	return (uint32_t)prefix->address[0] << 24 | prefix->address[1] << 16 |
	       prefix->address[2] << 8 | prefix->address[3];
}

static inline uint32_t
child_of(weir_prefix_entry entry)
{
	return entry >> WEIR_PREFIX_CHILD_SHIFT;
}

static inline weir_prefix_entry *
group(const struct weir_prefix_table *table, uint32_t number)
{
	return &table->groups[(size_t)number * GROUP_ENTRIES];
}

/* How many groups a prefix needs that are not there. */
static uint32_t
groups_missing(const struct weir_prefix_table *table, const struct weir_ip_prefix *prefix)
{
	const weir_prefix_entry *entry = &table->top[first_bits(prefix) >> 8];
	unsigned int bits = WEIR_PREFIX_TOP_BITS;

	for (; bits < prefix->length && child_of(*entry) != 0; bits += WEIR_PREFIX_GROUP_BITS)
		entry = &group(table, child_of(*entry))[prefix->address[bits / 8]];
	return bits < prefix->length ? (prefix->length - bits + 7) / 8 : 0;
}

enum weir_prefix_room
weir_prefix_table_room(struct weir_prefix_table *table, const struct weir_ip_prefix *prefix)
{
	struct weir_prefix_control *control = table->control;

	if (control->routes_max == 0)
		return WEIR_PREFIX_NO_ROUTES;
	if (!take_prefixes(control))
		return WEIR_PREFIX_NO_MEMORY;
	if ((uint32_t)rte_hash_count(control->prefixes) >= control->routes_max &&
	    weir_prefix_table_find(table, prefix) == 0)
		return WEIR_PREFIX_NO_ROUTES;
	if (prefix->length < WEIR_PREFIX_WIDE_BITS)
		return take_wide(table) ? WEIR_PREFIX_ROOM : WEIR_PREFIX_NO_MEMORY;
	if (!take_entries(&table->top, TOP_ENTRIES))
		return WEIR_PREFIX_NO_MEMORY;
	if (prefix->length <= WEIR_PREFIX_TOP_BITS)
		return WEIR_PREFIX_ROOM;
	if (groups_missing(table, prefix) > control->groups_max - control->groups_used)
		return WEIR_PREFIX_NO_GROUPS;
	return take_groups(table) ? WEIR_PREFIX_ROOM : WEIR_PREFIX_NO_MEMORY;
}

uint32_t
weir_prefix_table_find(const struct weir_prefix_table *table, const struct weir_ip_prefix *prefix)
{
	int position = table->control->prefixes != NULL
			       ? rte_hash_lookup(table->control->prefixes, prefix)
			       : -1;

	return position < 0 ? 0 : (uint32_t)position + 1;
}

uint16_t
weir_prefix_table_next_hop(const struct weir_prefix_table *table, uint32_t route)
{
	return table->control->routes[route].next_hop;
}

static uint32_t
group_new(struct weir_prefix_table *table)
{
	struct weir_prefix_control *control = table->control;
	uint32_t number = control->first_free_group;

	if (number != 0) {
		control->first_free_group = (uint32_t)*group(table, number);
		*group(table, number) = 0;
	} else {
		number = control->groups_begun++;
	}
	control->groups_used++;
	return number;
}

static void
group_end(struct weir_prefix_table *table, uint32_t number)
{
	struct weir_prefix_control *control = table->control;

	*group(table, number) = control->first_free_group;
	control->first_free_group = number;
	control->groups_used--;
}

/* The groups on the way to a prefix, from the top down. */
struct way {
	weir_prefix_entry *parents[16]; /* whose child is groups[i] */
	uint32_t groups[16];
	unsigned int count;
};

/* Where a prefix is written; makes the groups on its way that are not there. */
static struct range
range_of(struct weir_prefix_table *table, const struct weir_ip_prefix *prefix, struct way *way)
{
	uint32_t first = first_bits(prefix);
	unsigned int bits = WEIR_PREFIX_TOP_BITS;
	weir_prefix_entry *entry;

	way->count = 0;
	if (prefix->length < WEIR_PREFIX_WIDE_BITS)
		return (struct range){&table->wide[first >> (32 - WEIR_PREFIX_WIDE_BITS)],
				      1U << (WEIR_PREFIX_WIDE_BITS - prefix->length), 0};
	entry = &table->top[first >> (32 - WEIR_PREFIX_TOP_BITS)];
	if (prefix->length <= WEIR_PREFIX_TOP_BITS)
		return (struct range){entry, 1U << (WEIR_PREFIX_TOP_BITS - prefix->length),
				      WEIR_PREFIX_WIDE_BITS};
	for (;; bits += WEIR_PREFIX_GROUP_BITS) {
		uint32_t child = child_of(*entry);

		if (child == 0) {
			child = group_new(table);
			*entry |= (weir_prefix_entry)child << WEIR_PREFIX_CHILD_SHIFT;
			if (way->count > 0)
				table->control->holds[way->groups[way->count - 1]]++;
		}
		way->parents[way->count] = entry;
		way->groups[way->count++] = child;
		entry = &group(table, child)[prefix->address[bits / 8]];
		if (prefix->length <= bits + WEIR_PREFIX_GROUP_BITS)
			break;
	}
	return (struct range){entry, 1U << (bits + WEIR_PREFIX_GROUP_BITS - prefix->length),
			      bits + 1};
}

static inline weir_prefix_entry
with_route(weir_prefix_entry entry, uint32_t route, uint16_t next_hop)
{
	return (entry & ~WEIR_PREFIX_FOUND_MASK) | (weir_prefix_entry)route << 16 | next_hop;
}

uint32_t
weir_prefix_table_add(struct weir_prefix_table *table, const struct weir_ip_prefix *prefix,
		      uint16_t next_hop)
{
	struct weir_prefix_control *control = table->control;
	uint32_t before = weir_prefix_table_find(table, prefix);
	int position = before != 0 ? (int)before - 1 : rte_hash_add_key(control->prefixes, prefix);
	uint32_t route = position + 1;
	struct way way;
	struct range range;

	assert(position >= 0);
	control->routes[route] = (struct route){next_hop, prefix->length};
	range = range_of(table, prefix, &way);
	if (before == 0 && way.count > 0)
		control->holds[way.groups[way.count - 1]]++;
	for (uint32_t i = 0; i < range.count; i++) {
		uint32_t other = weir_prefix_route(range.first[i]);

		if (other == 0 || control->routes[other].length <= prefix->length)
			range.first[i] = with_route(range.first[i], route, next_hop);
	}
	return route;
}

/* The route of the longest shorter prefix that is written in the same array; 0: none. */
static uint32_t
cover_of(const struct weir_prefix_table *table, const struct weir_ip_prefix *prefix,
	 unsigned int shortest)
{
	struct weir_ip_prefix shorter = *prefix;

	while (shorter.length > shortest) {
		uint32_t route;

		shorter.length--;
		shorter.address[shorter.length / 8] &= (uint8_t)(0xff00 >> shorter.length % 8);
		route = weir_prefix_table_find(table, &shorter);
		if (route != 0)
			return route;
	}
	return 0;
}

uint32_t
weir_prefix_table_remove(struct weir_prefix_table *table, const struct weir_ip_prefix *prefix)
{
	struct weir_prefix_control *control = table->control;
	uint32_t route = weir_prefix_table_find(table, prefix);
	uint32_t cover;
	struct way way;
	struct range range;

	if (route == 0)
		return 0;
	range = range_of(table, prefix, &way);
	cover = cover_of(table, prefix, range.shortest);
	for (uint32_t i = 0; i < range.count; i++) {
		if (weir_prefix_route(range.first[i]) == route)
			range.first[i] =
				with_route(range.first[i], cover,
					   cover != 0 ? control->routes[cover].next_hop : 0);
	}
	/* Groups that hold nothing any more go back, from the deepest up. */
	while (way.count > 0 && --control->holds[way.groups[way.count - 1]] == 0) {
		way.count--;
		group_end(table, way.groups[way.count]);
		*way.parents[way.count] &= WEIR_PREFIX_FOUND_MASK;
	}
	rte_hash_del_key(control->prefixes, prefix);
	return route;
}
