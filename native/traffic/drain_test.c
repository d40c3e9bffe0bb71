/* SPDX-License-Identifier: Apache-2.0 */
/* When a run ends behind a system that is slow: with the last packet, and not too long after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "both_ends_fixture_test.h"
#include "fixtures_test.h"
#include "stream.h"

#define MS_NS 1000000ull
#define SLOW_MS 10

static struct weir_stream_count
run_of(uint64_t packets, uint64_t longest_drain_ns)
{
	const double rates_pps[] = {100000, 100000};
	const struct weir_run_options asked = {
		.rates_pps = rates_pps,
		.duration_ns = 500 * MS_NS,
		.drain_ns = 400 * MS_NS,
		.longest_drain_ns = longest_drain_ns,
		.packets = packets,
	};
	struct weir_stream_config configs[2];
	struct weir_stream_count count;
	struct weir_error error;

	both_ways(configs);
	slow_cycles = rte_get_tsc_hz() / 1000 * SLOW_MS;
	run_both_ends(configs);
	assert_int_not_equal(weir_run_start(&asked, &error), -1);
	wait_for_end();
	weir_stream_counted(0, &count);
	return count;
}

static void
what_arrives_later_and_later_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(run_of(20, 0).delivered, 20);
}

static void
a_system_that_is_far_too_slow_holds_no_run_up_for_long(void **state)
{
	const struct weir_stream_count count = run_of(200, 100 * MS_NS);

	(void)state;
	assert_int_equal(count.offered, 200);
	assert_true(count.delivered > 0);
	/* All would take two seconds. */
	assert_true(count.delivered < 200);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_both_ends, free_both_ends)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_arrives_later_and_later_is_waited_for),
		TEST(a_system_that_is_far_too_slow_holds_no_run_up_for_long),
	};

	return cmocka_run_group_tests(tests, start_both_ends, NULL);
}
