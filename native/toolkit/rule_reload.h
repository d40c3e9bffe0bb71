/* SPDX-License-Identifier: Apache-2.0 */
/* The command `reload` of functions with a rule set: all of it but what commit() does. */
#ifndef WEIR_TOOLKIT_RULE_RELOAD_H
#define WEIR_TOOLKIT_RULE_RELOAD_H

#include "engine/nf.h"
#include "rule_set.h"

struct weir_rule_reload_arguments {
	char path[WEIR_OPTION_TEXT_BYTES]; /* empty: the file that the function was made with */
};
#define WEIR_RULE_RELOAD_OPTIONS 1
extern const struct weir_option weir_rule_reload_options[WEIR_RULE_RELOAD_OPTIONS];

/* What is prepared. */
struct weir_rule_reload {
	struct weir_rule_set *rules; /* the new ones; commit() leaves the old ones here */
};

/* Reads the rules. `path`: the file that the function was made with, or empty. */
int weir_rule_reload_prepare(const struct weir_rule_reload_arguments *arguments, const char *path,
			     bool default_permits, const char *where, void **prepared,
			     struct weir_error *error);
void weir_rule_reload_release(void *prepared);

/* The row of the command. `prepare_rules` calls the above with what its state has. */
#define WEIR_RULE_RELOAD_ROW(prepare_rules, commit_rules, text)                                    \
	{                                                                                          \
		.name = "reload", .help = text, .options = weir_rule_reload_options,               \
		.option_count = WEIR_RULE_RELOAD_OPTIONS,                                          \
		.arguments_size = sizeof(struct weir_rule_reload_arguments),                       \
		.prepare = prepare_rules, .commit = commit_rules,                                  \
		.release = weir_rule_reload_release,                                               \
	}

#endif
