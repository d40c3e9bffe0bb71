/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "rule_change_parts.h"
#include "text_file.h"

const struct weir_option weir_rule_change_options[WEIR_RULE_CHANGE_OPTIONS] = {
	{
		.name = "changes",
		.type = WEIR_OPTION_FILE,
		.help = "File with one change a line: add RULE [first | before RULE | after RULE], "
			"or remove RULE, where RULE is a line as files of rules have it.",
		.offset = offsetof(struct weir_rule_change_arguments, path),
	},
	{
		.name = "change_list",
		.type = WEIR_OPTION_TEXT,
		.help = "In place of a file: its lines, joined by commas.",
		.offset = offsetof(struct weir_rule_change_arguments, list),
	},
};

static uint32_t
number_at(const struct weir_growing *numbers, uint32_t index)
{
	return ((const uint32_t *)numbers->items)[index];
}

static int
read_list(struct weir_rule_change *change, const char *list, const char *where,
	  struct weir_error *error)
{
	char lines[WEIR_OPTION_TEXT_BYTES];

	snprintf(lines, sizeof(lines), "%s", list);
	for (char *comma = lines; (comma = strchr(comma, ',')) != NULL;)
		*comma = '\n';
	return rule_change_read(change, lines, strlen(lines), "change_list", where, error);
}

static int
read_file(struct weir_rule_change *change, const char *path, const char *where,
	  struct weir_error *error)
{
	size_t bytes;
	char *text = weir_text_file_read(path, &bytes, where, error);
	int status;

	if (text == NULL)
		return -1;
	status = rule_change_read(change, text, bytes, path, where, error);
	free(text);
	return status;
}

int
weir_rule_change_prepare(const struct weir_rule_change_arguments *arguments,
			 struct weir_rule_set *set, const char *where, void **prepared,
			 struct weir_error *error)
{
	struct weir_rule_change *change;
	int status;

	if ((arguments->path[0] != '\0') == (arguments->list[0] != '\0'))
		return weir_fail(error, "bad_argument", where, "changes or change_list", NULL,
				 "say what to change by a file or by a list");
	if (set->book == NULL)
		set->book = weir_rule_book_create(set);
	change = calloc(1, sizeof(*change));
	if (set->book == NULL || change == NULL) {
		free(change);
		return weir_fail(error, "no_memory", where, NULL, NULL,
				 "no memory to change one of %u rules", set->count);
	}
	change->set = set;
	change->steps.item_bytes = sizeof(struct rule_change_step);
	change->taken.item_bytes = change->put.item_bytes = change->struck.item_bytes =
		sizeof(uint32_t);
	status = arguments->path[0] != '\0' ? read_file(change, arguments->path, where, error)
					    : read_list(change, arguments->list, where, error);
	if (status == 0)
		status = rule_change_plan(change, where, error);
	if (status < 0)
		weir_rule_change_release(change);
	else
		*prepared = change;
	return status;
}

/* Rules that are there and stay may have got other orders, as numbers; who goes before whom is as
 * it was. */
static void
reorder(struct weir_rule_set *set)
{
	const struct weir_growing *reordered = &set->book->reordered;

	for (uint32_t i = 0; i < reordered->count; i++) {
		const struct weir_book_reordered *of =
			(const struct weir_book_reordered *)reordered->items + i;
		const struct weir_book_rule *rule = weir_book_rule(set->book, of->number);

		if (rule->added != NULL && rule->is_there && !rule->is_new)
			weir_added_rules_reorder(set->added, rule->added, rule->order);
	}
}

struct weir_rule_set *
weir_rule_change_commit(struct weir_rule_change *change)
{
	struct weir_rule_set *set = change->set;
	const struct weir_rule_book *book = set->book;

	change->is_committed = true;
	if (change->built != NULL)
		return change->built;
	if (change->added != NULL) {
		set->added = change->added;
		change->added = NULL;
	}
	for (uint32_t i = 0; i < change->taken.count; i++)
		weir_added_rules_take(set->added,
				      weir_book_rule(book, number_at(&change->taken, i))->added);
	weir_classifier_strike(set->ipv4, change->struck.items, change->struck.count);
	reorder(set);
	for (uint32_t i = 0; i < change->put.count; i++)
		weir_added_rules_put(set->added,
				     weir_book_rule(book, number_at(&change->put, i))->added);
	if (change->changes_ipv6) {
		const struct weir_ipv6_part before = set->ipv6;

		set->ipv6 = change->ipv6;
		change->ipv6 = before;
	}
	set->names_ports = book->naming_ports > 0;
	set->count = book->count;
	return set;
}

bool
weir_rule_change_may_refuse(const struct weir_rule_change *change)
{
	return change->may_refuse;
}

bool
weir_rule_change_concerns(const struct weir_rule_change *change, const struct weir_tuple *tuple,
			  bool *may_refuse)
{
	uint64_t order = WEIR_ORDER_NONE;
	bool only_permits = true;

	weir_added_rules_find(change->changed, tuple, &order, &only_permits, 1);
	*may_refuse = !only_permits;
	return order != WEIR_ORDER_NONE;
}

/* The book as it was before the lines. */
static void
undo(struct weir_rule_change *change)
{
	struct weir_rule_book *book = change->set->book;
	struct weir_added_rules *added = change->added != NULL ? change->added : change->set->added;

	for (uint32_t i = 0; i < change->taken.count; i++)
		weir_added_rules_crowd(
			added, weir_book_rule(book, number_at(&change->taken, i))->added, 1);
	for (uint32_t i = 0; i < change->put.count; i++) {
		struct weir_book_rule *rule = weir_book_rule(book, number_at(&change->put, i));

		weir_added_rules_crowd(added, rule->added, -1);
		free(rule->added);
		rule->added = NULL;
	}
	for (uint32_t i = book->reordered.count; i-- > 0;) {
		const struct weir_book_reordered *of =
			(const struct weir_book_reordered *)book->reordered.items + i;

		weir_book_rule(book, of->number)->order = of->before;
	}
	for (uint32_t i = change->steps.count; i-- > 0;) {
		const struct rule_change_step *step = rule_change_step(change, i);

		if (step->removes) {
			weir_rule_book_put_back(book, step->number);
		} else {
			weir_rule_book_remove(book, step->number);
			weir_rule_book_forget(book, step->number);
		}
	}
}

/* What was removed is freed, and what is new is not new any more. */
static void
settle(struct weir_rule_change *change)
{
	struct weir_rule_book *book = change->set->book;

	book->added_count += change->put.count - change->taken.count;
	book->struck_count += change->struck_rules;
	for (uint32_t i = 0; i < change->steps.count; i++) {
		const struct rule_change_step *step = rule_change_step(change, i);
		struct weir_book_rule *rule = weir_book_rule(book, step->number);

		rule->is_new = false;
		if (!step->removes)
			continue;
		free(rule->added);
		rule->added = NULL;
		if (!rule->is_built)
			weir_rule_book_forget(book, step->number);
	}
}

void
weir_rule_change_release(void *prepared)
{
	struct weir_rule_change *change = prepared;

	if (!change->is_committed) {
		undo(change);
		change->set->book->reordered.count = 0;
		weir_rule_set_free(change->built);
	} else if (change->built != NULL) {
		weir_rule_set_free(change->set);
	} else {
		settle(change);
		change->set->book->reordered.count = 0;
	}
	weir_ipv6_part_free(&change->ipv6);
	weir_added_rules_free(change->added);
	weir_added_rules_free(change->changed);
	free(change->changed_rules);
	free(change->steps.items);
	free(change->taken.items);
	free(change->put.items);
	free(change->struck.items);
	free(change);
}
