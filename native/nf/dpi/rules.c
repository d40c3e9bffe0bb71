/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "toolkit/text_file.h"

static struct dpi_rules *in_use;

/* What is gathered from the lines before it is compiled. */
struct draft {
	struct dpi_rules *rules;
	struct weir_rule *flows;
	uint32_t flow_count;
	const char **expressions;
	unsigned int *flags;
	unsigned int *indices;
	uint32_t expression_count;
	const char *path;
	const char *where;
	struct weir_error *error;
};

static int
bad_line(const struct draft *draft, uint32_t line, const char *expected, const char *what)
{
	return weir_fail(draft->error, "bad_argument", draft->where, expected, NULL, "%s:%u: %s",
			 draft->path, line, what);
}

static int
add_application(struct draft *draft, struct ndpi_detection_module_struct *ndpi,
		const struct dpi_rule_text *text)
{
	int application = ndpi_get_protocol_id(ndpi, (char *)text->application);
	uint32_t *first;

	if (application <= 0 || application >= NDPI_MAX_SUPPORTED_PROTOCOLS)
		return bad_line(draft, text->rule.line,
				"a name that nDPI gives, such as BitTorrent",
				"there is no such application");
	first = &draft->rules->applications[application];
	*first = RTE_MIN(*first, draft->rules->count);
	return 0;
}

static int
add_rule(struct draft *draft, struct ndpi_detection_module_struct *ndpi, char *line,
	 uint32_t number)
{
	struct dpi_rules *rules = draft->rules;
	struct dpi_rule_text text;
	struct weir_rule_fault fault;

	if (!dpi_rule_read(line, &text, &fault))
		return bad_line(draft, number, fault.expected, fault.text);
	text.rule.line = number;
	switch (text.rule.kind) {
	case DPI_KIND_FLOW:
		rules->flow_rules[draft->flow_count] = rules->count;
		draft->flows[draft->flow_count++] = text.flow;
		break;
	case DPI_KIND_CONTENT:
		draft->indices[draft->expression_count] = rules->count;
		draft->flags[draft->expression_count] = text.flags;
		draft->expressions[draft->expression_count++] = text.expression;
		break;
	default:
		if (add_application(draft, ndpi, &text) < 0)
			return -1;
	}
	rules->rules[rules->count++] = text.rule;
	return 0;
}

/* Reads all lines of `text`, changing it. */
static int
read_rules(struct draft *draft, struct ndpi_detection_module_struct *ndpi, char *text)
{
	uint32_t number = 0;
	char *rest = text;

	for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
		number++;
		line += strspn(line, " \t\r");
		if (line[0] != '\0' && line[0] != '#' && add_rule(draft, ndpi, line, number) < 0)
			return -1;
	}
	return 0;
}

static const struct dpi_rule *sorted; /* by compare_ids(): qsort() passes nothing along */

static int
compare_ids(const void *left, const void *right)
{
	uint32_t a = sorted[*(const uint32_t *)left].id;
	uint32_t b = sorted[*(const uint32_t *)right].id;

	return a < b ? -1 : a > b;
}

static int
index_ids(struct draft *draft)
{
	struct dpi_rules *rules = draft->rules;

	for (uint32_t i = 0; i < rules->count; i++)
		rules->by_id[i] = i;
	sorted = rules->rules;
	qsort(rules->by_id, rules->count, sizeof(uint32_t), compare_ids);
	for (uint32_t i = 1; i < rules->count; i++) {
		const struct dpi_rule *before = &rules->rules[rules->by_id[i - 1]];
		const struct dpi_rule *rule = &rules->rules[rules->by_id[i]];

		if (before->id == rule->id)
			return bad_line(draft, RTE_MAX(before->line, rule->line),
					"a number of its own for each rule",
					"another line has this rule's number");
	}
	return 0;
}

static int
compile(struct draft *draft)
{
	struct dpi_rules *rules = draft->rules;
	hs_compile_error_t *fault;

	if (draft->flow_count > 0) {
		rules->classifier =
			weir_classifier_build(draft->flows, draft->flow_count, WEIR_RULES_INDEXED,
					      draft->where, draft->error);
		if (rules->classifier == NULL)
			return -1;
	}
	if (draft->expression_count == 0)
		return 0;
	if (hs_compile_multi(draft->expressions, draft->flags, draft->indices,
			     draft->expression_count, HS_MODE_STREAM, NULL, &rules->content,
			     &fault) == HS_SUCCESS)
		return 0;
	if (fault->expression >= 0)
		bad_line(draft, rules->rules[draft->indices[fault->expression]].line,
			 "an expression that Hyperscan compiles", fault->message);
	else
		weir_fail(draft->error, "bad_argument", draft->where, "fewer or simpler rules",
			  NULL, "%s: %s", draft->path, fault->message);
	hs_free_compile_error(fault);
	return -1;
}

static void
destroy(struct dpi_rules *rules)
{
	if (rules == NULL)
		return;
	weir_classifier_free(rules->classifier);
	hs_free_database(rules->content);
	free(rules->rules);
	free(rules->by_id);
	free(rules->flow_rules);
	free(rules->text);
	free(rules);
}

static uint32_t
count_lines(const char *text)
{
	uint32_t count = 1;

	for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n'))
		count++;
	return count;
}

/* Room for as many rules as the text has lines; 0, or -1. */
static int
allocate(struct draft *draft, const char *text)
{
	struct dpi_rules *rules = calloc(1, sizeof(*rules));
	uint32_t lines = count_lines(text);

	draft->rules = rules;
	draft->flows = calloc(lines, sizeof(*draft->flows));
	draft->expressions = calloc(lines, sizeof(*draft->expressions));
	draft->flags = calloc(lines, sizeof(*draft->flags));
	draft->indices = calloc(lines, sizeof(*draft->indices));
	if (rules == NULL)
		return -1;
	memset(rules->applications, 0xff, sizeof(rules->applications));
	rules->rules = calloc(lines, sizeof(*rules->rules));
	rules->by_id = calloc(lines, sizeof(*rules->by_id));
	rules->flow_rules = calloc(lines, sizeof(*rules->flow_rules));
	rules->text = strdup(text);
	return draft->flows != NULL && draft->expressions != NULL && draft->flags != NULL &&
			       draft->indices != NULL && rules->rules != NULL &&
			       rules->by_id != NULL && rules->flow_rules != NULL &&
			       rules->text != NULL
		       ? 0
		       : -1;
}

static struct dpi_rules *
build(const char *path, char *text, struct ndpi_detection_module_struct *ndpi, const char *where,
      struct weir_error *error)
{
	struct draft draft = {.path = path, .where = where, .error = error};
	int status = allocate(&draft, text);

	if (status < 0)
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the rules");
	else if (read_rules(&draft, ndpi, text) < 0 || index_ids(&draft) < 0 || compile(&draft) < 0)
		status = -1;
	free(draft.flows);
	free(draft.expressions);
	free(draft.flags);
	free(draft.indices);
	if (status == 0)
		return draft.rules;
	destroy(draft.rules);
	return NULL;
}

struct dpi_rules *
dpi_rules_load(const char *path, struct ndpi_detection_module_struct *ndpi, const char *where,
	       struct weir_error *error)
{
	size_t bytes;
	bool named = path[0] != '\0';
	char *text = named ? weir_text_file_read(path, &bytes, where, error) : strdup("");
	struct dpi_rules *rules = in_use;

	if (text == NULL) {
		if (!named)
			weir_fail(error, "no_memory", where, NULL, NULL, "no memory for rules");
		return NULL;
	}
	while (rules != NULL && strcmp(rules->text, text) != 0)
		rules = rules->next;
	if (rules == NULL) {
		rules = build(path, text, ndpi, where, error);
		if (rules != NULL) {
			rules->next = in_use;
			in_use = rules;
		}
	}
	free(text);
	if (rules != NULL)
		rules->users++;
	return rules;
}

void
dpi_rules_release(struct dpi_rules *rules)
{
	struct dpi_rules **place = &in_use;

	if (rules == NULL || --rules->users > 0)
		return;
	while (*place != rules)
		place = &(*place)->next;
	*place = rules->next;
	destroy(rules);
}

uint32_t
dpi_rules_find(const struct dpi_rules *rules, uint32_t id, uint32_t print)
{
	uint32_t low = 0, high = rules->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct dpi_rule *rule = &rules->rules[rules->by_id[middle]];

		if (rule->id == id)
			return rule->print == print ? rules->by_id[middle] : DPI_RULE_NONE;
		if (rule->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return DPI_RULE_NONE;
}

void
dpi_rules_classify(const struct dpi_rules *rules, const struct weir_tuple *tuples, uint32_t *found,
		   unsigned int count)
{
	if (rules->classifier == NULL) {
		for (unsigned int i = 0; i < count; i++)
			found[i] = DPI_RULE_NONE;
		return;
	}
	weir_classifier_classify(rules->classifier, tuples, found, count);
	for (unsigned int i = 0; i < count; i++)
		found[i] = found[i] != WEIR_RULE_NONE ? rules->flow_rules[found[i]] : DPI_RULE_NONE;
}
