/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that are added to a classifier, and taken out again, one by one: tuple space search
 * (Srinivasan, Suri, Varghese, SIGCOMM 1999) over few tuples, each a pair of lengths that are whole
 * bytes; a rule is under the longest of them that its prefixes have (as in TupleMerge: Daly et al.,
 * IEEE/ACM Transactions on Networking 27(4), 2019). Rules under one key are in a list by their
 * order. To put and take is O(1) but for that list.
 */
#ifndef WEIR_TOOLKIT_CLASSIFIER_ADDED_H
#define WEIR_TOOLKIT_CLASSIFIER_ADDED_H

#include "classifier_parts.h"

#define WEIR_ORDER_NONE UINT64_MAX /* behind all rules */

struct weir_added_rule {
	struct rule_record record;
	uint64_t order; /* the rule with the smaller one goes before the other */
	struct weir_added_rule *next;
	uint32_t bucket;
	uint8_t table;
	bool permits;
};

struct weir_added_rules;

/* Quick for up to `room` rules. NULL: no memory. Its rules are not freed with it. */
struct weir_added_rules *weir_added_rules_create(uint32_t room);
void weir_added_rules_free(struct weir_added_rules *rules);

/* Writes `added`, to be put into `rules`. Any thread. */
void weir_added_rule_make(const struct weir_added_rules *rules, const struct weir_rule *rule,
			  uint64_t order, bool permits, struct weir_added_rule *added);

/* On the thread that looks up. */
void weir_added_rules_put(struct weir_added_rules *rules, struct weir_added_rule *added);
void weir_added_rules_take(struct weir_added_rules *rules, struct weir_added_rule *added);
/* Gives a rule that is there another order, which does not change who goes before whom. */
void weir_added_rules_reorder(struct weir_added_rules *rules, struct weir_added_rule *added,
			      uint64_t order);

/* Where a rule that a tuple matches goes before order[i], that is its order from now on, and
 * permits[i] what it says. `count` at most WEIR_CLASSIFIER_BULK. */
void weir_added_rules_find(const struct weir_added_rules *rules, const struct weir_tuple *tuples,
			   uint64_t *order, bool *permits, unsigned int count);

/* How many rules under one key the thread that changes rules has put there, or will: counted by
 * it alone. */
uint32_t weir_added_rules_crowd(struct weir_added_rules *rules, const struct weir_added_rule *added,
				int change);

#endif
