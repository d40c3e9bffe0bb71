/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_lines.h"

#include <stdio.h>
#include <string.h>

struct weir_rule_line
weir_rule_line_of(const char *name, const char *where, struct weir_error *error)
{
	return (struct weir_rule_line){
		.name = name,
		.where = where,
		.error = error,
		.what = "a rule",
		.words_max = WEIR_RULE_WORDS,
	};
}

bool
weir_rule_line_refuse(const struct weir_rule_line *line, const char *expected, const char *text)
{
	/* The end of a long path says more than its beginning. */
	size_t length = strlen(line->name);
	const char *name = line->name + (length > 120 ? length - 120 : 0);

	weir_fail(line->error, "bad_rule", line->where, expected, NULL, "%s:%u: %s", name,
		  line->number, text);
	return false;
}

bool
weir_rule_line_refuse_word(const struct weir_rule_line *line, const char *what, const char *word,
			   const char *expected)
{
	char text[128];

	snprintf(text, sizeof(text), "'%s' is not %s", word, what);
	return weir_rule_line_refuse(line, expected, text);
}

static bool
refuse_many(const struct weir_rule_line *line)
{
	char text[64], expected[32];

	snprintf(text, sizeof(text), "more words than %s has", line->what);
	snprintf(expected, sizeof(expected), "at most %u words", line->words_max);
	return weir_rule_line_refuse(line, expected, text);
}

/* The words up to the end of the line or a comment. False: too long, or too many. */
static bool
split(struct weir_rule_line *line, const char *text, const char *end)
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
			return weir_rule_line_refuse(line, "text", "a byte of 0 in it");
		if (line->word_count == line->words_max)
			return refuse_many(line);
		if ((size_t)(text - begin) >= WEIR_RULE_WORD_BYTES)
			return weir_rule_line_refuse(line, "words of at most 63 bytes",
						     "a word is too long");
		memcpy(line->words[line->word_count], begin, text - begin);
		line->words[line->word_count++][text - begin] = '\0';
	}
	return true;
}

int
weir_rule_line_next(struct weir_rule_line *line, const char **text, const char *end)
{
	while (*text < end) {
		const char *begin = *text;
		const char *next = memchr(begin, '\n', end - begin);

		if (next == NULL)
			next = end;
		*text = next + 1;
		line->number++;
		if (!split(line, begin, next))
			return -1;
		if (line->word_count > 0)
			return 1;
	}
	return 0;
}

bool
weir_rule_line_read(const struct weir_rule_line *line, unsigned int first, unsigned int count,
		    struct weir_written_rule *rule, bool *permits)
{
	const char *words[WEIR_RULE_LINE_WORDS];
	struct weir_rule_fault fault;

	*permits = count > 0 && strcmp(line->words[first], "permit") == 0;
	if (count > 0 && !*permits && strcmp(line->words[first], "deny") != 0)
		return weir_rule_line_refuse_word(line, "an action", line->words[first],
						  "permit or deny");
	if (count < 4)
		return weir_rule_line_refuse(
			line,
			"permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS "
			"DESTINATION-PORTS | TYPES]",
			"a rule has four words, five with types of ICMP, or six with ports");
	for (unsigned int i = 1; i < count; i++)
		words[i - 1] = line->words[first + i];
	return weir_rule_read(words, count - 1, rule, &fault) ||
	       weir_rule_line_refuse(line, fault.expected, fault.text);
}
