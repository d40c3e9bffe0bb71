/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include <math.h>
#include <stddef.h>

uint64_t
weir_histogram_from(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * WEIR_HISTOGRAM_OCTAVE)
		return bucket;
	shift = (bucket >> WEIR_HISTOGRAM_BITS) - 1;
	return (uint64_t)(bucket - (shift << WEIR_HISTOGRAM_BITS)) << shift;
}

void
weir_histogram_copy(struct weir_histogram *to, const struct weir_histogram *from)
{
	uint32_t first = weir_histogram_bucket(weir_histogram_min(from));
	uint32_t last = weir_histogram_bucket(weir_histogram_max(from));

	memcpy(to, from, offsetof(struct weir_histogram, buckets));
	if (from->count > 0)
		memcpy(&to->buckets[first], &from->buckets[first],
		       (last + 1 - first) * sizeof(from->buckets[0]));
}

static uint64_t
middle(uint32_t bucket)
{
	uint64_t from = weir_histogram_from(bucket);

	return from + (weir_histogram_from(bucket + 1) - from) / 2;
}

uint64_t
weir_histogram_quantile(const struct weir_histogram *histogram, double fraction)
{
	uint64_t rank = (uint64_t)ceil(fraction * (double)histogram->count);
	uint64_t seen = 0;

	if (histogram->count == 0)
		return 0;
	if (rank == 0)
		rank = 1;
	for (uint32_t bucket = 0; bucket < WEIR_HISTOGRAM_BUCKETS; bucket++) {
		uint64_t value = middle(bucket);

		seen += histogram->buckets[bucket];
		if (seen < rank)
			continue;
		/* No quantile outside what was seen. */
		if (value > weir_histogram_max(histogram))
			return weir_histogram_max(histogram);
		return value < weir_histogram_min(histogram) ? weir_histogram_min(histogram)
							     : value;
	}
	return weir_histogram_max(histogram);
}
