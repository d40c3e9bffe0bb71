/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lean/chain_fixture_test.h"
#include "lean/core_clock.h"
#include "lean/slowdown.h"
#include "testing/eal.h"
#include "testing/packet.h"

#define BATCHES 256

static void
every_packet_is_accounted_for_and_every_buffer_comes_back(void **state)
{
	unsigned int free_before = rte_mempool_avail_count(weir_test_pool());
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.packets, BATCHES * WEIR_BURST);
	assert_int_equal(timed.stages[0].packets_in, timed.packets);
	assert_int_equal(timed.stages[0].drops[0], timed.packets / 2);
	assert_int_equal(timed.stages[1].packets_in, timed.packets / 2);
	assert_int_equal(timed.stages[1].drops[0], timed.packets / 4);
	assert_int_equal(timed.stages[1].packets_out, timed.forwarded);
	assert_int_equal(timed.forwarded, timed.packets / 4);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), free_before);
}

static void
cycles_of_stages_lie_within_those_of_the_path(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_warm_up(&lean);
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.cycled, (timed.batches - timed.interrupted) * WEIR_BURST);
	assert_true(timed.stages[0].cycles > 0 && timed.stages[1].cycles > 0);
	assert_true(timed.stages[0].cycles + timed.stages[1].cycles <= timed.cycles);
	assert_true(timed.middle > 0);
	assert_true(timed.core_per_tsc > 0.1 && timed.core_per_tsc < 10);
}

static void
a_batch_that_took_far_longer_than_usual_is_left_out_of_the_cycles(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	lean.threshold_cycles = 0;
	weir_lean_time(&lean, BATCHES, &timed);
	assert_int_equal(timed.interrupted, BATCHES);
	assert_int_equal(timed.cycles, 0);
	assert_int_equal(timed.packets, BATCHES * WEIR_BURST);
}

static void
the_functions_clock_advances_by_the_batch(void **state)
{
	uint64_t before = lean.now_tsc;
	struct weir_lean_timed timed;

	(void)state;
	weir_lean_time(&lean, 1, &timed);
	uint64_t step = lean.now_tsc - before;

	weir_lean_time(&lean, 100, &timed);
	assert_int_equal(lean.now_tsc, before + 101 * step);
}

#define ADDITIONS 4000 /* of a stage that the machine's pace changes as it does what is added */
#define ROUNDS 99

static void
add(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	(void)state;
	(void)batch;
	(void)actions;
	weir_core_clock_add(ADDITIONS);
}

static const struct weir_nf adder = {.name = "adder", .returns = true, .decide = add};

static struct weir_lean_timed
time_path(bool slowed)
{
	struct weir_lean_timed timed;

	weir_slowdown_switch(slowed);
	weir_lean_time(&lean, 256, &timed);
	return timed;
}

static int
by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double
median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_size);
	return values[ROUNDS / 2];
}

/* By what the stage takes by itself, in turn: a machine changes its pace for both, and what it adds
 * to a batch, as memory that is far, the slowdown multiplies too. */
static void
a_stage_is_made_slower_by_what_was_asked_and_the_others_are_not(void **state)
{
	const struct weir_nf *halver = lean.path->stages[1].nf;
	double times_as_slow[ROUNDS], first_as_slow[ROUNDS], slowed;

	(void)state;
	assert_int_equal(weir_slowdown_stage(lean.path, "second"), 1);
	assert_int_equal(weir_slowdown_stage(lean.path, "halver"), 0);
	assert_int_equal(weir_slowdown_stage(lean.path, "third"), -1);
	lean.path->stages[1].nf = &adder;
	weir_lean_warm_up(&lean);
	weir_slowdown_begin(&lean, 1, 300, NAN);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct weir_lean_timed slow = time_path(true), plain = time_path(false);

		times_as_slow[i] = slow.stages[1].middle / plain.stages[1].middle;
		first_as_slow[i] = slow.stages[0].middle / plain.stages[0].middle;
	}
	slowed = median(times_as_slow);
	print_message("%.2f times as slow, asked for 4; the stage before it %.2f\n", slowed,
		      median(first_as_slow));
	assert_true(slowed > 0.9 * 4 && slowed < 1.1 * 4);
	assert_true(median(first_as_slow) < 1.5);
	assert_ptr_equal(lean.path->stages[1].nf, &adder);
	lean.path->stages[1].nf = halver;
}

static void
counting_runs_the_path_and_each_of_its_stages(void **state)
{
	struct weir_lean_counted counted[WEIR_LEAN_TARGETS_MAX] = {0};
	struct weir_probe probe = {0};

	(void)state;
	assert_int_equal(weir_lean_count(&lean, &probe, 2, counted), 4);
	assert_string_equal(counted[0].label, "empty");
	assert_string_equal(counted[1].label, "path");
	assert_string_equal(counted[3].label, "stage 1");
	assert_int_equal(counted[3].packets, 2 * WEIR_BURST);
}

static void
first_packets_come_once_a_flow_and_before_all_others(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	assert_int_equal(lean.first_count, 96); /* of 100 flows, in whole batches */
	for (unsigned int i = 0; i < lean.first_count; i++) {
		for (unsigned int j = 0; j < i; j++)
			assert_memory_not_equal(frames.bytes + frames.offset[lean.first[i]],
						frames.bytes + frames.offset[lean.first[j]], 42);
	}
	assert_int_equal(weir_lean_first(&lean, 8, &timed), 3);
	assert_int_equal(timed.packets, 96);
	assert_int_equal(timed.stages[0].packets_in, 96);
	assert_true(timed.cycles > 0);
	assert_int_equal(lean.next_first, lean.first_count);
}

static void
fewer_first_packets_are_timed_where_fewer_were_stepped_through(void **state)
{
	struct weir_lean_timed timed;

	(void)state;
	assert_int_equal(weir_lean_first(&lean, 1, &timed), 1);
	assert_int_equal(timed.packets, WEIR_BURST);
	assert_int_equal(lean.next_first, lean.first_count); /* the others passed too */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CHAIN(every_packet_is_accounted_for_and_every_buffer_comes_back),
		WITH_CHAIN(cycles_of_stages_lie_within_those_of_the_path),
		WITH_CHAIN(a_batch_that_took_far_longer_than_usual_is_left_out_of_the_cycles),
		WITH_CHAIN(the_functions_clock_advances_by_the_batch),
		WITH_CHAIN(a_stage_is_made_slower_by_what_was_asked_and_the_others_are_not),
		WITH_CHAIN(counting_runs_the_path_and_each_of_its_stages),
		WITH_CHAIN(first_packets_come_once_a_flow_and_before_all_others),
		WITH_CHAIN(fewer_first_packets_are_timed_where_fewer_were_stepped_through),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
