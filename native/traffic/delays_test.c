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
#define TSC_HZ 2400000000ull

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
	weir_delays_flush(&delays);
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
a_packet_that_arrives_before_it_was_sent_is_counted_and_has_no_delay(void **state)
{
	(void)state;
	add(0, 100, 150);
	add(1, 200, 199);
	add(2, 300, 300);
	assert_int_equal(delays.negative, 1);
	assert_int_equal(delays.latency_cycles.count, 2);
	assert_int_equal(delays.latency_cycles.sum, 50);
	assert_int_equal(delays.ipdv_cycles.count, 0);
}

/* A generator of 1,000 packets that loses its core for 5 ms after the first 400; the path takes
 * 2,000 cycles. */
static void
arrive_from_a_late_generator(const struct weir_pacing *pacing, uint64_t away_cycles)
{
	uint64_t back_tsc = weir_pacing_due_tsc(pacing, 400) + away_cycles;

	for (uint64_t n = 0; n < 1000; n++) {
		uint64_t due_tsc = weir_pacing_due_tsc(pacing, n);
		uint64_t tx_tsc = n >= 400 && due_tsc < back_tsc ? back_tsc : due_tsc;

		weir_delays_add(&delays, n, tx_tsc, tx_tsc + 2000);
	}
	weir_delays_flush(&delays);
}

static void
latency_begins_when_a_packet_was_due_however_late_it_was_sent(void **state)
{
	const uint64_t away_cycles = 12000000; /* 5 ms */
	struct weir_pacing pacing = weir_pacing_of(100000, 10000000, TSC_HZ, false, 1);
	uint64_t held = 0;

	(void)state;
	pacing.start_tsc = 1000000;
	delays.pacing = &pacing;
	arrive_from_a_late_generator(&pacing, away_cycles);
	/* 24,000 cycles apart: 501 were due while it was away, one every 10 us. */
	for (uint32_t i = 0; i < WEIR_HISTOGRAM_BUCKETS; i++)
		held += weir_histogram_from(i) > 2000 * 2 ? delays.latency_cycles.buckets[i] : 0;
	assert_in_range(held, 499, 501);
	assert_int_equal(delays.latency_cycles.count, 1000);
	assert_in_range(delays.latency_cycles.max, away_cycles + 1999, away_cycles + 2001);
	assert_in_range(delays.latency_cycles.min, 1999, 2001);
	assert_within_one_percent(weir_histogram_quantile(&delays.latency_cycles, 0.75),
				  away_cycles / 2);
	assert_within_one_percent(delays.latency_cycles.sum / 1000, 2000 + away_cycles / 4);
	/* As they were sent, each took as long as the one before it. */
	assert_int_equal(delays.ipdv_max_cycles, 0);
}

/* Packets in bursts of every size, all at once, against each by itself. */
static void
a_burst_of_a_constant_rate_counts_each_packet_from_its_own_due_time(void **state)
{
	static const double rates_pps[] = {1000, 1234567, 14880952, 900e6};
	static struct weir_histogram singly;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rates_pps) / sizeof(rates_pps[0]); i++) {
		struct weir_pacing pacing =
			weir_pacing_of(rates_pps[i], 1000000000000ull, TSC_HZ, false, 1);
		uint64_t random = 7, sequence = 0, sum = 0;

		weir_pacing_then(&pacing, 1 / 3.0, 5000000, TSC_HZ);
		weir_histogram_clear(&singly);
		begin(NULL);
		delays.pacing = &pacing;
		for (unsigned int burst = 0; burst < 3000; burst++) {
			uint64_t count = 1 + weir_random_next(&random) % 70;
			uint64_t tx_tsc = weir_pacing_due_tsc(&pacing, sequence + count - 1);
			uint64_t rx_tsc = tx_tsc + random_delay(&random) - 400;

			for (; count > 0; count--, sequence++) {
				uint64_t latency = rx_tsc - weir_pacing_due_tsc(&pacing, sequence);

				weir_histogram_add(&singly, latency);
				sum += latency;
				weir_delays_add(&delays, sequence, tx_tsc, rx_tsc);
			}
		}
		weir_delays_flush(&delays);
		assert_int_equal(delays.latency_cycles.count, sequence);
		assert_in_range(delays.latency_cycles.sum, sum - sequence, sum + sequence);
		assert_in_range(delays.latency_cycles.max, singly.max - 1, singly.max + 1);
		assert_in_range(delays.latency_cycles.min, singly.min - 1, singly.min + 1);
		for (unsigned int percent = 1; percent < 100; percent++) {
			uint64_t truth = weir_histogram_quantile(&singly, percent / 100.0);

			assert_within_one_percent(
				weir_histogram_quantile(&delays.latency_cycles, percent / 100.0),
				truth);
		}
	}
}

static void
a_look_in_the_middle_of_a_burst_changes_nothing(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, 1000000000, TSC_HZ, false, 1);
	uint64_t rx_tsc = weir_pacing_due_tsc(&pacing, 39) + 5000;
	static struct weir_histogram whole;

	(void)state;
	for (int looks = 0; looks < 2; looks++) {
		begin(NULL);
		delays.pacing = &pacing;
		for (uint64_t n = 0; n < 40; n++) {
			weir_delays_add(&delays, n, rx_tsc - 5000, rx_tsc);
			if (looks && n % 3 == 0)
				weir_delays_flush(&delays);
		}
		weir_delays_flush(&delays);
		assert_int_equal(delays.ipdv_cycles.count, 39);
		if (!looks)
			whole = delays.latency_cycles;
	}
	assert_memory_equal(delays.latency_cycles.buckets, whole.buckets, sizeof(whole.buckets));
	assert_int_equal(delays.latency_cycles.min, whole.min);
	assert_int_equal(delays.latency_cycles.max, whole.max);
}

static void
a_tagged_packet_is_told_from_when_it_was_due(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1000, 1000000000, TSC_HZ, false, 1);
	uint64_t due_tsc = weir_pacing_due_tsc(&pacing, 1);

	(void)state;
	delays.pacing = &pacing;
	delays.wanted.tag_tsc = due_tsc;
	add(1, due_tsc + 700, due_tsc + 900);
	assert_int_equal(delays.tagged_cycles, 900);
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
	weir_delays_flush(&delays);
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
		DELAYS(a_packet_that_arrives_before_it_was_sent_is_counted_and_has_no_delay),
		DELAYS(latency_begins_when_a_packet_was_due_however_late_it_was_sent),
		DELAYS(a_burst_of_a_constant_rate_counts_each_packet_from_its_own_due_time),
		DELAYS(a_look_in_the_middle_of_a_burst_changes_nothing),
		DELAYS(a_tagged_packet_is_told_from_when_it_was_due),
		DELAYS(without_variation_only_the_latency_is_kept),
		DELAYS(packets_of_one_burst_count_as_each_by_itself_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
