/* SPDX-License-Identifier: Apache-2.0 */
/* Runs from start to end, with the polling loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "engine/loop.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull

static void
all_that_a_run_sends_arrives_once_and_in_order(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_stream_count count;

	(void)state;
	run_tester(&config);
	start_run(100000, 50 * MS_NS, 100 * MS_NS);
	count = wait_for_end();
	assert_int_equal(count.intended, 5000);
	assert_int_equal(count.delivered + count.tx_refused, count.offered);
	assert_int_equal(count.duplicates + count.reordered + count.stale + count.too_late, 0);
	assert_int_equal(count.latency.count, count.delivered);
}

static void
a_burst_sends_exactly_its_packets_as_fast_as_it_can(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	const double rate_pps = 0;
	const struct weir_run_options burst = {
		.rates_pps = &rate_pps,
		.duration_ns = 500 * MS_NS,
		.drain_ns = 100 * MS_NS,
		.packets = 1000,
	};
	struct weir_stream_count count;
	struct weir_error error;

	(void)state;
	run_tester(&config);
	assert_int_not_equal(weir_run_start(&burst, &error), -1);
	count = wait_for_end();
	assert_int_equal(count.intended, 1000);
	assert_int_equal(count.offered, 1000);
	assert_int_equal(count.delivered + count.tx_refused, 1000);
	assert_true(weir_run_tx_duration_ns() < 100 * MS_NS);
}

static void
a_schedule_is_refused_of_no_rate_and_of_times_that_do_not_go_up(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	const double none = 0, some = 1000;
	const struct weir_rate_change changes[] = {{MS_NS / 2, 2}, {MS_NS / 2, 1}};
	struct weir_run_options run = {
		.rates_pps = &none,
		.duration_ns = MS_NS,
		.then = changes,
		.then_count = 1,
	};
	struct weir_error error;

	(void)state;
	place(generator);
	configure(&config);
	start_loop();
	assert_int_equal(weir_run_start(&run, &error), -1);
	assert_string_equal(error.where, "then");
	run.rates_pps = &some;
	run.then_count = 2;
	assert_int_equal(weir_run_start(&run, &error), -1);
	assert_string_equal(error.message, "change 2 is not behind the one before it");
}

/* 10 ms at 20,000 packets a second, 10 ms of nothing, 10 ms at 60,000, then 10 ms at 10,000. */
static struct weir_stream_count
run_of_a_schedule(bool poisson)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	const double rate_pps = 20000;
	const struct weir_rate_change changes[] = {
		{10 * MS_NS, 0}, {20 * MS_NS, 3}, {30 * MS_NS, 0.5}};
	const struct weir_run_options scheduled = {
		.rates_pps = &rate_pps,
		.duration_ns = 40 * MS_NS,
		.drain_ns = 100 * MS_NS,
		.then = changes,
		.then_count = 3,
	};
	struct weir_stream_count count;
	struct weir_error error;

	config.poisson = poisson;
	run_tester(&config);
	assert_int_not_equal(weir_run_start(&scheduled, &error), -1);
	count = wait_for_end();
	/* Without the core at the end the last of them may be missing. */
	assert_in_range(count.offered, 0, count.intended);
	assert_int_equal(count.delivered + count.tx_refused, count.offered);
	return count;
}

static void
a_run_sends_what_its_schedule_asks_for(void **state)
{
	(void)state;
	assert_int_equal(run_of_a_schedule(false).intended, 900);
}

static void
a_poisson_run_follows_its_schedule_in_the_mean(void **state)
{
	(void)state;
	assert_in_range(run_of_a_schedule(true).intended, 900 - 5 * 30, 900 + 5 * 30);
}

static void
a_poisson_run_intends_what_its_process_draws(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	unsigned int others = 0;

	(void)state;
	config.poisson = true;
	config.to_port_id = WEIR_NOWHERE;
	place(generator);
	place(receiver); /* keeps the ring empty */
	configure(&config);
	start_loop();
	for (unsigned int i = 0; i < 10; i++) {
		struct weir_stream_count count;

		start_run(20000, 20 * MS_NS, 0);
		count = wait_for_end();
		assert_in_range(count.intended, 400 - 5 * 20, 400 + 5 * 20);
		assert_true(count.offered <= count.intended); /* fewer on a busy machine */
		others += count.intended != 400;
	}
	assert_in_range(others, 5, 10);
}

static uint64_t awake_tsc;

/* Is slow in its first poll of a run. */
static uint32_t
oversleep(struct weir_area *area, uint64_t now_tsc)
{
	(void)area;
	(void)now_tsc;
	if (awake_tsc == 0 && weir_stream_at(0)->sender.epoch != 0) {
		rte_delay_us_sleep(20000);
		awake_tsc = rte_rdtsc();
	}
	return 0;
}

static void
the_clock_starts_when_the_loops_run(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	/* The loop polls it until free_tester(). */
	static struct weir_area slow = {.poll = oversleep, .name = "slow"};

	(void)state;
	slow.core = weir_core_number(0);
	place(&slow);
	place(generator);
	configure(&config);
	start_loop();
	start_run(1000, 5 * MS_NS, 0);
	assert_int_not_equal(awake_tsc, 0);
	assert_true(weir_stream_at(0)->sender.pacing.start_tsc >= awake_tsc);
	weir_loops_stop();
}

static void
the_counts_stand_once_the_run_is_done(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_stream_count before, after;
	struct rte_mbuf *late;

	(void)state;
	run_tester(&config);
	start_run(10000, 10 * MS_NS, 100 * MS_NS);
	before = wait_for_end();
	/* One that the system under test held back. */
	assert_true(weir_sender_fill(&weir_stream_at(0)->sender, &late, 1));
	assert_int_equal(weir_queue_transmit(&wire, &late, 1), 1);
	rte_delay_us_sleep(20000);
	weir_loops_pass();
	weir_stream_counted(0, &after);
	assert_int_equal(after.too_late, 1);
	assert_int_equal(after.delivered, before.delivered);
	assert_int_equal(after.latency.count, before.latency.count);
}

static void
a_stopped_run_has_ended_and_sends_no_more(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	uint64_t offered;

	(void)state;
	run_tester(&config);
	start_run(10000, 1000 * MS_NS, 0);
	rte_delay_us_sleep(20000);
	weir_loops_stop();
	weir_run_stop();
	assert_int_equal(weir_run_poll(), WEIR_RUN_STOPPED);
	offered = weir_stream_at(0)->sender.offered;
	weir_loops_resume();
	rte_delay_us_sleep(20000);
	assert_int_equal(weir_stream_at(0)->sender.offered, offered);
	start_run(10000, 10 * MS_NS, 100 * MS_NS);
	assert_int_equal(wait_for_end().intended, 100);
}

static void
a_second_run_is_refused_while_one_goes_on(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_error error;
	double rate_pps = 1;
	const struct weir_run_options second = {.rates_pps = &rate_pps, .duration_ns = MS_NS};

	(void)state;
	place(generator);
	configure(&config);
	start_loop();
	start_run(10000, 1000 * MS_NS, 0);
	assert_int_equal(weir_run_start(&second, &error), -1);
	assert_string_equal(error.code, "bad_state");
	assert_int_equal(weir_streams_configure(&config, 1, &error), -1);
	assert_string_equal(error.code, "bad_state");
}

#define TESTER(test) cmocka_unit_test_setup_teardown(test, make_tester, free_tester)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TESTER(all_that_a_run_sends_arrives_once_and_in_order),
		TESTER(a_burst_sends_exactly_its_packets_as_fast_as_it_can),
		TESTER(a_schedule_is_refused_of_no_rate_and_of_times_that_do_not_go_up),
		TESTER(a_run_sends_what_its_schedule_asks_for),
		TESTER(a_poisson_run_follows_its_schedule_in_the_mean),
		TESTER(a_poisson_run_intends_what_its_process_draws),
		TESTER(the_clock_starts_when_the_loops_run),
		TESTER(the_counts_stand_once_the_run_is_done),
		TESTER(a_stopped_run_has_ended_and_sends_no_more),
		TESTER(a_second_run_is_refused_while_one_goes_on),
	};

	return cmocka_run_group_tests(tests, start_eal, NULL);
}
