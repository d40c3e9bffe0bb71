/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_set.h"

#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "classifier_added.h"
#include "rule_book.h"
#include "rule_lines.h"
#include "text_file.h"

int
weir_ipv6_part_create(struct weir_ipv6_part *part, size_t room)
{
	*part = (struct weir_ipv6_part){
		.rules = malloc(RTE_MAX(room, 1UL) * sizeof(*part->rules)),
		.permits = malloc(RTE_MAX(room, 1UL) * sizeof(*part->permits)),
	};
	if (part->rules != NULL && part->permits != NULL)
		return 0;
	weir_ipv6_part_free(part);
	return -1;
}

void
weir_ipv6_part_add(struct weir_ipv6_part *part, const struct weir_ipv6_rule *rule, bool permits)
{
	part->permits[part->count] = permits;
	part->rules[part->count++] = *rule;
}

int
weir_ipv6_part_build(struct weir_ipv6_part *part, const char *where, struct weir_error *error)
{
	part->classifier = weir_ipv6_classifier_build(part->rules, part->count, where, error);
	return part->classifier != NULL ? 0 : -1;
}

void
weir_ipv6_part_free(struct weir_ipv6_part *part)
{
	weir_ipv6_classifier_free(part->classifier);
	free(part->permits);
	free(part->rules);
	*part = (struct weir_ipv6_part){0};
}

struct weir_rule_set *
weir_rule_set_create(size_t room, bool default_permits)
{
	struct weir_rule_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	room = RTE_MAX(room, 1UL);
	set->default_permits = default_permits;
	set->ipv4_rules = malloc(room * sizeof(*set->ipv4_rules));
	set->ipv4_permits = malloc(room * sizeof(*set->ipv4_permits));
	set->written = malloc(room * sizeof(*set->written));
	if (set->ipv4_rules != NULL && set->ipv4_permits != NULL && set->written != NULL &&
	    weir_ipv6_part_create(&set->ipv6, room) == 0)
		return set;
	weir_rule_set_free(set);
	return NULL;
}

void
weir_rule_set_add(struct weir_rule_set *set, const struct weir_written_rule *rule, bool permits)
{
	set->names_ports = set->names_ports || weir_written_rule_names_ports(rule);
	set->written[set->count++] = (rule->is_ipv4 ? WEIR_RULE_WRITTEN_IPV4 : 0) |
				     (rule->is_ipv6 ? WEIR_RULE_WRITTEN_IPV6 : 0) |
				     (permits ? WEIR_RULE_WRITTEN_PERMITS : 0);
	if (rule->is_ipv4) {
		set->ipv4_permits[set->ipv4_count] = permits;
		set->ipv4_rules[set->ipv4_count++] = rule->ipv4;
	}
	if (rule->is_ipv6)
		weir_ipv6_part_add(&set->ipv6, &rule->ipv6, permits);
}

static int
build_ipv4(struct weir_rule_set *set, const char *where, struct weir_error *error)
{
	set->ipv4 = weir_classifier_build(set->ipv4_rules, set->ipv4_count, set->ipv4_index, where,
					  error);
	return set->ipv4 != NULL ? 0 : -1;
}

int
weir_rule_set_build(struct weir_rule_set *set, const char *where, struct weir_error *error)
{
	set->built_count = set->count;
	return build_ipv4(set, where, error) == 0 ? weir_ipv6_part_build(&set->ipv6, where, error)
						  : -1;
}

int
weir_rule_set_one_by_one(struct weir_rule_set *set, const char *where, struct weir_error *error)
{
	weir_classifier_free(set->ipv4);
	set->ipv4_index = WEIR_RULES_ONE_BY_ONE;
	return build_ipv4(set, where, error);
}

static size_t
count_lines(const char *text, const char *end)
{
	size_t lines = 1;

	while ((text = memchr(text, '\n', end - text)) != NULL) {
		lines++;
		text++;
	}
	return lines;
}

struct weir_rule_set *
weir_rule_set_parse(const char *text, size_t bytes, const char *name, bool default_permits,
		    const char *where, struct weir_error *error)
{
	struct weir_rule_line line = weir_rule_line_of(name, where, error);
	const char *end = text + bytes;
	struct weir_rule_set *set = weir_rule_set_create(count_lines(text, end), default_permits);
	struct weir_written_rule rule;
	bool permits;
	int found;

	if (set == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the rules of %s",
			  name);
		return NULL;
	}
	while ((found = weir_rule_line_next(&line, &text, end)) > 0) {
		if (!weir_rule_line_read(&line, 0, line.word_count, &rule, &permits))
			break;
		weir_rule_set_add(set, &rule, permits);
	}
	if (found == 0 && weir_rule_set_build(set, where, error) == 0)
		return set;
	weir_rule_set_free(set);
	return NULL;
}

struct weir_rule_set *
weir_rule_set_load(const char *path, bool default_permits, const char *where,
		   struct weir_error *error)
{
	size_t bytes;
	char *text = weir_text_file_read(path, &bytes, where, error);
	struct weir_rule_set *set;

	if (text == NULL)
		return NULL;
	set = weir_rule_set_parse(text, bytes, path, default_permits, where, error);
	free(text);
	return set;
}

struct weir_rule_set *
weir_rule_set_of_option(const char *path, bool default_permits, const char *where,
			struct weir_error *error)
{
	if (path[0] == '\0')
		return weir_rule_set_parse("", 0, "no rules", default_permits, where, error);
	return weir_rule_set_load(path, default_permits, where, error);
}

void
weir_rule_set_free(struct weir_rule_set *set)
{
	if (set == NULL)
		return;
	weir_rule_book_free(set->book);
	weir_added_rules_free(set->added);
	weir_classifier_free(set->ipv4);
	weir_ipv6_part_free(&set->ipv6);
	free(set->ipv4_places);
	free(set->written);
	free(set->ipv4_permits);
	free(set->ipv4_rules);
	free(set);
}

/* Where a rule that was added goes before the one that was found, it decides. */
static void
ask_added(const struct weir_rule_set *set, const struct weir_tuple *tuples, const uint32_t *rule,
	  bool *permits, unsigned int count)
{
	uint64_t order[WEIR_CLASSIFIER_BULK];

	for (unsigned int i = 0; i < count; i++)
		order[i] = rule[i] != WEIR_RULE_NONE
				   ? weir_rule_order_of_place(set->ipv4_places[rule[i]])
				   : WEIR_ORDER_NONE;
	weir_added_rules_find(set->added, tuples, order, permits, count);
}

void
weir_rule_set_permits(const struct weir_rule_set *set, const struct weir_tuple *tuples,
		      bool *permits, unsigned int count)
{
	uint32_t rule[WEIR_CLASSIFIER_BULK];

	weir_classifier_classify(set->ipv4, tuples, rule, count);
	for (unsigned int i = 0; i < count; i++)
		permits[i] = rule[i] != WEIR_RULE_NONE ? set->ipv4_permits[rule[i]]
						       : set->default_permits;
	if (unlikely(set->added != NULL))
		ask_added(set, tuples, rule, permits, count);
}

bool
weir_rule_set_permits_ipv6(const struct weir_rule_set *set, const struct weir_ipv6_tuple *tuple)
{
	uint32_t rule;

	weir_ipv6_classifier_classify(set->ipv6.classifier, tuple, &rule, 1);
	return rule != WEIR_RULE_NONE ? set->ipv6.permits[rule] : set->default_permits;
}
