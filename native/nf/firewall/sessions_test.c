/* SPDX-License-Identifier: Apache-2.0 */
/* How sessions begin, what keeps them and what ends them, sentence by sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "engine/report.h"
#include "firewall.h"
#include "firewall_fixture_test.h"
#include "testing/eal.h"

static void
a_tcp_session_begins_with_a_syn_alone(void **state)
{
	static const uint8_t others[] = {RTE_TCP_ACK_FLAG,
					 RTE_TCP_FIN_FLAG,
					 RTE_TCP_RST_FLAG,
					 RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG,
					 RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG,
					 RTE_TCP_SYN_FLAG | RTE_TCP_RST_FLAG};
	void *firewall = firewall_test_with("permit any any any", "default", "deny");

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, others[i]), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 0));
	ends(firewall);
}

static void
without_tcp_syn_first_a_connection_is_taken_up_in_its_middle_but_not_by_a_rst(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "tcp_syn_first", "false");

	(void)state;
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 0));
	firewall_test_ticks(firewall, 7000); /* it counts as established */
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG), 7000));
	ends(firewall);
}

static void
an_echo_reply_needs_its_request(void **state)
{
	struct weir_test_ipv4 request = from_inside(IPPROTO_ICMP, 77, 0);
	struct weir_test_ipv4 reply = from_outside(IPPROTO_ICMP, 0, 0);
	void *firewall = firewall_test_with("permit icmp any any", "default", "deny");
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	struct weir_test_outcome outcome;

	(void)state;
	reply.src_port = 77;
	/* Type 0, which the test packet takes for "any": put in by hand. */
	for (unsigned int round = 0; round < 2; round++) {
		size_t bytes = weir_test_ipv4_frame(&reply, frame);

		frame[34] = 0;
		outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_INBOUND,
					weir_test_packet(frame, bytes), 1000 * rte_get_tsc_hz());
		rte_pktmbuf_free(outcome.packet);
		if (round == 0)
			assert_drop("no_session", outcome.drop_reason);
		else
			assert_null(outcome.drop_reason);
		assert_null(OUT(request, 0));
	}
	ends(firewall);
}

static void
sessions_end_when_they_were_idle_for_their_timeout(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "udp_timeout_s", "100");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	firewall_test_ticks(firewall, 1);
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 90));
	firewall_test_ticks(firewall, 91);
	firewall_test_ticks(firewall, 180); /* 89 s after the answer was noticed */
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 180));
	firewall_test_ticks(firewall, 181);
	firewall_test_ticks(firewall, 282);
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 282));
	ends(firewall);
}

static void
a_tcp_connection_lives_long_once_it_is_answered_and_shortly_before(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1001, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1001, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	firewall_test_ticks(firewall, 0);
	firewall_test_ticks(firewall, 241);
	assert_drop("no_session",
		    IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 241));
	firewall_test_ticks(firewall, 7439);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1001, RTE_TCP_ACK_FLAG), 7439));
	firewall_test_ticks(firewall, 7440);
	firewall_test_ticks(firewall, 7440 + 7441);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1001, RTE_TCP_ACK_FLAG), 14881));
	ends(firewall);
}

static void
a_connection_that_both_sides_closed_ends_whatever_still_comes(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG), 10));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG), 10));
	firewall_test_ticks(firewall, 11);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 200));
	firewall_test_ticks(firewall, 200);
	firewall_test_ticks(firewall, 251);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 251));
	ends(firewall);
}

static void
a_connection_that_both_sides_closed_ends_though_fins_and_rsts_go_on(void **state)
{
	static const uint8_t ends_of_tcp[] = {RTE_TCP_FIN_FLAG | RTE_TCP_ACK_FLAG,
					      RTE_TCP_RST_FLAG};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(ends_of_tcp); i++) {
		void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_FIN_FLAG), 10));
		assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_FIN_FLAG), 10));
		firewall_test_ticks(firewall, 11);
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, ends_of_tcp[i]), 200));
		firewall_test_ticks(firewall, 201);
		firewall_test_ticks(firewall, 251);
		assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, ends_of_tcp[i]), 251));
		ends(firewall);
	}
}

static void
a_closed_connection_can_be_opened_anew_from_either_side_that_rules_permit(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
		assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG),
			       0));
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG), 0));
	}
	assert_drop("denied", IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	ends(firewall);
}

static void
a_rst_that_the_connection_outlives_does_not_end_it(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG), 1));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 2));
	firewall_test_ticks(firewall, 3);
	firewall_test_ticks(firewall, 1000);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 1000));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG), 1001));
	firewall_test_ticks(firewall, 1002);
	firewall_test_ticks(firewall, 1242);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 1242));
	ends(firewall);
}

/* Takes the figure "sessions" out of a report. */
struct sessions_report {
	struct weir_report report; /* first */
	uint64_t sessions;
};

static void
take_figure(struct weir_report *report, const char *name, uint64_t value)
{
	if (strcmp(name, "sessions") == 0)
		((struct sessions_report *)report)->sessions = value;
}

static uint64_t
reported_sessions(const void *firewall)
{
	struct sessions_report taken = {.report.figure = take_figure};

	weir_nf_firewall.report(firewall, &taken.report);
	return taken.sessions;
}

static void
the_report_has_the_sessions_in_use(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "default", "deny");

	(void)state;
	assert_int_equal(reported_sessions(firewall), 0);
	for (uint16_t port = 1; port <= 9; port++)
		OUT(from_inside(IPPROTO_UDP, port, 0), 0);
	assert_int_equal(reported_sessions(firewall), 8);
	firewall_test_ticks(firewall, 1);
	firewall_test_ticks(firewall, 302);
	assert_int_equal(reported_sessions(firewall), 0);
	ends(firewall);
}

static void
when_the_table_is_full_new_sessions_are_dropped_and_old_ones_go_on(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "default", "deny");

	(void)state;
	for (uint16_t port = 1; port <= 8; port++)
		assert_null(OUT(from_inside(IPPROTO_UDP, port, 0), 0));
	assert_drop("session_table_full", OUT(from_inside(IPPROTO_UDP, 9, 0), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 8, 0), 0));
	firewall_test_ticks(firewall, 1);
	firewall_test_ticks(firewall, 302);
	assert_null(OUT(from_inside(IPPROTO_UDP, 9, 0), 302));
	ends(firewall);
}

static void
flush(void *firewall)
{
	const char *const nothing[][2] = {{NULL, NULL}};

	assert_null(weir_test_command(&weir_nf_firewall, firewall, "flush", nothing));
}

static void
a_flush_ends_every_session_at_its_next_packet_or_in_the_ticks_and_none_that_begins_after_it(
	void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1002, 0), 0));
	flush(firewall);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1001, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1003, 0), 0));
	assert_int_equal(((struct firewall *)firewall)->sessions_used, 2);
	firewall_test_ticks(firewall, 0);
	assert_int_equal(((struct firewall *)firewall)->sessions_used, 1);
	assert_null(IN(from_outside(IPPROTO_UDP, 1003, 0), 0));
	ends(firewall);
}

static void
what_a_flush_ended_no_new_rules_take_back(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	flush(firewall);
	((struct firewall *)firewall)->generation++; /* as a reload of the same rules */
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 0));
	ends(firewall);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tcp_session_begins_with_a_syn_alone),
		cmocka_unit_test(
			without_tcp_syn_first_a_connection_is_taken_up_in_its_middle_but_not_by_a_rst),
		cmocka_unit_test(an_echo_reply_needs_its_request),
		cmocka_unit_test(sessions_end_when_they_were_idle_for_their_timeout),
		cmocka_unit_test(
			a_tcp_connection_lives_long_once_it_is_answered_and_shortly_before),
		cmocka_unit_test(a_connection_that_both_sides_closed_ends_whatever_still_comes),
		cmocka_unit_test(
			a_connection_that_both_sides_closed_ends_though_fins_and_rsts_go_on),
		cmocka_unit_test(
			a_closed_connection_can_be_opened_anew_from_either_side_that_rules_permit),
		cmocka_unit_test(a_rst_that_the_connection_outlives_does_not_end_it),
		cmocka_unit_test(
			when_the_table_is_full_new_sessions_are_dropped_and_old_ones_go_on),
		cmocka_unit_test(the_report_has_the_sessions_in_use),
		cmocka_unit_test(
			a_flush_ends_every_session_at_its_next_packet_or_in_the_ticks_and_none_that_begins_after_it),
		cmocka_unit_test(what_a_flush_ended_no_new_rules_take_back),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
