/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/option.h"

static int
compare(const void *one, const void *other)
{
	const struct nat_pair *a = one, *b = other;

	return (a->from > b->from) - (a->from < b->from);
}

/* "203.0.113.5 10.0.0.5" */
static bool
read_pair(char *text, uint32_t *external, uint32_t *inside)
{
	char *rest;
	const char *first = strtok_r(text, " ", &rest), *second = strtok_r(NULL, " ", &rest);

	return first != NULL && second != NULL && strtok_r(NULL, " ", &rest) == NULL &&
	       inet_pton(AF_INET, first, external) == 1 && *external != 0 &&
	       inet_pton(AF_INET, second, inside) == 1 && *inside != 0;
}

static int
refuse(const char *entry, const char *why, const char *where, struct weir_error *error)
{
	return weir_fail(error, "bad_argument", where,
			 "an external address and an inside one, each of them once; "
			 "pairs joined by commas",
			 "for example: 203.0.113.5 10.0.0.5", "nat: '%.64s' of `addresses` %s",
			 entry, why);
}

static int
order(struct nat_pair *pairs, uint32_t count, const char *where, struct weir_error *error)
{
	char address[INET_ADDRSTRLEN];

	qsort(pairs, count, sizeof(*pairs), compare);
	for (uint32_t i = 1; i < count; i++) {
		if (pairs[i].from == pairs[i - 1].from)
			return refuse(inet_ntop(AF_INET, &pairs[i].from, address, sizeof(address)),
				      "is in two pairs", where, error);
	}
	return 0;
}

int
nat_pairs_read(struct nat_pairs *pairs, const char *list, const char *where,
	       struct weir_error *error)
{
	char texts[WEIR_OPTION_TEXT_BYTES];
	char *rest = texts, *text;

	snprintf(texts, sizeof(texts), "%s", list);
	while (list[0] != '\0' && (text = strsep(&rest, ",")) != NULL) {
		char entry[64];
		uint32_t external, inside;

		snprintf(entry, sizeof(entry), "%.63s", text + strspn(text, " "));
		if (!read_pair(text, &external, &inside))
			return refuse(entry, "is no pair", where, error);
		if (pairs->count == NAT_PAIRS_MAX)
			return refuse(entry, "is one more than the 512 that there can be", where,
				      error);
		pairs->of_external[pairs->count] = (struct nat_pair){external, inside};
		pairs->of_inside[pairs->count++] = (struct nat_pair){inside, external};
	}
	if (order(pairs->of_external, pairs->count, where, error) < 0)
		return -1;
	return order(pairs->of_inside, pairs->count, where, error);
}

uint32_t
nat_pair_to(const struct nat_pair *pairs, uint32_t count, uint32_t from)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (pairs[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && pairs[low].from == from ? pairs[low].to : 0;
}
