/* SPDX-License-Identifier: Apache-2.0 */
/* What impair plants is what happens, by a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/eal.h"
#include "testing/packet.h"
#include "testing/wired.h"

extern const struct weir_nf weir_nf_impair;

static void
wire(const char *name, const char *text, const char *second_name, const char *second_text)
{
	const char *const options[][2] = {
		{name, text}, {second_name, second_text}, {"delay_ns", "100000"}, {NULL, NULL}};

	weir_test_wire(&weir_nf_impair, options);
}

static void
offer(unsigned int count, uint16_t identification)
{
	const struct weir_test_ipv4 what = {.identification = identification};

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(rte_ring_enqueue(weir_test_wired.in, weir_test_ipv4_packet(&what)),
				 0);
}

/* Offers one packet and returns after how many microseconds it leaves. */
static unsigned int
held_us(void)
{
	offer(1, 0);
	for (unsigned int us = 0; us < 10000; us++, weir_test_pass_us(1)) {
		if (weir_test_poll_and_free() == 1)
			return us;
	}
	fail_msg("it never left");
	return 0;
}

static void
a_packet_leaves_when_its_delay_is_over_and_not_before(void **state)
{
	(void)state;
	wire("seed", "1", "seed", "1");
	assert_in_range(held_us(), 100, 101);
	assert_int_equal(weir_test_wired_ledger()->held, 0);
}

/* The loop reads the time, and then it receives: the host may take the core away in between. */
static void
a_packet_that_came_after_the_time_was_read_is_held_as_long(void **state)
{
	(void)state;
	wire("seed", "1", "seed", "1");
	offer(1, 0);
	weir_test_poll_and_free();
	weir_test_pass_us(60); /* it came in these */
	assert_int_equal(weir_test_poll_and_free(), 0);
	weir_test_pass_us(99);
	assert_int_equal(weir_test_poll_and_free(), 0);
	weir_test_pass_us(2);
	assert_int_equal(weir_test_poll_and_free(), 1);
}

static void
alternate_delays_differ_by_the_spread_in_turn(void **state)
{
	(void)state;
	wire("distribution", "alternate", "spread_ns", "50000");
	for (unsigned int i = 0; i < 4; i++) {
		assert_in_range(held_us(), 100, 101);
		assert_in_range(held_us(), 150, 151);
	}
}

/* A dropped packet takes no turn. */
static void
alternate_delays_differ_in_turn_whatever_is_planted_to_drop(void **state)
{
	static const char *const every[] = {"2", "4"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(every); i++) {
		const char *const options[][2] = {
			{"distribution", "alternate"},
			{"spread_ns", "50000"},
			{"delay_ns", "100000"},
			{"drop_every", every[i]},
			{NULL, NULL},
		};
		unsigned int left = 0;

		weir_test_wire(&weir_nf_impair, options);
		for (unsigned int sent = 1; left < 6; sent++) {
			if (sent % strtoul(every[i], NULL, 10) == 0) {
				offer(1, 0);
				assert_int_equal(weir_test_poll_and_free(), 0);
				assert_int_equal(weir_test_wired_ledger()->held, 0);
				continue;
			}
			assert_in_range(held_us(), left % 2 == 0 ? 100 : 150,
					left % 2 == 0 ? 101 : 151);
			left++;
		}
	}
}

static void
random_delays_have_the_mean_and_the_bounds_that_are_asked_for(void **state)
{
	double sum_us = 0;

	(void)state;
	wire("distribution", "uniform", "spread_ns", "200000");
	for (unsigned int i = 0; i < 2000; i++) {
		unsigned int us = held_us();

		assert_in_range(us, 100, 301);
		sum_us += us;
	}
	assert_in_range(sum_us / 2000, 195, 206); /* 200.5; standard error 1.3 */
	wire("distribution", "exponential", "spread_ns", "100000");
	sum_us = 0;
	for (unsigned int i = 0; i < 2000; i++)
		sum_us += held_us();
	assert_in_range(sum_us / 2000, 190, 211); /* standard error 2.2 */
}

static void
order_is_kept_behind_a_packet_that_waits_longer(void **state)
{
	struct rte_mbuf *packet = NULL;

	(void)state;
	wire("distribution", "alternate", "spread_ns", "50000");
	offer(1, 0);
	weir_test_poll_and_free();
	offer(1, 1); /* waits 150 us */
	weir_test_poll_and_free();
	offer(1, 2); /* would be free after 100 us */
	weir_test_poll_and_free();
	weir_test_poll_and_free();
	weir_test_pass_us(101);
	assert_int_equal(weir_test_poll_and_free(), 1);
	weir_test_pass_us(100);
	weir_test_poll_wired();
	for (uint16_t expected = 1; expected <= 2; expected++) {
		assert_int_equal(rte_ring_dequeue(weir_test_wired.out, (void **)&packet), 0);
		assert_int_equal(rte_pktmbuf_mtod(packet, uint8_t *)[19], expected);
		rte_pktmbuf_free(packet);
	}
}

static void
what_does_not_fit_and_what_is_planted_to_drop_is_counted_so(void **state)
{
	const struct weir_stage_ledger *ledger;

	(void)state;
	wire("queue_packets", "5", "drop_every", "4");
	offer(16, 0);
	weir_test_poll_and_free();
	ledger = weir_test_wired_ledger();
	assert_int_equal(ledger->held, 5);
	assert_int_equal(ledger->drops[1], 4);
	assert_int_equal(ledger->drops[0], 16 - 5 - 4);
	weir_test_poll_and_free();
	weir_test_pass_us(101);
	assert_int_equal(weir_test_poll_and_free(), 5);
	assert_int_equal(ledger->packets_in, 16);
	assert_int_equal(ledger->packets_out, 5);
}

static void
what_still_waits_is_freed_with_the_chain(void **state)
{
	unsigned int before;

	(void)state;
	weir_test_unwire(state);
	before = rte_mempool_avail_count(weir_test_pool());
	wire("seed", "1", "seed", "1");
	offer(10, 0);
	weir_test_poll_and_free();
	weir_test_unwire(state);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), before);
}

static uint64_t
cycles_of_one_poll(unsigned int packets)
{
	uint64_t start;

	offer(packets, 0);
	start = rte_rdtsc();
	weir_test_poll_and_free();
	return rte_rdtsc() - start;
}

static void
busy_work_takes_its_time_for_each_packet(void **state)
{
	static const char *const options[][2] = {{"busy_ns", "100000"}, {NULL, NULL}};

	(void)state;
	weir_test_wire(&weir_nf_impair, options);
	assert_true(cycles_of_one_poll(8) >= rte_get_tsc_hz() / 1250);
	assert_int_equal(weir_test_wired_ledger()->packets_out, 8);
}

static void
a_stall_comes_once_in_its_time(void **state)
{
	static const char *const options[][2] = {
		{"stall_us", "2000"}, {"stall_every_ms", "10"}, {NULL, NULL}};
	uint64_t stall_cycles = rte_get_tsc_hz() / 500;
	unsigned int stalls = 0;

	(void)state;
	weir_test_wire(&weir_nf_impair, options);
	for (unsigned int i = 0; i < 45; i++, weir_test_pass_us(1000))
		stalls += cycles_of_one_poll(1) >= stall_cycles;
	assert_in_range(stalls, 4, 6); /* 4, and what the host adds */
}

static void
a_distribution_without_a_spread_is_refused(void **state)
{
	static const struct weir_option_value options[] = {{"distribution", "uniform"}};
	struct weir_error error;

	(void)state;
	assert_null(weir_nf_create(&weir_nf_impair, options, 1, "options", &error));
	assert_string_equal(error.code, "bad_argument");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_leaves_when_its_delay_is_over_and_not_before),
		cmocka_unit_test(a_packet_that_came_after_the_time_was_read_is_held_as_long),
		cmocka_unit_test(alternate_delays_differ_by_the_spread_in_turn),
		cmocka_unit_test(alternate_delays_differ_in_turn_whatever_is_planted_to_drop),
		cmocka_unit_test(random_delays_have_the_mean_and_the_bounds_that_are_asked_for),
		cmocka_unit_test(order_is_kept_behind_a_packet_that_waits_longer),
		cmocka_unit_test(what_does_not_fit_and_what_is_planted_to_drop_is_counted_so),
		cmocka_unit_test(what_still_waits_is_freed_with_the_chain),
		cmocka_unit_test(busy_work_takes_its_time_for_each_packet),
		cmocka_unit_test(a_stall_comes_once_in_its_time),
		cmocka_unit_test(a_distribution_without_a_spread_is_refused),
	};

	return cmocka_run_group_tests_name("impair", tests, weir_test_eal, weir_test_unwire);
}
