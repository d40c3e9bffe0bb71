/* SPDX-License-Identifier: Apache-2.0 */
/* A set of rules whose single ones change, and the same in an array. What a test writes are the
 * lines of the next set, or of the next change. */
#ifndef WEIR_TOOLKIT_RULE_CHANGE_FIXTURE_TEST_H
#define WEIR_TOOLKIT_RULE_CHANGE_FIXTURE_TEST_H

#include "rule_change.h"
#include "testing/rule_model.h"

/* A set of rules, and the same as a model. */
struct pair {
	struct weir_rule_set *set;
	struct weir_rule_model model;
	uint64_t random;
	unsigned int builds; /* how often all was built anew */
};

void write_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was written is not for the next one. */
void clear_text(void);
/* Of the text, whose lines are rules. */
struct pair pair_of(bool default_permits, uint64_t random);
/* Runs the command as nf.command does. NULL, or its error. */
const char *changed(struct pair *pair, bool is_committed);
/* What the text says, of both. */
void change(struct pair *pair);
/* Both do it, or both refuse it and stay as they were; or none does, since it is not committed. */
bool try_change(struct pair *pair, bool is_committed);
/* Fails the test where both decide otherwise about so many batches of packets. */
void assert_agrees(struct pair *pair, unsigned int batches);
void ends(struct pair *pair);

#endif
