/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks whose true time is known, read at times that are known only roughly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "packet/mix.h"
#include "port/device_clock.h"
#include "testing/eal.h"

/* The same numbers for the same seed. */
static uint64_t
random_next(uint64_t *state)
{
	return weir_mix(++*state);
}

/* A clock of its own rate and beginning, and of a rate that changes. */
struct truth {
	double ticks_per_cycle;
	double faster_per_s; /* share of the rate */
	uint64_t first_ticks, first_tsc;
};

static uint64_t
ticks_at(const struct truth *truth, uint64_t tsc)
{
	double cycles = (double)(tsc - truth->first_tsc);
	double faster = truth->faster_per_s / (double)rte_get_tsc_hz() / 2 * cycles;

	return truth->first_ticks + (uint64_t)(cycles * truth->ticks_per_cycle * (1 + faster));
}

/* A reading in an interval of that width, at a moment of it that nobody knows. */
static struct weir_clock_reading
reading_of(const struct truth *truth, uint64_t tsc, uint64_t half_cycles, uint64_t *seed)
{
	uint64_t when = tsc - half_cycles + random_next(seed) % (2 * half_cycles + 1);

	return (struct weir_clock_reading){
		.ticks = ticks_at(truth, when), .tsc = tsc, .half_cycles = half_cycles + 1};
}

static uint64_t
gap_cycles(void)
{
	return rte_get_tsc_hz() * WEIR_CLOCK_FOLLOW_MS / 1000;
}

/* Half a microsecond as a rule, and now and then a reading that was interrupted. */
static uint64_t
follow(struct weir_device_clock *clock, const struct truth *truth, unsigned int readings,
       uint64_t tsc, uint64_t *seed)
{
	for (unsigned int i = 0; i < readings; i++, tsc += gap_cycles()) {
		uint64_t half_cycles = random_next(seed) % 10 == 0 ? 50000 : 1250;

		weir_device_clock_add(clock, reading_of(truth, tsc, half_cycles, seed));
	}
	return tsc - gap_cycles();
}

/* How far the line is from the truth at that time. */
static double
off_cycles(const struct weir_device_clock *clock, const struct truth *truth, uint64_t tsc)
{
	return fabs((double)(int64_t)(weir_arrival_tsc(&clock->line, ticks_at(truth, tsc)) - tsc));
}

static void
assert_right_until_the_reading_after_the_next(const struct weir_device_clock *clock,
					      const struct truth *truth, uint64_t last_tsc)
{
	/* A tick is read as its beginning. */
	double tick_cycles = 1 / truth->ticks_per_cycle;

	for (unsigned int i = 0; i <= 8; i++) {
		uint64_t tsc = last_tsc + i * gap_cycles() / 4;

		assert_true(off_cycles(clock, truth, tsc) <=
			    (double)weir_arrival_uncertainty(&clock->line, tsc) + tick_cycles + 1);
	}
}

static void
any_clock_is_followed_within_the_uncertainty_that_it_states(void **state)
{
	static const double rates_hz[] = {1e9, 156.25e6, 2.6e9, 1e9 * (1 + 80e-6)};
	static const double faster_per_s[] = {0, 50e-9, -50e-9};

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t random = seed;
		struct truth truth = {
			.ticks_per_cycle =
				rates_hz[seed % RTE_DIM(rates_hz)] / (double)rte_get_tsc_hz(),
			.faster_per_s = faster_per_s[seed % RTE_DIM(faster_per_s)],
			.first_ticks = random_next(&random) >> 2,
			.first_tsc = 1ull << 50,
		};
		struct weir_device_clock clock = {0};
		uint64_t last_tsc =
			follow(&clock, &truth, 2 + seed, truth.first_tsc + 1000000, &random);

		assert_int_equal(clock.line.steps, 0);
		assert_right_until_the_reading_after_the_next(&clock, &truth, last_tsc);
	}
}

static void
readings_of_three_seconds_tell_the_time_as_exactly_as_one_reading(void **state)
{
	struct truth truth = {.ticks_per_cycle = 0.4, .first_ticks = 7, .first_tsc = 1ull << 50};
	struct weir_device_clock clock = {0};
	uint64_t seed = 1;

	(void)state;
	follow(&clock, &truth, WEIR_CLOCK_READINGS, truth.first_tsc + 1000000, &seed);
	assert_true(weir_device_clock_uncertainty_ns(&clock) < 1000);
}

static void
one_reading_that_was_interrupted_is_no_step_and_does_not_move_the_line(void **state)
{
	struct truth truth = {.ticks_per_cycle = 0.4, .first_ticks = 7, .first_tsc = 1ull << 50};
	struct weir_device_clock clock = {0};
	uint64_t seed = 1, tsc;

	(void)state;
	tsc = follow(&clock, &truth, WEIR_CLOCK_READINGS, truth.first_tsc + 1000000, &seed);
	tsc += gap_cycles();
	/* Read at the very end of three milliseconds. */
	weir_device_clock_add(&clock, (struct weir_clock_reading){
					      .ticks = ticks_at(&truth, tsc + 7500000),
					      .tsc = tsc,
					      .half_cycles = 7500000,
				      });
	assert_int_equal(clock.line.steps, 0);
	assert_true(weir_device_clock_uncertainty_ns(&clock) < 1000);
	assert_right_until_the_reading_after_the_next(&clock, &truth, tsc);
}

static void
a_clock_that_is_set_is_noticed_and_known_again_at_once(void **state)
{
	static const int64_t steps_ticks[] = {20000, -20000, 1000000000, -1000000000};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(steps_ticks); i++) {
		struct truth truth = {
			.ticks_per_cycle = 0.4, .first_ticks = 1ull << 40, .first_tsc = 1ull << 50};
		struct weir_device_clock clock = {0};
		uint64_t seed = 1, tsc;

		tsc = follow(&clock, &truth, 40, truth.first_tsc + 1000000, &seed);
		truth.first_ticks += steps_ticks[i];
		tsc = follow(&clock, &truth, 1, tsc + gap_cycles(), &seed);
		assert_int_equal(clock.line.steps, 1);
		assert_right_until_the_reading_after_the_next(&clock, &truth, tsc);
		follow(&clock, &truth, 40, tsc + gap_cycles(), &seed);
		assert_int_equal(clock.line.steps, 1);
	}
}

static int read_status;

/* Counts eight at a time. */
static int
read_in_eights(uint16_t ethdev_id, uint64_t *ticks)
{
	(void)ethdev_id;
	*ticks = rte_rdtsc() / 20 * 8;
	return read_status;
}

static int
read_the_same(uint16_t ethdev_id, uint64_t *ticks)
{
	(void)ethdev_id;
	*ticks = 4711;
	return 0;
}

static void
what_a_clock_counts_at_once_is_its_resolution(void **state)
{
	struct weir_device_clock clock = {.read = read_in_eights};

	(void)state;
	read_status = 0;
	assert_null(weir_device_clock_begin(&clock));
	assert_int_equal(clock.granule_ticks, 8);
	assert_true(fabs(weir_device_clock_resolution_ns(&clock) * (double)rte_get_tsc_hz() / 1e9 -
			 20) < 0.1);
}

static void
a_clock_that_stands_still_or_cannot_be_read_is_refused_with_the_reason(void **state)
{
	struct weir_device_clock still = {.read = read_the_same};
	struct weir_device_clock mute = {.read = read_in_eights};

	(void)state;
	assert_string_equal(weir_device_clock_begin(&still), "its clock stands still");
	read_status = -1;
	assert_string_equal(weir_device_clock_begin(&mute), "its clock cannot be read");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_clock_is_followed_within_the_uncertainty_that_it_states),
		cmocka_unit_test(readings_of_three_seconds_tell_the_time_as_exactly_as_one_reading),
		cmocka_unit_test(
			one_reading_that_was_interrupted_is_no_step_and_does_not_move_the_line),
		cmocka_unit_test(a_clock_that_is_set_is_noticed_and_known_again_at_once),
		cmocka_unit_test(what_a_clock_counts_at_once_is_its_resolution),
		cmocka_unit_test(
			a_clock_that_stands_still_or_cannot_be_read_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
