/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules share a hash table: those with the same pair of prefix lengths; and if there are too
 * many pairs, those of rare ones go under the shorter keys of another. */
#include "classifier_parts.h"

#include <string.h>

#define LENGTHS 33
#define PAIRS_MAX (LENGTHS * LENGTHS)
#define NO_TABLE UINT16_MAX

/* A pair of prefix lengths, its rules, and the pair whose table takes them. */
struct pair {
	uint8_t src, dst;
	uint16_t into;
	uint32_t rules;
};

struct pairs {
	uint16_t count;
	struct pair pair[PAIRS_MAX];
	uint16_t at[LENGTHS][LENGTHS]; /* by both lengths; 0 where there is none but (0, 0) */
};

static inline uint32_t
mask_of(unsigned int length)
{
	return length == 0 ? 0 : rte_cpu_to_be_32(UINT32_MAX << (32 - length));
}

static inline uint16_t
pair_of(const struct pairs *pairs, const struct weir_rule *rule)
{
	return pairs->at[prefix_length_of(rule->src_mask)][prefix_length_of(rule->dst_mask)];
}

static void
group(struct pairs *pairs, const struct weir_rule *rules, uint32_t count)
{
	memset(pairs, 0, sizeof(*pairs));
	pairs->count = 1; /* (0, 0), into which all others could go */
	for (uint32_t i = 0; i < count; i++) {
		unsigned int src = prefix_length_of(rules[i].src_mask);
		unsigned int dst = prefix_length_of(rules[i].dst_mask);

		if (pairs->at[src][dst] == 0 && src + dst != 0) {
			pairs->pair[pairs->count] = (struct pair){src, dst, pairs->count, 0};
			pairs->at[src][dst] = pairs->count++;
		}
		pairs->pair[pairs->at[src][dst]].rules++;
	}
}

/* The pair below it whose keys keep the most bits. */
static uint16_t
nearest_below(const struct pairs *pairs, uint16_t of)
{
	const struct pair *all = pairs->pair;
	uint16_t best = 0;

	for (uint16_t i = 1; i < pairs->count; i++) {
		if (i != of && all[i].into == i && all[i].src <= all[of].src &&
		    all[i].dst <= all[of].dst &&
		    all[i].src + all[i].dst > all[best].src + all[best].dst)
			best = i;
	}
	return best;
}

static void
merge(struct pairs *pairs)
{
	struct pair *all = pairs->pair;

	for (unsigned int left = pairs->count; left > TABLES_MAX; left--) {
		uint16_t rarest = 0;

		for (uint16_t i = 1; i < pairs->count; i++) {
			if (all[i].into == i && (rarest == 0 || all[i].rules < all[rarest].rules))
				rarest = i;
		}
		all[rarest].into = nearest_below(pairs, rarest);
		all[all[rarest].into].rules += all[rarest].rules;
	}
	for (uint16_t i = 0; i < pairs->count; i++) {
		while (all[all[i].into].into != all[i].into)
			all[i].into = all[all[i].into].into;
	}
}

void
tuple_tables_choose(const struct weir_rule *rules, uint32_t count, uint8_t *table_of_rule,
		    struct tuple_table *tables, uint32_t *table_count)
{
	struct pairs pairs;
	uint16_t table_of_pair[PAIRS_MAX];

	group(&pairs, rules, count);
	merge(&pairs);
	memset(table_of_pair, 0xff, sizeof(table_of_pair));
	*table_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint16_t pair = pairs.pair[pair_of(&pairs, &rules[i])].into;

		if (table_of_pair[pair] == NO_TABLE) {
			tables[*table_count] = (struct tuple_table){
				.src_mask = mask_of(pairs.pair[pair].src),
				.dst_mask = mask_of(pairs.pair[pair].dst),
				.first_index = i,
			};
			table_of_pair[pair] = (uint16_t)(*table_count)++;
		}
		table_of_rule[i] = (uint8_t)table_of_pair[pair];
	}
}
