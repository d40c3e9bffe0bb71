/* SPDX-License-Identifier: Apache-2.0 */
/* How many packets are due: counts, gaps, bursts, and the end of the duration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pacing.h"

#define TSC_HZ 2445407123ull /* a frequency that no rate divides */
#define SECOND_NS 1000000000ull

static void
constant_pacing_asks_for_rate_times_duration_rounded_down(void **state)
{
	static const struct {
		double rate_pps;
		uint64_t duration_ns, packets;
	} cases[] = {
		{1e6, SECOND_NS / 10, 100000},
		{1e6, SECOND_NS, 1000000},
		{3, SECOND_NS / 2, 1},
		{1.5, SECOND_NS, 1},
		{0.1, SECOND_NS, 0},
		{14880952, SECOND_NS / 4, 3720238},
		{1e9, 60 * SECOND_NS, 60000000000ull},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weir_pacing pacing =
			weir_pacing_of(cases[i].rate_pps, cases[i].duration_ns, TSC_HZ, false, 1);
		uint64_t end = pacing.duration_cycles;

		assert_int_equal(weir_pacing_intended(&pacing, 0), cases[i].packets);
		assert_int_equal(weir_pacing_due(&pacing, end, UINT64_MAX), cases[i].packets);
		assert_int_equal(weir_pacing_due(&pacing, 2 * end, UINT64_MAX), cases[i].packets);
	}
}

static void
constant_gaps_differ_by_one_step_of_the_clock_at_most(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(100000, SECOND_NS, TSC_HZ, false, 1);
	const uint64_t step = 16;
	uint64_t sent = 0, last = 0;

	(void)state;
	for (uint64_t now = step; now <= pacing.duration_cycles + step; now += step) {
		uint64_t due = weir_pacing_due(&pacing, now, UINT64_MAX);

		if (due == sent)
			continue;
		assert_int_equal(due, sent + 1);
		assert_in_range(now - last, TSC_HZ / 100000 - step, TSC_HZ / 100000 + 1 + step);
		sent = due;
		last = now;
	}
	assert_int_equal(sent, 100000);
	assert_true(weir_pacing_ended(&pacing, sent));
	assert_false(weir_pacing_ended(&pacing, sent - 1));
}

static void
nothing_is_due_before_the_start(void **state)
{
	(void)state;
	for (int poisson = 0; poisson < 2; poisson++) {
		struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, poisson, 1);

		pacing.start_tsc = 1000000;
		assert_int_equal(weir_pacing_due(&pacing, 0, UINT64_MAX), 0);
		assert_int_equal(weir_pacing_due(&pacing, 1000000, UINT64_MAX), 0);
		assert_int_not_equal(weir_pacing_due(&pacing, 2000000, UINT64_MAX), 0);
	}
}

static void
poisson_gaps_have_the_mean_and_variance_of_an_exponential(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, true, 1);
	const unsigned int count = 400000;
	double sum = 0, squares = 0;

	(void)state;
	for (unsigned int i = 0; i < count; i++) {
		double gap = weir_pacing_gap(&pacing);

		assert_true(gap >= 0);
		sum += gap;
		squares += gap * gap;
	}
	/* Standard errors: 1 / √n of the mean, √(8 / n) of the variance; four of them. */
	assert_float_equal(sum / count, 1, 4 / sqrt(count));
	assert_float_equal(squares / count - sum / count * (sum / count), 1, 4 * sqrt(8.0 / count));
}

static void
poisson_counts_have_the_mean_and_variance_of_the_process(void **state)
{
	const unsigned int runs = 4000;
	const double expected = 200;
	double sum = 0, squares = 0, mean;

	(void)state;
	for (unsigned int seed = 1; seed <= runs; seed++) {
		struct weir_pacing pacing = weir_pacing_of(1e6, 200000, TSC_HZ, true, seed);
		double due = (double)weir_pacing_due(&pacing, pacing.duration_cycles, UINT64_MAX);

		sum += due;
		squares += due * due;
	}
	mean = sum / runs;
	assert_float_equal(mean, expected, 4 * sqrt(expected / runs));
	assert_float_equal(squares / runs - mean * mean, expected, 4 * expected * sqrt(2.0 / runs));
}

static void
a_poisson_run_ends_with_what_was_drawn_and_without_a_burst(void **state)
{
	unsigned int fewer = 0, more = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 200; seed++) {
		struct weir_pacing pacing = weir_pacing_of(1e6, 1000000, TSC_HZ, true, seed);
		uint64_t end = pacing.duration_cycles, before, after;

		before = weir_pacing_due(&pacing, end - 1, UINT64_MAX);
		after = weir_pacing_due(&pacing, end, UINT64_MAX);
		assert_in_range(after, before, before + 1);
		assert_int_equal(weir_pacing_due(&pacing, 2 * end, UINT64_MAX), after);
		assert_int_equal(weir_pacing_intended(&pacing, after), after);
		assert_true(weir_pacing_ended(&pacing, after));
		assert_false(weir_pacing_ended(&pacing, after - 1));
		fewer += after < 1000;
		more += after > 1000;
	}
	assert_in_range(fewer, 60, 140);
	assert_in_range(more, 60, 140);
}

static void
what_a_late_sender_did_not_draw_counts_with_its_mean(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, true, 1);
	uint64_t drawn = weir_pacing_due(&pacing, pacing.duration_cycles / 2, UINT64_MAX);

	(void)state;
	assert_in_range(drawn, 497000, 503000);
	assert_false(weir_pacing_ended(&pacing, drawn));
	assert_in_range(weir_pacing_intended(&pacing, drawn), drawn + 499990, drawn + 500010);
}

static void
one_call_draws_no_more_than_its_bound(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e9, SECOND_NS, TSC_HZ, true, 1);

	(void)state;
	assert_int_equal(weir_pacing_due(&pacing, pacing.duration_cycles, 32), 32);
	assert_int_equal(weir_pacing_due(&pacing, pacing.duration_cycles, 64), 64);
}

static void
a_burst_ends_after_its_packets_at_any_rate(void **state)
{
	static const struct {
		double rate_pps;
		bool poisson;
	} cases[] = {{0, false}, {1e6, false}, {1e6, true}};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weir_pacing pacing =
			weir_pacing_of(cases[i].rate_pps, SECOND_NS, TSC_HZ, cases[i].poisson, 1);

		weir_pacing_limit(&pacing, 1000);
		assert_int_equal(weir_pacing_due(&pacing, pacing.duration_cycles, 2000), 1000);
		assert_false(weir_pacing_ended(&pacing, 999));
		assert_true(weir_pacing_ended(&pacing, 1000));
		assert_int_equal(weir_pacing_intended(&pacing, 1000), 1000);
	}
}

static void
what_a_burst_could_not_send_in_its_time_is_intended_all_the_same(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(0, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	weir_pacing_limit(&pacing, 1000);
	assert_int_equal(weir_pacing_intended(&pacing, 900), 1000);
}

static void
a_limit_above_what_the_rate_asks_for_changes_nothing(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1000, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	weir_pacing_limit(&pacing, 5000);
	assert_int_equal(weir_pacing_intended(&pacing, 1000), 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_pacing_asks_for_rate_times_duration_rounded_down),
		cmocka_unit_test(constant_gaps_differ_by_one_step_of_the_clock_at_most),
		cmocka_unit_test(nothing_is_due_before_the_start),
		cmocka_unit_test(poisson_gaps_have_the_mean_and_variance_of_an_exponential),
		cmocka_unit_test(poisson_counts_have_the_mean_and_variance_of_the_process),
		cmocka_unit_test(a_poisson_run_ends_with_what_was_drawn_and_without_a_burst),
		cmocka_unit_test(what_a_late_sender_did_not_draw_counts_with_its_mean),
		cmocka_unit_test(one_call_draws_no_more_than_its_bound),
		cmocka_unit_test(a_burst_ends_after_its_packets_at_any_rate),
		cmocka_unit_test(what_a_burst_could_not_send_in_its_time_is_intended_all_the_same),
		cmocka_unit_test(a_limit_above_what_the_rate_asks_for_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
