/* SPDX-License-Identifier: Apache-2.0 */
/* When packets are due: counts, gaps, and the end of the duration. */
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

static void
a_step_changes_the_rate_once_and_loses_no_packet(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(110000, SECOND_NS, TSC_HZ, false, 1);
	uint64_t step, end = pacing.duration_cycles;

	(void)state;
	weir_pacing_then(&pacing, 0.5, SECOND_NS * 6 / 10, TSC_HZ);
	step = pacing.schedule.parts[0].end_cycles;
	assert_in_range(step, TSC_HZ * 6 / 10 - 1, TSC_HZ * 6 / 10 + 1);
	assert_in_range(weir_pacing_due(&pacing, step / 2, UINT64_MAX), 32999, 33000);
	assert_in_range(weir_pacing_due(&pacing, step, UINT64_MAX), 65999, 66000);
	assert_in_range(weir_pacing_due(&pacing, (step + end) / 2, UINT64_MAX), 76999, 77000);
	assert_int_equal(weir_pacing_due(&pacing, end, UINT64_MAX), 88000);
	assert_int_equal(weir_pacing_intended(&pacing, 88000), 88000);
	assert_false(weir_pacing_ended(&pacing, 87999));
	assert_true(weir_pacing_ended(&pacing, 88000));
}

/* At its due time weir_pacing_due() counts a packet, and not one cycle before. */
static void
assert_due(struct weir_pacing *pacing, uint64_t sequence)
{
	uint64_t due_tsc = weir_pacing_due_tsc(pacing, sequence);

	assert_in_range(weir_pacing_due(pacing, due_tsc, UINT64_MAX), sequence + 1, UINT64_MAX);
	assert_in_range(weir_pacing_due(pacing, due_tsc - 1, UINT64_MAX), 0, sequence);
}

static void
a_constant_packet_is_due_when_the_pacing_first_counts_it(void **state)
{
	static const double rates_pps[] = {0.5, 3, 1000, 999999, 1e6, 14880952, 1e9, 3e9};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rates_pps) / sizeof(rates_pps[0]); i++) {
		struct weir_pacing pacing =
			weir_pacing_of(rates_pps[i], 60 * SECOND_NS, TSC_HZ, false, 1);
		uint64_t planned = pacing.planned;

		pacing.start_tsc = 1ull << 50;
		for (uint64_t n = 0; n < 1000 && n < planned; n++)
			assert_due(&pacing, n);
		for (uint64_t n = planned / 2; n < planned / 2 + 1000 && n < planned; n++)
			assert_due(&pacing, n);
		assert_due(&pacing, planned - 1);
	}
}

static void
due_times_of_a_constant_rate_are_its_gaps_apart(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	pacing.start_tsc = 5000;
	assert_int_equal(weir_pacing_due_tsc(&pacing, 0), 5000 + 2446);
	assert_int_equal(weir_pacing_due_tsc(&pacing, 1), 5000 + 4891);
	assert_int_equal(weir_pacing_due_tsc(&pacing, 999999), 5000 + TSC_HZ);
	assert_true(weir_pacing_is_constant(&pacing));
}

static void
due_times_follow_a_step_of_the_rate(void **state)
{
	static const uint64_t after_step[] = {66000, 77000, 87999};
	struct weir_pacing pacing = weir_pacing_of(110000, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	pacing.start_tsc = 7;
	weir_pacing_then(&pacing, 0.5, SECOND_NS * 6 / 10, TSC_HZ);
	for (uint64_t n = 7; n < 88000; n += 13)
		assert_due(&pacing, n);
	for (uint64_t n = 65990; n < 66010; n++)
		assert_due(&pacing, n);
	assert_due(&pacing, 87999);
	for (unsigned int i = 0; i < sizeof(after_step) / sizeof(after_step[0]); i++) {
		uint64_t gap_cycles = weir_pacing_due_tsc(&pacing, after_step[i]) -
				      weir_pacing_due_tsc(&pacing, after_step[i] - 1);

		assert_in_range(gap_cycles, TSC_HZ / 55000 - 1, TSC_HZ / 55000 + 1);
	}
}

static void
drawn_packets_are_due_when_the_process_first_counts_them(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, true, 1);
	uint64_t last_tsc = 0, count = 0;

	(void)state;
	pacing.start_tsc = 1ull << 40;
	for (uint64_t now = pacing.start_tsc + 1; count < 500; now++) {
		uint64_t due = weir_pacing_due(&pacing, now, UINT64_MAX);

		for (; count < due; count++) {
			assert_int_equal(weir_pacing_drawn_tsc(&pacing, count), now);
			assert_true(now >= last_tsc);
			last_tsc = now;
		}
	}
	/* Those of a late sender, as many as it may take at once, are not all due now. */
	assert_int_equal(weir_pacing_due(&pacing, last_tsc + 1000000, count + WEIR_PACING_DRAWN),
			 count + WEIR_PACING_DRAWN);
	for (uint64_t n = count; n < count + WEIR_PACING_DRAWN; n++) {
		assert_in_range(weir_pacing_drawn_tsc(&pacing, n), last_tsc, last_tsc + 1000000);
		last_tsc = weir_pacing_drawn_tsc(&pacing, n);
	}
}

static void
drawn_gaps_and_no_rate_tell_no_due_time(void **state)
{
	struct weir_pacing drawn = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, true, 1);
	struct weir_pacing unlimited = weir_pacing_of(0, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	assert_false(weir_pacing_is_constant(&drawn));
	assert_false(weir_pacing_is_constant(&unlimited));
}

/* 0.25 s each: 100,000 packets a second, none, 40,000 and 200,000. */
static struct weir_pacing
schedule_of(bool poisson, uint64_t seed)
{
	struct weir_pacing pacing = weir_pacing_of(100000, SECOND_NS, TSC_HZ, poisson, seed);

	weir_pacing_then(&pacing, 0, SECOND_NS / 4, TSC_HZ);
	weir_pacing_then(&pacing, 0.4, SECOND_NS / 2, TSC_HZ);
	weir_pacing_then(&pacing, 2, SECOND_NS * 3 / 4, TSC_HZ);
	return pacing;
}

static void
a_schedule_asks_for_the_rate_of_each_part_and_for_none_in_a_pause(void **state)
{
	static const uint64_t due_by_quarter[] = {25000, 25000, 35000, 85000};
	struct weir_pacing pacing = schedule_of(false, 1);

	(void)state;
	pacing.start_tsc = 7;
	assert_int_equal(weir_pacing_intended(&pacing, 85000), 85000);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t now = 7 + pacing.duration_cycles * (i + 1) / 4;

		assert_in_range(weir_pacing_due(&pacing, now, UINT64_MAX), due_by_quarter[i] - 1,
				due_by_quarter[i]);
	}
	for (uint64_t n = 0; n < 85000; n += n < 100 || (n > 24900 && n < 25100) ? 1 : 11)
		assert_due(&pacing, n);
	assert_in_range(weir_pacing_due_tsc(&pacing, 25000) - weir_pacing_due_tsc(&pacing, 24999),
			TSC_HZ / 4, TSC_HZ / 4 + TSC_HZ / 40000 + 2);
	assert_due(&pacing, 84999);
}

static void
a_schedule_may_begin_and_end_with_a_pause(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1000, SECOND_NS, TSC_HZ, false, 1);
	struct weir_pacing drawn = weir_pacing_of(1000, SECOND_NS, TSC_HZ, true, 1);
	uint64_t due;

	(void)state;
	weir_pacing_then(&pacing, 0, SECOND_NS / 2, TSC_HZ);
	weir_pacing_then(&drawn, 0, SECOND_NS / 2, TSC_HZ);
	assert_int_equal(weir_pacing_due(&pacing, pacing.duration_cycles / 2 + 9, UINT64_MAX), 500);
	assert_true(weir_pacing_ended(&pacing, 500));
	due = weir_pacing_due(&drawn, drawn.duration_cycles, UINT64_MAX);
	assert_in_range(due, 400, 600);
	assert_int_equal(weir_pacing_due(&drawn, drawn.duration_cycles / 2 + 9, UINT64_MAX), due);
	assert_true(weir_pacing_ended(&drawn, due));
	assert_int_equal(weir_pacing_intended(&drawn, due), due);
}

static void
a_poisson_process_has_the_mean_of_each_part_of_its_schedule(void **state)
{
	static const double expected[] = {25000, 0, 10000, 50000};
	const unsigned int runs = 40;
	double sums[4] = {0};

	(void)state;
	for (unsigned int seed = 1; seed <= runs; seed++) {
		struct weir_pacing pacing = schedule_of(true, seed);
		uint64_t before = 0;

		for (uint64_t i = 0; i < 4; i++) {
			uint64_t now = pacing.duration_cycles * (i + 1) / 4;
			uint64_t due = weir_pacing_due(&pacing, now, UINT64_MAX);

			sums[i] += (double)(due - before);
			before = due;
		}
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_float_equal(sums[i] / runs, expected[i], 1 + 4 * sqrt(expected[i] / runs));
}

static void
a_schedule_has_as_many_parts_as_it_may_have(void **state)
{
	struct weir_pacing pacing = weir_pacing_of(1e6, SECOND_NS, TSC_HZ, false, 1);

	(void)state;
	for (uint64_t i = 1; i < WEIR_SCHEDULE_PARTS; i++)
		weir_pacing_then(&pacing, 1 + (double)(i % 7) / 7, i * SECOND_NS / 256, TSC_HZ);
	for (uint64_t n = 0; n < pacing.planned; n += 101)
		assert_due(&pacing, n);
	assert_due(&pacing, pacing.planned - 1);
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
		cmocka_unit_test(a_step_changes_the_rate_once_and_loses_no_packet),
		cmocka_unit_test(a_constant_packet_is_due_when_the_pacing_first_counts_it),
		cmocka_unit_test(due_times_of_a_constant_rate_are_its_gaps_apart),
		cmocka_unit_test(due_times_follow_a_step_of_the_rate),
		cmocka_unit_test(a_schedule_asks_for_the_rate_of_each_part_and_for_none_in_a_pause),
		cmocka_unit_test(a_schedule_may_begin_and_end_with_a_pause),
		cmocka_unit_test(a_poisson_process_has_the_mean_of_each_part_of_its_schedule),
		cmocka_unit_test(a_schedule_has_as_many_parts_as_it_may_have),
		cmocka_unit_test(drawn_packets_are_due_when_the_process_first_counts_them),
		cmocka_unit_test(drawn_gaps_and_no_rate_tell_no_due_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
