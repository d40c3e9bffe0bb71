/* SPDX-License-Identifier: Apache-2.0 */
/* When each packet is due: at one rate, drawn, and by a schedule of rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pacing.h"

#define TSC_HZ 2445407123ull /* a frequency that no rate divides */
#define SECOND_NS 1000000000ull

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
