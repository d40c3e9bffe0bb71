/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking rules up, for up to 32 packets together. Each step is done for all packets before the
 * next, and begins with a prefetch for all, so that their memory latencies overlap: the set of
 * tables for each address (three steps), then a few of the tables in both sets at a time, then the
 * lists of rules that were found.
 */
#include "classifier_parts.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>

/* Tables looked into for one packet at a time. More are looked into in vain, since the first ones
 * mostly have the answer; fewer overlap less. */
#define ROUND_TABLES 2

/* One table to look into for one packet, and what was found there. */
struct probe {
	const struct tuple_line *line;
	uint64_t key;
	uint32_t reference;
	uint8_t table;
	uint8_t packet;
};

struct lookup {
	unsigned int count;
	struct rule_fields fields[WEIR_CLASSIFIER_BULK];
	struct table_set candidates[WEIR_CLASSIFIER_BULK];
	uint32_t best[WEIR_CLASSIFIER_BULK];
	unsigned int probe_count;
	struct probe probes[WEIR_CLASSIFIER_BULK * ROUND_TABLES];
};

/* Where an entry's next step reads. A leaf stays what it is, and reads the root: without branches,
 * since which entries are leaves cannot be predicted. */
static inline uint32_t
step_of(uint32_t entry, uint32_t address, unsigned int shift)
{
	return (entry & TRIE_LEAF) != 0 ? 0 : entry + (address >> shift & 0xff);
}

static inline void
prefetch_step(const uint32_t *entries, const uint32_t *entry, const uint32_t *addresses,
	      unsigned int shift, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		rte_prefetch0(&entries[step_of(entry[i], addresses[i], shift)]);
}

static inline void
step(const uint32_t *entries, uint32_t *entry, const uint32_t *addresses, unsigned int shift,
     unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint32_t next = entries[step_of(entry[i], addresses[i], shift)];

		entry[i] = (entry[i] & TRIE_LEAF) != 0 ? entry[i] : next;
	}
}

static inline void
find_candidates(const struct weir_classifier *classifier, struct lookup *lookup)
{
	uint32_t address[2][WEIR_CLASSIFIER_BULK];
	uint32_t entry[2][WEIR_CLASSIFIER_BULK];
	const uint32_t *const entries[2] = {classifier->src_entries, classifier->dst_entries};
	const struct table_set *const sets[2] = {classifier->src_sets, classifier->dst_sets};
	const unsigned int count = lookup->count;

	for (unsigned int i = 0; i < count; i++) {
		address[0][i] = rte_be_to_cpu_32(lookup->fields[i].src_ip);
		address[1][i] = rte_be_to_cpu_32(lookup->fields[i].dst_ip);
		rte_prefetch0(&entries[0][address[0][i] >> 16]);
		rte_prefetch0(&entries[1][address[1][i] >> 16]);
	}
	for (unsigned int side = 0; side < 2; side++) {
		for (unsigned int i = 0; i < count; i++)
			entry[side][i] = entries[side][address[side][i] >> 16];
		prefetch_step(entries[side], entry[side], address[side], 8, count);
	}
	for (unsigned int side = 0; side < 2; side++) {
		step(entries[side], entry[side], address[side], 8, count);
		prefetch_step(entries[side], entry[side], address[side], 0, count);
	}
	for (unsigned int side = 0; side < 2; side++) {
		step(entries[side], entry[side], address[side], 0, count);
		for (unsigned int i = 0; i < count; i++)
			rte_prefetch0(&sets[side][entry[side][i] & ~TRIE_LEAF]);
	}
	for (unsigned int i = 0; i < count; i++) {
		const struct table_set *src = &sets[0][entry[0][i] & ~TRIE_LEAF];
		const struct table_set *dst = &sets[1][entry[1][i] & ~TRIE_LEAF];

		for (unsigned int j = 0; j < SET_WORDS; j++)
			lookup->candidates[i].words[j] = src->words[j] & dst->words[j];
	}
}

/* Takes up to ROUND_TABLES tables of the packet's; false: none that could have a better rule. */
static inline bool
plan_round(const struct weir_classifier *classifier, struct lookup *lookup, unsigned int packet)
{
	const struct rule_fields *fields = &lookup->fields[packet];
	unsigned int planned = 0;

	for (unsigned int i = 0; i < SET_WORDS; i++) {
		uint64_t *word = &lookup->candidates[packet].words[i];

		while (*word != 0) {
			unsigned int number = i * 64 + __builtin_ctzll(*word);
			const struct tuple_table *table = &classifier->tables[number];
			struct probe *probe = &lookup->probes[lookup->probe_count];

			/* Tables are in the order of their first rules. */
			if (table->first_index >= lookup->best[packet]) {
				memset(&lookup->candidates[packet], 0,
				       sizeof(lookup->candidates[packet]));
				return planned > 0;
			}
			if (planned == ROUND_TABLES)
				return true;
			*word &= *word - 1;
			probe->key = tuple_key(fields->src_ip & table->src_mask,
					       fields->dst_ip & table->dst_mask);
			probe->line = &classifier->lines[tuple_hash(number, probe->key) &
							 classifier->line_mask];
			rte_prefetch0(probe->line);
			probe->table = (uint8_t)number;
			probe->packet = (uint8_t)packet;
			lookup->probe_count++;
			planned++;
		}
	}
	return planned > 0;
}

/* A bit for the slot with that key, or 0. */
static inline unsigned int
slot_with(const struct tuple_line *line, uint64_t key, uint32_t table)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < LINE_SLOTS; i++)
		found |= (unsigned int)((line->key[i] == key) &
					(line->table_and_first[i] >> 24 == table))
			 << i;
	return found;
}

static inline unsigned int
find_slot(const struct weir_classifier *classifier, struct probe *probe)
{
	for (;;) {
		unsigned int found = slot_with(probe->line, probe->key, probe->table);

		if (likely((probe->line->reference[LINE_SLOTS - 1] == REFERENCE_NONE) |
			   (found != 0)))
			return found;
		probe->line = probe->line == &classifier->lines[classifier->line_mask]
				      ? classifier->lines
				      : probe->line + 1;
	}
}

/* Keeps the probes that found something that could be better than what is known. */
static inline void
probe_tables(const struct weir_classifier *classifier, struct lookup *lookup)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < lookup->probe_count; i++) {
		struct probe probe = lookup->probes[i];
		unsigned int found = find_slot(classifier, &probe);
		unsigned int slot = __builtin_ctz(found | 1U << (LINE_SLOTS - 1));
		uint32_t first = probe.line->table_and_first[slot] & 0xffffff;

		probe.reference = probe.line->reference[slot];
		rte_prefetch0(&classifier->records[probe.reference & ~REFERENCE_NODE]);
		lookup->probes[kept] = probe;
		kept += (found != 0) & (first < lookup->best[probe.packet]);
	}
	lookup->probe_count = kept;
}

void
weir_classifier_classify(const struct weir_classifier *classifier, const struct weir_tuple *tuples,
			 uint32_t *rule, unsigned int count)
{
	struct lookup lookup;
	uint8_t open[WEIR_CLASSIFIER_BULK];
	unsigned int open_count = count;

	lookup.count = count;
	for (unsigned int i = 0; i < count; i++) {
		lookup.fields[i] = rule_fields_of(&tuples[i]);
		lookup.best[i] = WEIR_RULE_NONE;
		open[i] = (uint8_t)i;
	}
	find_candidates(classifier, &lookup);
	while (open_count > 0) {
		unsigned int still_open = 0;

		lookup.probe_count = 0;
		for (unsigned int i = 0; i < open_count; i++) {
			if (plan_round(classifier, &lookup, open[i]))
				open[still_open++] = open[i];
		}
		open_count = still_open;
		probe_tables(classifier, &lookup);
		for (unsigned int i = 0; i < lookup.probe_count; i++) {
			const struct probe *probe = &lookup.probes[i];

			lookup.best[probe->packet] = rule_lists_search(
				classifier->nodes, classifier->records, probe->reference,
				&lookup.fields[probe->packet], lookup.best[probe->packet]);
		}
	}
	memcpy(rule, lookup.best, count * sizeof(*rule));
}
