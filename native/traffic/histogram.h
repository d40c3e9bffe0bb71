/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of counts by value, log-linear as HdrHistogram's: 128 buckets an octave, so a value
 * is known within 0.8 %. (HdrHistogram's C library is not packaged in Debian 12.) One thread adds
 * and reads.
 */
#ifndef WEIR_TRAFFIC_HISTOGRAM_H
#define WEIR_TRAFFIC_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

#define WEIR_HISTOGRAM_BITS 7
#define WEIR_HISTOGRAM_OCTAVE (1u << WEIR_HISTOGRAM_BITS)
#define WEIR_HISTOGRAM_OCTAVES                                                                     \
	40 /* values up to 2^46: hours in cycles; larger ones count in the last bucket */
#define WEIR_HISTOGRAM_BUCKETS (WEIR_HISTOGRAM_OCTAVES * WEIR_HISTOGRAM_OCTAVE)

struct weir_histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min, max;			  /* exact, since weir_histogram_take_extremes() */
	uint64_t earlier_min, earlier_max;	  /* exact, before that */
	uint64_t buckets[WEIR_HISTOGRAM_BUCKETS]; /* 32 bits overflow after minutes at 10 Mpps */
};

static inline void
weir_histogram_clear(struct weir_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min = UINT64_MAX;
	histogram->earlier_min = UINT64_MAX;
}

static inline uint64_t
weir_histogram_min(const struct weir_histogram *histogram)
{
	return histogram->min < histogram->earlier_min ? histogram->min : histogram->earlier_min;
}

static inline uint64_t
weir_histogram_max(const struct weir_histogram *histogram)
{
	return histogram->max > histogram->earlier_max ? histogram->max : histogram->earlier_max;
}

/* The least and the greatest value since the last call; UINT64_MAX and 0 if there were none. On the
 * thread that adds. */
static inline void
weir_histogram_take_extremes(struct weir_histogram *histogram, uint64_t *min, uint64_t *max)
{
	*min = histogram->min;
	*max = histogram->max;
	histogram->earlier_min = weir_histogram_min(histogram);
	histogram->earlier_max = weir_histogram_max(histogram);
	histogram->min = UINT64_MAX;
	histogram->max = 0;
}

static inline uint32_t
weir_histogram_bucket(uint64_t value)
{
	uint32_t shift, bucket;

	if (value < WEIR_HISTOGRAM_OCTAVE)
		return (uint32_t)value;
	shift = 63 - __builtin_clzll(value) - WEIR_HISTOGRAM_BITS;
	bucket = (shift << WEIR_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
	return bucket < WEIR_HISTOGRAM_BUCKETS ? bucket : WEIR_HISTOGRAM_BUCKETS - 1;
}

static inline void
weir_histogram_add_many(struct weir_histogram *histogram, uint64_t value, uint32_t count)
{
	if (value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->buckets[weir_histogram_bucket(value)] += count;
	histogram->sum += value * count;
	histogram->count += count;
}

static inline void
weir_histogram_add(struct weir_histogram *histogram, uint64_t value)
{
	weir_histogram_add_many(histogram, value, 1);
}

/* Values of a ramp are kept with that many binary places: its step is less than a cycle at times.
 */
#define WEIR_RAMP_PLACES 16
#define WEIR_RAMP_ONE (1ull << WEIR_RAMP_PLACES)
/* From here on octaves have all their buckets, and up to here a double is exact. */
#define WEIR_RAMP_LEAST ((uint64_t)WEIR_HISTOGRAM_OCTAVE << WEIR_RAMP_PLACES)
#define WEIR_RAMP_MOST (1ull << 53)

/* How far a value with places is shifted to be the number of its bucket in its octave, from
 * WEIR_HISTOGRAM_OCTAVE on. */
static inline uint32_t
weir_histogram_ramp_shift(uint64_t value)
{
	return 63 - __builtin_clzll(value) - WEIR_HISTOGRAM_BITS;
}

static inline uint64_t *
weir_histogram_ramp_octave(struct weir_histogram *histogram, uint32_t shift)
{
	return &histogram->buckets[(shift - WEIR_RAMP_PLACES) << WEIR_HISTOGRAM_BITS];
}

/* One by one: most have a bucket of their own. A double's exponent and its first seven binary
 * places are the bucket's number, without a branch that guesses where an octave ends. */
static inline void
weir_histogram_ramp_singly(struct weir_histogram *histogram, uint64_t value, uint64_t step,
			   uint32_t count)
{
	const uint32_t places = 52 - WEIR_HISTOGRAM_BITS, bias = 1023;
	const uint32_t below = (bias + WEIR_RAMP_PLACES + WEIR_HISTOGRAM_BITS - 1)
			       << WEIR_HISTOGRAM_BITS;

	for (; count > 0; count--, value -= step) {
		double exact = (double)(int64_t)value;
		uint64_t bits;

		memcpy(&bits, &exact, sizeof(bits));
		histogram->buckets[(bits >> places) - below]++;
	}
}

/* Bucket by bucket: many at a time fall into one. */
static inline void
weir_histogram_ramp_together(struct weir_histogram *histogram, uint64_t value, uint64_t step,
			     uint32_t count)
{
	while (count > 0) {
		uint32_t shift = weir_histogram_ramp_shift(value);
		uint64_t above = value & ((1ull << shift) - 1);
		uint64_t here = above < step * (count - 1) ? above / step + 1 : count;

		weir_histogram_ramp_octave(histogram, shift)[value >> shift] += here;
		value -= here * step;
		count -= (uint32_t)here;
	}
}

/*
 * Adds `count` values, not 0 of them, of which each is `step` less than the one before it, down to
 * 0 at least; both with WEIR_RAMP_PLACES binary places, which are cut.
 */
static inline void
weir_histogram_add_ramp(struct weir_histogram *histogram, uint64_t first, uint64_t step,
			uint32_t count)
{
	uint64_t fall = step * (count - 1), last = first - fall;

	if (last < WEIR_RAMP_LEAST || first >= WEIR_RAMP_MOST) {
		for (uint32_t i = 0; i < count; i++)
			weir_histogram_add(histogram, (first - i * step) >> WEIR_RAMP_PLACES);
		return;
	}
	if ((last >> WEIR_RAMP_PLACES) < histogram->min)
		histogram->min = last >> WEIR_RAMP_PLACES;
	if ((first >> WEIR_RAMP_PLACES) > histogram->max)
		histogram->max = first >> WEIR_RAMP_PLACES;
	/* A bucket is as wide as its least value's 128th part, or less. */
	if (fall >> (63 - WEIR_HISTOGRAM_BITS) == 0 && fall << WEIR_HISTOGRAM_BITS < 4 * first)
		weir_histogram_ramp_together(histogram, first, step, count);
	else
		weir_histogram_ramp_singly(histogram, first, step, count);
	histogram->sum += ((first >> WEIR_RAMP_PLACES) + (last >> WEIR_RAMP_PLACES)) * count / 2;
	histogram->count += count;
}

/* To one that was cleared, and no more than has something in it: on the thread that adds, which has
 * other things to do. */
void weir_histogram_copy(struct weir_histogram *to, const struct weir_histogram *from);

/* The smallest value that counts in a bucket; of the one behind the last, where that would end. */
uint64_t weir_histogram_from(uint32_t bucket);

/* The middle of the bucket below which `fraction` of the values lie; 0 for an empty histogram. */
uint64_t weir_histogram_quantile(const struct weir_histogram *histogram, double fraction);

#endif
