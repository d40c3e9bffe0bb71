/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule_text.h"
#include "text_file.h"

#define WORDS_MAX 6
#define WORD_BYTES 64

/* A line that is read, and where messages say it is. */
struct line {
	const char *name;
	uint32_t number;
	const char *where;
	struct weir_error *error;
	unsigned int word_count;
	char words[WORDS_MAX][WORD_BYTES];
};

static bool
refuse(const struct line *line, const char *expected, const char *text)
{
	/* The end of a long path says more than its beginning. */
	size_t length = strlen(line->name);
	const char *name = line->name + (length > 120 ? length - 120 : 0);

	weir_fail(line->error, "bad_rule", line->where, expected, NULL, "%s:%u: %s", name,
		  line->number, text);
	return false;
}

static bool
refuse_word(const struct line *line, const char *what, const char *word, const char *expected)
{
	char text[128];

	snprintf(text, sizeof(text), "'%s' is not %s", word, what);
	return refuse(line, expected, text);
}

static bool
read_rule(const struct line *line, struct weir_written_rule *rule, bool *permits)
{
	const char *words[WORDS_MAX];
	struct weir_rule_fault fault;

	*permits = strcmp(line->words[0], "permit") == 0;
	if (!*permits && strcmp(line->words[0], "deny") != 0)
		return refuse_word(line, "an action", line->words[0], "permit or deny");
	if (line->word_count < 4)
		return refuse(line,
			      "permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS "
			      "DESTINATION-PORTS | TYPES]",
			      "a rule has four words, five with types of ICMP, or six with ports");
	for (unsigned int i = 1; i < line->word_count; i++)
		words[i - 1] = line->words[i];
	return weir_rule_read(words, line->word_count - 1, rule, &fault) ||
	       refuse(line, fault.expected, fault.text);
}

/* The words up to the end of the line or a comment. False: too long, or too many. */
static bool
split(struct line *line, const char *text, const char *end)
{
	line->word_count = 0;
	while (text < end && *text != '#') {
		const char *begin = text;

		if (*text == ' ' || *text == '\t' || *text == '\r') {
			text++;
			continue;
		}
		while (text < end && strchr(" \t\r#", *text) == NULL)
			text++;
		if (text < end && *text == '\0')
			return refuse(line, "text", "a byte of 0 in it");
		if (line->word_count == WORDS_MAX)
			return refuse(line, "at most six words", "more words than a rule has");
		if ((size_t)(text - begin) >= WORD_BYTES)
			return refuse(line, "words of at most 63 bytes", "a word is too long");
		memcpy(line->words[line->word_count], begin, text - begin);
		line->words[line->word_count++][text - begin] = '\0';
	}
	return true;
}

static void
add(struct weir_rule_set *set, const struct weir_written_rule *rule, bool permits)
{
	set->count++;
	set->names_ports = set->names_ports ||
			   (rule->is_ipv4 && weir_rule_names_ports(&rule->ipv4)) ||
			   (rule->is_ipv6 && weir_rule_names_ports(&rule->ipv6.rest));
	if (rule->is_ipv4) {
		set->ipv4_permits[set->ipv4_count] = permits;
		set->ipv4_rules[set->ipv4_count++] = rule->ipv4;
	}
	if (rule->is_ipv6) {
		set->ipv6_permits[set->ipv6_count] = permits;
		set->ipv6_rules[set->ipv6_count++] = rule->ipv6;
	}
}

static bool
read_all(struct weir_rule_set *set, struct line *line, const char *text, const char *end)
{
	struct weir_written_rule rule;
	bool permits;

	for (const char *next; text < end; text = next + 1) {
		next = memchr(text, '\n', end - text);
		if (next == NULL)
			next = end;
		line->number++;
		if (!split(line, text, next))
			return false;
		if (line->word_count == 0)
			continue;
		if (!read_rule(line, &rule, &permits))
			return false;
		add(set, &rule, permits);
	}
	return true;
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
	size_t lines = count_lines(text, text + bytes);
	struct line line = {.name = name, .where = where, .error = error};
	struct weir_rule_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		goto no_memory;
	set->default_permits = default_permits;
	set->ipv4_rules = malloc(lines * sizeof(*set->ipv4_rules));
	set->ipv6_rules = malloc(lines * sizeof(*set->ipv6_rules));
	set->ipv4_permits = malloc(lines * sizeof(*set->ipv4_permits));
	set->ipv6_permits = malloc(lines * sizeof(*set->ipv6_permits));
	if (set->ipv4_rules == NULL || set->ipv6_rules == NULL || set->ipv4_permits == NULL ||
	    set->ipv6_permits == NULL)
		goto no_memory;
	if (!read_all(set, &line, text, text + bytes))
		goto failed;
	set->ipv4 = weir_classifier_build(set->ipv4_rules, set->ipv4_count, where, error);
	if (set->ipv4 == NULL)
		goto failed;
	set->ipv6 = weir_ipv6_classifier_build(set->ipv6_rules, set->ipv6_count, where, error);
	if (set->ipv6 == NULL)
		goto failed;
	return set;
no_memory:
	weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the rules of %s", name);
failed:
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
	weir_classifier_free(set->ipv4);
	weir_ipv6_classifier_free(set->ipv6);
	free(set->ipv4_permits);
	free(set->ipv6_permits);
	free(set->ipv4_rules);
	free(set->ipv6_rules);
	free(set);
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
}

bool
weir_rule_set_permits_ipv6(const struct weir_rule_set *set, const struct weir_ipv6_tuple *tuple)
{
	uint32_t rule;

	weir_ipv6_classifier_classify(set->ipv6, tuple, &rule, 1);
	return rule != WEIR_RULE_NONE ? set->ipv6_permits[rule] : set->default_permits;
}
