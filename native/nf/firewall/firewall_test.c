/* SPDX-License-Identifier: Apache-2.0 */
/* What a firewall must do, sentence by sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "nf/firewall/firewall.h"
#include "testing/eal.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_firewall;

#define INSIDE "10.0.0.1"
#define OUTSIDE "192.0.2.1"
#define TICKS_OF_A_SWEEP 4096

/* Writes the rules to the one file of these tests, whose name stays. */
static const char *
rules_file(const char *text)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/weir-firewall-test-%d.rules", getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static void *
firewall_with(const char *rules, const char *option, const char *value)
{
	const char *const options[][2] = {
		{"rules", rules_file(rules)}, {"sessions", "8"}, {option, value}, {NULL, NULL}};

	return weir_test_state(&weir_nf_firewall, options);
}

/* Sends one packet at `seconds`; NULL, or why it was dropped. */
static const char *
send_at(void *firewall, enum weir_direction direction, struct weir_test_ipv4 what, double seconds)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_firewall, firewall, direction, weir_test_ipv4_packet(&what),
			      (uint64_t)((1000 + seconds) * rte_get_tsc_hz()));

	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason;
}

static void
ticks_at(void *firewall, double seconds)
{
	for (unsigned int i = 0; i < TICKS_OF_A_SWEEP; i++)
		weir_nf_firewall.tick(firewall, (uint64_t)((1000 + seconds) * rte_get_tsc_hz()),
				      NULL);
}

static struct weir_test_ipv4
from_inside(uint8_t protocol, uint16_t port, uint8_t tcp_flags)
{
	return (struct weir_test_ipv4){.src = INSIDE,
				       .dst = OUTSIDE,
				       .protocol = protocol,
				       .src_port = port,
				       .dst_port = 80,
				       .tcp_flags = tcp_flags};
}

static struct weir_test_ipv4
from_outside(uint8_t protocol, uint16_t port, uint8_t tcp_flags)
{
	return (struct weir_test_ipv4){.src = OUTSIDE,
				       .dst = INSIDE,
				       .protocol = protocol,
				       .src_port = 80,
				       .dst_port = port,
				       .tcp_flags = tcp_flags};
}

#define OUT(packet, seconds) send_at(firewall, WEIR_OUTBOUND, packet, seconds)
#define IN(packet, seconds) send_at(firewall, WEIR_INBOUND, packet, seconds)
#define ends(firewall) weir_nf_destroy(&weir_nf_firewall, firewall)

#define assert_drop(reason, sent)                                                                  \
	do {                                                                                       \
		const char *const why = (sent);                                                    \
		assert_non_null(why);                                                              \
		assert_string_equal(why, reason);                                                  \
	} while (0)

static void
both_directions_of_a_permitted_connection_pass(void **state)
{
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 0));
	assert_null(OUT(from_inside(47, 0, 0), 0));
	assert_null(IN(from_outside(47, 0, 0), 0));
	ends(firewall);
}

static void
what_no_rule_permits_is_denied_whichever_side_it_comes_from(void **state)
{
	void *firewall = firewall_with("permit udp 10.0.0.0/8 any any 80", "default", "deny");

	(void)state;
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("denied", OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1001, 0), 0)); /* another port */
	ends(firewall);
}

static void
a_session_of_another_port_or_protocol_permits_nothing(void **state)
{
	void *firewall = firewall_with("permit tcp 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("no_session", IN(from_outside(IPPROTO_TCP, 1001, TCP_SYN | TCP_ACK), 0));
	ends(firewall);
}

static void
a_tcp_session_begins_with_a_syn_alone(void **state)
{
	static const uint8_t others[] = {TCP_ACK,	    TCP_FIN,	       TCP_RST,
					 TCP_SYN | TCP_ACK, TCP_SYN | TCP_FIN, TCP_SYN | TCP_RST};
	void *firewall = firewall_with("permit any any any", "default", "deny");

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, others[i]), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 0));
	ends(firewall);
}

static void
without_tcp_syn_first_a_connection_is_taken_up_in_its_middle_but_not_by_a_rst(void **state)
{
	void *firewall = firewall_with("permit any any any", "tcp_syn_first", "false");

	(void)state;
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, TCP_RST), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 0));
	ticks_at(firewall, 7000); /* it counts as established */
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_RST), 7000));
	ends(firewall);
}

static void
an_echo_reply_needs_its_request(void **state)
{
	struct weir_test_ipv4 request = from_inside(IPPROTO_ICMP, 77, 0);
	struct weir_test_ipv4 reply = from_outside(IPPROTO_ICMP, 0, 0);
	void *firewall = firewall_with("permit icmp any any", "default", "deny");
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
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "udp_timeout_s", "100");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	ticks_at(firewall, 1);
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 90));
	ticks_at(firewall, 91);
	ticks_at(firewall, 180); /* 89 s after the answer was noticed */
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 180));
	ticks_at(firewall, 181);
	ticks_at(firewall, 282);
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 282));
	ends(firewall);
}

static void
a_tcp_connection_lives_long_once_it_is_answered_and_shortly_before(void **state)
{
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1001, TCP_SYN), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1001, TCP_SYN | TCP_ACK), 0));
	ticks_at(firewall, 0);
	ticks_at(firewall, 241);
	assert_drop("no_session", IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 241));
	ticks_at(firewall, 7439);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1001, TCP_ACK), 7439));
	ticks_at(firewall, 7440);
	ticks_at(firewall, 7440 + 7441);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1001, TCP_ACK), 14881));
	ends(firewall);
}

static void
a_connection_that_both_sides_closed_ends_whatever_still_comes(void **state)
{
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_FIN | TCP_ACK), 10));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_FIN | TCP_ACK), 10));
	ticks_at(firewall, 11);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 200));
	ticks_at(firewall, 200);
	ticks_at(firewall, 251);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 251));
	ends(firewall);
}

static void
a_closed_connection_can_be_opened_anew_from_either_side_that_rules_permit(void **state)
{
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
		assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 0));
		assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_RST), 0));
	}
	assert_drop("denied", IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	ends(firewall);
}

static void
a_rst_that_the_connection_outlives_does_not_end_it(void **state)
{
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_RST), 1));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 2));
	ticks_at(firewall, 3);
	ticks_at(firewall, 1000);
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 1000));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, TCP_RST), 1001));
	ticks_at(firewall, 1002);
	ticks_at(firewall, 1242);
	assert_drop("no_session", OUT(from_inside(IPPROTO_TCP, 1000, TCP_ACK), 1242));
	ends(firewall);
}

static void
when_the_table_is_full_new_sessions_are_dropped_and_old_ones_go_on(void **state)
{
	void *firewall = firewall_with("permit any any any", "default", "deny");

	(void)state;
	for (uint16_t port = 1; port <= 8; port++)
		assert_null(OUT(from_inside(IPPROTO_UDP, port, 0), 0));
	assert_drop("session_table_full", OUT(from_inside(IPPROTO_UDP, 9, 0), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 8, 0), 0));
	ticks_at(firewall, 1);
	ticks_at(firewall, 302);
	assert_null(OUT(from_inside(IPPROTO_UDP, 9, 0), 302));
	ends(firewall);
}

static void
later_fragments_follow_the_first_and_without_it_the_rules_that_name_no_ports(void **state)
{
	struct weir_test_ipv4 first = from_inside(IPPROTO_UDP, 1000, 0), later, unknown;
	void *firewall = firewall_with("permit udp 10.0.0.0/8 any any 80", "default", "deny");

	(void)state;
	first.more_fragments = true;
	first.identification = 7;
	first.payload_bytes = 16;
	later = first;
	later.fragment_offset_bytes = 24;
	unknown = later;
	unknown.identification = 8;
	assert_drop("denied", OUT(later, 0));
	assert_null(OUT(first, 0));
	assert_null(OUT(later, 0));
	assert_drop("denied", OUT(unknown, 0));
	assert_drop("denied", OUT(later, 61)); /* too late to be of the same datagram */
	ends(firewall);
	firewall = firewall_with("permit udp 10.0.0.0/8 any", "default", "deny");
	assert_null(OUT(unknown, 0));
	ends(firewall);
}

static void
an_icmp_error_passes_to_who_sent_the_packet_it_is_about(void **state)
{
	uint8_t inside[WEIR_TEST_FRAME_BYTES];
	struct weir_test_ipv4 about = from_inside(IPPROTO_UDP, 1000, 0);
	struct weir_test_ipv4 error = {.src = "203.0.113.254",
				       .dst = INSIDE,
				       .protocol = IPPROTO_ICMP,
				       .icmp_type = 3,
				       .icmp_code = 3,
				       .payload = inside + 14,
				       .payload_bytes = 28};
	void *firewall = firewall_with("permit udp 10.0.0.0/8 any", "default", "deny");

	(void)state;
	weir_test_ipv4_frame(&about, inside);
	assert_drop("denied", IN(error, 0));
	assert_null(OUT(about, 0));
	assert_null(IN(error, 0));
	error.dst = "10.0.0.2"; /* who did not send it */
	assert_drop("denied", IN(error, 0));
	ends(firewall);
}

static void
a_reload_ends_the_sessions_that_the_new_rules_refuse_and_no_others(void **state)
{
	void *firewall = firewall_with("permit any any any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, TCP_SYN), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 2000, 0), 0));
	/* Sessions are about who began them: UDP from inside, not from outside. */
	rules_file("permit udp 10.0.0.0/8 any");
	assert_null(weir_test_command(&weir_nf_firewall, firewall, "reload", NULL));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("no_session", IN(from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 2000, 0), 0));
	ends(firewall);
}

static void
sessions_that_new_rules_refuse_leave_the_table_without_a_packet(void **state)
{
	struct firewall *firewall = firewall_with("permit any any any", "default", "deny");
	struct weir_tuple key;
	struct weir_tuple tuple = {.protocol = IPPROTO_UDP};

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	tuple.src_ip = rte_cpu_to_be_32(0x0a000001);
	tuple.dst_ip = rte_cpu_to_be_32(0xc0000201);
	tuple.src_port = rte_cpu_to_be_16(1000);
	tuple.dst_port = rte_cpu_to_be_16(80);
	firewall_key(&tuple, &key);
	assert_non_null(firewall_session_find(firewall, &key));
	rules_file("deny any any any");
	assert_null(weir_test_command(&weir_nf_firewall, firewall, "reload", NULL));
	ticks_at(firewall, 1);
	assert_null(firewall_session_find(firewall, &key));
	ends(firewall);
}

static void
rules_that_cannot_be_read_leave_all_as_it_is(void **state)
{
	void *firewall = firewall_with("permit udp any any", "default", "deny");
	const char *message;

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	rules_file("permit udp any any\ndeny nothing\n");
	message = weir_test_command(&weir_nf_firewall, firewall, "reload", NULL);
	assert_non_null(message);
	assert_non_null(strstr(message, ".rules:2: a rule has four words"));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	ends(firewall);
}

static void
frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_test_outcome outcome;
	void *firewall = firewall_with("permit any any any", "not_ipv4", "drop");

	(void)state;
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(arp, sizeof(arp)), 0);
	assert_string_equal(outcome.drop_reason, "not_ipv4");
	ends(firewall);
	firewall = firewall_with("permit any any any", "not_ipv4", "forward");
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(arp, sizeof(arp)), 0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	ends(firewall);
}

/* Runs packets as one batch; returns how many passed. */
static unsigned int
send_together(void *firewall, const struct weir_test_ipv4 *what, unsigned int count)
{
	struct weir_stage stage = {.nf = &weir_nf_firewall, .state = firewall};
	struct weir_batch batch = {.count = count, .now_tsc = 1000 * rte_get_tsc_hz()};

	for (unsigned int i = 0; i < count; i++)
		batch.packet[i] = weir_test_ipv4_packet(&what[i]);
	weir_stage_run(&stage, &batch);
	for (unsigned int i = 0; i < batch.count; i++)
		rte_pktmbuf_free(batch.packet[i]);
	return batch.count;
}

static void
packets_of_one_batch_are_decided_on_in_their_order(void **state)
{
	const struct weir_test_ipv4 packets[] = {
		from_inside(IPPROTO_TCP, 1000, TCP_ACK), /* before the SYN: dropped */
		from_inside(IPPROTO_TCP, 1000, TCP_SYN),
		from_outside(IPPROTO_TCP, 1000, TCP_SYN | TCP_ACK),
		from_inside(IPPROTO_TCP, 1000, TCP_ACK),
		from_inside(IPPROTO_TCP, 1000, TCP_RST),
		from_outside(IPPROTO_TCP, 1000, TCP_SYN), /* a new one, from outside: denied */
		from_inside(IPPROTO_TCP, 1000, TCP_ACK),  /* and the old one is over */
	};
	void *firewall = firewall_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_int_equal(send_together(firewall, packets, RTE_DIM(packets)), 4);
	ends(firewall);
}

static int
teardown(void **state)
{
	(void)state;
	return unlink(rules_file(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_of_a_permitted_connection_pass),
		cmocka_unit_test(what_no_rule_permits_is_denied_whichever_side_it_comes_from),
		cmocka_unit_test(a_session_of_another_port_or_protocol_permits_nothing),
		cmocka_unit_test(a_tcp_session_begins_with_a_syn_alone),
		cmocka_unit_test(
			without_tcp_syn_first_a_connection_is_taken_up_in_its_middle_but_not_by_a_rst),
		cmocka_unit_test(an_echo_reply_needs_its_request),
		cmocka_unit_test(sessions_end_when_they_were_idle_for_their_timeout),
		cmocka_unit_test(
			a_tcp_connection_lives_long_once_it_is_answered_and_shortly_before),
		cmocka_unit_test(a_connection_that_both_sides_closed_ends_whatever_still_comes),
		cmocka_unit_test(
			a_closed_connection_can_be_opened_anew_from_either_side_that_rules_permit),
		cmocka_unit_test(a_rst_that_the_connection_outlives_does_not_end_it),
		cmocka_unit_test(
			when_the_table_is_full_new_sessions_are_dropped_and_old_ones_go_on),
		cmocka_unit_test(
			later_fragments_follow_the_first_and_without_it_the_rules_that_name_no_ports),
		cmocka_unit_test(an_icmp_error_passes_to_who_sent_the_packet_it_is_about),
		cmocka_unit_test(
			a_reload_ends_the_sessions_that_the_new_rules_refuse_and_no_others),
		cmocka_unit_test(sessions_that_new_rules_refuse_leave_the_table_without_a_packet),
		cmocka_unit_test(rules_that_cannot_be_read_leave_all_as_it_is),
		cmocka_unit_test(
			frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says),
		cmocka_unit_test(packets_of_one_batch_are_decided_on_in_their_order),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, teardown);
}
