/* SPDX-License-Identifier: Apache-2.0 */
#include "nf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_malloc.h>

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
	}
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
	}
	return false;
}

static const struct weir_option *
option_of(const struct weir_nf *nf, const char *name)
{
	for (unsigned int i = 0; i < nf->option_count; i++) {
		if (strcmp(nf->options[i].name, name) == 0)
			return &nf->options[i];
	}
	return NULL;
}

static int
set(const struct weir_nf *nf, void *state, const struct weir_option_value *value, const char *where,
    struct weir_error *error)
{
	const struct weir_option *option = option_of(nf, value->name);
	char expected[160] = "no options";
	size_t used = 0;

	if (option == NULL) {
		for (unsigned int i = 0; i < nf->option_count && used < sizeof(expected); i++)
			used += snprintf(expected + used, sizeof(expected) - used, "%s%s",
					 i == 0 ? "" : ", ", nf->options[i].name);
		return weir_fail(error, "bad_argument", where, expected, "see weir-dp --describe",
				 "%s has no option '%s'", nf->name, value->name);
	}
	if (!parse(option, value->text, (char *)state + option->offset)) {
		accepted(option, expected, sizeof(expected));
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "option '%s' of %s cannot be '%s'", value->name, nf->name,
				 value->text);
	}
	return 0;
}

void *
weir_nf_create(const struct weir_nf *nf, const struct weir_option_value *values, unsigned int count,
	       const char *where, struct weir_error *error)
{
	size_t size = RTE_CACHE_LINE_ROUNDUP(nf->state_size > 0 ? nf->state_size : 1);
	void *state = aligned_alloc(RTE_CACHE_LINE_SIZE, size);

	if (state == NULL) {
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the state of %s",
			  nf->name);
		return NULL;
	}
	memset(state, 0, size);
	for (unsigned int i = 0; i < nf->option_count; i++) {
		const struct weir_option *option = &nf->options[i];

		if (option->default_text != NULL)
			parse(option, option->default_text, (char *)state + option->offset);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (set(nf, state, &values[i], where, error) < 0)
			goto failed;
	}
	if (nf->init != NULL && nf->init(state, where, error) < 0)
		goto failed;
	return state;
failed:
	free(state);
	return NULL;
}

void
weir_nf_destroy(const struct weir_nf *nf, void *state)
{
	if (state == NULL)
		return;
	if (nf->fini != NULL)
		nf->fini(state);
	free(state);
}

const struct weir_nf *
weir_nf_find(const char *name)
{
	for (unsigned int i = 0; i < weir_nf_count; i++) {
		if (strcmp(weir_nf_table[i]->name, name) == 0)
			return weir_nf_table[i];
	}
	return NULL;
}
