/* SPDX-License-Identifier: Apache-2.0 */
#include "classifier_parts.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash_crc.h>

#define INTERNED_NONE UINT32_MAX
#define DEPTH_MAX 34 /* nested prefixes: of each length, and none */

/* Finds a set that is there already. */
struct interning {
	uint32_t *slots;
	uint32_t mask;
};

static int
by_address_and_length(const void *left, const void *right)
{
	const struct placed_prefix *a = left;
	const struct placed_prefix *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (int)a->length - (int)b->length;
}

static bool
intern(struct interning *interning, struct weir_growing *sets, const struct table_set *set,
       uint32_t *id)
{
	uint32_t hash = rte_hash_crc(set, sizeof(*set), 0);

	for (uint32_t at = hash & interning->mask;; at = (at + 1) & interning->mask) {
		*id = interning->slots[at];
		if (*id == INTERNED_NONE) {
			if (!weir_growing_add(sets, 1, id))
				return false;
			((struct table_set *)sets->items)[*id] = *set;
			interning->slots[at] = *id;
			return true;
		}
		if (memcmp(&((struct table_set *)sets->items)[*id], set, sizeof(*set)) == 0)
			return true;
	}
}

/* `count` is a power of two. A copy of all so far doubles them: 65,536 single steps would be most
 * of the time that a set of few rules takes, above all where a sanitizer looks at each. */
static void
fill(uint32_t *entries, uint32_t count, uint32_t entry)
{
	entries[0] = entry;
	for (uint32_t filled = 1; filled < count; filled *= 2)
		memcpy(&entries[filled], entries, filled * sizeof(*entries));
}

/* The node that entry `at` leads to; made if that is a leaf. */
static bool
descend(struct weir_growing *entries, uint32_t at, uint32_t *node)
{
	uint32_t entry = ((uint32_t *)entries->items)[at];

	if ((entry & TRIE_LEAF) == 0) {
		*node = entry;
		return true;
	}
	if (!weir_growing_add(entries, TRIE_NODE_ENTRIES, node))
		return false;
	uint32_t *all = entries->items;

	fill(&all[*node], TRIE_NODE_ENTRIES, entry);
	all[at] = *node;
	return true;
}

/* Longer prefixes come after those that they lie in, so what is painted over is all leaves. */
static bool
paint(struct weir_growing *entries, uint32_t address, unsigned int length, uint32_t set)
{
	unsigned int end = length <= 16 ? 16 : length <= 24 ? 24 : 32;
	uint32_t at = address >> 16;
	uint32_t node;

	if (end > 16) {
		if (!descend(entries, at, &node))
			return false;
		at = node + (address >> 8 & 0xff);
	}
	if (end > 24) {
		if (!descend(entries, at, &node))
			return false;
		at = node + (address & 0xff);
	}
	fill((uint32_t *)entries->items + at, 1U << (end - length), TRIE_LEAF | set);
	return true;
}

static inline bool
lies_in(const struct placed_prefix *inner, const struct placed_prefix *outer)
{
	return outer->length == 0 || (inner->address ^ outer->address) >> (32 - outer->length) == 0;
}

static bool
paint_all(struct address_trie *trie, const struct placed_prefix *prefixes, uint32_t count,
	  struct interning *interning)
{
	/* The prefixes around the present one, and what each means with all around it. */
	const struct placed_prefix *around[DEPTH_MAX];
	struct table_set meaning[DEPTH_MAX] = {0};
	const struct placed_prefix all = {0};
	unsigned int depth = 0;
	uint32_t id;

	around[0] = &all;
	if (!intern(interning, &trie->sets, &meaning[0], &id) || !paint(&trie->entries, 0, 0, id))
		return false;
	for (uint32_t i = 0; i < count;) {
		const struct placed_prefix *prefix = &prefixes[i];

		while (!lies_in(prefix, around[depth]))
			depth--;
		around[depth + 1] = prefix;
		meaning[depth + 1] = meaning[depth];
		depth++;
		for (; i < count && by_address_and_length(&prefixes[i], prefix) == 0; i++)
			meaning[depth].words[prefixes[i].table / 64] |= 1UL
									<< prefixes[i].table % 64;
		if (!intern(interning, &trie->sets, &meaning[depth], &id) ||
		    !paint(&trie->entries, prefix->address, prefix->length, id))
			return false;
	}
	return true;
}

bool
address_trie_build(struct address_trie *trie, struct placed_prefix *prefixes, uint32_t count)
{
	struct interning interning = {.mask = rte_align32pow2(2 * count + 2) - 1};
	uint32_t root;
	bool built;

	*trie = (struct address_trie){
		.entries = {.item_bytes = sizeof(uint32_t)},
		.sets = {.item_bytes = sizeof(struct table_set)},
	};
	interning.slots = malloc((interning.mask + 1UL) * sizeof(uint32_t));
	if (interning.slots == NULL)
		return false;
	memset(interning.slots, 0xff, (interning.mask + 1UL) * sizeof(uint32_t));
	qsort(prefixes, count, sizeof(*prefixes), by_address_and_length);
	built = weir_growing_add(&trie->entries, TRIE_ROOT_ENTRIES, &root) &&
		paint_all(trie, prefixes, count, &interning);
	free(interning.slots);
	return built;
}

void
address_trie_free(struct address_trie *trie)
{
	free(trie->entries.items);
	free(trie->sets.items);
}
