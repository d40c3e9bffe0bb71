/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_classifier_parts.h"

#include <stdlib.h>

#define DEPTH_MAX 130 /* nested prefixes: of each length, and none */

static int
by_low_and_length(const void *left, const void *right)
{
	const struct placed_ipv6_prefix *a = left;
	const struct placed_ipv6_prefix *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (int)a->length - (int)b->length;
}

static void
put(struct ipv6_bounds *bounds, ipv6_number low, const struct table_set *set)
{
	if (bounds->count == 0 || bounds->low[bounds->count - 1] != low)
		bounds->low[bounds->count++] = low;
	bounds->sets[bounds->count - 1] = *set;
}

/* A prefix around the present one, and the tables of it and of all around it. */
struct around {
	ipv6_number high;
	struct table_set set;
};

static void
put_all(struct ipv6_bounds *bounds, const struct placed_ipv6_prefix *prefixes, uint32_t count)
{
	struct around around[DEPTH_MAX] = {{.high = ~(ipv6_number)0}};
	unsigned int depth = 0;

	put(bounds, 0, &around[0].set);
	for (uint32_t i = 0; i < count;) {
		const struct placed_ipv6_prefix *prefix = &prefixes[i];

		for (; around[depth].high < prefix->low; depth--)
			put(bounds, around[depth].high + 1, &around[depth - 1].set);
		around[depth + 1] = around[depth];
		depth++;
		around[depth].high = prefix->low | ipv6_host_bits(prefix->length);
		for (; i < count && by_low_and_length(&prefixes[i], prefix) == 0; i++) {
			if (prefixes[i].table != IPV6_NO_TABLE)
				around[depth].set.words[prefixes[i].table / 64] |=
					1UL << prefixes[i].table % 64;
		}
		put(bounds, prefix->low, &around[depth].set);
	}
	for (; depth > 0; depth--) {
		if (around[depth].high != ~(ipv6_number)0)
			put(bounds, around[depth].high + 1, &around[depth - 1].set);
	}
}

bool
ipv6_bounds_build(struct ipv6_bounds *bounds, struct placed_ipv6_prefix *prefixes, uint32_t count)
{
	size_t room = 2UL * count + 1;

	*bounds = (struct ipv6_bounds){
		.low = malloc(room * sizeof(*bounds->low)),
		.sets = malloc(room * sizeof(*bounds->sets)),
	};
	if (bounds->low == NULL || bounds->sets == NULL)
		return false;
	qsort(prefixes, count, sizeof(*prefixes), by_low_and_length);
	put_all(bounds, prefixes, count);
	return true;
}

void
ipv6_bounds_free(struct ipv6_bounds *bounds)
{
	free(bounds->low);
	free(bounds->sets);
}
