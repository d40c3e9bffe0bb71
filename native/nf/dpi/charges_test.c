/* SPDX-License-Identifier: Apache-2.0 */
/* Which subscriber is charged for which packet, when flows and counters end, and what happens when
 * they fill up. */
#include "fixture_test.h"

static void
test_every_packet_and_byte_is_charged_to_its_subscriber_and_rule_once(void **state)
{
	const size_t frame_bytes = 60; /* the shortest */
	struct weir_counter charged;

	(void)state;
	START("7 label /word/\n", {"packets_max", "2"});
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	PASSES(dpi_tcp(WEIR_INBOUND, 4000, SYN | ACK));
	PASSES(dpi_say(4000, 1, "word"));
	assert_int_equal(dpi_charged(NULL, NULL, NULL).packets, 0); /* not yet known whose */
	PASSES(dpi_answer(4000, 1, "yes"));
	PASSES(dpi_say(4000, 5, "again"));
	charged = dpi_charged(SUBSCRIBER, "7", NULL);
	assert_int_equal(charged.packets, 5);
	assert_int_equal(charged.bytes, 5 * frame_bytes);
	assert_int_equal(dpi_charged(NULL, NULL, NULL).packets, 5);
}

static void
test_a_flow_that_ends_without_a_verdict_is_charged_too(void **state)
{
	(void)state;
	START("7 label /word/\n", {"tcp_timeout_s", "5"});
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	dpi_wait_s(6);
	assert_int_equal(dpi_figure("flows"), 0);
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
}

static void
test_a_flow_that_stops_talking_gets_the_verdict_known_so_far(void **state)
{
	(void)state;
	START("7 label /word/\n", {"inspection_timeout_s", "3"});
	PASSES(dpi_say(4000, 1, "word"));
	assert_int_equal(dpi_figure("inspections"), 1);
	dpi_wait_s(4);
	assert_int_equal(dpi_figure("inspections"), 0);
	assert_int_equal(dpi_charged(SUBSCRIBER, "7", NULL).packets, 1);
}

static void
test_idle_flows_end_and_others_stay(void **state)
{
	(void)state;
	START("", {"tcp_timeout_s", "4"}, {"applications", "false"});
	PASSES(dpi_say(4000, 1, "a"));
	PASSES(dpi_say(4001, 1, "b"));
	dpi_wait_s(3);
	PASSES(dpi_say(4001, 2, "c"));
	dpi_wait_s(3);
	assert_int_equal(dpi_figure("flows"), 1);
	dpi_wait_s(3);
	assert_int_equal(dpi_figure("flows"), 0);
}

/* Sweeps at that time. */
static void
sweep_at(double seconds)
{
	now_s = seconds;
	dpi_sweep();
}

static void
test_nothing_ends_before_it_was_idle_for_its_timeout(void **state)
{
	(void)state;
	START("", {"tcp_timeout_s", "1"}, {"charge_timeout_s", "1"}, {"applications", "false"});
	now_s = 1000.999;
	PASSES(dpi_say(4000, 1, "a"));
	sweep_at(1000.999);
	sweep_at(1001.998);
	assert_int_equal(dpi_figure("flows"), 1);
	sweep_at(1002.01);
	assert_int_equal(dpi_figure("flows"), 0);
	sweep_at(1002.997);
	assert_int_equal(dpi_figure("charges"), 1); /* it had a flow until 1001.998 */
	sweep_at(1003.02);
	assert_int_equal(dpi_figure("charges"), 0);

	START("7 label /word/\n", {"inspection_timeout_s", "1"});
	now_s = 1000.999;
	PASSES(dpi_say(4000, 1, "word"));
	sweep_at(1001.998);
	assert_int_equal(dpi_figure("inspections"), 1);
	sweep_at(1002.01);
	assert_int_equal(dpi_figure("inspections"), 0);
}

static void
test_counters_of_idle_subscribers_are_forgotten_but_not_lost(void **state)
{
	(void)state;
	START("", {"udp_timeout_s", "1"}, {"charge_timeout_s", "3"}, {"applications", "false"});
	PASSES(dpi_datagram(4000, 9, "x", 1));
	dpi_wait_s(3);
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
	dpi_wait_s(5);
	assert_int_equal(dpi_figure("charges"), 0);
	assert_int_equal(dpi_figure("forgotten_packets"), 1);
	assert_int_equal(dpi_figure("forgotten_bytes"), 60);
	PASSES(dpi_datagram(4000, 9, "x", 1));
	assert_int_equal(dpi_charged(SUBSCRIBER, "0", NULL).packets, 1);
}

static void
test_a_closed_connection_is_forgotten_soon_and_its_ports_may_begin_anew(void **state)
{
	(void)state;
	START("7 permit /good/\n8 drop /bad/\n", {"closed_timeout_s", "2"});
	PASSES(dpi_say(4000, 1, "good"));
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, FIN | ACK));
	PASSES(dpi_tcp(WEIR_INBOUND, 4000, FIN | ACK));
	PASSES(dpi_tcp(WEIR_OUTBOUND, 4000, SYN));
	DROPPED("content_rule", dpi_say(4000, 1, "bad"));
	DROPPED("content_rule", dpi_tcp(WEIR_INBOUND, 4000, RST));
	dpi_wait_s(4);
	assert_int_equal(dpi_figure("flows"), 0);
}

static void
test_full_tables_drop_what_would_be_new_and_say_which(void **state)
{
	(void)state;
	START("7 drop /bad/\n", {"flows_max", "2"}, {"inspections_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	DROPPED("inspections_full", dpi_say(4001, 1, "x"));
	DROPPED("flows_full", dpi_say(4002, 1, "x"));
	PASSES(dpi_say(4000, 2, "y"));

	START("1 permit flow tcp any any any 80\n2 permit flow udp any any\n",
	      {"charges_max", "1"});
	PASSES(dpi_say(4000, 1, "x"));
	DROPPED("charges_full", dpi_datagram(4001, 9, "x", 1));
	PASSES(dpi_say(4002, 1, "x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_every_packet_and_byte_is_charged_to_its_subscriber_and_rule_once),
		cmocka_unit_test(test_a_flow_that_ends_without_a_verdict_is_charged_too),
		cmocka_unit_test(test_a_flow_that_stops_talking_gets_the_verdict_known_so_far),
		cmocka_unit_test(test_idle_flows_end_and_others_stay),
		cmocka_unit_test(test_nothing_ends_before_it_was_idle_for_its_timeout),
		cmocka_unit_test(test_counters_of_idle_subscribers_are_forgotten_but_not_lost),
		cmocka_unit_test(
			test_a_closed_connection_is_forgotten_soon_and_its_ports_may_begin_anew),
		cmocka_unit_test(test_full_tables_drop_what_would_be_new_and_say_which),
	};

	return cmocka_run_group_tests_name("dpi charges", tests, weir_test_eal, dpi_stop);
}
