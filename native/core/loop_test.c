/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of a polling loop, and who is told to have made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "loop.h"
#include "testing/eal.h"

#define THRESHOLD_US 1000
#define GAP_US 5000
#define GAPS 10

static unsigned int gaps_left;
static bool sleeps; /* the core is taken away; else the area works */
static bool had_packets;

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	(void)area;
	(void)now_tsc;
	if (gaps_left == 0)
		return 0;
	__atomic_store_n(&gaps_left, gaps_left - 1, __ATOMIC_RELEASE);
	if (sleeps)
		rte_delay_us_sleep(GAP_US);
	else
		rte_delay_us_block(GAP_US);
	return had_packets;
}

static struct weir_area area = {.poll = poll, .name = "area"};

/* Runs a loop with that many gaps; what it counted about its core. */
static struct weir_stalls
run(bool asleep, bool packets)
{
	static const struct weir_loop_options options = {.stall_threshold_us = {THRESHOLD_US}};
	struct weir_stalls before = weir_core_stalls(0), after;
	struct weir_error error;

	area.core = weir_core_number(0);
	area.ledger = (struct weir_area_ledger){0};
	sleeps = asleep;
	had_packets = packets;
	gaps_left = GAPS;
	assert_int_equal(weir_area_add(&area, &error), 0);
	weir_loops_start(&options);
	while (__atomic_load_n(&gaps_left, __ATOMIC_ACQUIRE) > 0)
		rte_delay_us_sleep(1000);
	weir_loops_pass();
	weir_loops_stop();
	weir_areas_clear();
	after = weir_core_stalls(0);
	after.count -= before.count;
	after.host_count -= before.host_count;
	return after;
}

static void
a_gap_while_the_core_was_away_is_the_hosts(void **state)
{
	struct weir_stalls stalls = run(true, true);

	(void)state;
	assert_true(stalls.count >= GAPS); /* and what the real host adds */
	assert_true(stalls.host_count >= GAPS);
	assert_true(area.ledger.long_polls <= 1);
}

static void
a_gap_in_which_an_area_worked_on_packets_is_the_areas(void **state)
{
	struct weir_stalls stalls = run(false, true);

	(void)state;
	assert_true(stalls.count >= GAPS);
	assert_in_range(area.ledger.long_polls, GAPS / 2, GAPS); /* the host may take some */
	assert_true(area.ledger.long_cycles >= area.ledger.long_polls * (rte_get_tsc_hz() / 200));
}

static void
a_gap_without_packets_and_without_proof_is_nobodys(void **state)
{
	struct weir_stalls stalls = run(false, false);

	(void)state;
	assert_true(stalls.count >= GAPS);
	assert_int_equal(area.ledger.long_polls, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_while_the_core_was_away_is_the_hosts),
		cmocka_unit_test(a_gap_in_which_an_area_worked_on_packets_is_the_areas),
		cmocka_unit_test(a_gap_without_packets_and_without_proof_is_nobodys),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
