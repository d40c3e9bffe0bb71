/* SPDX-License-Identifier: Apache-2.0 */
#include "rule.h"

#include <hs.h>
#include <rte_common.h>
#include <stdio.h>
#include <string.h>

#define SPACE " \t\r\n"

static const char *const action_names[] = {
	[DPI_PERMIT] = "permit",
	[DPI_DROP] = "drop",
	[DPI_LABEL] = "label",
};

static bool
read_flow(char *rest, struct weir_rule *flow, struct weir_rule_fault *fault)
{
	const char *words[6];
	struct weir_written_rule rule;
	char *place = NULL;
	unsigned int count = 0;

	for (char *word = strtok_r(rest, SPACE, &place); word != NULL && count < RTE_DIM(words);
	     word = strtok_r(NULL, SPACE, &place))
		words[count++] = word;
	if (!weir_rule_read(words, count, &rule, fault))
		return false;
	if (!rule.is_ipv4 || weir_rule_names_types(&rule.ipv4)) {
		*fault = (struct weir_rule_fault){
			.text = "dpi has no rules for IPv6, or for types of ICMP",
			.expected = "a rule for IPv4 without types",
		};
		return false;
	}
	*flow = rule.ipv4;
	return true;
}

/* "/…/i": up to the last slash, so that those within need no escape. */
static bool
read_expression(char *rest, struct dpi_rule_text *text)
{
	char *last = strrchr(rest, '/');

	if (last == rest)
		return false;
	*last = '\0';
	text->expression = rest + 1;
	for (const char *flag = last + 1 + strspn(last + 1, SPACE); *flag != '\0'; flag++) {
		if (*flag == 'i')
			text->flags |= HS_FLAG_CASELESS;
		else if (*flag == 's')
			text->flags |= HS_FLAG_DOTALL;
		else if (*flag == 'm')
			text->flags |= HS_FLAG_MULTILINE;
		else
			return false;
	}
	return text->expression[0] != '\0';
}

/* Fowler, Noll, Vo: FNV-1a. */
static uint32_t
hashed(uint32_t hash, const void *bytes, size_t count)
{
	for (const uint8_t *at = bytes; count > 0; count--)
		hash = (hash ^ *at++) * 16777619;
	return hash;
}

static uint32_t
print_of(const struct dpi_rule_text *text)
{
	const char *name = text->expression != NULL ? text->expression : text->application;
	uint32_t print = hashed(2166136261, &text->rule.kind, sizeof(text->rule.kind));

	print = hashed(print, &text->rule.action, sizeof(text->rule.action));
	print = hashed(print, &text->flags, sizeof(text->flags));
	return name != NULL ? hashed(print, name, strlen(name))
			    : hashed(print, &text->flow, sizeof(text->flow));
}

static bool
read_action(const char *name, uint8_t *action)
{
	for (*action = 0; *action < RTE_DIM(action_names); (*action)++) {
		if (name != NULL && strcmp(name, action_names[*action]) == 0)
			return true;
	}
	return false;
}

static void
cut_trailing_space(char *line)
{
	size_t bytes = strlen(line);

	while (bytes > 0 && strchr(SPACE, line[bytes - 1]) != NULL)
		line[--bytes] = '\0';
}

static bool
refuse(struct weir_rule_fault *fault, const char *expected)
{
	snprintf(fault->text, sizeof(fault->text), "the rule cannot be read");
	fault->expected = expected;
	return false;
}

static bool
read_id(const char *text, uint32_t *id)
{
	unsigned long number;

	if (text == NULL || !weir_rule_read_number(text, text + strlen(text), UINT32_MAX, &number))
		return false;
	*id = number;
	return number > 0;
}

bool
dpi_rule_read(char *line, struct dpi_rule_text *text, struct weir_rule_fault *fault)
{
	char *place = NULL, *rest;

	memset(text, 0, sizeof(*text));
	cut_trailing_space(line);
	if (!read_id(strtok_r(line, SPACE, &place), &text->rule.id) ||
	    !read_action(strtok_r(NULL, SPACE, &place), &text->rule.action))
		return refuse(fault, "a number from 1 to 4294967295, then permit, drop or label");
	rest = place + strspn(place, SPACE);
	if (rest[0] == '/') {
		text->rule.kind = DPI_KIND_CONTENT;
		if (!read_expression(rest, text))
			return refuse(fault, "/EXPRESSION/FLAGS with flags of i, s and m");
	} else if (strncmp(rest, "application ", 12) == 0) {
		text->rule.kind = DPI_KIND_APPLICATION;
		text->application = rest + 12 + strspn(rest + 12, SPACE);
	} else if (strncmp(rest, "flow ", 5) == 0) {
		text->rule.kind = DPI_KIND_FLOW;
		if (!read_flow(rest + 5, &text->flow, fault))
			return false;
	} else {
		return refuse(fault, "/EXPRESSION/FLAGS, application NAME, or flow PROTOCOL SOURCE "
				     "DESTINATION [SOURCE-PORTS DESTINATION-PORTS]");
	}
	text->rule.print = print_of(text);
	return true;
}
