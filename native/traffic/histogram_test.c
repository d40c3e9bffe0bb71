/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of the latency histogram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "histogram.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quantile_is_within_one_percent_of_the_sorted_values),
		cmocka_unit_test(more_than_four_billion_values_in_one_bucket_are_counted),
		cmocka_unit_test(values_beyond_the_last_bucket_keep_the_exact_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
