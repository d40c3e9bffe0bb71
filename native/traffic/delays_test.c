/* SPDX-License-Identifier: Apache-2.0 */
/* Latency, IPDV and jitter against the raw samples and the formulas of the RFCs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "delays.h"
#include "random.h"

#define COUNT 100000

static struct weir_delays delays;
static uint64_t raw[COUNT];

static int
begin(void **state)
{
	(void)state;
	weir_delays_clear(&delays);
	delays.wanted.variation = true;
	return 0;
}

/* A packet, counted at once. */
static void
add(uint64_t sequence, uint64_t tx_tsc, uint64_t rx_tsc)
{
	weir_delays_add(&delays, sequence, tx_tsc, rx_tsc);
	weir_delays_settle(&delays);
}

static int
ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* As many as a queue gives: most short, some very long. */
static uint64_t
random_delay(uint64_t *random)
{
	double uniform = (double)(weir_random_next(random) >> 11) / (double)(1ull << 53);

	return 500 + (uint64_t)(2000 * pow(1 - uniform, -0.8));
}

static void
assert_within_one_percent(uint64_t value, uint64_t truth)
{
	assert_in_range(value, truth - truth / 100 - 1, truth + truth / 100 + 1);
}

static void
the_first_packet_sent_from_the_tag_on_is_told_singly(void **state)
{
	(void)state;
	delays.wanted.tag_tsc = 5000;
	add(0, 4000, 4100);
	assert_false(delays.has_tagged);
	add(1, 5010, 5250);
	add(2, 5020, 5900);
	assert_true(delays.has_tagged);
	assert_int_equal(delays.tagged_cycles, 240);
	assert_int_equal(delays.latency_cycles.count, 3);
}

static void
every_quantile_is_within_one_percent_of_the_raw_samples(void **state)
{
	static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};
	uint64_t random = 5, sum = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		raw[i] = random_delay(&random);
		sum += raw[i];
		add(i, 1000 * i, 1000 * i + raw[i]);
	}
	qsort(raw, COUNT, sizeof(raw[0]), ascending);
	for (unsigned int i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
		uint64_t rank = (uint64_t)ceil(fractions[i] * COUNT);

		assert_within_one_percent(
			weir_histogram_quantile(&delays.latency_cycles, fractions[i]),
			raw[rank - 1]);
	}
	assert_int_equal(delays.latency_cycles.min, raw[0]);
	assert_int_equal(delays.latency_cycles.max, raw[COUNT - 1]);
	assert_int_equal(delays.latency_cycles.sum, sum);
}

static void
ipdv_is_the_delay_less_that_of_the_packet_before(void **state)
{
	static const uint64_t delay[] = {100, 130, 90, 90, 500};

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		add(i, 1000 * i, 1000 * i + delay[i]);
	assert_int_equal(delays.ipdv_cycles.count, 4);
	assert_int_equal(delays.ipdv_min_cycles, -40);
	assert_int_equal(delays.ipdv_max_cycles, 410);
	assert_int_equal(delays.ipdv_cycles.sum, 30 + 40 + 0 + 410);
}

static void
ipdv_needs_both_packets_of_a_pair_and_in_their_order(void **state)
{
	static const uint32_t order[] = {0, 1, 3, 2, 4, 5};

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		add(order[i], 0, 100 + i);
	assert_int_equal(delays.ipdv_cycles.count, 2); /* 0-1 and 4-5 */
	assert_int_equal(delays.jitter_count, 5);      /* each arrival behind another */
}

static void
jitter_is_what_the_formula_of_rfc_3550_gives(void **state)
{
	uint64_t random = 9, before = 0;
	double jitter = 0, greatest = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t delay = 1000 + weir_random_next(&random) % 20000;

		if (i > 0) {
			jitter += (fabs((double)delay - (double)before) - jitter) / 16;
			greatest = fmax(greatest, jitter);
		}
		before = delay;
		add(i, 0, delay);
	}
	assert_true(fabs(delays.jitter - jitter) <= 1e-6);
	assert_true(fabs(delays.jitter_max - greatest) <= 1e-6);
}

static void
what_was_sent_before_the_settling_time_is_over_is_not_measured(void **state)
{
	(void)state;
	delays.wanted.from_tsc = 3000;
	for (uint32_t i = 0; i < 10; i++)
		add(i, 1000 * i, 1000 * i + (i < 3 ? 900 : 10));
	assert_int_equal(delays.latency_cycles.count, 7);
	assert_int_equal(delays.latency_cycles.max, 10);
	assert_int_equal(delays.ipdv_cycles.count, 6);
	assert_int_equal(delays.ipdv_max_cycles, 0);
}

static void
first_packets_alone_are_measured_up_to_the_limit(void **state)
{
	(void)state;
	delays.wanted.sequence_limit = 4;
	for (uint32_t i = 0; i < 10; i++)
		add(i, 0, i < 4 ? 900 : 10);
	assert_int_equal(delays.latency_cycles.count, 4);
	assert_int_equal(delays.latency_cycles.min, 900);
}

static void
a_receiving_clock_behind_the_sending_one_gives_no_delay(void **state)
{
	(void)state;
	add(0, 100, 90);
	assert_int_equal(delays.latency_cycles.max, 0);
}

static void
without_variation_only_the_latency_is_kept(void **state)
{
	(void)state;
	delays.wanted.variation = false;
	for (uint32_t i = 0; i < 10; i++)
		add(i, 0, 10 * i);
	assert_int_equal(delays.latency_cycles.count, 10);
	assert_int_equal(delays.ipdv_cycles.count + delays.jitter_count, 0);
}

static void
packets_of_one_burst_count_as_each_by_itself_would(void **state)
{
	static struct weir_delays singly;
	uint64_t random = 3, sequence = 0;

	(void)state;
	for (unsigned int burst = 0; burst < 2000; burst++) {
		uint64_t delay = 100 + weir_random_next(&random) % 5 * 300;

		for (unsigned int i = weir_random_next(&random) % 100; i > 0; i--) {
			sequence += 1 + (weir_random_next(&random) % 50 == 0); /* some are lost */
			add(sequence, 0, delay);
		}
	}
	singly = delays;
	begin(NULL);
	random = 3;
	sequence = 0;
	for (unsigned int burst = 0; burst < 2000; burst++) {
		uint64_t delay = 100 + weir_random_next(&random) % 5 * 300;

		for (unsigned int i = weir_random_next(&random) % 100; i > 0; i--) {
			sequence += 1 + (weir_random_next(&random) % 50 == 0);
			weir_delays_add(&delays, sequence, 0, delay);
		}
	}
	weir_delays_settle(&delays);
	/* Jitters are summed by a formula: their last digits may differ, and nothing else. */
	assert_true(fabs(delays.jitter - singly.jitter) <= 1e-6);
	assert_true(fabs(delays.jitter_max - singly.jitter_max) <= 1e-6);
	assert_true(fabs(delays.jitter_sum / singly.jitter_sum - 1) <= 1e-9);
	delays.jitter = singly.jitter;
	delays.jitter_max = singly.jitter_max;
	delays.jitter_sum = singly.jitter_sum;
	assert_memory_equal(&delays, &singly, sizeof(delays));
}

#define DELAYS(test) cmocka_unit_test_setup(test, begin)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		DELAYS(the_first_packet_sent_from_the_tag_on_is_told_singly),
		DELAYS(every_quantile_is_within_one_percent_of_the_raw_samples),
		DELAYS(ipdv_is_the_delay_less_that_of_the_packet_before),
		DELAYS(ipdv_needs_both_packets_of_a_pair_and_in_their_order),
		DELAYS(jitter_is_what_the_formula_of_rfc_3550_gives),
		DELAYS(what_was_sent_before_the_settling_time_is_over_is_not_measured),
		DELAYS(first_packets_alone_are_measured_up_to_the_limit),
		DELAYS(a_receiving_clock_behind_the_sending_one_gives_no_delay),
		DELAYS(without_variation_only_the_latency_is_kept),
		DELAYS(packets_of_one_burst_count_as_each_by_itself_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
