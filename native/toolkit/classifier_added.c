/* SPDX-License-Identifier: Apache-2.0 */
#include "classifier_added.h"

#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

/* Lengths that keys have: 0, 8, 16, 24, 32. */
#define LENGTHS 5
#define TABLES (LENGTHS * LENGTHS)
#define FIRST_BYTES 256

struct weir_added_rules {
	uint32_t count;
	uint32_t bucket_mask;
	struct weir_added_rule **buckets; /* of all tables */
	uint16_t *crowds;
	/* Bit t: table t had a rule for addresses with that first byte, or for any. */
	uint32_t any_src, any_dst;
	uint32_t src[FIRST_BYTES], dst[FIRST_BYTES];
	uint64_t first[TABLES]; /* no rule of the table goes before it */
};

struct weir_added_rules *
weir_added_rules_create(uint32_t room)
{
	struct weir_added_rules *rules = calloc(1, sizeof(*rules));
	uint32_t buckets = rte_align32pow2(room + 1);

	if (rules == NULL)
		return NULL;
	rules->bucket_mask = buckets - 1;
	memset(rules->first, 0xff, sizeof(rules->first));
	rules->buckets = calloc(buckets, sizeof(struct weir_added_rule *));
	rules->crowds = calloc(buckets, sizeof(*rules->crowds));
	if (rules->buckets != NULL && rules->crowds != NULL)
		return rules;
	weir_added_rules_free(rules);
	return NULL;
}

void
weir_added_rules_free(struct weir_added_rules *rules)
{
	if (rules == NULL)
		return;
	free(rules->buckets);
	free(rules->crowds);
	free(rules);
}

static inline uint32_t
mask_of(unsigned int length)
{
	return rte_cpu_to_be_32((uint32_t)(UINT64_MAX << (32 - 8 * length)));
}

static inline uint32_t
bucket_of(const struct weir_added_rules *rules, uint32_t table, uint32_t src_ip, uint32_t dst_ip)
{
	uint64_t key =
		tuple_key(src_ip & mask_of(table / LENGTHS), dst_ip & mask_of(table % LENGTHS));

	return tuple_hash(table, key) & rules->bucket_mask;
}

void
weir_added_rule_make(const struct weir_added_rules *rules, const struct weir_rule *rule,
		     uint64_t order, bool permits, struct weir_added_rule *added)
{
	uint32_t table = prefix_length_of(rule->src_mask) / 8 * LENGTHS +
			 prefix_length_of(rule->dst_mask) / 8;

	*added = (struct weir_added_rule){
		.record = rule_record_of(rule, 0),
		.order = order,
		.bucket = bucket_of(rules, table, rule->src_ip, rule->dst_ip),
		.table = (uint8_t)table,
		.permits = permits,
	};
}

/* Bits are not taken back: a table that is looked into in vain costs little, and all are built anew
 * before long. */
static void
say_where(struct weir_added_rules *rules, const struct weir_added_rule *added)
{
	uint32_t bit = 1U << added->table;

	if (added->table / LENGTHS == 0)
		rules->any_src |= bit;
	else
		rules->src[rte_be_to_cpu_32(added->record.src_ip) >> 24] |= bit;
	if (added->table % LENGTHS == 0)
		rules->any_dst |= bit;
	else
		rules->dst[rte_be_to_cpu_32(added->record.dst_ip) >> 24] |= bit;
}

void
weir_added_rules_put(struct weir_added_rules *rules, struct weir_added_rule *added)
{
	struct weir_added_rule **at = &rules->buckets[added->bucket];

	while (*at != NULL && (*at)->order < added->order)
		at = &(*at)->next;
	added->next = *at;
	*at = added;
	rules->count++;
	rules->first[added->table] = RTE_MIN(rules->first[added->table], added->order);
	say_where(rules, added);
}

void
weir_added_rules_take(struct weir_added_rules *rules, struct weir_added_rule *added)
{
	struct weir_added_rule **at = &rules->buckets[added->bucket];

	while (*at != added)
		at = &(*at)->next;
	*at = added->next;
	rules->count--;
}

void
weir_added_rules_reorder(struct weir_added_rules *rules, struct weir_added_rule *added,
			 uint64_t order)
{
	added->order = order;
	rules->first[added->table] = RTE_MIN(rules->first[added->table], order);
}

uint32_t
weir_added_rules_crowd(struct weir_added_rules *rules, const struct weir_added_rule *added,
		       int change)
{
	return rules->crowds[added->bucket] += change;
}

/* The buckets that can have a rule for the tuple before `order`. Returns how many. */
static inline unsigned int
choose_buckets(const struct weir_added_rules *rules, const struct weir_tuple *tuple, uint64_t order,
	       uint32_t *buckets)
{
	uint32_t src = rte_be_to_cpu_32(tuple->src_ip) >> 24;
	uint32_t dst = rte_be_to_cpu_32(tuple->dst_ip) >> 24;
	uint32_t tables = (rules->src[src] | rules->any_src) & (rules->dst[dst] | rules->any_dst);
	unsigned int count = 0;

	for (; tables != 0; tables &= tables - 1) {
		unsigned int table = __builtin_ctz(tables);

		if (rules->first[table] >= order)
			continue;
		buckets[count] = bucket_of(rules, table, tuple->src_ip, tuple->dst_ip);
		rte_prefetch0(&rules->buckets[buckets[count++]]);
	}
	return count;
}

void
weir_added_rules_find(const struct weir_added_rules *rules, const struct weir_tuple *tuples,
		      uint64_t *order, bool *permits, unsigned int count)
{
	uint32_t buckets[WEIR_CLASSIFIER_BULK][TABLES];
	unsigned int bucket_counts[WEIR_CLASSIFIER_BULK];

	if (rules->count == 0)
		return;
	/* In steps for all packets, as the look-up in the classifier, so that latencies overlap. */
	for (unsigned int i = 0; i < count; i++)
		bucket_counts[i] = choose_buckets(rules, &tuples[i], order[i], buckets[i]);
	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int j = 0; j < bucket_counts[i]; j++)
			rte_prefetch0(rules->buckets[buckets[i][j]]);
	}
	for (unsigned int i = 0; i < count; i++) {
		const struct rule_fields fields = rule_fields_of(&tuples[i]);

		for (unsigned int j = 0; j < bucket_counts[i]; j++) {
			const struct weir_added_rule *added = rules->buckets[buckets[i][j]];

			while (added != NULL && added->order < order[i] &&
			       !rule_record_matches(&added->record, &fields))
				added = added->next;
			if (added != NULL && added->order < order[i]) {
				order[i] = added->order;
				permits[i] = added->permits;
			}
		}
	}
}
