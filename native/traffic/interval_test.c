/* SPDX-License-Identifier: Apache-2.0 */
/* What a run reports of the time since the last call, and the early end of a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull
#define TOGETHER 1000

static struct weir_losses losses;
static struct weir_histogram histogram;
static struct weir_delays delays;

static void
gaps_close_to_each_other_are_one_loss(void **state)
{
	(void)state;
	losses = (struct weir_losses){.together_cycles = TOGETHER};
	weir_losses_add(&losses, 5000, 3);
	weir_losses_add(&losses, 5000 + TOGETHER, 4);
	weir_losses_add(&losses, 5001 + 2 * TOGETHER, 5);
	assert_int_equal(losses.count, 2);
	assert_int_equal(losses.kept[0].tsc, 5000);
	assert_int_equal(losses.kept[0].packets, 7);
	assert_int_equal(losses.kept[1].packets, 5);
}

static void
losses_beyond_those_kept_are_counted(void **state)
{
	uint64_t packets = 0;

	(void)state;
	losses = (struct weir_losses){.together_cycles = TOGETHER};
	for (unsigned int i = 0; i < 3 * WEIR_LOSSES_MAX; i++)
		weir_losses_add(&losses, (i + 10) * 2 * TOGETHER, 1);
	for (unsigned int i = 0; i < losses.count; i++)
		packets += losses.kept[i].packets;
	assert_int_equal(losses.count, WEIR_LOSSES_MAX);
	assert_int_equal(packets + losses.left_out_packets, 3 * WEIR_LOSSES_MAX);
}

static void
extremes_are_those_since_they_were_taken_and_quantiles_those_of_all(void **state)
{
	uint64_t min, max;

	(void)state;
	weir_histogram_clear(&histogram);
	weir_histogram_add(&histogram, 10);
	weir_histogram_add(&histogram, 90);
	weir_histogram_take_extremes(&histogram, &min, &max);
	assert_int_equal(min, 10);
	assert_int_equal(max, 90);
	weir_histogram_add(&histogram, 40);
	assert_int_equal(weir_histogram_quantile(&histogram, 1), 90);
	assert_int_equal(weir_histogram_quantile(&histogram, 0), 10);
	weir_histogram_take_extremes(&histogram, &min, &max);
	assert_int_equal(min, 40);
	assert_int_equal(max, 40);
	weir_histogram_take_extremes(&histogram, &min, &max);
	assert_true(min > max);
	assert_int_equal(weir_histogram_min(&histogram), 10);
	assert_int_equal(weir_histogram_max(&histogram), 90);
}

static void
jitter_and_ipdv_begin_anew_when_their_extremes_are_taken(void **state)
{
	(void)state;
	weir_delays_clear(&delays);
	delays.wanted.variation = true;
	weir_delays_add(&delays, 0, 0, 100);
	weir_delays_add(&delays, 1, 0, 900);
	weir_delays_flush(&delays);
	weir_delays_take_extremes(&delays);
	weir_delays_add(&delays, 2, 0, 890);
	assert_int_equal(delays.ipdv_max_cycles, -10);
	assert_int_equal(delays.earlier_ipdv_max_cycles, 800);
	assert_true(delays.jitter_max < delays.earlier_jitter_max);
}

static void
a_run_that_is_finished_counts_as_if_its_time_were_over(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);

	(void)state;
	place(generator);
	place(receiver);
	start_loop();
	for (unsigned int poisson = 0; poisson < 2; poisson++) {
		struct weir_stream_count count;
		struct weir_error error;

		config.poisson = poisson;
		/* Again where the host took the generator's time just before the end. */
		for (unsigned int i = 0; i < 100; i++) {
			weir_loops_stop();
			configure(&config);
			weir_loops_resume();
			start_run(20000, 3600000 * MS_NS, 100 * MS_NS);
			rte_delay_us_sleep(20000);
			assert_int_equal(weir_run_finish(&error), 0);
			count = wait_for_end();
			assert_true(count.offered <= count.intended);
			if (count.offered == count.intended)
				break;
		}
		assert_in_range(count.intended, 200, 20000);
		assert_int_equal(count.offered, count.intended);
		assert_int_equal(count.delivered + count.tx_refused, count.offered);
		assert_int_equal(weir_run_finish(&error), -1);
		assert_string_equal(error.code, "bad_state");
	}
}

static void
a_look_shows_what_is_missing_and_when_it_was_noticed(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_arrivals *arrivals;
	struct weir_stream_interval seen;
	uint64_t start_tsc, ms = rte_get_tsc_hz() / 1000;

	(void)state;
	run_tester(&config);
	start_run(1, MS_NS, 0);
	wait_for_end();
	weir_loops_stop(); /* from here on its counters are the test's */
	arrivals = &weir_stream_at(0)->arrivals;
	arrivals->delays.pacing =
		NULL; /* by their stamps, and not by their numbers at 1 packet/s */
	start_tsc = weir_run_start_tsc();
	weir_arrivals_add(arrivals, 0, start_tsc, start_tsc + ms);
	weir_arrivals_add(arrivals, 5, start_tsc, start_tsc + 7 * ms);
	weir_stream_interval(0, &seen);
	assert_int_equal(seen.missing, 4);
	assert_int_equal(seen.loss_count, 1);
	assert_int_equal(seen.losses[0].packets, 4);
	assert_in_range(seen.losses[0].at_ns, 69 * MS_NS / 10, 71 * MS_NS / 10);
	weir_arrivals_add(arrivals, 3, start_tsc, start_tsc + 8 * ms);
	weir_stream_interval(0, &seen);
	assert_int_equal(seen.missing, 3);
	assert_int_equal(seen.reordered, 1);
	assert_int_equal(seen.loss_count, 0);
	assert_in_range((uint64_t)seen.latency_ns.max, 79 * MS_NS / 10, 81 * MS_NS / 10);
}

#define TESTER(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_close_to_each_other_are_one_loss),
		cmocka_unit_test(losses_beyond_those_kept_are_counted),
		cmocka_unit_test(
			extremes_are_those_since_they_were_taken_and_quantiles_those_of_all),
		cmocka_unit_test(jitter_and_ipdv_begin_anew_when_their_extremes_are_taken),
		TESTER(a_run_that_is_finished_counts_as_if_its_time_were_over),
		TESTER(a_look_shows_what_is_missing_and_when_it_was_noticed),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
