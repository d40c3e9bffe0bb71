/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `change` of functions with a rule set: rules are added and removed while packets
 * flow, all that a text says or none of it. A line is one of
 *
 *   add RULE                   behind all others
 *   add RULE first             before all others
 *   add RULE before|after RULE
 *   remove RULE
 *
 * where RULE is as rule_set.h has it, and names the first rule that says the same; what follows #
 * is a comment. Lines see what those before them did.
 *
 * Rules of IPv4 are changed one by one: prepare() finds where each stands, commit() takes a
 * fraction of a microsecond for each. Those of IPv6 are built anew by prepare() if one of them
 * changes, and so are all where many were added since they were built, or removed.
 */
#ifndef WEIR_TOOLKIT_RULE_CHANGE_H
#define WEIR_TOOLKIT_RULE_CHANGE_H

#include "engine/nf.h"
#include "rule_set.h"

struct weir_rule_change_arguments {
	char path[WEIR_OPTION_TEXT_BYTES], list[WEIR_OPTION_TEXT_BYTES];
};
#define WEIR_RULE_CHANGE_OPTIONS 2
extern const struct weir_option weir_rule_change_options[WEIR_RULE_CHANGE_OPTIONS];

/* What is prepared. */
struct weir_rule_change;

/* One change of a set at a time: released before the next is prepared. */
int weir_rule_change_prepare(const struct weir_rule_change_arguments *arguments,
			     struct weir_rule_set *set, const char *where, void **prepared,
			     struct weir_error *error);
/* The set that is there from now on: the same, or one that was built anew. */
struct weir_rule_set *weir_rule_change_commit(struct weir_rule_change *change);
void weir_rule_change_release(void *prepared);

/* Whether something that the rules permitted may be refused now: a rule that permits was removed,
 * or one that denies was added. */
bool weir_rule_change_may_refuse(const struct weir_rule_change *change);
/* Whether a rule that changed matches; *may_refuse: one of those. No other tuple of IPv4 is decided
 * on otherwise than before. */
bool weir_rule_change_concerns(const struct weir_rule_change *change,
			       const struct weir_tuple *tuple, bool *may_refuse);

/* The row of the command. `prepare_change` calls the above with what its state has. */
#define WEIR_RULE_CHANGE_ROW(prepare_change, commit_change, text)                                  \
	{                                                                                          \
		.name = "change", .help = text, .options = weir_rule_change_options,               \
		.option_count = WEIR_RULE_CHANGE_OPTIONS,                                          \
		.arguments_size = sizeof(struct weir_rule_change_arguments),                       \
		.prepare = prepare_change, .commit = commit_change,                                \
		.release = weir_rule_change_release,                                               \
	}

#endif
