/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a change, for rule_change*.c alone. */
#ifndef WEIR_TOOLKIT_RULE_CHANGE_PARTS_H
#define WEIR_TOOLKIT_RULE_CHANGE_PARTS_H

#include "classifier_added.h"
#include "rule_book.h"

/* What a line did to the book. */
struct rule_change_step {
	uint32_t number; /* of the rule */
	bool removes;
};

struct weir_rule_change {
	struct weir_rule_set *set;   /* that is changed */
	struct weir_growing steps;   /* struct rule_change_step, as the lines have them */
	struct weir_rule_set *built; /* all anew, to be put in its place; or NULL */
	bool may_refuse;
	bool is_committed;
	/* What commit() does with the rules of IPv4, unless all are built anew. */
	struct weir_growing taken, put; /* uint32_t: numbers of rules with `added` */
	struct weir_growing struck;	/* uint32_t: places in the classifier */
	uint32_t struck_rules;
	struct weir_added_rules *added; /* the set's, where it has none yet */
	/* And with those of IPv6; afterwards what was there before. */
	bool changes_ipv6;
	struct weir_ipv6_part ipv6;
	/* All that changed of IPv4, to ask whom it concerns: those that may refuse go first. */
	struct weir_added_rules *changed;
	struct weir_added_rule *changed_rules;
};

static inline struct rule_change_step *
rule_change_step(const struct weir_rule_change *change, uint32_t index)
{
	return (struct rule_change_step *)change->steps.items + index;
}

/* Does to the book what the text says, line by line. -1 with `error`: which line could not be
 * done. */
int rule_change_read(struct weir_rule_change *change, const char *text, size_t bytes,
		     const char *name, const char *where, struct weir_error *error);

/* Finds out what commit() is to do, and builds what it needs. -1 with `error`. */
int rule_change_plan(struct weir_rule_change *change, const char *where, struct weir_error *error);

#endif
