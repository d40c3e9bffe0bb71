/* SPDX-License-Identifier: Apache-2.0 */
#include "rule.h"

#include <arpa/inet.h>
#include <hs.h>
#include <rte_common.h>
#include <rte_hash_crc.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t\r\n"

static const char *const action_names[] = {
	[DPI_PERMIT] = "permit",
	[DPI_DROP] = "drop",
	[DPI_LABEL] = "label",
};

/* A whole number up to `max`, all of `text`. */
static bool
read_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoul(text, &end, 10);
	return *end == '\0' && *number <= max;
}

/* "10.0.0.0/8" or one address, without host bits; "any". */
static bool
read_prefix(char *text, uint32_t *ip, uint32_t *mask)
{
	char *slash = strchr(text, '/');
	unsigned long length = 32;

	*ip = *mask = 0;
	if (strcmp(text, "any") == 0)
		return true;
	if (slash != NULL)
		*slash = '\0';
	if (inet_pton(AF_INET, text, ip) != 1 ||
	    (slash != NULL && !read_number(slash + 1, 32, &length)))
		return false;
	*mask = length == 0 ? 0 : htonl(UINT32_MAX << (32 - length));
	return (*ip & ~*mask) == 0;
}

static bool
read_ports(char *text, uint16_t *low, uint16_t *high)
{
	char *dash = strchr(text, '-');
	unsigned long first, last;

	if (strcmp(text, "any") == 0)
		return true;
	if (dash != NULL)
		*dash = '\0';
	if (!read_number(text, UINT16_MAX, &first))
		return false;
	last = first;
	if (dash != NULL && !read_number(dash + 1, UINT16_MAX, &last))
		return false;
	*low = first;
	*high = last;
	return first <= last;
}

static bool
read_protocol(const char *text, struct weir_rule *flow)
{
	static const struct {
		const char *name;
		uint8_t number;
	} known[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"icmp", IPPROTO_ICMP}};
	unsigned long number;

	flow->any_protocol = strcmp(text, "any") == 0;
	if (flow->any_protocol)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		if (strcmp(text, known[i].name) == 0) {
			flow->protocol = known[i].number;
			return true;
		}
	}
	if (!read_number(text, UINT8_MAX, &number))
		return false;
	flow->protocol = number;
	return true;
}

/* The words of core/rule_set.h: PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS]. */
static bool
read_flow(char *rest, struct weir_rule *flow)
{
	char *words[5] = {NULL}, *place = NULL;
	unsigned int count = 0;

	for (char *word = strtok_r(rest, SPACE, &place); word != NULL;
	     word = strtok_r(NULL, SPACE, &place)) {
		if (count == RTE_DIM(words))
			return false;
		words[count++] = word;
	}
	memset(flow, 0, sizeof(*flow)); /* holes too: it is hashed */
	flow->src_port_high = flow->dst_port_high = UINT16_MAX;
	if ((count != 3 && count != 5) || !read_protocol(words[0], flow) ||
	    !read_prefix(words[1], &flow->src_ip, &flow->src_mask) ||
	    !read_prefix(words[2], &flow->dst_ip, &flow->dst_mask))
		return false;
	return count == 3 || (read_ports(words[3], &flow->src_port_low, &flow->src_port_high) &&
			      read_ports(words[4], &flow->dst_port_low, &flow->dst_port_high));
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

static uint32_t
print_of(const struct dpi_rule_text *text)
{
	const char *name = text->expression != NULL ? text->expression : text->application;
	uint32_t print = text->rule.kind << 8 | text->rule.action;

	print = rte_hash_crc_4byte(text->flags, print);
	if (name != NULL)
		print = rte_hash_crc(name, strlen(name), print);
	else
		print = rte_hash_crc(&text->flow, sizeof(text->flow), print);
	return print;
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

bool
dpi_rule_read(char *line, struct dpi_rule_text *text, const char **expected)
{
	char *place = NULL, *rest;
	unsigned long id;

	memset(text, 0, sizeof(*text));
	cut_trailing_space(line);
	*expected = "a number from 1 to 4294967295, then permit, drop or label";
	if (!read_number(strtok_r(line, SPACE, &place), UINT32_MAX, &id) || id == 0 ||
	    !read_action(strtok_r(NULL, SPACE, &place), &text->rule.action))
		return false;
	text->rule.id = id;
	rest = place + strspn(place, SPACE);
	if (rest[0] == '/') {
		*expected = "/EXPRESSION/FLAGS with flags of i, s and m";
		text->rule.kind = DPI_KIND_CONTENT;
		if (!read_expression(rest, text))
			return false;
	} else if (strncmp(rest, "application ", 12) == 0) {
		*expected = "application NAME, one that nDPI knows";
		text->rule.kind = DPI_KIND_APPLICATION;
		text->application = rest + 12 + strspn(rest + 12, SPACE);
	} else {
		*expected = "/EXPRESSION/FLAGS, application NAME, or flow PROTOCOL SOURCE "
			    "DESTINATION [SOURCE-PORTS DESTINATION-PORTS]";
		text->rule.kind = DPI_KIND_FLOW;
		if (strncmp(rest, "flow", 4) != 0 || strchr(SPACE, rest[4]) == NULL ||
		    !read_flow(rest + 4, &text->flow))
			return false;
	}
	text->rule.print = print_of(text);
	return true;
}
