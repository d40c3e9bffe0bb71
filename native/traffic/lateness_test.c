/* SPDX-License-Identifier: Apache-2.0 */
/* A generator without its core: how late it sends, what it skips, from when latency counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull

static bool away;
static bool asleep; /* the host takes the core; else an area works */

/* Takes the core away once, for 50 ms, when 1,000 packets have been sent: longer than a busy
 * machine does, and in a run that is ten times as long. */
static uint32_t
go_away(struct weir_area *area, uint64_t now_tsc)
{
	(void)area;
	(void)now_tsc;
	if (!away && weir_stream_at(0)->sender.offered >= 1000) {
		away = true;
		(asleep ? rte_delay_us_sleep : rte_delay_us_block)(50000);
	}
	return 0;
}

/* Otherwise what was held back would look as fast as the rest ("coordinated omission"). */
static void
a_generator_that_was_away_shows_in_its_lateness_and_in_the_latency(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	/* The loop polls it until free_tester(). */
	static struct weir_area absent = {.poll = go_away, .name = "absent"};

	(void)state;
	for (unsigned int poisson = 0; poisson < 2; poisson++) {
		struct weir_stream_count count;

		config.poisson = poisson;
		weir_loops_stop(); /* it would be away at once, for the packets of the run before */
		away = asleep = false;
		weir_areas_clear();
		absent.core = weir_core_number(0);
		place(&absent);
		run_tester(&config);
		start_run(10000, 500 * MS_NS, 100 * MS_NS);
		count = wait_for_end();
		assert_true(away);
		assert_int_equal(count.lateness.count, count.offered);
		assert_true(count.lateness.max >= 49e6);
		assert_true(count.latency.max >= 49e6);
		/* Of some 5,000 packets, 500 were due in these 50 ms: half of them waited 25 ms. */
		assert_true(count.lateness.p99 >= 40e6);
		assert_true(count.latency.p99 >= 40e6);
		assert_true(count.lateness.min < 1e6);
	}
}

/* Of 5,000 packets, 500 are due while the core is away: they are not made up for where slices tell
 * when that was, and they count as due in those slices alone. */
static void
what_was_due_while_the_host_had_the_core_is_skipped_in_a_run_of_slices(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	/* The loop polls it until free_tester(). */
	static struct weir_area absent = {.poll = go_away, .name = "absent"};
	const double rate_pps = 10000;
	const struct weir_run_options sliced = {
		.rates_pps = &rate_pps,
		.duration_ns = 500 * MS_NS,
		.drain_ns = 100 * MS_NS,
		.slice_ns = MS_NS,
		.skip = true,
	};
	uint64_t due = 0, offered = 0, delivered = 0, most_offered = 0;
	struct weir_stream_count count;
	struct weir_error error;

	(void)state;
	/* Again where the host took the core so often that most packets were sent behind a gap. */
	for (unsigned int i = 0; i < 20; i++) {
		weir_loops_stop();
		away = false;
		asleep = true;
		weir_areas_clear();
		absent.core = weir_core_number(0);
		place(&absent);
		run_tester(&config);
		assert_int_not_equal(weir_run_start(&sliced, &error), -1);
		count = wait_for_end();
		if (count.lateness.p90 < 5e6 && count.latency.p90 < 20e6)
			break;
	}
	assert_int_equal(count.intended, 5000);
	/* Those are skipped that were due while the latest packet waited; but the generator may
	 * have its turn before the loop looks at the gap. */
	assert_true(count.lateness.max >= 49e6);
	assert_true(count.offered <= 5000 - (uint64_t)(count.lateness.max * rate_pps / 1e9) + 32);
	assert_int_equal(count.delivered + count.tx_refused, count.offered);
	assert_int_equal(count.duplicates + count.reordered + count.too_late, 0);
	for (unsigned int slice = 0; slice < 500; slice++) {
		struct weir_slice_count found;

		weir_stream_slice(0, slice, &found);
		due += found.due;
		offered += found.offered;
		delivered += found.delivered;
		most_offered = RTE_MAX(most_offered, found.offered);
		assert_true(found.delivered <= found.offered);
		assert_true(found.offered <= found.due);
	}
	assert_int_equal(due, 5000);
	assert_int_equal(offered, count.offered);
	assert_int_equal(delivered, count.delivered);
	assert_int_equal(most_offered, 10);
	/* Nobody made up for it: what was sent was hardly late. */
	assert_true(count.lateness.p90 < 5e6);
	assert_true(count.latency.p90 < 20e6);
}

static void
without_a_rate_nothing_is_late_and_latency_begins_with_the_sending(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_stream_count count;

	(void)state;
	run_tester(&config);
	start_run(0, 5 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_int_equal(count.lateness.count, 0);
	assert_int_equal(count.latency.count, count.delivered);
	assert_true(count.latency.min < 1e6);
	assert_int_equal(count.negative, 0);
}

#define TESTER(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TESTER(a_generator_that_was_away_shows_in_its_lateness_and_in_the_latency),
		TESTER(what_was_due_while_the_host_had_the_core_is_skipped_in_a_run_of_slices),
		TESTER(without_a_rate_nothing_is_late_and_latency_begins_with_the_sending),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
