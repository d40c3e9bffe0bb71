/* SPDX-License-Identifier: Apache-2.0 */
#include "option.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ether.h>

const char *
weir_option_type_name(enum weir_option_type type)
{
	switch (type) {
	case WEIR_OPTION_ENUM:
		return "enum";
	case WEIR_OPTION_MAC:
		return "mac";
	case WEIR_OPTION_INT:
		return "int";
	case WEIR_OPTION_BOOL:
		return "bool";
	case WEIR_OPTION_IPV4:
		return "ipv4";
	case WEIR_OPTION_PREFIX:
		return "prefix";
	case WEIR_OPTION_PREFIX6:
		return "prefix6";
	case WEIR_OPTION_TEXT:
		return "text";
	case WEIR_OPTION_FILE:
		return "file";
	}
	return "";
}

/* "mac-rewrite, mac-swap": what a user may write for the option. */
static void
accepted(const struct weir_option *option, char *text, size_t size)
{
	size_t used = 0;

	switch (option->type) {
	case WEIR_OPTION_ENUM:
		text[0] = '\0';
		for (unsigned int i = 0; option->values[i] != NULL && used < size; i++)
			used += snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ",
					 option->values[i]);
		break;
	case WEIR_OPTION_MAC:
		snprintf(text, size, "a MAC address such as 02:00:00:00:00:01");
		break;
	case WEIR_OPTION_INT:
		snprintf(text, size, "a whole number from %lu to %lu%s%s", option->min, option->max,
			 option->unit != NULL ? " " : "", option->unit != NULL ? option->unit : "");
		break;
	case WEIR_OPTION_BOOL:
		snprintf(text, size, "true or false");
		break;
	case WEIR_OPTION_IPV4:
		snprintf(text, size, "an IPv4 address such as 192.0.2.1");
		break;
	case WEIR_OPTION_PREFIX:
		snprintf(text, size, "an IPv4 prefix such as 192.0.2.0/24, without host bits");
		break;
	case WEIR_OPTION_PREFIX6:
		snprintf(text, size, "an IPv6 prefix such as 2001:db8::/64, without host bits");
		break;
	case WEIR_OPTION_TEXT:
		snprintf(text, size, "text of at most %d bytes", WEIR_OPTION_TEXT_BYTES - 1);
		break;
	case WEIR_OPTION_FILE:
		snprintf(text, size, "the path of a file that can be read");
		break;
	}
}

/* An address of that family, and the length behind its slash; without one, all of it. */
static bool
parse_prefix(int family, const char *text, void *address, uint8_t *length)
{
	const unsigned long most = family == AF_INET ? 32 : 128;
	const char *slash = strchr(text, '/');
	char alone[INET6_ADDRSTRLEN];
	unsigned long bits = most;
	char *end = NULL;

	if (slash == NULL)
		slash = text + strlen(text);
	else if (slash[1] < '0' || slash[1] > '9')
		return false;
	else
		bits = strtoul(slash + 1, &end, 10);
	if ((*slash != '\0' && *end != '\0') || bits > most ||
	    (size_t)(slash - text) >= sizeof(alone))
		return false;
	snprintf(alone, sizeof(alone), "%.*s", (int)(slash - text), text);
	*length = (uint8_t)bits;
	return inet_pton(family, alone, address) == 1;
}

bool
weir_prefix_parse(const char *text, struct weir_prefix *prefix)
{
	uint8_t length;

	if (!parse_prefix(AF_INET, text, &prefix->address, &length))
		return false;
	prefix->length = length;
	prefix->mask = length == 0 ? 0 : htonl(UINT32_MAX << (32 - length));
	prefix->given = true;
	return (prefix->address & ~prefix->mask) == 0;
}

bool
weir_prefix6_parse(const char *text, struct weir_prefix6 *prefix)
{
	if (!parse_prefix(AF_INET6, text, prefix->address, &prefix->length))
		return false;
	prefix->given = true;
	for (unsigned int bit = prefix->length; bit < 128; bit++) {
		if ((prefix->address[bit / 8] & 0x80 >> bit % 8) != 0)
			return false;
	}
	return true;
}

static bool
parse_text(const char *text, char *field)
{
	return snprintf(field, WEIR_OPTION_TEXT_BYTES, "%s", text) < WEIR_OPTION_TEXT_BYTES;
}

static bool
parse(const struct weir_option *option, const char *text, void *field)
{
	char *end;

	switch (option->type) {
	case WEIR_OPTION_ENUM:
		for (unsigned int i = 0; option->values[i] != NULL; i++) {
			if (strcmp(option->values[i], text) == 0) {
				*(unsigned int *)field = i;
				return true;
			}
		}
		return false;
	case WEIR_OPTION_MAC:
		return rte_ether_unformat_addr(text, field) == 0;
	case WEIR_OPTION_INT:
		if (text[0] < '0' || text[0] > '9')
			return false;
		errno = 0;
		*(uint64_t *)field = strtoull(text, &end, 10);
		return errno == 0 && *end == '\0' && *(uint64_t *)field >= option->min &&
		       *(uint64_t *)field <= option->max;
	case WEIR_OPTION_BOOL:
		*(bool *)field = strcmp(text, "true") == 0;
		return *(bool *)field || strcmp(text, "false") == 0;
	case WEIR_OPTION_IPV4:
		return inet_pton(AF_INET, text, field) == 1;
	case WEIR_OPTION_PREFIX:
		return weir_prefix_parse(text, field);
	case WEIR_OPTION_PREFIX6:
		return weir_prefix6_parse(text, field);
	case WEIR_OPTION_FILE:
		return parse_text(text, field) && access(text, R_OK) == 0;
	case WEIR_OPTION_TEXT:
		return parse_text(text, field);
	}
	return false;
}

static int
set(const char *owner, const struct weir_option *options, unsigned int option_count,
    const struct weir_option_value *value, void *target, const char *where,
    struct weir_error *error)
{
	const struct weir_option *option = options;
	char expected[160] = "no options";
	size_t used = 0;

	while (option < options + option_count && strcmp(option->name, value->name) != 0)
		option++;
	if (option == options + option_count) {
		for (unsigned int i = 0; i < option_count && used < sizeof(expected); i++)
			used += snprintf(expected + used, sizeof(expected) - used, "%s%s",
					 i == 0 ? "" : ", ", options[i].name);
		return weir_fail(error, "bad_argument", where, expected, "see weir-dp --describe",
				 "%s has no option '%s'", owner, value->name);
	}
	if (!parse(option, value->text, (char *)target + option->offset)) {
		accepted(option, expected, sizeof(expected));
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "option '%s' of %s cannot be '%s'", value->name, owner,
				 value->text);
	}
	return 0;
}

int
weir_options_parse(const char *owner, const struct weir_option *options, unsigned int option_count,
		   const struct weir_option_value *values, unsigned int value_count, void *target,
		   const char *where, struct weir_error *error)
{
	for (unsigned int i = 0; i < option_count; i++) {
		if (options[i].default_text != NULL)
			parse(&options[i], options[i].default_text,
			      (char *)target + options[i].offset);
	}
	for (unsigned int i = 0; i < value_count; i++) {
		if (set(owner, options, option_count, &values[i], target, where, error) < 0)
			return -1;
	}
	return 0;
}
