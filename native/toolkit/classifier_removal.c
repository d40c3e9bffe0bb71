/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are taken out of a classifier: where they stand, and that they do not match there. */
#include "classifier_parts.h"

/* The rules under a key that is there. */
static uint32_t
reference_of(const struct weir_classifier *classifier, uint32_t table, uint64_t key)
{
	for (uint32_t at = tuple_hash(table, key);; at++) {
		const struct tuple_line *line = &classifier->lines[at & classifier->line_mask];

		for (unsigned int i = 0; i < LINE_SLOTS; i++) {
			if (line->key[i] == key && line->table_and_first[i] >> 24 == table)
				return line->reference[i];
		}
	}
}

static bool
add_place(struct weir_growing *places, uint32_t record)
{
	uint32_t at;

	if (!weir_growing_add(places, 1, &at))
		return false;
	((uint32_t *)places->items)[at] = record;
	return true;
}

/* In each list below `reference` whose part of the tree the box meets. */
static bool
find_places(const struct weir_classifier *classifier, uint32_t reference,
	    const struct rule_box *box, uint32_t index, struct weir_growing *places)
{
	if (reference == REFERENCE_NONE)
		return true;
	if ((reference & REFERENCE_NODE) != 0) {
		const struct tree_node *node = &classifier->nodes[reference & ~REFERENCE_NODE];

		return (box->low[node->field] >= node->value ||
			find_places(classifier, node->next[0], box, index, places)) &&
		       (box->high[node->field] < node->value ||
			find_places(classifier, node->next[1], box, index, places));
	}
	for (uint32_t at = reference;; at++) {
		uint32_t of = classifier->records[at].index;

		if ((of & ~RECORD_LAST) == index && !add_place(places, at))
			return false;
		if ((of & RECORD_LAST) != 0)
			return true;
	}
}

static uint64_t
key_of(const struct weir_classifier *classifier, const struct weir_rule *rule, uint32_t index)
{
	const struct tuple_table *table = &classifier->tables[classifier->table_of_rule[index]];

	return tuple_key(rule->src_ip & table->src_mask, rule->dst_ip & table->dst_mask);
}

bool
weir_classifier_places(const struct weir_classifier *classifier, const struct weir_rule *rule,
		       uint32_t index, struct weir_growing *places)
{
	const struct rule_box box = rule_box_of(rule);

	return find_places(classifier,
			   reference_of(classifier, classifier->table_of_rule[index],
					key_of(classifier, rule, index)),
			   &box, index, places);
}

void
weir_classifier_strike(struct weir_classifier *classifier, const uint32_t *places, uint32_t count)
{
	/* No packet's field has all bits: a protocol has eight, and one says "without ports". */
	for (uint32_t i = 0; i < count; i++) {
		classifier->records[places[i]].protocol = UINT16_MAX;
		classifier->records[places[i]].protocol_mask = UINT16_MAX;
	}
}

bool
weir_classifier_hides(const struct weir_classifier *classifier, uint32_t index)
{
	return classifier->hides[index];
}

bool
weir_classifier_may_be_hidden(const struct weir_classifier *classifier,
			      const struct weir_rule *rules, uint32_t hider, uint32_t index)
{
	struct rule_box of_hider, box;

	if (index <= hider ||
	    classifier->table_of_rule[index] != classifier->table_of_rule[hider] ||
	    key_of(classifier, &rules[index], index) != key_of(classifier, &rules[hider], hider))
		return false;
	of_hider = rule_box_of(&rules[hider]);
	box = rule_box_of(&rules[index]);
	return rule_boxes_meet(&box, &of_hider);
}
