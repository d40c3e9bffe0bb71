/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text that have rules in them: their words, and what is said of a line that is wrong. */
#ifndef WEIR_TOOLKIT_RULE_LINES_H
#define WEIR_TOOLKIT_RULE_LINES_H

#include "rule_text.h"

#define WEIR_RULE_WORDS 6 /* permit or deny, and what rule_text.h has */
#define WEIR_RULE_LINE_WORDS (2 * WEIR_RULE_WORDS + 2)
#define WEIR_RULE_WORD_BYTES 64

/* A line that is read, and where messages say it is. */
struct weir_rule_line {
	const char *name; /* of the text */
	const char *where;
	struct weir_error *error;
	const char *what; /* a line is, with its article */
	unsigned int words_max;
	uint32_t number; /* of the line; 0 before the first */
	unsigned int word_count;
	char words[WEIR_RULE_LINE_WORDS][WEIR_RULE_WORD_BYTES];
};

/* A line of a rule; one that has more words sets `what` and `words_max` itself. */
struct weir_rule_line weir_rule_line_of(const char *name, const char *where,
					struct weir_error *error);

/*
 * Goes to the next line with words in it, from `*text` on; comments begin with #. 1: there is one;
 * 0: there is none up to `end`; -1 with `error`.
 */
int weir_rule_line_next(struct weir_rule_line *line, const char **text, const char *end);

/* False, with `error`: name, line, `text`, and what was expected. */
bool weir_rule_line_refuse(const struct weir_rule_line *line, const char *expected,
			   const char *text);
/* The same, that `word` is not `what`. */
bool weir_rule_line_refuse_word(const struct weir_rule_line *line, const char *what,
				const char *word, const char *expected);

/* The rule in `count` words from `first` on. False with `error`. */
bool weir_rule_line_read(const struct weir_rule_line *line, unsigned int first, unsigned int count,
			 struct weir_written_rule *rule, bool *permits);

#endif
