/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of the latency histogram. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <rte_cycles.h>

#include "histogram.h"
#include "random.h"

#define RECORDED 500000

static struct weir_histogram histogram;

static void
a_quantile_is_within_one_percent_of_the_sorted_values(void **state)
{
	(void)state;
	weir_histogram_clear(&histogram);
	for (uint64_t value = 1; value <= 1000000; value++)
		weir_histogram_add(&histogram, value);
	assert_in_range(weir_histogram_quantile(&histogram, 0.5), 495000, 505000);
	assert_in_range(weir_histogram_quantile(&histogram, 0.999), 989010, 1000000);
	assert_int_equal(weir_histogram_quantile(&histogram, 1), histogram.max);
}

/* The gaps of a spinning core: tens of cycles, and now and then the host's milliseconds. */
static void
record_gaps(uint64_t *samples, uint32_t count)
{
	uint64_t before = rte_rdtsc();

	for (uint32_t at = 0; at < count; at++) {
		uint64_t now = rte_rdtsc();

		samples[at] = (now - before) * (1 + at % 1000);
		before = now;
	}
}

static int
by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void
recorded_samples_have_the_quantiles_that_the_histogram_says(void **state)
{
	static const double fractions[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999};
	static uint64_t samples[RECORDED];
	uint64_t sum = 0;

	(void)state;
	weir_histogram_clear(&histogram);
	record_gaps(samples, RECORDED);
	for (uint32_t at = 0; at < RECORDED; at++) {
		weir_histogram_add(&histogram, samples[at]);
		sum += samples[at];
	}
	qsort(samples, RECORDED, sizeof(samples[0]), by_value);
	for (size_t at = 0; at < sizeof(fractions) / sizeof(fractions[0]); at++) {
		double exact = (double)samples[(uint32_t)ceil(fractions[at] * RECORDED) - 1];
		double said = (double)weir_histogram_quantile(&histogram, fractions[at]);

		assert_true(fabs(said - exact) <= 0.01 * exact + 1);
	}
	assert_int_equal(weir_histogram_min(&histogram), samples[0]);
	assert_int_equal(weir_histogram_max(&histogram), samples[RECORDED - 1]);
	assert_int_equal(histogram.sum, sum);
}

static void
more_than_four_billion_values_in_one_bucket_are_counted(void **state)
{
	(void)state;
	weir_histogram_clear(&histogram);
	weir_histogram_add(&histogram, 100);
	histogram.buckets[weir_histogram_bucket(100)] = UINT32_MAX;
	histogram.count = UINT32_MAX;
	weir_histogram_add(&histogram, 100);
	weir_histogram_add(&histogram, 9000);
	assert_int_equal(weir_histogram_quantile(&histogram, 0.5), 100);
}

static void
values_beyond_the_last_bucket_keep_the_exact_maximum(void **state)
{
	(void)state;
	weir_histogram_clear(&histogram);
	assert_int_equal(weir_histogram_quantile(&histogram, 0.5), 0);
	weir_histogram_add(&histogram, 0);
	weir_histogram_add(&histogram, UINT64_MAX);
	assert_int_equal(histogram.min, 0);
	assert_int_equal(histogram.max, UINT64_MAX);
	assert_int_equal(weir_histogram_quantile(&histogram, 0.1), 0);
}

static void
a_ramp_counts_as_its_values_one_by_one(void **state)
{
	static struct weir_histogram ramp, singly;
	uint64_t random = 5;

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		uint32_t count = 1 + weir_random_next(&random) % 64;
		uint64_t step = weir_random_next(&random) >> (20 + weir_random_next(&random) % 44);
		uint64_t first =
			(weir_random_next(&random) >> (2 + weir_random_next(&random) % 50)) +
			step * (count - 1);

		weir_histogram_clear(&ramp);
		weir_histogram_clear(&singly);
		weir_histogram_add_ramp(&ramp, first, step, count);
		for (uint32_t i = 0; i < count; i++)
			weir_histogram_add(&singly, (first - i * step) >> WEIR_RAMP_PLACES);
		assert_memory_equal(ramp.buckets, singly.buckets, sizeof(ramp.buckets));
		assert_int_equal(ramp.count, count);
		assert_int_equal(ramp.min, singly.min);
		assert_int_equal(ramp.max, singly.max);
		assert_in_range(ramp.sum + count, singly.sum, singly.sum + 2 * count);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quantile_is_within_one_percent_of_the_sorted_values),
		cmocka_unit_test(recorded_samples_have_the_quantiles_that_the_histogram_says),
		cmocka_unit_test(more_than_four_billion_values_in_one_bucket_are_counted),
		cmocka_unit_test(values_beyond_the_last_bucket_keep_the_exact_maximum),
		cmocka_unit_test(a_ramp_counts_as_its_values_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
