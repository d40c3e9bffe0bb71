/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "engine/option.h"

static int
compare(const void *one, const void *other)
{
	const struct nat_span *a = one, *b = other;

	return (a->first > b->first) - (a->first < b->first);
}

static int
refuse(const char *what, const char *text, const char *wrong, const char *where,
       struct weir_error *error)
{
	return weir_fail(error, "bad_argument", where,
			 "prefixes without host bits, joined by commas",
			 "for example: 10.1.0.0/24, 10.2.0.0/24", "%s: '%s' %s", what, text, wrong);
}

int
nat_spans_read(struct nat_spans *spans, const char *list, const char *what, const char *where,
	       struct weir_error *error)
{
	char texts[WEIR_OPTION_TEXT_BYTES];
	char *rest = texts, *text;

	snprintf(texts, sizeof(texts), "%s", list);
	while (list[0] != '\0' && (text = strsep(&rest, ",")) != NULL) {
		struct weir_prefix prefix;
		uint32_t first;

		text += strspn(text, " ");
		if (!weir_prefix_parse(text, &prefix))
			return refuse(what, text, "is not a prefix, or has host bits", where,
				      error);
		if (spans->count == NAT_SPANS_MAX)
			return refuse(what, text, "is one more than the 1024 that there can be",
				      where, error);
		first = rte_be_to_cpu_32(prefix.address);
		spans->span[spans->count++] = (struct nat_span){
			.first = first,
			.last = first | ~rte_be_to_cpu_32(prefix.mask),
		};
	}
	qsort(spans->span, spans->count, sizeof(spans->span[0]), compare);
	for (uint32_t i = 1; i < spans->count; i++) {
		if (spans->span[i].first <= spans->span[i - 1].last)
			return refuse(what, list, "has prefixes that overlap", where, error);
	}
	return 0;
}

bool
nat_spans_hold(const struct nat_spans *spans, uint32_t ip)
{
	uint32_t address = rte_be_to_cpu_32(ip);
	uint32_t low = 0, high = spans->count;

	/* The first one that does not end before the address is in [low, high]. */
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (spans->span[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < spans->count && spans->span[low].first <= address;
}
