/* SPDX-License-Identifier: Apache-2.0 */
#include "classifier_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

#define HUGE_PAGE_BYTES (2UL << 20)

/* --- the hash of keys
 * ----------------------------------------------------------------------------- */

struct keyed_rule {
	uint32_t src_ip, dst_ip; /* cut by the table's masks */
	uint32_t index;
	uint8_t table;
};

static int
by_key(const void *left, const void *right)
{
	const struct keyed_rule *a = left;
	const struct keyed_rule *b = right;

	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->src_ip != b->src_ip)
		return a->src_ip < b->src_ip ? -1 : 1;
	if (a->dst_ip != b->dst_ip)
		return a->dst_ip < b->dst_ip ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static inline bool
same_key(const struct keyed_rule *a, const struct keyed_rule *b)
{
	return a->table == b->table && a->src_ip == b->src_ip && a->dst_ip == b->dst_ip;
}

/* What is built before it is laid out in one block. */
struct building {
	const struct weir_rule *rules;
	uint32_t rule_count;
	const uint8_t *table_of_rule;
	struct keyed_rule *keyed;
	struct address_trie src, dst;
	struct rule_lists lists;
	uint32_t line_count, key_count;
	struct tuple_line *lines;
};

static void
put_key(struct building *building, const struct keyed_rule *first, uint32_t reference)
{
	uint64_t key = tuple_key(first->src_ip, first->dst_ip);
	uint32_t at = tuple_hash(first->table, key);

	for (;; at++) {
		struct tuple_line *line = &building->lines[at & (building->line_count - 1)];

		for (unsigned int i = 0; i < LINE_SLOTS; i++) {
			if (line->reference[i] == REFERENCE_NONE) {
				line->key[i] = key;
				line->table_and_first[i] =
					(uint32_t)first->table << 24 | first->index;
				line->reference[i] = reference;
				return;
			}
		}
	}
}

static bool
build_keys(struct building *building, const struct tuple_table *tables)
{
	uint32_t count = building->rule_count;
	uint32_t *indexes = malloc((count + 1UL) * sizeof(*indexes));
	bool built = indexes != NULL;

	for (uint32_t i = 0; built && i < count; i++) {
		const struct tuple_table *table = &tables[building->table_of_rule[i]];

		building->keyed[i] = (struct keyed_rule){
			.src_ip = building->rules[i].src_ip & table->src_mask,
			.dst_ip = building->rules[i].dst_ip & table->dst_mask,
			.index = i,
			.table = building->table_of_rule[i],
		};
	}
	qsort(building->keyed, count, sizeof(*building->keyed), by_key);
	for (uint32_t i = 0, next; built && i < count; i = next) {
		uint32_t reference;

		for (next = i;
		     next < count && same_key(&building->keyed[i], &building->keyed[next]); next++)
			indexes[next - i] = building->keyed[next].index;
		built = rule_lists_add(&building->lists, building->rules, indexes, next - i,
				       &reference);
		if (built)
			put_key(building, &building->keyed[i], reference);
		building->key_count++;
	}
	free(indexes);
	return built;
}

static bool
build_tries(struct building *building)
{
	uint32_t count = building->rule_count;
	struct placed_prefix *prefixes = malloc((count + 1UL) * sizeof(*prefixes));
	bool built = prefixes != NULL;

	for (unsigned int side = 0; built && side < 2; side++) {
		for (uint32_t i = 0; i < count; i++) {
			const struct weir_rule *rule = &building->rules[i];

			prefixes[i] = (struct placed_prefix){.table = building->table_of_rule[i]};
			/* In one list any address may have any rule. */
			if (building->lists.one_list)
				continue;
			prefixes[i].address =
				rte_be_to_cpu_32(side == 0 ? rule->src_ip : rule->dst_ip);
			prefixes[i].length =
				prefix_length_of(side == 0 ? rule->src_mask : rule->dst_mask);
		}
		built = address_trie_build(side == 0 ? &building->src : &building->dst, prefixes,
					   count);
	}
	free(prefixes);
	return built;
}

/* --- laid out in one block
 * -------------------------------------------------------------------------- */

struct layout {
	uint8_t *block; /* NULL: count only */
	size_t bytes;
};

static void *
lay(struct layout *layout, const void *items, size_t bytes)
{
	void *at = layout->block != NULL ? layout->block + layout->bytes : NULL;

	if (at != NULL && bytes > 0)
		memcpy(at, items, bytes);
	layout->bytes += RTE_ALIGN_CEIL(bytes, RTE_CACHE_LINE_SIZE);
	return at;
}

static void *
lay_growing(struct layout *layout, const struct weir_growing *growing)
{
	return lay(layout, growing->items, growing->count * growing->item_bytes);
}

static void
lay_out(struct weir_classifier *classifier, const struct building *building, struct layout *layout)
{
	classifier->src_sets = lay_growing(layout, &building->src.sets);
	classifier->dst_sets = lay_growing(layout, &building->dst.sets);
	classifier->src_entries = lay_growing(layout, &building->src.entries);
	classifier->dst_entries = lay_growing(layout, &building->dst.entries);
	classifier->lines =
		lay(layout, building->lines, building->line_count * sizeof(*building->lines));
	classifier->nodes = lay_growing(layout, &building->lists.nodes);
	classifier->records = lay_growing(layout, &building->lists.records);
}

static bool
complete(struct weir_classifier *classifier, const struct building *building)
{
	struct layout layout = {0};

	lay_out(classifier, building, &layout);
	layout.bytes = RTE_ALIGN_CEIL(layout.bytes, HUGE_PAGE_BYTES);
	classifier->block = aligned_alloc(HUGE_PAGE_BYTES, layout.bytes);
	if (classifier->block == NULL)
		return false;
	/* Fewer misses in the TLB; it works without. */
	madvise(classifier->block, layout.bytes, MADV_HUGEPAGE);
	layout = (struct layout){.block = classifier->block};
	lay_out(classifier, building, &layout);
	classifier->line_mask = building->line_count - 1;
	classifier->shape = (struct weir_classifier_shape){
		.bytes = layout.bytes + building->rule_count * (sizeof(uint8_t) + sizeof(bool)),
		.tables = classifier->table_count,
		.keys = building->key_count,
		.trees = building->lists.trees,
		.longest = building->lists.longest,
	};
	return true;
}

/* One table whose key is of all packets, so that all rules are one list. */
static void
choose_one_list(struct building *building, struct weir_classifier *classifier)
{
	memset(classifier->table_of_rule, 0, building->rule_count);
	classifier->tables[0] = (struct tuple_table){0};
	classifier->table_count = building->rule_count > 0;
	building->lists.one_list = true;
}

static bool
build(struct weir_classifier *classifier, struct building *building, enum weir_rule_index index)
{
	uint32_t count = building->rule_count;

	classifier->table_of_rule = malloc(count + 1UL);
	classifier->hides = calloc(count + 1UL, sizeof(*classifier->hides));
	building->table_of_rule = classifier->table_of_rule;
	building->lists.hides = classifier->hides;
	building->keyed = malloc((count + 1UL) * sizeof(*building->keyed));
	building->line_count = rte_align32pow2(count / (LINE_SLOTS / 2) + 1);
	building->lines = malloc(building->line_count * sizeof(*building->lines));
	if (classifier->table_of_rule == NULL || classifier->hides == NULL ||
	    building->keyed == NULL || building->lines == NULL)
		return false;
	memset(building->lines, 0xff, building->line_count * sizeof(*building->lines));
	if (index == WEIR_RULES_ONE_BY_ONE)
		choose_one_list(building, classifier);
	else
		tuple_tables_choose(building->rules, count, classifier->table_of_rule,
				    classifier->tables, &classifier->table_count);
	return build_tries(building) && build_keys(building, classifier->tables) &&
	       complete(classifier, building);
}

struct weir_classifier *
weir_classifier_build(const struct weir_rule *rules, uint32_t count, enum weir_rule_index index,
		      const char *where, struct weir_error *error)
{
	struct building building = {
		.rules = rules,
		.rule_count = count,
		.lists.records.item_bytes = sizeof(struct rule_record),
		.lists.nodes.item_bytes = sizeof(struct tree_node),
	};
	struct weir_classifier *classifier;
	bool built;

	if (count > WEIR_CLASSIFIER_RULES_MAX) {
		weir_fail(error, "bad_argument", where, "at most 1048576 rules", NULL,
			  "%u rules are too many", count);
		return NULL;
	}
	classifier = calloc(1, sizeof(*classifier));
	built = classifier != NULL && build(classifier, &building, index);
	address_trie_free(&building.src);
	address_trie_free(&building.dst);
	free(building.lists.records.items);
	free(building.lists.nodes.items);
	free(building.lines);
	free(building.keyed);
	if (built)
		return classifier;
	weir_classifier_free(classifier);
	weir_fail(error, "no_memory", where, NULL, "use fewer rules",
		  "no memory for a classifier of %u rules", count);
	return NULL;
}

void
weir_classifier_free(struct weir_classifier *classifier)
{
	if (classifier == NULL)
		return;
	free(classifier->block);
	free(classifier->table_of_rule);
	free(classifier->hides);
	free(classifier);
}

struct weir_classifier_shape
weir_classifier_shape(const struct weir_classifier *classifier)
{
	return classifier->shape;
}
