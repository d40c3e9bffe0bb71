/* SPDX-License-Identifier: Apache-2.0 */
/* A shaper in a chain between two rings, with a clock of the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/eal.h"
#include "testing/packet.h"
#include "testing/report.h"
#include "testing/wired.h"

extern const struct weir_nf weir_nf_shaper;

#define PACKET_BYTES 1000 /* of IP */

static void
start(const char *tenants, const char *queue_packets)
{
	const char *const options[][2] = {
		{"tenants", tenants}, {"queue_packets", queue_packets}, {NULL, NULL}};

	weir_test_wire(&weir_nf_shaper, options);
}

static void
offer(const char *src, unsigned int count)
{
	static const uint8_t payload[PACKET_BYTES];
	const struct weir_test_ipv4 what = {
		.src = src, .payload = payload, .payload_bytes = PACKET_BYTES - 28};

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(rte_ring_enqueue(weir_test_wired.in, weir_test_ipv4_packet(&what)),
				 0);
}

/* Packets that leave in one poll; `last` is the last byte of the source of the last one. */
static unsigned int
poll_once(uint8_t *last)
{
	struct rte_mbuf *packet;
	unsigned int count = 0;

	weir_test_poll_wired();
	for (; rte_ring_dequeue(weir_test_wired.out, (void **)&packet) == 0; count++) {
		if (last != NULL)
			*last = rte_pktmbuf_mtod(packet, uint8_t *)[29];
		rte_pktmbuf_free(packet);
	}
	return count;
}

/* Packets that leave in so much time, polled every `step_us`; their tenant always has more. */
static unsigned int
run_full(const char *src, double us, double step_us)
{
	unsigned int left = 0;

	for (double t = 0; t < us; t += step_us) {
		offer(src, 2);
		left += poll_once(NULL);
		weir_test_pass_us(step_us);
	}
	return left;
}

static void
test_a_burst_passes_at_once_and_the_rest_at_the_rate(void **state)
{
	unsigned int sent = 0;

	(void)state;
	start("10.1.0.0/16 rate_bps=8000000 burst_bytes=5000", "256");
	offer("10.1.0.1", 20);
	assert_int_equal(poll_once(NULL), 5);
	assert_int_equal(weir_test_wired_ledger()->held, 15);
	for (unsigned int ms = 0; ms < 10; ms++) {
		weir_test_pass_us(990);
		sent += poll_once(NULL);
		assert_int_equal(sent, ms); /* none comes early */
		weir_test_pass_us(10.1);
		sent += poll_once(NULL);
		assert_int_equal(sent, ms + 1);
	}
}

static void
test_a_burst_worth_hours_of_the_rate_passes_at_once(void **state)
{
	(void)state;
	start("10.1.0.0/16 rate_bps=1000 burst_bytes=1000000", "64"); /* 8,000 s */
	for (unsigned int i = 0; i < 10; i++) {
		offer("10.1.0.1", 100);
		for (unsigned int left = 0; left < 100;) {
			unsigned int now = poll_once(NULL);

			assert_int_not_equal(now, 0);
			left += now;
		}
	}
	offer("10.1.0.1", 1);
	assert_int_equal(poll_once(NULL), 0);
}

static void
test_the_rate_is_right_within_half_a_percent(void **state)
{
	static const struct {
		const char *tenants;
		double bps, step_us;
	} cases[] = {
		{"10.1.0.0/16 rate_bps=1000000", 1e6, 500},
		{"10.1.0.0/16 rate_bps=33333333", 33333333, 100},
		{"10.1.0.0/16 rate_bps=1000000000", 1e9, 10},
		{"10.1.0.0/16 rate_bps=10000000000 burst_bytes=20000", 1e10, 1},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		double us = 4000 * cases[i].step_us;
		double expected = cases[i].bps * us / 1e6 / 8 / PACKET_BYTES;

		start(cases[i].tenants, "64");
		run_full("10.1.0.1", us / 10, cases[i].step_us); /* the first burst */
		assert_in_range(run_full("10.1.0.1", us, cases[i].step_us), expected * 0.995 - 1,
				expected * 1.005 + 1);
	}
}

static void
test_irregular_polls_do_not_change_the_rate(void **state)
{
	unsigned int sent = 0;
	uint32_t random = 1;
	double us = 0;

	(void)state;
	start("10.1.0.0/16 rate_bps=100000000", "64");
	run_full("10.1.0.1", 10000, 50);
	while (us < 200000) {
		double step_us;

		random = random * 1664525 + 1013904223;
		step_us = 1 + (random >> 16) % 300;
		offer("10.1.0.1", 8);
		sent += poll_once(NULL);
		weir_test_pass_us(step_us);
		us += step_us;
	}
	assert_in_range(sent, 12.5 * us / PACKET_BYTES * 0.995, 12.5 * us / PACKET_BYTES * 1.005);
}

static void
test_a_poll_that_comes_later_than_a_burst_takes_costs_no_rate(void **state)
{
	unsigned int sent = 0;

	(void)state;
	start("10.1.0.0/16 rate_bps=80000000 burst_bytes=1000", "256"); /* a packet each 100 us */
	offer("10.1.0.1", 100);
	poll_once(NULL);
	for (unsigned int i = 0; i < 3; i++) {
		weir_test_pass_us(3001);
		sent += poll_once(NULL);
	}
	assert_in_range(sent, 89, 91);
}

static void
test_a_full_queue_drops_and_every_packet_is_accounted_for(void **state)
{
	const char *const dropped[] = {"10.1.0.0/16", "outbound", "dropped", NULL};
	const struct weir_stage_ledger *counts;

	(void)state;
	start("10.1.0.0/16 rate_bps=8000000 burst_bytes=5000", "10");
	offer("10.1.0.1", 30);
	assert_int_equal(poll_once(NULL), 5);
	counts = weir_test_wired_ledger();
	assert_int_equal(counts->held, 10);
	assert_int_equal(counts->drops[0], 15);
	assert_int_equal(weir_test_counted(&weir_nf_shaper,
					   weir_test_wired.chain->paths[0].stages[0].state, dropped)
				 .packets,
			 15);
	weir_test_pass_us(3001);
	assert_int_equal(poll_once(NULL), 3);
	assert_int_equal(counts->packets_in, counts->packets_out + counts->drops[0] + counts->held);
	assert_int_equal(weir_test_wired.chain->paths[0].out.tx_packets, 8);
}

static void
test_tenants_get_their_own_rates_whatever_others_send(void **state)
{
	unsigned int greedy = 0, modest = 0;

	(void)state;
	start("10.1.0.0/24 rate_bps=8000000 burst_bytes=1000,"
	      "10.1.1.0/24 rate_bps=8000000 burst_bytes=1000",
	      "64");
	for (unsigned int ms = 0; ms < 100; ms++) {
		offer("10.1.0.1", 20);
		offer("10.1.1.2", 1);
		for (unsigned int i = 0; i < 10; i++) {
			struct rte_mbuf *packet;

			weir_test_poll_wired();
			while (rte_ring_dequeue(weir_test_wired.out, (void **)&packet) == 0) {
				bool is_greedy = rte_pktmbuf_mtod(packet, uint8_t *)[29] == 1;

				greedy += is_greedy;
				modest += !is_greedy;
				rte_pktmbuf_free(packet);
			}
			weir_test_pass_us(100.1);
		}
	}
	assert_in_range(modest, 99, 100);
	assert_in_range(greedy, 99, 101);
}

static void
test_a_tenants_packets_stay_in_order(void **state)
{
	static const uint8_t payload[PACKET_BYTES];
	struct rte_mbuf *packet;
	uint16_t next = 0;

	(void)state;
	start("10.0.0.0/8 rate_bps=8000000 burst_bytes=3000", "64");
	for (uint16_t i = 0; i < 40; i++) {
		const struct weir_test_ipv4 what = {.src = "10.1.0.1",
						    .identification = i,
						    .payload = payload,
						    .payload_bytes = i % 3 * 400};

		rte_ring_enqueue(weir_test_wired.in, weir_test_ipv4_packet(&what));
		weir_test_poll_wired();
		weir_test_pass_us(100);
	}
	for (unsigned int i = 0; i < 200; i++, weir_test_pass_us(500))
		weir_test_poll_wired();
	while (rte_ring_dequeue(weir_test_wired.out, (void **)&packet) == 0) {
		const uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);

		assert_int_equal(frame[18] << 8 | frame[19], next++);
		rte_pktmbuf_free(packet);
	}
	assert_int_equal(next, 40);
}

static void
test_a_packet_larger_than_the_burst_passes_and_is_paid_for(void **state)
{
	(void)state;
	start("10.1.0.0/16 rate_bps=8000000 burst_bytes=100", "64");
	offer("10.1.0.1", 2);
	assert_int_equal(poll_once(NULL), 1);
	weir_test_pass_us(990);
	assert_int_equal(poll_once(NULL), 0);
	weir_test_pass_us(11);
	assert_int_equal(poll_once(NULL), 1);
}

static void
test_packets_of_no_tenant_pass_at_once(void **state)
{
	uint8_t last = 0;

	(void)state;
	start("10.1.0.0/16 rate_bps=8000", "64");
	offer("192.0.2.77", 32);
	assert_int_equal(poll_once(&last), 32);
	assert_int_equal(last, 77);
}

static void
test_packets_that_still_wait_are_freed_with_the_chain(void **state)
{
	unsigned int before;

	(void)state;
	weir_test_unwire(state);
	before = rte_mempool_avail_count(weir_test_pool());
	start("10.1.0.0/16 rate_bps=8000 burst_bytes=1000", "64");
	offer("10.1.0.1", 30);
	assert_int_equal(poll_once(NULL), 1);
	weir_test_unwire(state);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), before);
}

static void
test_two_paths_of_one_direction_cannot_share_a_shaper(void **state)
{
	struct weir_error error;

	(void)state;
	start("10.1.0.0/16 rate_bps=8000", "64");
	weir_test_wired.chain->paths[1] = weir_test_wired.chain->paths[0];
	weir_test_wired.chain->paths[1].stages[0].shares_state = true;
	weir_test_wired.chain->path_count = 2;
	assert_int_equal(weir_chain_complete(weir_test_wired.chain, 0, &error), -1);
	weir_test_wired.chain->paths[1].direction = WEIR_INBOUND;
	assert_int_equal(weir_chain_complete(weir_test_wired.chain, 0, &error), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_passes_at_once_and_the_rest_at_the_rate),
		cmocka_unit_test(test_a_burst_worth_hours_of_the_rate_passes_at_once),
		cmocka_unit_test(test_the_rate_is_right_within_half_a_percent),
		cmocka_unit_test(test_irregular_polls_do_not_change_the_rate),
		cmocka_unit_test(test_a_poll_that_comes_later_than_a_burst_takes_costs_no_rate),
		cmocka_unit_test(test_a_full_queue_drops_and_every_packet_is_accounted_for),
		cmocka_unit_test(test_tenants_get_their_own_rates_whatever_others_send),
		cmocka_unit_test(test_a_tenants_packets_stay_in_order),
		cmocka_unit_test(test_a_packet_larger_than_the_burst_passes_and_is_paid_for),
		cmocka_unit_test(test_packets_of_no_tenant_pass_at_once),
		cmocka_unit_test(test_packets_that_still_wait_are_freed_with_the_chain),
		cmocka_unit_test(test_two_paths_of_one_direction_cannot_share_a_shaper),
	};

	return cmocka_run_group_tests_name("shaper", tests, weir_test_eal, weir_test_unwire);
}
