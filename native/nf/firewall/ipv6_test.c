/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of IPv6: what a firewall must let pass and what not, sentence by sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "firewall_fixture_test.h"
#include "testing/eal.h"
#include "testing/file.h"
#include "testing/ipv6_packet.h"

#define INSIDE6 "2001:db8::1"
#define OUTSIDE6 "2001:db8:1::1"

static const char *
send_to(void *firewall, enum weir_direction direction, struct weir_test_ipv6 what, double seconds)
{
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_firewall, firewall, direction, weir_test_ipv6_packet(&what),
			      (uint64_t)((1000 + seconds) * (double)rte_get_tsc_hz()));

	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason;
}

#define OUT6(...) send_to(firewall, WEIR_OUTBOUND, (struct weir_test_ipv6){__VA_ARGS__}, 0)
#define IN6(...)                                                                                   \
	send_to(firewall, WEIR_INBOUND,                                                            \
		(struct weir_test_ipv6){.src = OUTSIDE6, .dst = INSIDE6, __VA_ARGS__}, 0)

static void
both_directions_of_a_permitted_connection_pass(void **state)
{
	void *firewall = firewall_test_with("permit any 2001:db8::/48 any", "default", "deny");

	(void)state;
	assert_drop("denied", IN6(.src_port = 80, .dst_port = 1000));
	assert_null(OUT6(.src_port = 1000, .dst_port = 80));
	assert_null(IN6(.src_port = 80, .dst_port = 1000));
	assert_drop("denied", IN6(.src_port = 80, .dst_port = 1001)); /* another port */
	assert_null(OUT6(.protocol = IPPROTO_TCP, .src_port = 1000, .tcp_flags = RTE_TCP_SYN_FLAG));
	assert_null(IN6(.protocol = IPPROTO_TCP, .src_port = 80, .dst_port = 1000,
			.tcp_flags = RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG));
	assert_drop("no_session", IN6(.protocol = IPPROTO_TCP, .src_port = 80, .dst_port = 1001,
				      .tcp_flags = RTE_TCP_ACK_FLAG));
	assert_null(OUT6(.protocol = 47));
	assert_null(IN6(.protocol = 47));
	ends(firewall);
}

static void
an_echo_is_answered_and_who_answers_cannot_ask(void **state)
{
	void *firewall = firewall_test_with("permit icmpv6 2001:db8::/48 any echo-request",
					    "default", "deny");

	(void)state;
	assert_drop("no_session", IN6(.protocol = IPPROTO_ICMPV6, .src_port = 5, .icmp_type = 129));
	assert_null(OUT6(.protocol = IPPROTO_ICMPV6, .src_port = 5));
	assert_null(IN6(.protocol = IPPROTO_ICMPV6, .src_port = 5, .icmp_type = 129));
	assert_drop("no_session", IN6(.protocol = IPPROTO_ICMPV6, .src_port = 6, .icmp_type = 129));
	assert_drop("denied", IN6(.protocol = IPPROTO_ICMPV6, .src_port = 5, .icmp_type = 128));
	ends(firewall);
}

static void
an_error_passes_to_who_sent_the_packet_it_is_about(void **state)
{
	uint8_t inside[WEIR_TEST_FRAME_BYTES];
	struct weir_test_ipv6 about = {.src_port = 1000};
	uint16_t bytes = (uint16_t)(weir_test_ipv6_frame(&about, inside) - 14);
	void *firewall = firewall_test_with("permit udp 2001:db8::/48 any", "default", "deny");

	(void)state;
#define ERROR_TO(host)                                                                             \
	send_to(firewall, WEIR_INBOUND,                                                            \
		(struct weir_test_ipv6){.src = "2001:db8:ff::1",                                   \
					.dst = host,                                               \
					.protocol = IPPROTO_ICMPV6,                                \
					.icmp_type = 2,                                            \
					.payload = inside + 14,                                    \
					.payload_bytes = bytes},                                   \
		0)
	assert_drop("denied", ERROR_TO(INSIDE6));
	assert_null(OUT6(.src_port = 1000));
	assert_null(ERROR_TO(INSIDE6));
	assert_drop("denied", ERROR_TO("2001:db8::2")); /* who did not send it */
	ends(firewall);
}

static void
later_fragments_follow_the_first_one_and_wait_for_it(void **state)
{
	void *firewall =
		firewall_test_with("permit udp 2001:db8::/48 any any 80", "default", "deny");

	(void)state;
	assert_drop("held",
		    OUT6(.identification = 7, .fragment_offset_bytes = 24, .payload_bytes = 16));
	assert_null(OUT6(.identification = 7, .more_fragments = true, .payload_bytes = 16));
	assert_null(OUT6(.identification = 7, .fragment_offset_bytes = 24, .payload_bytes = 16));
	assert_drop("held",
		    OUT6(.identification = 8, .fragment_offset_bytes = 24, .payload_bytes = 16));
	ends(firewall);
}

static void
what_the_options_say_of_ipv6_goes_before_the_rules(void **state)
{
	void *firewall = firewall_test_with("permit any any any", "ipv6", "drop");

	(void)state;
	assert_drop("not_ipv4", OUT6(.src_port = 1000));
	ends(firewall);
	firewall = firewall_test_with("deny any any any", "ipv6", "forward");
	assert_null(OUT6(.src_port = 1000));
	assert_null(IN6(.src_port = 80, .dst_port = 999)); /* no session is needed */
	ends(firewall);
	firewall = firewall_test_with("deny any any any", "neighbor_discovery", "forward");
	assert_null(OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 135, .hop_limit = 255));
	assert_drop("denied", OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 135));
	assert_drop("no_session", OUT6(.protocol = IPPROTO_ICMPV6, .icmp_type = 129));
	ends(firewall);
}

static void
new_rules_end_the_sessions_that_they_refuse(void **state)
{
	void *firewall = firewall_test_with("permit udp any any", "default", "deny");
	const char *const one_port[][2] = {{"rules", weir_test_file("permit udp any any any 80")},
					   {NULL, NULL}};

	(void)state;
	assert_null(OUT6(.src_port = 1000, .dst_port = 80));
	assert_null(OUT6(.src_port = 1000, .dst_port = 81));
	assert_null(weir_test_command(&weir_nf_firewall, firewall, "reload", one_port));
	assert_null(IN6(.src_port = 80, .dst_port = 1000));
	assert_drop("denied", IN6(.src_port = 81, .dst_port = 1000));
	assert_drop("denied", OUT6(.src_port = 1000, .dst_port = 81));
	ends(firewall);
}

/* Sessions end in a sweep, and their addresses with them: there is room for others. */
static void
a_session_that_ended_leaves_its_addresses_to_others(void **state)
{
	const char *const options[][2] = {{"default", "permit"},
					  {"sessions", "8"},
					  {"ipv6_addresses", "4"},
					  {"udp_timeout_s", "30"},
					  {NULL, NULL}};
	void *firewall = weir_test_state(&weir_nf_firewall, options);

	(void)state;
	assert_null(OUT6(.src = "2001:db8::1", .dst = "2001:db8:1::1"));
	assert_null(OUT6(.src = "2001:db8::2", .dst = "2001:db8:1::2"));
	assert_null(OUT6(.src = "2001:db8::1", .dst = "2001:db8:1::2")); /* no more addresses */
	assert_drop("session_table_full", OUT6(.src = "2001:db8::3", .dst = "2001:db8:1::2"));
	assert_drop("session_table_full", OUT6(.src = "2001:db8::2", .dst = "2001:db8:1::3"));
	firewall_test_ticks(firewall, 1);
	firewall_test_ticks(firewall, 100);
	assert_null(send_to(firewall, WEIR_OUTBOUND,
			    (struct weir_test_ipv6){.src = "2001:db8::3", .dst = "2001:db8:1::3"},
			    101));
	assert_null(send_to(firewall, WEIR_OUTBOUND,
			    (struct weir_test_ipv6){.src = "2001:db8::4", .dst = "2001:db8:1::4"},
			    101));
	ends(firewall);
}

static void
a_session_of_one_family_is_none_of_the_other(void **state)
{
	void *firewall = firewall_test_with("permit udp 2001:db8::/48 any", "default", "deny");

	(void)state;
	assert_null(OUT6(.src_port = 1000));
	assert_drop("denied", OUT(from_inside(IPPROTO_UDP, 1000, 0), 0));
	ends(firewall);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_of_a_permitted_connection_pass),
		cmocka_unit_test(an_echo_is_answered_and_who_answers_cannot_ask),
		cmocka_unit_test(an_error_passes_to_who_sent_the_packet_it_is_about),
		cmocka_unit_test(later_fragments_follow_the_first_one_and_wait_for_it),
		cmocka_unit_test(what_the_options_say_of_ipv6_goes_before_the_rules),
		cmocka_unit_test(new_rules_end_the_sessions_that_they_refuse),
		cmocka_unit_test(a_session_that_ended_leaves_its_addresses_to_others),
		cmocka_unit_test(a_session_of_one_family_is_none_of_the_other),
	};

	return cmocka_run_group_tests_name("firewall_ipv6", tests, weir_test_eal,
					   weir_test_file_remove);
}
