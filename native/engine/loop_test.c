/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of a polling loop, and who is told to have made them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "loop.h"
#include "stage.h"
#include "testing/eal.h"

#define THRESHOLD_US 1000
#define GAP_US 5000
#define GAPS 10

static uint64_t gap_us = GAP_US;
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
		rte_delay_us_sleep(gap_us);
	else
		rte_delay_us_block(gap_us);
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
	struct weir_stalls stalls;

	(void)state;
	/* Again where the host took the core in most of them, too. */
	for (unsigned int i = 0; i < 20; i++) {
		stalls = run(false, true);
		assert_true(stalls.count >= GAPS);
		if (area.ledger.long_polls >= GAPS / 2)
			break;
	}
	assert_in_range(area.ledger.long_polls, GAPS / 2, GAPS);
	assert_true(area.ledger.long_cycles >= area.ledger.long_polls * (rte_get_tsc_hz() / 200));
}

static void
a_stages_batch_that_takes_as_long_as_a_stall_is_counted_apart(void **state)
{
	struct weir_stage_ledger ledger = {0};
	uint64_t threshold;

	(void)state;
	run(false, true);
	threshold = weir_long_batch_cycles;
	assert_true(threshold > 0 && threshold < rte_get_tsc_hz());
	weir_stage_count_cycles(&ledger, threshold);
	assert_int_equal(ledger.long_cycles, 0);
	weir_stage_count_cycles(&ledger, threshold + 1);
	assert_int_equal(ledger.long_cycles, threshold + 1);
	assert_int_equal(ledger.cycles, 2 * threshold + 1);
}

static void
a_gap_without_packets_and_without_proof_is_nobodys(void **state)
{
	struct weir_stalls stalls = run(false, false);

	(void)state;
	assert_true(stalls.count >= GAPS);
	assert_int_equal(area.ledger.long_polls, 0);
}

/* The gaps of one run of the loop that are as long as those planted. */
static unsigned int
planted_gaps(bool asleep, struct weir_gap *planted)
{
	struct weir_gap gaps[WEIR_GAPS_KEPT];
	uint64_t from = 0, next;
	unsigned int count, found = 0;

	weir_core_gaps(0, 0, gaps, &from);
	run(asleep, true);
	count = weir_core_gaps(0, from, gaps, &next);
	assert_int_equal(next - from, count);
	for (unsigned int i = 0; i < count && found < GAPS; i++) {
		if (gaps[i].cycles >= GAP_US * rte_get_tsc_hz() / 1000000)
			planted[found++] = gaps[i];
	}
	return found;
}

static void
each_gap_is_kept_with_its_time_and_whose_it_was(void **state)
{
	struct weir_gap gaps[GAPS];
	uint64_t last_tsc = 0;
	unsigned int areas = 0;

	(void)state;
	assert_int_equal(planted_gaps(true, gaps), GAPS);
	for (unsigned int i = 0; i < GAPS; i++) {
		assert_true(gaps[i].end_tsc > last_tsc);
		last_tsc = gaps[i].end_tsc;
		assert_true(gaps[i].host_cycles > 0);
		assert_null(gaps[i].area);
	}
	for (unsigned int round = 0; round < 20 && areas == 0; round++) {
		assert_int_equal(planted_gaps(false, gaps), GAPS);
		for (unsigned int i = 0; i < GAPS; i++)
			areas += gaps[i].area == area.name;
	}
	assert_true(areas > 0); /* the real host may take the core in some of them */
}

static void
gaps_beyond_those_kept_are_the_oldest(void **state)
{
	struct weir_gap gaps[WEIR_GAPS_KEPT];
	uint64_t end, next;

	(void)state;
	weir_core_gaps(0, 0, gaps, &end);
	assert_true(end > 0);
	assert_int_equal(weir_core_gaps(0, end, gaps, &next), 0);
	assert_int_equal(next, end);
	gap_us = THRESHOLD_US + 100;
	for (unsigned int i = 0; i < WEIR_GAPS_KEPT / GAPS + 1; i++)
		run(true, false);
	gap_us = GAP_US;
	assert_in_range(weir_core_gaps(0, end, gaps, &next), WEIR_GAPS_KEPT - 1, WEIR_GAPS_KEPT);
	assert_true(next - end > WEIR_GAPS_KEPT);
}

/* As many as time allows: none while the area had the core. */
static void
a_loop_times_pieces_of_work_between_its_polls(void **state)
{
	struct weir_core_speed before = weir_core_speed_of(0), after;
	uint64_t pieces;

	(void)state;
	run(false, true);
	after = weir_core_speed_of(0);
	pieces = after.pieces - before.pieces;
	assert_in_range(pieces, GAPS / 2, 10 * WEIR_CORE_SPEED_PER_S);
	assert_in_range((after.cycles - before.cycles) / pieces, WEIR_CORE_SPEED_STEPS / 4,
			64 * WEIR_CORE_SPEED_STEPS);
}

#define CHANGES 5000

/* What an area reads in each poll, and somebody else puts another in the place of. */
struct shared {
	bool freed;
};

static struct shared *published;
static uint64_t used_freed;

static uint32_t
read_published(struct weir_area *reader, uint64_t now_tsc)
{
	const struct shared *seen = __atomic_load_n(&published, __ATOMIC_RELAXED);

	(void)reader;
	(void)now_tsc;
	if (__atomic_load_n(&seen->freed, __ATOMIC_RELAXED))
		weir_count(&used_freed, 1);
	return 0;
}

static void
what_was_taken_out_before_a_pass_is_used_by_no_loop_after_it(void **state)
{
	static const struct weir_loop_options options = {.stall_threshold_us = {THRESHOLD_US}};
	static struct weir_area reader = {.poll = read_published, .name = "reader"};
	struct shared pair[2] = {0};
	struct weir_error error;

	(void)state;
	published = &pair[0];
	reader.core = weir_core_number(0);
	assert_int_equal(weir_area_add(&reader, &error), 0);
	weir_loops_start(&options);
	for (unsigned int i = 1; i <= CHANGES; i++) {
		__atomic_store_n(&pair[i % 2].freed, false, __ATOMIC_RELAXED);
		__atomic_store_n(&published, &pair[i % 2], __ATOMIC_RELEASE);
		weir_loops_pass();
		__atomic_store_n(&pair[(i + 1) % 2].freed, true, __ATOMIC_RELAXED);
	}
	weir_loops_stop();
	weir_areas_clear();
	assert_int_equal(used_freed, 0);
}

/* How often this thread went to sleep. */
static long
sleeps_so_far(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

static void
who_waits_for_a_loop_to_stop_leaves_the_core_to_others(void **state)
{
	static const struct weir_loop_options options = {.stall_threshold_us = {THRESHOLD_US}};
	struct weir_error error;
	long before;

	(void)state;
	area.core = weir_core_number(0);
	sleeps = true;
	gap_us = 200000;
	gaps_left = 1;
	assert_int_equal(weir_area_add(&area, &error), 0);
	weir_loops_start(&options);
	while (__atomic_load_n(&gaps_left, __ATOMIC_ACQUIRE) > 0)
		rte_delay_us_sleep(100);
	before = sleeps_so_far();
	weir_loops_stop();
	assert_true(sleeps_so_far() - before >= 2);
	weir_areas_clear();
	gap_us = GAP_US;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_while_the_core_was_away_is_the_hosts),
		cmocka_unit_test(a_gap_in_which_an_area_worked_on_packets_is_the_areas),
		cmocka_unit_test(a_stages_batch_that_takes_as_long_as_a_stall_is_counted_apart),
		cmocka_unit_test(a_gap_without_packets_and_without_proof_is_nobodys),
		cmocka_unit_test(each_gap_is_kept_with_its_time_and_whose_it_was),
		cmocka_unit_test(gaps_beyond_those_kept_are_the_oldest),
		cmocka_unit_test(who_waits_for_a_loop_to_stop_leaves_the_core_to_others),
		cmocka_unit_test(a_loop_times_pieces_of_work_between_its_polls),
		cmocka_unit_test(what_was_taken_out_before_a_pass_is_used_by_no_loop_after_it),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
