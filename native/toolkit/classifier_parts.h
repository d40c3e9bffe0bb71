/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the classifier, for classifier*.c alone. */
#ifndef WEIR_TOOLKIT_CLASSIFIER_PARTS_H
#define WEIR_TOOLKIT_CLASSIFIER_PARTS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_hash_crc.h>

#include "classifier.h"
#include "growing.h"

/* --- a rule, ready to compare ------------------------------------------------------------------
 */

#define RECORD_LAST (1U << 31)

/* Protocol and "without ports" are one word, so that a rule that names ports refuses packets
 * without ports by the same comparison. */
struct rule_record {
	uint32_t src_ip, src_mask;
	uint32_t dst_ip, dst_mask;
	uint16_t src_port_low, src_port_span;
	uint16_t dst_port_low, dst_port_span;
	uint16_t protocol, protocol_mask;
	uint32_t index; /* of the rule; with RECORD_LAST in the last of a list */
};
static_assert(sizeof(struct rule_record) == 32, "two a cache line");

struct rule_record rule_record_of(const struct weir_rule *rule, uint32_t index);

/* A packet's fields, each in the byte order of the record. */
struct rule_fields {
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	uint16_t protocol; /* number × 2 + WEIR_TUPLE_PORTLESS */
};

static inline struct rule_fields
rule_fields_of(const struct weir_tuple *tuple)
{
	return (struct rule_fields){
		.src_ip = tuple->src_ip,
		.dst_ip = tuple->dst_ip,
		.src_port = rte_be_to_cpu_16(tuple->src_port),
		.dst_port = rte_be_to_cpu_16(tuple->dst_port),
		.protocol = (uint16_t)(tuple->protocol << 1 | tuple->zero[0]),
	};
}

static inline bool
rule_record_matches(const struct rule_record *record, const struct rule_fields *fields)
{
	uint32_t differs =
		((fields->src_ip ^ record->src_ip) & record->src_mask) |
		((fields->dst_ip ^ record->dst_ip) & record->dst_mask) |
		(uint32_t)((fields->protocol ^ record->protocol) & record->protocol_mask);
	uint16_t src_port = fields->src_port - record->src_port_low;
	uint16_t dst_port = fields->dst_port - record->dst_port_low;

	/* Without branches: which of them says no cannot be predicted. */
	return (differs == 0) & (src_port <= record->src_port_span) &
	       (dst_port <= record->dst_port_span);
}

/* --- which tables can have a rule for an address -----------------------------------------------
 */

#define TABLES_MAX 255
#define SET_WORDS 4

/* Bit t: table t has a rule whose prefix the address lies in. */
struct table_set {
	uint64_t words[SET_WORDS];
};

/* A prefix of some rule, in host byte order, and the table where that rule is. */
struct placed_prefix {
	uint32_t address;
	uint8_t length;
	uint8_t table;
};

#define TRIE_ROOT_ENTRIES 65536
#define TRIE_NODE_ENTRIES 256
#define TRIE_LEAF (1U << 31)

/* Address -> set, in steps of 16, 8 and 8 bits. An entry is TRIE_LEAF and the index of a set, or
 * the index of the next node's first entry. */
struct address_trie {
	struct weir_growing entries; /* uint32_t; the root is first */
	struct weir_growing sets;    /* struct table_set */
};

/* Sorts `prefixes`. False: no memory. */
bool address_trie_build(struct address_trie *trie, struct placed_prefix *prefixes, uint32_t count);
void address_trie_free(struct address_trie *trie);

/* --- the rules under one key -------------------------------------------------------------------
 */

/* The first record of a list, or with REFERENCE_NODE a node. */
#define REFERENCE_NODE (1U << 31)
#define REFERENCE_NONE UINT32_MAX

/* So many rules are looked through one by one; more get a tree if that helps. */
#define LIST_MAX 8

enum tree_field { TREE_SRC_IP, TREE_DST_IP, TREE_SRC_PORT, TREE_DST_PORT, TREE_PROTOCOL };
#define TREE_FIELDS 5

/* Parts the rules by one field, in host byte order: next[1] from `value` on. */
struct tree_node {
	uint32_t value;
	uint32_t field; /* enum tree_field */
	uint32_t next[2];
};

/* What a rule covers, or a node of the tree: both ends included, host byte order. */
struct rule_box {
	uint32_t low[TREE_FIELDS], high[TREE_FIELDS];
};

struct rule_box rule_box_of(const struct weir_rule *rule);

static inline bool
rule_boxes_meet(const struct rule_box *rule, const struct rule_box *region)
{
	for (unsigned int i = 0; i < TREE_FIELDS; i++) {
		if (rule->low[i] > region->high[i] || rule->high[i] < region->low[i])
			return false;
	}
	return true;
}

struct rule_lists {
	struct weir_growing records; /* struct rule_record */
	struct weir_growing nodes;   /* struct tree_node */
	bool one_list;		     /* all rules are under one key, and get no tree */
	uint32_t trees, longest;
	bool *hides; /* by rule: others were left out of a tree behind it; NULL: nobody asks */
};

/* Puts the rules numbered `indexes`, in rising order, into a list or a tree. False: no memory. */
bool rule_lists_add(struct rule_lists *lists, const struct weir_rule *rules,
		    const uint32_t *indexes, uint32_t count, uint32_t *reference);

static inline uint32_t
tree_field_value(const struct rule_fields *fields, uint32_t field)
{
	switch (field) {
	case TREE_SRC_IP:
		return rte_be_to_cpu_32(fields->src_ip);
	case TREE_DST_IP:
		return rte_be_to_cpu_32(fields->dst_ip);
	case TREE_SRC_PORT:
		return fields->src_port;
	case TREE_DST_PORT:
		return fields->dst_port;
	default:
		return fields->protocol;
	}
}

/* The first rule there before `best` that matches, or `best`. */
static inline uint32_t
rule_lists_search(const struct tree_node *nodes, const struct rule_record *records,
		  uint32_t reference, const struct rule_fields *fields, uint32_t best)
{
	while ((reference & REFERENCE_NODE) != 0 && reference != REFERENCE_NONE) {
		const struct tree_node *node = &nodes[reference & ~REFERENCE_NODE];

		reference = node->next[tree_field_value(fields, node->field) >= node->value];
	}
	if (reference == REFERENCE_NONE)
		return best;
	for (const struct rule_record *record = &records[reference];; record++) {
		uint32_t index = record->index & ~RECORD_LAST;
		bool better = (index < best) & rule_record_matches(record, fields);

		best = better ? index : best;
		if ((record->index & RECORD_LAST) != 0 || index >= best)
			return best;
	}
}

/* --- tables and the whole ----------------------------------------------------------------------
 */

/* All rules of a table are in the hash under their addresses cut by its masks. Tables are in the
 * order of their first rules. */
struct tuple_table {
	uint32_t src_mask, dst_mask; /* network byte order */
	uint32_t first_index;
};

#define LINE_SLOTS 4

/* Slots of the hash. The key is both addresses, cut by the table's masks: the source's in the high
 * half. An unused slot is all ones, so table 255 is not one. */
struct tuple_line {
	uint64_t key[LINE_SLOTS];
	uint32_t table_and_first[LINE_SLOTS]; /* table << 24 | the first rule's index */
	uint32_t reference[LINE_SLOTS];
};
static_assert(sizeof(struct tuple_line) == 64, "a cache line");
static_assert(WEIR_CLASSIFIER_RULES_MAX < 1U << 24, "an index beside a table's number");

static inline uint64_t
tuple_key(uint32_t src_ip, uint32_t dst_ip)
{
	return (uint64_t)src_ip << 32 | dst_ip;
}

/* Where to look for a key; modulo the number of lines, and further on if that one is full. */
static inline uint32_t
tuple_hash(uint32_t table, uint64_t key)
{
	return rte_hash_crc_8byte(key, table);
}

static inline unsigned int
prefix_length_of(uint32_t mask)
{
	return __builtin_popcount(mask);
}

/* Gives each rule its table. */
void tuple_tables_choose(const struct weir_rule *rules, uint32_t count, uint8_t *table_of_rule,
			 struct tuple_table *tables, uint32_t *table_count);

struct weir_classifier {
	uint32_t table_count;
	uint32_t line_mask;
	const uint32_t *src_entries, *dst_entries;
	const struct table_set *src_sets, *dst_sets;
	const struct tuple_line *lines;
	const struct tree_node *nodes;
	struct rule_record *records;
	struct tuple_table tables[TABLES_MAX];
	struct weir_classifier_shape shape;
	void *block;
	/* By rule; not for looking up. */
	uint8_t *table_of_rule;
	bool *hides;
};

#endif
