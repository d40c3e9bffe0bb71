/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_classifier_parts.h"

#include <stdlib.h>

#include <rte_common.h>

#define LENGTHS 129
#define PAIRS (LENGTHS * LENGTHS)

static inline uint16_t
pair_of(const struct weir_ipv6_rule *rule)
{
	return (uint16_t)(rule->src.length * LENGTHS + rule->dst.length);
}

/* A pair of prefix lengths and its rules. */
struct pair {
	uint32_t rules, first_index;
	uint16_t lengths; /* pair_of() */
};

static int
by_rules(const void *left, const void *right)
{
	const struct pair *a = left;
	const struct pair *b = right;

	if (a->rules != b->rules)
		return a->rules > b->rules ? -1 : 1;
	return a->first_index < b->first_index ? -1 : 1;
}

static int
by_first_index(const void *left, const void *right)
{
	const struct pair *a = left;
	const struct pair *b = right;

	return a->first_index < b->first_index ? -1 : 1;
}

/* The pairs that there are; returns how many. `number_of_pair` is left with the number of each. */
static uint32_t
group(const struct weir_ipv6_rule *rules, uint32_t count, struct pair *pairs,
      uint16_t number_of_pair[PAIRS])
{
	uint32_t pair_count = 0;

	memset(number_of_pair, 0xff, PAIRS * sizeof(*number_of_pair));
	for (uint32_t i = 0; i < count; i++) {
		uint16_t *number = &number_of_pair[pair_of(&rules[i])];

		if (*number == IPV6_NO_TABLE) {
			*number = (uint16_t)pair_count;
			pairs[pair_count++] =
				(struct pair){.first_index = i, .lengths = pair_of(&rules[i])};
		}
		pairs[*number].rules++;
	}
	return pair_count;
}

/* The pairs with most rules get a table; `table_of_pair` says which. False: no memory. */
static bool
choose_tables(struct weir_ipv6_classifier *classifier, const struct weir_ipv6_rule *rules,
	      uint32_t count, uint16_t table_of_pair[PAIRS])
{
	struct pair *pairs = malloc((RTE_MIN(count, (uint32_t)PAIRS) + 1UL) * sizeof(*pairs));
	uint32_t pair_count;

	if (pairs == NULL)
		return false;
	pair_count = group(rules, count, pairs, table_of_pair);
	memset(table_of_pair, 0xff, PAIRS * sizeof(*table_of_pair));
	qsort(pairs, pair_count, sizeof(*pairs), by_rules);
	pair_count = RTE_MIN(pair_count, (uint32_t)TABLES_MAX);
	qsort(pairs, pair_count, sizeof(*pairs), by_first_index);
	for (uint32_t i = 0; i < pair_count; i++) {
		classifier->tables[i] = (struct ipv6_table){
			.src_mask = ~ipv6_host_bits(pairs[i].lengths / LENGTHS),
			.dst_mask = ~ipv6_host_bits(pairs[i].lengths % LENGTHS),
			.first_index = pairs[i].first_index,
		};
		table_of_pair[pairs[i].lengths] = (uint16_t)i;
	}
	free(pairs);
	return true;
}

static bool
build_bounds(struct weir_ipv6_classifier *classifier, const struct weir_ipv6_rule *rules,
	     uint32_t count, const uint16_t *table_of_pair)
{
	struct placed_ipv6_prefix *prefixes = malloc((count + 1UL) * sizeof(*prefixes));
	bool built = prefixes != NULL;

	for (unsigned int side = 0; built && side < 2; side++) {
		for (uint32_t i = 0; i < count; i++) {
			const struct weir_ipv6_prefix *prefix =
				side == 0 ? &rules[i].src : &rules[i].dst;

			prefixes[i] = (struct placed_ipv6_prefix){
				.low = ipv6_number_of(prefix->address),
				.length = prefix->length,
				.table = table_of_pair[pair_of(&rules[i])],
			};
		}
		built = ipv6_bounds_build(side == 0 ? &classifier->src : &classifier->dst, prefixes,
					  count);
	}
	free(prefixes);
	return built;
}

struct keyed_rule {
	ipv6_number src, dst;
	uint32_t index;
	uint32_t table;
};

static int
by_key(const void *left, const void *right)
{
	const struct keyed_rule *a = left;
	const struct keyed_rule *b = right;

	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static inline bool
same_key(const struct keyed_rule *a, const struct keyed_rule *b)
{
	return a->table == b->table && a->src == b->src && a->dst == b->dst;
}

static void
put_slot(struct weir_ipv6_classifier *classifier, const struct keyed_rule *first,
	 uint32_t reference)
{
	uint32_t at = ipv6_place_of(classifier, first->table, first->src, first->dst);

	while (classifier->slots[at].reference != REFERENCE_NONE)
		at = (at + 1) & classifier->slot_mask;
	classifier->slots[at] = (struct ipv6_slot){
		.src = first->src,
		.dst = first->dst,
		.table = first->table,
		.first_index = first->index,
		.reference = reference,
	};
}

/* What is put together before slots are filled. */
struct building {
	struct weir_rule *rests; /* of all rules, without addresses */
	struct keyed_rule *keyed;
	uint32_t keyed_count;
	uint32_t *indexes;
};

static bool
fill_slots(struct weir_ipv6_classifier *classifier, struct building *building)
{
	const struct keyed_rule *keyed = building->keyed;

	for (uint32_t i = 0, next; i < building->keyed_count; i = next) {
		uint32_t reference;

		for (next = i; next < building->keyed_count && same_key(&keyed[i], &keyed[next]);
		     next++)
			building->indexes[next - i] = keyed[next].index;
		if (!rule_lists_add(&classifier->lists, building->rests, building->indexes,
				    next - i, &reference))
			return false;
		put_slot(classifier, &keyed[i], reference);
	}
	return true;
}

/* Parts the rules into those of tables and others. */
static void
part(struct weir_ipv6_classifier *classifier, struct building *building,
     const struct weir_ipv6_rule *rules, uint32_t count, const uint16_t *table_of_pair)
{
	for (uint32_t i = 0; i < count; i++) {
		uint16_t table = table_of_pair[pair_of(&rules[i])];

		building->rests[i] = rules[i].rest;
		if (table == IPV6_NO_TABLE) {
			classifier->others[classifier->other_count] = rules[i];
			classifier->other_indexes[classifier->other_count++] = i;
			continue;
		}
		building->keyed[building->keyed_count++] = (struct keyed_rule){
			.src = ipv6_number_of(rules[i].src.address),
			.dst = ipv6_number_of(rules[i].dst.address),
			.index = i,
			.table = table,
		};
	}
	qsort(building->keyed, building->keyed_count, sizeof(*building->keyed), by_key);
}

static bool
build_slots(struct weir_ipv6_classifier *classifier, const struct weir_ipv6_rule *rules,
	    uint32_t count, const uint16_t *table_of_pair)
{
	struct building building = {
		.rests = malloc((count + 1UL) * sizeof(*building.rests)),
		.keyed = malloc((count + 1UL) * sizeof(*building.keyed)),
		.indexes = malloc((count + 1UL) * sizeof(*building.indexes)),
	};
	uint32_t slot_count = rte_align32pow2(2 * count + 1);
	bool built;

	classifier->slots = malloc(slot_count * sizeof(*classifier->slots));
	classifier->others = malloc((count + 1UL) * sizeof(*classifier->others));
	classifier->other_indexes = malloc((count + 1UL) * sizeof(*classifier->other_indexes));
	built = building.rests != NULL && building.keyed != NULL && building.indexes != NULL &&
		classifier->slots != NULL && classifier->others != NULL &&
		classifier->other_indexes != NULL;
	if (built) {
		memset(classifier->slots, 0xff, slot_count * sizeof(*classifier->slots));
		classifier->slot_mask = slot_count - 1;
		part(classifier, &building, rules, count, table_of_pair);
		built = fill_slots(classifier, &building);
	}
	free(building.rests);
	free(building.keyed);
	free(building.indexes);
	return built;
}

static bool
build(struct weir_ipv6_classifier *classifier, const struct weir_ipv6_rule *rules, uint32_t count)
{
	uint16_t *table_of_pair = malloc(PAIRS * sizeof(*table_of_pair));
	bool built = table_of_pair != NULL &&
		     choose_tables(classifier, rules, count, table_of_pair) &&
		     build_bounds(classifier, rules, count, table_of_pair) &&
		     build_slots(classifier, rules, count, table_of_pair);

	free(table_of_pair);
	return built;
}

struct weir_ipv6_classifier *
weir_ipv6_classifier_build(const struct weir_ipv6_rule *rules, uint32_t count, const char *where,
			   struct weir_error *error)
{
	struct weir_ipv6_classifier *classifier;

	if (count > WEIR_CLASSIFIER_RULES_MAX) {
		weir_fail(error, "bad_argument", where, "at most 1048576 rules", NULL,
			  "%u rules are too many", count);
		return NULL;
	}
	classifier = calloc(1, sizeof(*classifier));
	if (classifier != NULL) {
		classifier->lists.records.item_bytes = sizeof(struct rule_record);
		classifier->lists.nodes.item_bytes = sizeof(struct tree_node);
		if (build(classifier, rules, count))
			return classifier;
	}
	weir_ipv6_classifier_free(classifier);
	weir_fail(error, "no_memory", where, NULL, "use fewer rules",
		  "no memory for a classifier of %u IPv6 rules", count);
	return NULL;
}

void
weir_ipv6_classifier_free(struct weir_ipv6_classifier *classifier)
{
	if (classifier == NULL)
		return;
	ipv6_bounds_free(&classifier->src);
	ipv6_bounds_free(&classifier->dst);
	free(classifier->lists.records.items);
	free(classifier->lists.nodes.items);
	free(classifier->slots);
	free(classifier->others);
	free(classifier->other_indexes);
	free(classifier);
}
