/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of a change say, done to the book of the set's rules. */
#include <stdio.h>
#include <string.h>

#include "rule_change_parts.h"
#include "rule_lines.h"

static bool
no_memory(const struct weir_rule_line *line)
{
	weir_fail(line->error, "no_memory", line->where, NULL, NULL,
		  "no memory for the changes of %s", line->name);
	return false;
}

static bool
note(struct weir_rule_change *change, const struct weir_rule_line *line, uint32_t number,
     bool removes)
{
	uint32_t at;

	if (!weir_growing_add(&change->steps, 1, &at))
		return no_memory(line);
	*rule_change_step(change, at) = (struct rule_change_step){number, removes};
	return true;
}

/* The rule that those words name. */
static bool
find(const struct weir_rule_change *change, const struct weir_rule_line *line, unsigned int first,
     unsigned int count, uint32_t *number)
{
	struct weir_written_rule rule;
	char text[128] = "there is no rule";
	bool permits;

	if (!weir_rule_line_read(line, first, count, &rule, &permits))
		return false;
	*number = weir_rule_book_find(change->set->book, &rule, permits);
	if (*number != WEIR_BOOK_NONE)
		return true;
	for (unsigned int i = 0; i < count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, " %s", line->words[first + i]);
	}
	return weir_rule_line_refuse(line, "a rule that is there, with all of its words", text);
}

/* How many words there are before the one that says where, which is at that place then. */
static unsigned int
words_before_place(const struct weir_rule_line *line)
{
	unsigned int at = 1;

	while (at < line->word_count && strcmp(line->words[at], "first") != 0 &&
	       strcmp(line->words[at], "before") != 0 && strcmp(line->words[at], "after") != 0)
		at++;
	return at;
}

/* Which rule the new one goes before. */
static bool
read_place(const struct weir_rule_change *change, const struct weir_rule_line *line,
	   unsigned int at, uint32_t *before)
{
	const struct weir_rule_book *book = change->set->book;

	*before = WEIR_BOOK_NONE;
	if (at == line->word_count)
		return true;
	if (strcmp(line->words[at], "first") == 0) {
		*before = weir_book_rule(book, WEIR_BOOK_NONE)->next;
		return at + 1 == line->word_count ||
		       weir_rule_line_refuse_word(line, "the end of the line", line->words[at + 1],
						  "nothing behind 'first'");
	}
	if (!find(change, line, at + 1, line->word_count - at - 1, before))
		return false;
	if (strcmp(line->words[at], "after") == 0)
		*before = weir_book_rule(book, *before)->next;
	return true;
}

static bool
add(struct weir_rule_change *change, const struct weir_rule_line *line)
{
	unsigned int at = words_before_place(line);
	struct weir_written_rule rule;
	uint32_t number, before;
	bool permits;

	if (!weir_rule_line_read(line, 1, at - 1, &rule, &permits) ||
	    !read_place(change, line, at, &before))
		return false;
	if (rule.is_ipv4 && change->set->book->ipv4_count >= WEIR_CLASSIFIER_RULES_MAX)
		return weir_rule_line_refuse(line, "at most 1048576 rules of IPv4",
					     "a rule too many");
	number = weir_rule_book_add(change->set->book, &rule, permits, before);
	if (number == WEIR_BOOK_NONE)
		return no_memory(line);
	if (note(change, line, number, false))
		return true;
	weir_rule_book_remove(change->set->book, number);
	weir_rule_book_forget(change->set->book, number);
	return false;
}

static bool
remove_rule(struct weir_rule_change *change, const struct weir_rule_line *line)
{
	uint32_t number;

	if (!find(change, line, 1, line->word_count - 1, &number) ||
	    !note(change, line, number, true))
		return false;
	weir_rule_book_remove(change->set->book, number);
	return true;
}

int
rule_change_read(struct weir_rule_change *change, const char *text, size_t bytes, const char *name,
		 const char *where, struct weir_error *error)
{
	struct weir_rule_line line = weir_rule_line_of(name, where, error);
	const char *end = text + bytes;
	int found;

	line.what = "a change";
	line.words_max = WEIR_RULE_LINE_WORDS;
	while ((found = weir_rule_line_next(&line, &text, end)) > 0) {
		bool done;

		if (strcmp(line.words[0], "add") == 0)
			done = add(change, &line);
		else if (strcmp(line.words[0], "remove") == 0)
			done = remove_rule(change, &line);
		else
			done = weir_rule_line_refuse_word(&line, "a change", line.words[0],
							  "add or remove");
		if (!done)
			return -1;
	}
	return found;
}
