/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_model.h"

#include <stdlib.h>
#include <string.h>

#include "ipv6_rules.h"
#include "rules.h"
#include "toolkit/rule_lines.h"

static bool
same_prefix(const struct weir_ipv6_prefix *a, const struct weir_ipv6_prefix *b)
{
	return a->length == b->length && memcmp(a->address, b->address, 16) == 0;
}

/* Reading clears all bytes first, so what is not named is alike. */
static bool
same(const struct weir_written_rule *a, const struct weir_written_rule *b)
{
	return a->is_ipv4 == b->is_ipv4 && a->is_ipv6 == b->is_ipv6 &&
	       memcmp(&a->ipv4, &b->ipv4, offsetof(struct weir_rule, protocol)) == 0 &&
	       a->ipv4.protocol == b->ipv4.protocol &&
	       a->ipv4.any_protocol == b->ipv4.any_protocol &&
	       same_prefix(&a->ipv6.src, &b->ipv6.src) && same_prefix(&a->ipv6.dst, &b->ipv6.dst);
}

/* The place of the rule in those words; `count`: there is none. */
static uint32_t
place_of(const struct weir_rule_model *model, const struct weir_rule_line *line, unsigned int first,
	 unsigned int count)
{
	struct weir_written_rule rule;
	uint32_t place = 0;
	bool permits;

	if (!weir_rule_line_read(line, first, count, &rule, &permits))
		return model->count;
	while (place < model->count &&
	       (model->rules[place].permits != permits || !same(&model->rules[place].rule, &rule)))
		place++;
	return place;
}

static void
insert(struct weir_rule_model *model, uint32_t place, const struct weir_written_rule *rule,
       bool permits)
{
	if (model->count == model->room) {
		model->room = 2 * model->room + 64;
		model->rules = realloc(model->rules, model->room * sizeof(*model->rules));
		if (model->rules == NULL)
			abort();
	}
	memmove(&model->rules[place + 1], &model->rules[place],
		(model->count - place) * sizeof(*model->rules));
	model->rules[place] = (struct weir_model_rule){*rule, permits};
	model->count++;
}

static bool
add(struct weir_rule_model *model, const struct weir_rule_line *line)
{
	struct weir_written_rule rule;
	unsigned int words = 1;
	uint32_t place = model->count;
	bool permits, after;

	while (words < line->word_count && strcmp(line->words[words], "first") != 0 &&
	       strcmp(line->words[words], "before") != 0 &&
	       strcmp(line->words[words], "after") != 0)
		words++;
	if (!weir_rule_line_read(line, 1, words - 1, &rule, &permits))
		return false;
	if (words < line->word_count && strcmp(line->words[words], "first") == 0) {
		if (words + 1 != line->word_count)
			return false;
		place = 0;
	} else if (words < line->word_count) {
		after = strcmp(line->words[words], "after") == 0;
		place = place_of(model, line, words + 1, line->word_count - words - 1);
		if (place == model->count)
			return false;
		place += after;
	}
	insert(model, place, &rule, permits);
	return true;
}

static bool
take_out(struct weir_rule_model *model, const struct weir_rule_line *line)
{
	uint32_t place = place_of(model, line, 1, line->word_count - 1);

	if (place == model->count)
		return false;
	model->count--;
	memmove(&model->rules[place], &model->rules[place + 1],
		(model->count - place) * sizeof(*model->rules));
	return true;
}

bool
weir_rule_model_change(struct weir_rule_model *model, const char *text, size_t bytes)
{
	struct weir_error error;
	struct weir_rule_line line = weir_rule_line_of("model", "model", &error);
	struct weir_rule_model changed = *model;
	const char *end = text + bytes;
	int found;

	line.words_max = WEIR_RULE_LINE_WORDS;
	changed.rules = malloc((changed.room + 1) * sizeof(*changed.rules));
	if (changed.rules == NULL)
		abort();
	if (changed.count > 0)
		memcpy(changed.rules, model->rules, changed.count * sizeof(*changed.rules));
	while ((found = weir_rule_line_next(&line, &text, end)) > 0) {
		if (strcmp(line.words[0], "add") == 0
			    ? !add(&changed, &line)
			    : strcmp(line.words[0], "remove") != 0 || !take_out(&changed, &line))
			break;
	}
	free(found == 0 ? model->rules : changed.rules);
	if (found == 0)
		*model = changed;
	return found == 0;
}

void
weir_rule_model_free(struct weir_rule_model *model)
{
	free(model->rules);
	*model = (struct weir_rule_model){0};
}

bool
weir_rule_model_permits(const struct weir_rule_model *model, const struct weir_tuple *tuple)
{
	for (uint32_t i = 0; i < model->count; i++) {
		const struct weir_model_rule *rule = &model->rules[i];

		if (rule->rule.is_ipv4 && weir_test_first_rule(&rule->rule.ipv4, 1, tuple) == 0)
			return rule->permits;
	}
	return model->default_permits;
}

bool
weir_rule_model_permits_ipv6(const struct weir_rule_model *model,
			     const struct weir_ipv6_tuple *tuple)
{
	for (uint32_t i = 0; i < model->count; i++) {
		const struct weir_model_rule *rule = &model->rules[i];

		if (rule->rule.is_ipv6 &&
		    weir_test_first_ipv6_rule(&rule->rule.ipv6, 1, tuple) == 0)
			return rule->permits;
	}
	return model->default_permits;
}

bool
weir_rule_model_names_ports(const struct weir_rule_model *model)
{
	for (uint32_t i = 0; i < model->count; i++) {
		if (weir_written_rule_names_ports(&model->rules[i].rule))
			return true;
	}
	return false;
}

static uint32_t
below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)(weir_test_random(random) >> 33) % bound;
}

/* Some rule of that family, or NULL. */
static const struct weir_written_rule *
some_rule(const struct weir_rule_model *model, bool ipv6, uint64_t *random)
{
	for (unsigned int tries = 0; model->count > 0 && tries < 8; tries++) {
		const struct weir_written_rule *rule =
			&model->rules[below(random, model->count)].rule;

		if (ipv6 ? rule->is_ipv6 : rule->is_ipv4)
			return rule;
	}
	return NULL;
}

struct weir_tuple
weir_rule_model_tuple(const struct weir_rule_model *model, uint64_t *random)
{
	const struct weir_written_rule *rule = some_rule(model, false, random);

	return weir_test_tuple_near(rule != NULL ? &rule->ipv4 : NULL, random);
}

struct weir_ipv6_tuple
weir_rule_model_ipv6_tuple(const struct weir_rule_model *model, uint64_t *random)
{
	const struct weir_written_rule *rule = some_rule(model, true, random);

	return weir_test_ipv6_tuple_near(rule != NULL ? &rule->ipv6 : NULL, rule != NULL, random);
}
