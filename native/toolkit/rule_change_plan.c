/* SPDX-License-Identifier: Apache-2.0 */
/* From what the lines did to the book to what commit() does to what packets are asked by. */
#include <stdlib.h>

#include <rte_common.h>

#include "rule_change_parts.h"
#include "rule_set.h"

/* So many may be added since all were built, and removed, as a part of all; of few rules, some. */
#define ROOM_SHARE 2
#define ROOM_MIN 1024
/* And so many under one key, which are looked through one by one. */
#define CROWD_MAX 64

static uint32_t
room_of(const struct weir_rule_set *set)
{
	return RTE_MAX(set->ipv4_count / ROOM_SHARE, (uint32_t)ROOM_MIN);
}

static bool
remember(struct weir_growing *numbers, uint32_t number)
{
	uint32_t at;

	if (!weir_growing_add(numbers, 1, &at))
		return false;
	((uint32_t *)numbers->items)[at] = number;
	return true;
}

/* What the step did was not undone by another one. */
static inline bool
lasts(const struct weir_book_rule *rule, bool removes)
{
	return removes ? !rule->is_new : rule->is_there;
}

/* Those that changed, in a space of tuples of their own. False: no memory. */
static bool
list_changed(struct weir_rule_change *change)
{
	struct weir_rule_book *book = change->set->book;

	change->changed = weir_added_rules_create(change->steps.count);
	change->changed_rules =
		malloc((change->steps.count + 1UL) * sizeof(*change->changed_rules));
	if (change->changed == NULL || change->changed_rules == NULL)
		return false;
	for (uint32_t i = 0; i < change->steps.count; i++) {
		const struct rule_change_step *step = rule_change_step(change, i);
		const struct weir_book_rule *rule = weir_book_rule(book, step->number);
		bool refuses = rule->permits == step->removes;

		if (!lasts(rule, step->removes))
			continue;
		change->may_refuse |= refuses;
		change->changes_ipv6 |= rule->rule.is_ipv6;
		if (!rule->rule.is_ipv4)
			continue;
		weir_added_rule_make(change->changed, &rule->rule.ipv4, refuses ? 0 : 1, !refuses,
				     &change->changed_rules[i]);
		weir_added_rules_put(change->changed, &change->changed_rules[i]);
	}
	return true;
}

/* --- rule by rule ------------------------------------------------------------------------------
 */

static inline struct weir_added_rules *
added_of(const struct weir_rule_change *change)
{
	return change->added != NULL ? change->added : change->set->added;
}

/* *fits: it is not one too many under its key. False: no memory. */
static bool
plan_put(struct weir_rule_change *change, uint32_t number, bool *fits)
{
	struct weir_book_rule *rule = weir_book_rule(change->set->book, number);
	struct weir_added_rules *added = added_of(change);

	rule->added = malloc(sizeof(*rule->added));
	if (rule->added == NULL)
		return false;
	weir_added_rule_make(added, &rule->rule.ipv4, rule->order, rule->permits, rule->added);
	if (!remember(&change->put, number)) {
		free(rule->added);
		rule->added = NULL;
		return false;
	}
	*fits &= weir_added_rules_crowd(added, rule->added, 1) <= CROWD_MAX;
	return true;
}

/* Rules that the trees of the classifier left out behind this one are put beside it. */
static bool
plan_hidden(struct weir_rule_change *change, uint32_t hider, bool *fits)
{
	const struct weir_rule_set *set = change->set;

	for (uint32_t index = hider + 1; *fits && index < set->ipv4_count; index++) {
		uint32_t number = set->ipv4_places[index] + 1;
		const struct weir_book_rule *rule = weir_book_rule(set->book, number);

		if (!rule->is_there || rule->added != NULL ||
		    !weir_classifier_may_be_hidden(set->ipv4, set->ipv4_rules, hider, index))
			continue;
		if (!plan_put(change, number, fits))
			return false;
		*fits &= set->book->added_count + change->put.count <= room_of(set);
	}
	return true;
}

static bool
plan_removal(struct weir_rule_change *change, uint32_t number, bool *fits)
{
	const struct weir_rule_set *set = change->set;
	struct weir_book_rule *rule = weir_book_rule(set->book, number);

	if (rule->added != NULL) {
		if (!remember(&change->taken, number))
			return false;
		weir_added_rules_crowd(added_of(change), rule->added, -1);
	}
	if (rule->ipv4_index == WEIR_RULE_NONE)
		return true;
	change->struck_rules++;
	return weir_classifier_places(set->ipv4, &rule->rule.ipv4, rule->ipv4_index,
				      &change->struck) &&
	       (!weir_classifier_hides(set->ipv4, rule->ipv4_index) ||
		plan_hidden(change, rule->ipv4_index, fits));
}

/* *fits: all that is added and removed has room. */
static bool
plan_rules(struct weir_rule_change *change, bool *fits)
{
	const struct weir_rule_set *set = change->set;
	struct weir_rule_book *book = set->book;
	uint32_t adds = 0;

	for (uint32_t i = 0; i < change->steps.count; i++)
		adds += !rule_change_step(change, i)->removes;
	*fits = book->added_count + adds <= room_of(set);
	if (set->added == NULL) {
		change->added = weir_added_rules_create(room_of(set));
		if (change->added == NULL)
			return false;
	}
	for (uint32_t i = 0; *fits && i < change->steps.count; i++) {
		const struct rule_change_step *step = rule_change_step(change, i);
		const struct weir_book_rule *rule = weir_book_rule(book, step->number);

		if (!rule->rule.is_ipv4 || !lasts(rule, step->removes))
			continue;
		if (!(step->removes ? plan_removal(change, step->number, fits)
				    : plan_put(change, step->number, fits)))
			return false;
	}
	*fits &= book->struck_count + change->struck_rules <= room_of(set);
	return true;
}

/* --- all anew ----------------------------------------------------------------------------------
 */

static int
build_ipv6(struct weir_rule_change *change, const char *where, struct weir_error *error)
{
	const struct weir_rule_book *book = change->set->book;

	if (weir_ipv6_part_create(&change->ipv6, book->count) < 0)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory for %u rules",
				 book->count);
	for (uint32_t number = weir_book_rule(book, WEIR_BOOK_NONE)->next; number != WEIR_BOOK_NONE;
	     number = weir_book_rule(book, number)->next) {
		const struct weir_book_rule *rule = weir_book_rule(book, number);

		if (rule->rule.is_ipv6)
			weir_ipv6_part_add(&change->ipv6, &rule->rule.ipv6, rule->permits);
	}
	return weir_ipv6_part_build(&change->ipv6, where, error);
}

static int
build_all(struct weir_rule_change *change, const char *where, struct weir_error *error)
{
	const struct weir_rule_book *book = change->set->book;

	change->built = weir_rule_set_create(book->count, change->set->default_permits);
	if (change->built == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory for %u rules",
				 book->count);
	change->built->ipv4_index = change->set->ipv4_index;
	for (uint32_t number = weir_book_rule(book, WEIR_BOOK_NONE)->next; number != WEIR_BOOK_NONE;
	     number = weir_book_rule(book, number)->next)
		weir_rule_set_add(change->built, &weir_book_rule(book, number)->rule,
				  weir_book_rule(book, number)->permits);
	return weir_rule_set_build(change->built, where, error);
}

int
rule_change_plan(struct weir_rule_change *change, const char *where, struct weir_error *error)
{
	bool fits;

	if (!list_changed(change) || !plan_rules(change, &fits))
		return weir_fail(error, "no_memory", where, NULL, NULL, "no memory for %u changes",
				 change->steps.count);
	if (!fits)
		return build_all(change, where, error);
	return change->changes_ipv6 ? build_ipv6(change, where, error) : 0;
}
