/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum bit rates: what passes is what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/eal.h"
#include "testing/report.h"
#include "upf_fixture_test.h"

/* 8 kbit/s are 1,000 bytes a second; a packet has 528. */
static void
a_session_gets_its_maximum_bit_rate_and_others_are_not_held_back(void **state)
{
	unsigned int passed = 0;

	(void)state;
	upf_start((const char *const[][2]){
		{"mbr_uplink_bps", "8000"}, {"mbr_burst_bytes", "2000"}, {NULL, NULL}});
	for (unsigned int second = 0; second < 100; second++, upf_now_s++) {
		for (unsigned int i = 0; i < 5; i++) {
			struct weir_test_outcome outcome =
				upf_pass(WEIR_OUTBOUND, in_tunnel(1, UE, 500));

			passed += outcome.packet != NULL;
			if (outcome.packet == NULL)
				assert_string_equal(outcome.drop_reason, "above_mbr");
			rte_pktmbuf_free(outcome.packet);
		}
	}
	/* 2,000 bytes at once and 99 seconds at 1,000: 191.3 packets. */
	assert_in_range(passed, 190, 191);
	assert_int_equal(
		weir_test_counted(&weir_nf_upf, upf, (const char *const[]){"uplink", NULL}).packets,
		passed);
	rte_pktmbuf_free(upf_pass(WEIR_OUTBOUND, in_tunnel(2, "10.45.0.2", 500)).packet);
	assert_int_equal(
		weir_test_counted(&weir_nf_upf, upf, (const char *const[]){"uplink", NULL}).packets,
		passed + 1);
}

/* How many of so many packets of 64 bytes pass that come so many cycles apart. */
static unsigned int
passed_of(unsigned int count, uint64_t apart_cycles)
{
	const uint64_t begin_tsc = upf_now_s * rte_get_tsc_hz();
	unsigned int passed = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct rte_mbuf *packet =
			weir_test_run(&weir_nf_upf, upf, WEIR_OUTBOUND, in_tunnel(1, UE, 36),
				      begin_tsc + i * apart_cycles)
				.packet;

		passed += packet != NULL;
		rte_pktmbuf_free(packet);
	}
	return passed;
}

static void
a_maximum_bit_rate_holds_where_a_packet_takes_no_whole_number_of_cycles(void **state)
{
	char bps[32];

	(void)state;
	/* A packet takes 10 3/4 cycles at it. */
	snprintf(bps, sizeof(bps), "%lu", (uint64_t)(64 * 8 / 10.75 * (double)rte_get_tsc_hz()));
	upf_start((const char *const[][2]){
		{"mbr_uplink_bps", bps}, {"mbr_burst_bytes", "640"}, {NULL, NULL}});
	/* Ten at once, and 160,000 cycles at that rate: 14,893. */
	assert_in_range(passed_of(20000, 8), 14886, 14900);
}

static void
the_lowest_rate_and_the_greatest_burst_go_together(void **state)
{
	(void)state;
	upf_start((const char *const[][2]){
		{"mbr_uplink_bps", "1"}, {"mbr_burst_bytes", "1073741824"}, {NULL, NULL}});
	assert_int_equal(passed_of(1000, 1), 1000);
}

static void
a_rate_that_was_taken_away_holds_back_nothing_that_is_to_wait(void **state)
{
	(void)state;
	upf_start((const char *const[][2]){{"mbr_burst_bytes", "64"}, {NULL, NULL}});
	assert_null(upf_change("sessions-modify", "ue=" UE " mbr_downlink_bps=8"));
	assert_null(upf_change("sessions-modify", "ue=" UE " mbr_downlink_bps=0 downlink=buffer"));
	for (unsigned int i = 0; i < 5; i++)
		assert_string_equal(upf_down(UE).reason, "held");
	assert_int_equal(upf_figure("packets_waiting"), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_gets_its_maximum_bit_rate_and_others_are_not_held_back),
		cmocka_unit_test(
			a_maximum_bit_rate_holds_where_a_packet_takes_no_whole_number_of_cycles),
		cmocka_unit_test(the_lowest_rate_and_the_greatest_burst_go_together),
		cmocka_unit_test(a_rate_that_was_taken_away_holds_back_nothing_that_is_to_wait),
	};

	return cmocka_run_group_tests_name("upf-rates", tests, weir_test_eal, upf_stop);
}
