/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules under one key of a table: a list, or for many a binary tree that parts them by one
 * field after another until lists are short (HyperSplit: Qi, Xu, Yang, Xue, Li: Packet
 * Classification Algorithms: From Theory to Practice, INFOCOM 2009). A rule that lies on both sides
 * of a part is on both; how often is bounded, so memory is.
 */
#include "classifier_parts.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#define DEPTH_MAX 48
#define SAMPLES 16
/* Records that a tree may have: each rule so many times, and some. */
#define COPIES_MAX 8
#define COPIES_MORE 64

struct ruled_box {
	struct rule_box box;
	uint32_t index;
	bool exact; /* the box is all that the rule says: a rule for any protocol with ports is not
		     */
};

/* A list of the tree's rules: places in its array of boxes. */
struct part {
	uint32_t *places;
	uint32_t count;
};

struct tree {
	struct rule_lists *lists;
	const struct weir_rule *rules;
	const struct ruled_box *boxes;
};

struct rule_record
rule_record_of(const struct weir_rule *rule, uint32_t index)
{
	return (struct rule_record){
		.src_ip = rule->src_ip,
		.src_mask = rule->src_mask,
		.dst_ip = rule->dst_ip,
		.dst_mask = rule->dst_mask,
		.src_port_low = rule->src_port_low,
		.src_port_span = rule->src_port_high - rule->src_port_low,
		.dst_port_low = rule->dst_port_low,
		.dst_port_span = rule->dst_port_high - rule->dst_port_low,
		.protocol = (uint16_t)(rule->protocol << 1 | weir_rule_names_types(rule)),
		.protocol_mask = (rule->any_protocol ? 0 : 0x1fe) |
				 (weir_rule_names_ports(rule) ? WEIR_TUPLE_PORTLESS : 0),
		.index = index,
	};
}

struct rule_box
rule_box_of(const struct weir_rule *rule)
{
	bool ports = weir_rule_names_ports(rule), types = weir_rule_names_types(rule);
	uint32_t src = rte_be_to_cpu_32(rule->src_ip);
	uint32_t dst = rte_be_to_cpu_32(rule->dst_ip);
	uint32_t protocol = (uint32_t)rule->protocol << 1;

	return (struct rule_box){
		.low = {src, dst, rule->src_port_low, rule->dst_port_low,
			rule->any_protocol ? 0 : protocol + types},
		.high = {src | ~rte_be_to_cpu_32(rule->src_mask),
			 dst | ~rte_be_to_cpu_32(rule->dst_mask), rule->src_port_high,
			 rule->dst_port_high,
			 rule->any_protocol ? 0x1ff : protocol + (!ports || types)},
	};
}

static inline bool
covers(const struct ruled_box *rule, const struct rule_box *region)
{
	for (unsigned int i = 0; i < TREE_FIELDS; i++) {
		if (rule->box.low[i] > region->low[i] || rule->box.high[i] < region->high[i])
			return false;
	}
	return rule->exact;
}

/* Those of `from` that meet the region, up to the first that covers it: none behind that matters.
 */
static uint32_t
select_into(const struct tree *tree, const struct part *from, const struct rule_box *region,
	    uint32_t *places)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		const struct ruled_box *rule = &tree->boxes[from->places[i]];

		if (!rule_boxes_meet(&rule->box, region))
			continue;
		places[count++] = from->places[i];
		if (!covers(rule, region))
			continue;
		if (tree->lists->hides != NULL && i + 1 < from->count)
			tree->lists->hides[rule->index] = true;
		break;
	}
	return count;
}

struct split {
	uint64_t cost; /* UINT64_MAX: none was found */
	uint32_t value;
	unsigned int field;
};

/* How much work is left if the rules are parted there: balanced and without copies is best. */
static void
try_split(const struct tree *tree, const struct part *part, unsigned int field, uint32_t value,
	  struct split *best)
{
	uint64_t left = 0, right = 0, cost;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct rule_box *box = &tree->boxes[part->places[i]].box;

		left += box->low[field] < value;
		right += box->high[field] >= value;
	}
	if (left == part->count || right == part->count)
		return;
	cost = left * left + right * right;
	if (cost < best->cost)
		*best = (struct split){.cost = cost, .value = value, .field = field};
}

static struct split
choose_split(const struct tree *tree, const struct part *part, const struct rule_box *region)
{
	struct split best = {.cost = UINT64_MAX};
	uint32_t step = RTE_MAX(part->count / SAMPLES, 1U);

	for (unsigned int field = 0; field < TREE_FIELDS; field++) {
		for (uint32_t i = 0; i < part->count; i += step) {
			const struct rule_box *box = &tree->boxes[part->places[i]].box;

			if (box->low[field] > region->low[field])
				try_split(tree, part, field, box->low[field], &best);
			if (box->high[field] < region->high[field])
				try_split(tree, part, field, box->high[field] + 1, &best);
		}
	}
	return best;
}

static bool
add_list(struct tree *tree, const struct part *part, uint32_t *reference)
{
	struct rule_lists *lists = tree->lists;
	struct rule_record *records;

	*reference = REFERENCE_NONE;
	if (part->count == 0)
		return true;
	if (!weir_growing_add(&lists->records, part->count, reference))
		return false;
	records = (struct rule_record *)lists->records.items + *reference;
	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t index = tree->boxes[part->places[i]].index;

		records[i] = rule_record_of(&tree->rules[index], index);
	}
	records[part->count - 1].index |= RECORD_LAST;
	lists->longest = RTE_MAX(lists->longest, part->count);
	return true;
}

static bool add_part(struct tree *tree, const struct part *part, const struct rule_box *region,
		     uint64_t copies, unsigned int depth, uint32_t *reference);

static bool
add_split(struct tree *tree, const struct part *part, const struct rule_box *region,
	  const struct split *split, uint64_t copies, unsigned int depth, uint32_t *reference)
{
	uint32_t *places = malloc(2UL * part->count * sizeof(*places));
	struct part sides[2] = {{.places = places}, {.places = places + part->count}};
	struct rule_box regions[2] = {*region, *region};
	uint32_t node, next[2] = {0};
	bool added = places != NULL;

	if (!added)
		return false;
	regions[0].high[split->field] = split->value - 1;
	regions[1].low[split->field] = split->value;
	for (unsigned int i = 0; i < 2; i++)
		sides[i].count = select_into(tree, part, &regions[i], sides[i].places);
	uint64_t both = (uint64_t)sides[0].count + sides[1].count;

	if (both > copies) {
		free(places);
		return add_list(tree, part, reference);
	}
	added = weir_growing_add(&tree->lists->nodes, 1, &node);
	for (unsigned int i = 0; added && i < 2; i++)
		added = add_part(tree, &sides[i], &regions[i], copies * sides[i].count / both,
				 depth + 1, &next[i]);
	free(places);
	if (!added)
		return false;
	((struct tree_node *)tree->lists->nodes.items)[node] = (struct tree_node){
		.value = split->value,
		.field = split->field,
		.next = {next[0], next[1]},
	};
	*reference = REFERENCE_NODE | node;
	return true;
}

/* `copies`: records that may be used for this part. */
static bool
add_part(struct tree *tree, const struct part *part, const struct rule_box *region, uint64_t copies,
	 unsigned int depth, uint32_t *reference)
{
	struct split split = {.cost = UINT64_MAX};

	if (part->count > LIST_MAX && depth < DEPTH_MAX && !tree->lists->one_list)
		split = choose_split(tree, part, region);
	if (split.cost == UINT64_MAX)
		return add_list(tree, part, reference);
	return add_split(tree, part, region, &split, copies, depth, reference);
}

bool
rule_lists_add(struct rule_lists *lists, const struct weir_rule *rules, const uint32_t *indexes,
	       uint32_t count, uint32_t *reference)
{
	static const struct rule_box everything = {
		.high = {UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT16_MAX, 0x1ff},
	};
	struct ruled_box *boxes = malloc(count * sizeof(*boxes));
	uint32_t *places = malloc(count * sizeof(*places));
	struct tree tree = {.lists = lists, .rules = rules, .boxes = boxes};
	struct part all = {.places = places, .count = count};
	bool added = boxes != NULL && places != NULL;

	for (uint32_t i = 0; added && i < count; i++) {
		const struct weir_rule *rule = &rules[indexes[i]];

		boxes[i] = (struct ruled_box){
			.box = rule_box_of(rule),
			.index = indexes[i],
			.exact = !(rule->any_protocol && weir_rule_names_ports(rule)),
		};
		places[i] = i;
	}
	added = added && add_part(&tree, &all, &everything,
				  (uint64_t)count * COPIES_MAX + COPIES_MORE, 0, reference);
	if (added && (*reference & REFERENCE_NODE) != 0 && *reference != REFERENCE_NONE)
		lists->trees++;
	free(boxes);
	free(places);
	return added;
}
