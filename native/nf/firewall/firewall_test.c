/* SPDX-License-Identifier: Apache-2.0 */
/* What a firewall must let pass and what not, sentence by sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "firewall_fixture_test.h"
#include "testing/eal.h"

static void
both_directions_of_a_permitted_connection_pass(void **state)
{
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), 0));
	assert_null(OUT(from_inside(47, 0, 0), 0));
	assert_null(IN(from_outside(47, 0, 0), 0));
	ends(firewall);
}

static void
what_no_rule_permits_is_denied_whichever_side_it_comes_from(void **state)
{
	void *firewall = firewall_test_with("permit udp 10.0.0.0/8 any any 80", "default", "deny");

	(void)state;
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("denied", OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1001, 0), 0)); /* another port */
	ends(firewall);
}

static void
a_session_of_another_port_or_protocol_permits_nothing(void **state)
{
	void *firewall = firewall_test_with("permit tcp 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("no_session",
		    IN(from_outside(IPPROTO_TCP, 1001, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	ends(firewall);
}

static void
later_fragments_follow_the_first_and_wait_for_it_whatever_rules_say(void **state)
{
	struct weir_test_ipv4 first = from_inside(IPPROTO_UDP, 1000, 0), later, unknown;
	void *firewall = firewall_test_with("permit udp 10.0.0.0/8 any any 80", "default", "deny");

	(void)state;
	first.more_fragments = true;
	first.identification = 7;
	first.payload_bytes = 16;
	later = first;
	later.fragment_offset_bytes = 24;
	unknown = later;
	unknown.identification = 8;
	assert_drop("held", OUT(later, 0));
	assert_null(OUT(first, 0));
	assert_null(OUT(later, 0));
	assert_drop("held", OUT(unknown, 0));
	assert_drop("held", OUT(later, 61)); /* too late to be of the same datagram */
	ends(firewall);
	firewall = firewall_test_with("permit udp 10.0.0.0/8 any", "default", "deny");
	assert_drop("held", OUT(unknown, 0));
	ends(firewall);
	firewall = firewall_test_with("permit udp 10.0.0.0/8 any", "held_fragments", "0");
	assert_drop("fragment_table_full", OUT(unknown, 0));
	ends(firewall);
}

/* Its first fragment begins no session, and is remembered all the same. */
static void
later_fragments_of_icmp_that_is_no_echo_follow_what_the_rules_say_of_the_first(void **state)
{
	struct weir_test_ipv4 first = from_inside(IPPROTO_ICMP, 0, 0), later;
	void *firewall = firewall_test_with("permit icmp 10.0.0.0/8 any 13", "default", "deny");

	(void)state;
	first.icmp_type = 13;
	first.more_fragments = true;
	first.identification = 7;
	first.payload_bytes = 16;
	later = first;
	later.fragment_offset_bytes = 24;
	assert_null(OUT(first, 0));
	assert_null(OUT(later, 0));
	first.icmp_type = 17;
	first.identification = later.identification = 8;
	assert_drop("denied", OUT(first, 0));
	assert_drop("denied", OUT(later, 0));
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
	void *firewall = firewall_test_with("permit udp 10.0.0.0/8 any", "default", "deny");

	(void)state;
	weir_test_ipv4_frame(&about, inside);
	assert_drop("denied", IN(error, 0));
	assert_null(OUT(about, 0));
	assert_null(IN(error, 0));
	error.dst = "10.0.0.2"; /* who did not send it */
	assert_drop("denied", IN(error, 0));
	ends(firewall);
}

/* Such as ESP and GRE of a tunnel, whose packets became too long for a link: path MTU discovery
 * (RFC 1191). */
static void
an_icmp_error_about_a_protocol_without_ports_passes_too(void **state)
{
	static const uint8_t protocols[] = {47, 50, 132};
	uint8_t inside[WEIR_TEST_FRAME_BYTES];
	struct weir_test_ipv4 error = {.src = "203.0.113.254",
				       .dst = INSIDE,
				       .protocol = IPPROTO_ICMP,
				       .icmp_type = 3,
				       .icmp_code = 4,
				       .payload = inside + 14,
				       .payload_bytes = 28};
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		struct weir_test_ipv4 about = from_inside(protocols[i], 0, 0);

		about.payload_bytes = 40;
		weir_test_ipv4_frame(&about, inside);
		assert_drop("denied", IN(error, 0));
		assert_null(OUT(about, 0));
		assert_null(IN(error, 0));
	}
	ends(firewall);
}

static void
later_fragments_of_a_datagram_that_was_refused_are_refused(void **state)
{
	struct weir_test_ipv4 first = from_inside(IPPROTO_UDP, 1000, 0), later;
	void *firewall = firewall_test_with("deny udp any any any 80\npermit udp any any",
					    "default", "deny");

	(void)state;
	first.more_fragments = true;
	first.payload_bytes = 16;
	first.identification = 9;
	later = first;
	later.fragment_offset_bytes = 24;
	assert_drop("denied", OUT(first, 0));
	assert_drop("denied", OUT(later, 0));
	first.dst_port = 81;
	assert_null(OUT(first, 0)); /* another datagram of that identification */
	assert_null(OUT(later, 0));
	ends(firewall);
}

/* The session of an echo is of who asks: RFC 5508, section 3, knows queries and their answers. */
static void
who_answers_an_echo_cannot_ask(void **state)
{
	struct weir_test_ipv4 request = from_inside(IPPROTO_ICMP, 77, 0);
	struct weir_test_ipv4 back = from_outside(IPPROTO_ICMP, 0, 0);
	void *firewall = firewall_test_with("permit icmp 10.0.0.0/8 any", "default", "deny");

	(void)state;
	back.src_port = 77;
	assert_null(OUT(request, 0));
	assert_drop("denied", IN(back, 0));
	ends(firewall);
	firewall = firewall_test_with("permit icmp any any", "default", "deny");
	assert_null(OUT(request, 0));
	assert_null(IN(back, 0)); /* a session of its own */
	assert_int_equal(((struct firewall *)firewall)->sessions_used, 2);
	ends(firewall);
}

static void
a_reload_ends_the_sessions_that_the_new_rules_refuse_and_no_others(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "default", "deny");

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG), 0));
	assert_null(IN(from_outside(IPPROTO_UDP, 2000, 0), 0));
	/* Sessions are about who began them: UDP from inside, not from outside. */
	weir_test_file("permit udp 10.0.0.0/8 any");
	assert_null(weir_test_command(&weir_nf_firewall, firewall, "reload", NULL));
	assert_null(IN(from_outside(IPPROTO_UDP, 1000, 0), 0));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	assert_drop("no_session",
		    IN(from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG), 0));
	assert_drop("denied", IN(from_outside(IPPROTO_UDP, 2000, 0), 0));
	ends(firewall);
}

static void
sessions_that_new_rules_refuse_leave_the_table_without_a_packet(void **state)
{
	struct firewall *firewall = firewall_test_with("permit any any any", "default", "deny");
	struct weir_tuple key;
	struct weir_tuple tuple = {.protocol = IPPROTO_UDP};

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	tuple.src_ip = rte_cpu_to_be_32(0x0a000001);
	tuple.dst_ip = rte_cpu_to_be_32(0xc0000201);
	tuple.src_port = rte_cpu_to_be_16(1000);
	tuple.dst_port = rte_cpu_to_be_16(80);
	firewall_key(&tuple, false, &key);
	assert_non_null(firewall_session_find(firewall, &key));
	weir_test_file("deny any any any");
	assert_null(weir_test_command(&weir_nf_firewall, firewall, "reload", NULL));
	firewall_test_ticks(firewall, 1);
	assert_null(firewall_session_find(firewall, &key));
	ends(firewall);
}

static void
rules_that_cannot_be_read_leave_all_as_it_is(void **state)
{
	void *firewall = firewall_test_with("permit udp any any", "default", "deny");
	const char *message;

	(void)state;
	assert_null(OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	weir_test_file("permit udp any any\ndeny nothing\n");
	message = weir_test_command(&weir_nf_firewall, firewall, "reload", NULL);
	assert_non_null(message);
	assert_non_null(strstr(message, ":2: a rule has four words"));
	assert_null(OUT(from_inside(IPPROTO_UDP, 1001, 0), 0));
	ends(firewall);
}

static void
frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct weir_test_outcome outcome;
	void *firewall = firewall_test_with("permit any any any", "not_ipv4", "drop");

	(void)state;
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(arp, sizeof(arp)), 0);
	assert_string_equal(outcome.drop_reason, "not_ipv4");
	ends(firewall);
	firewall = firewall_test_with("permit any any any", "not_ipv4", "forward");
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(arp, sizeof(arp)), 0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	ends(firewall);
}

static void
arp_may_pass_while_rules_deny_ipv6(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	static const uint8_t ipv6[60] = {[12] = 0x86, [13] = 0xdd, [14] = 0x60, [20] = 59};
	struct weir_test_outcome outcome;
	void *firewall = firewall_test_with("deny any any any", "arp", "forward");

	(void)state;
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(arp, 60), 0);
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
	outcome = weir_test_run(&weir_nf_firewall, firewall, WEIR_OUTBOUND,
				weir_test_packet(ipv6, 60), 0);
	assert_string_equal(outcome.drop_reason, "denied");
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
		from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), /* before the SYN: dropped */
		from_inside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG),
		from_outside(IPPROTO_TCP, 1000, RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG),
		from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG),
		from_inside(IPPROTO_TCP, 1000, RTE_TCP_RST_FLAG),
		from_outside(IPPROTO_TCP, 1000,
			     RTE_TCP_SYN_FLAG), /* a new one, from outside: denied */
		from_inside(IPPROTO_TCP, 1000, RTE_TCP_ACK_FLAG), /* and the old one is over */
	};
	void *firewall = firewall_test_with("permit any 10.0.0.0/8 any", "default", "deny");

	(void)state;
	assert_int_equal(send_together(firewall, packets, RTE_DIM(packets)), 4);
	ends(firewall);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_of_a_permitted_connection_pass),
		cmocka_unit_test(what_no_rule_permits_is_denied_whichever_side_it_comes_from),
		cmocka_unit_test(a_session_of_another_port_or_protocol_permits_nothing),
		cmocka_unit_test(
			later_fragments_follow_the_first_and_wait_for_it_whatever_rules_say),
		cmocka_unit_test(
			later_fragments_of_icmp_that_is_no_echo_follow_what_the_rules_say_of_the_first),
		cmocka_unit_test(an_icmp_error_passes_to_who_sent_the_packet_it_is_about),
		cmocka_unit_test(an_icmp_error_about_a_protocol_without_ports_passes_too),
		cmocka_unit_test(later_fragments_of_a_datagram_that_was_refused_are_refused),
		cmocka_unit_test(who_answers_an_echo_cannot_ask),
		cmocka_unit_test(
			a_reload_ends_the_sessions_that_the_new_rules_refuse_and_no_others),
		cmocka_unit_test(sessions_that_new_rules_refuse_leave_the_table_without_a_packet),
		cmocka_unit_test(rules_that_cannot_be_read_leave_all_as_it_is),
		cmocka_unit_test(
			frames_that_are_not_ipv4_are_dropped_or_forwarded_as_the_option_says),
		cmocka_unit_test(arp_may_pass_while_rules_deny_ipv6),
		cmocka_unit_test(packets_of_one_batch_are_decided_on_in_their_order),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, weir_test_file_remove);
}
