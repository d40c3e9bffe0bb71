/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping, filtering, hairpinning and limits: the sentences of RFC 4787, 5382 and 6888. */
#include "nat_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>

#define UDP IPPROTO_UDP
#define TCP IPPROTO_TCP
#define ICMP IPPROTO_ICMP

static char mapped[32];

/* Keeps an endpoint beyond the next packets. */
static const char *
keep(const char *endpoint)
{
	snprintf(mapped, sizeof(mapped), "%s", endpoint);
	return mapped;
}

/* RFC 4787, REQ-1; RFC 5382, REQ-1; RFC 5508, REQ-1a. */
static void
test_an_inside_endpoint_has_one_external_endpoint_whomever_it_sends_to(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, ICMP};

	(void)state;
	START({"lanes", "16"});
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		keep(leaves_from(protocols[i], INSIDE, 5000, REMOTE, 80, ACK));
		assert_string_equal(leaves_from(protocols[i], INSIDE, 5000, REMOTE, 81, ACK),
				    mapped);
		assert_string_equal(leaves_from(protocols[i], INSIDE, 5000, OTHER_REMOTE, 80, ACK),
				    mapped);
	}
}

static void
test_an_answer_arrives_at_the_endpoint_that_asked(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, ICMP};

	(void)state;
	START({"lanes", "16"});
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		keep(leaves_from(protocols[i], INSIDE, 5000, REMOTE, 80, ACK));
		assert_string_equal(arrives_at(protocols[i], REMOTE, 80, mapped, ACK),
				    INSIDE ":5000");
	}
}

/* RFC 4787, REQ-3: no port overloading. */
static void
test_no_two_inside_endpoints_share_an_external_one(void **state)
{
	static uint8_t used[4][65536];

	(void)state;
	START({"lanes", "4"}, {"port_min", "2000"}, {"port_max", "2499"});
	for (unsigned int i = 0; i < 1600; i++) {
		char inside[32];
		const char *external;

		snprintf(inside, sizeof(inside), "10.0.%u.%u", i % 8, 1 + i / 8);
		external = leaves_from(UDP, inside, 7000 + i % 3, REMOTE, 53, 0);
		assert_int_equal(used[external[10] - '0'][port_in(external)]++, 0);
	}
}

/* Not asked for by RFC 4787, but it says what hosts expect. */
static void
test_a_free_port_is_preserved(void **state)
{
	(void)state;
	START({"external", "203.0.113.1/32"});
	assert_string_equal(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0), "203.0.113.1:5000");
	assert_string_not_equal(leaves_from(UDP, OTHER_INSIDE, 5000, REMOTE, 80, 0),
				"203.0.113.1:5000");
	assert_string_equal(leaves_from(TCP, OTHER_INSIDE, 5000, REMOTE, 80, SYN),
			    "203.0.113.1:5000");
}

/* As a host does behind a Linux NAT: no lane may be in the way. */
static void
test_free_ports_are_preserved_whatever_the_lanes(void **state)
{
	static const char *const lanes[] = {"1", "2", "16", "64"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(lanes); i++) {
		START({"lanes", lanes[i]});
		for (unsigned int n = 0; n < 200; n++) {
			uint16_t port = 32768 + n * 137 % 28000;

			assert_int_equal(port_in(leaves_from(n % 2 ? UDP : TCP, INSIDE, port,
							     REMOTE, 80, SYN)),
					 port);
		}
	}
}

/* RFC 4787, REQ-3a, with the options as they are. */
static void
test_ports_below_1024_stay_below_by_default(void **state)
{
	(void)state;
	START({"external", "203.0.113.1/32"}, {"lanes", "16"});
	for (unsigned int host = 1; host < 60; host++) {
		char inside[32];

		snprintf(inside, sizeof(inside), "10.0.0.%u", host);
		assert_in_range(port_in(leaves_from(UDP, inside, 500, REMOTE, 500, 0)), 1, 1023);
	}
}

/* RFC 4787, REQ-4. */
static void
test_parity_is_preserved_while_a_port_of_it_is_free(void **state)
{
	(void)state;
	START({"external", "203.0.113.1/32"}, {"port_min", "3000"}, {"port_max", "3007"});
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(port_in(leaves_from(UDP, INSIDE, 9000 + 2 * i, REMOTE, 80, 0)) % 2,
				 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(port_in(leaves_from(UDP, INSIDE, 9001 + 2 * i, REMOTE, 80, 0)) % 2,
				 1);
	assert_int_equal(port_in(leaves_from(UDP, INSIDE, 9100, REMOTE, 80, 0)) % 2, 1);
	assert_string_equal(leaves_from(UDP, INSIDE, 9102, REMOTE, 80, 0), "ports_exhausted");
}

/* RFC 4787, REQ-3a. */
static void
test_ports_below_1024_and_above_stay_in_their_range(void **state)
{
	(void)state;
	START({"external", "203.0.113.1/32"}, {"port_min", "1020"}, {"port_max", "1027"});
	for (unsigned int i = 0; i < 3; i++)
		assert_in_range(port_in(leaves_from(UDP, INSIDE, 5000 + i, REMOTE, 80, 0)), 1024,
				1027);
	for (unsigned int i = 0; i < 4; i++)
		assert_in_range(port_in(leaves_from(UDP, INSIDE, 500 + i, REMOTE, 80, 0)), 1020,
				1023);
	assert_in_range(port_in(leaves_from(UDP, INSIDE, 600, REMOTE, 80, 0)), 1024, 1027);
	wait_s(301);
	for (unsigned int i = 0; i < 4; i++)
		leaves_from(UDP, INSIDE, 5000 + i, REMOTE, 80, 0);
	assert_string_equal(leaves_from(UDP, INSIDE, 6000, REMOTE, 80, 0), "ports_exhausted");
}

/* RFC 4787, REQ-2: paired pooling. */
static void
test_all_endpoints_of_a_host_share_one_external_address(void **state)
{
	(void)state;
	START({"lanes", "16"});
	keep(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	for (uint16_t port = 5001; port < 5100; port++)
		assert_memory_equal(
			leaves_from(port % 2 ? UDP : TCP, INSIDE, port, REMOTE, 80, ACK), mapped,
			strlen("203.0.113.0"));
}

static void
test_exhausted_ports_are_a_counted_drop_and_others_go_on(void **state)
{
	(void)state;
	START({"external", "203.0.113.1/32"}, {"port_min", "3000"}, {"port_max", "3000"});
	assert_string_equal(leaves_from(UDP, INSIDE, 1, REMOTE, 80, 0), "203.0.113.1:3000");
	assert_string_equal(leaves_from(UDP, INSIDE, 2, REMOTE, 80, 0), "ports_exhausted");
	assert_string_equal(leaves_from(TCP, INSIDE, 2, REMOTE, 80, SYN), "203.0.113.1:3000");
	assert_string_equal(leaves_from(UDP, INSIDE, 1, REMOTE, 80, 0), "203.0.113.1:3000");
	wait_s(301);
	assert_string_equal(leaves_from(UDP, INSIDE, 2, REMOTE, 80, 0), "203.0.113.1:3000");
}

static void
test_exhausted_sessions_are_a_counted_drop(void **state)
{
	(void)state;
	START({"sessions", "2"});
	leaves_from(UDP, INSIDE, 1, REMOTE, 80, 0);
	leaves_from(UDP, INSIDE, 2, REMOTE, 80, 0);
	assert_string_equal(leaves_from(UDP, INSIDE, 3, REMOTE, 80, 0), "sessions_exhausted");
	assert_int_equal(weir_test_figure(&weir_nf_nat, nat, "sessions"), 2);
	wait_s(301);
	assert_int_equal(weir_test_figure(&weir_nf_nat, nat, "sessions"), 0);
	assert_int_equal(port_in(leaves_from(UDP, INSIDE, 3, REMOTE, 80, 0)) % 2, 1);
}

/* RFC 6888, REQ-4. */
static void
test_a_subscriber_has_a_limit_of_ports(void **state)
{
	(void)state;
	START({"subscriber_ports", "2"});
	leaves_from(UDP, INSIDE, 1, REMOTE, 80, 0);
	leaves_from(TCP, INSIDE, 1, REMOTE, 80, SYN);
	assert_string_equal(leaves_from(UDP, INSIDE, 2, REMOTE, 80, 0), "subscriber_limit");
	port_in(leaves_from(UDP, OTHER_INSIDE, 2, REMOTE, 80, 0));
	wait_s(301);
	port_in(leaves_from(UDP, INSIDE, 2, REMOTE, 80, 0));
}

/* RFC 4787, REQ-8; RFC 5382, REQ-3. */
static void
test_without_filtering_everybody_may_send_to_a_mapping(void **state)
{
	(void)state;
	start(NULL);
	keep(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	assert_string_equal(arrives_at(UDP, OTHER_REMOTE, 99, mapped, 0), INSIDE ":5000");
	assert_string_equal(arrives_at(TCP, REMOTE, 80, mapped, SYN), "no_mapping");
}

static void
test_address_dependent_filtering_lets_only_addresses_in_that_were_sent_to(void **state)
{
	(void)state;
	START({"filtering", "address-dependent"});
	keep(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	assert_string_equal(arrives_at(UDP, REMOTE, 99, mapped, 0), INSIDE ":5000");
	assert_string_equal(arrives_at(UDP, OTHER_REMOTE, 80, mapped, 0), "filtered");
	leaves_from(UDP, INSIDE, 5000, OTHER_REMOTE, 80, 0);
	assert_string_equal(arrives_at(UDP, OTHER_REMOTE, 80, mapped, 0), INSIDE ":5000");
}

static void
test_address_and_port_dependent_filtering_asks_for_the_port_too(void **state)
{
	(void)state;
	START({"filtering", "address-and-port-dependent"});
	keep(leaves_from(TCP, INSIDE, 5000, REMOTE, 80, SYN));
	assert_string_equal(arrives_at(TCP, REMOTE, 80, mapped, SYN | ACK), INSIDE ":5000");
	assert_string_equal(arrives_at(TCP, REMOTE, 81, mapped, SYN), "filtered");
}

static void
test_filtering_without_room_for_a_remote_is_a_counted_drop(void **state)
{
	(void)state;
	START({"filtering", "address-and-port-dependent"}, {"remotes", "8"});
	for (uint16_t port = 1; port <= 8; port++)
		port_in(leaves_from(UDP, INSIDE, 5000, REMOTE, port, 0));
	assert_string_equal(leaves_from(UDP, INSIDE, 5000, REMOTE, 9, 0), "remotes_exhausted");
}

/* RFC 4787, REQ-9 and 9a. */
static void
test_a_hairpinned_packet_comes_from_the_external_endpoint_of_its_sender(void **state)
{
	struct weir_test_ipv4 what = {.src = INSIDE, .src_port = 5000, .dst = "203.0.113.1"};
	struct seen seen;

	(void)state;
	START({"external", "203.0.113.1/32"}, {"hairpin_output", "1"});
	what.dst_port = port_in(leaves_from(UDP, OTHER_INSIDE, 6000, REMOTE, 80, 0));
	keep(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	seen = pass(WEIR_OUTBOUND, &what);
	assert_null(seen.drop);
	assert_string_equal(seen.source, mapped);
	assert_string_equal(seen.destination, OTHER_INSIDE ":6000");
	assert_int_equal(seen.egress, 1);
	what.dst_port++;
	assert_string_equal(pass(WEIR_OUTBOUND, &what).drop, "no_mapping");
}

static void
test_hairpinned_packets_are_filtered_as_others(void **state)
{
	struct weir_test_ipv4 there = {.src = INSIDE, .src_port = 5000, .dst = "203.0.113.1"};
	struct weir_test_ipv4 back = {.src = OTHER_INSIDE, .src_port = 6000, .dst = "203.0.113.1"};

	(void)state;
	START({"external", "203.0.113.1/32"}, {"filtering", "address-and-port-dependent"});
	there.dst_port = port_in(leaves_from(UDP, OTHER_INSIDE, 6000, REMOTE, 80, 0));
	back.dst_port = port_in(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	assert_string_equal(pass(WEIR_OUTBOUND, &there).drop, "filtered");
	assert_string_equal(pass(WEIR_OUTBOUND, &back).destination, INSIDE ":5000");
	assert_string_equal(pass(WEIR_OUTBOUND, &there).destination, OTHER_INSIDE ":6000");
}

static void
test_what_is_not_translated_is_dropped_with_its_reason(void **state)
{
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	start(NULL);
	assert_string_equal(pass_bytes(WEIR_OUTBOUND, arp, sizeof(arp)).drop, "not_ipv4");
	assert_string_equal(
		pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.protocol = IPPROTO_GRE}).drop,
		"protocol");
	bytes = weir_test_ipv4_frame(&(struct weir_test_ipv4){0}, frame);
	assert_string_equal(pass_bytes(WEIR_OUTBOUND, frame, 30).drop, "malformed");
	frame[17] = 24; /* the IP packet ends within the UDP header */
	assert_string_equal(pass_bytes(WEIR_OUTBOUND, frame, bytes).drop, "truncated");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_an_inside_endpoint_has_one_external_endpoint_whomever_it_sends_to),
		cmocka_unit_test(test_an_answer_arrives_at_the_endpoint_that_asked),
		cmocka_unit_test(test_no_two_inside_endpoints_share_an_external_one),
		cmocka_unit_test(test_a_free_port_is_preserved),
		cmocka_unit_test(test_free_ports_are_preserved_whatever_the_lanes),
		cmocka_unit_test(test_ports_below_1024_stay_below_by_default),
		cmocka_unit_test(test_parity_is_preserved_while_a_port_of_it_is_free),
		cmocka_unit_test(test_ports_below_1024_and_above_stay_in_their_range),
		cmocka_unit_test(test_all_endpoints_of_a_host_share_one_external_address),
		cmocka_unit_test(test_exhausted_ports_are_a_counted_drop_and_others_go_on),
		cmocka_unit_test(test_exhausted_sessions_are_a_counted_drop),
		cmocka_unit_test(test_a_subscriber_has_a_limit_of_ports),
		cmocka_unit_test(test_without_filtering_everybody_may_send_to_a_mapping),
		cmocka_unit_test(
			test_address_dependent_filtering_lets_only_addresses_in_that_were_sent_to),
		cmocka_unit_test(test_address_and_port_dependent_filtering_asks_for_the_port_too),
		cmocka_unit_test(test_filtering_without_room_for_a_remote_is_a_counted_drop),
		cmocka_unit_test(
			test_a_hairpinned_packet_comes_from_the_external_endpoint_of_its_sender),
		cmocka_unit_test(test_hairpinned_packets_are_filtered_as_others),
		cmocka_unit_test(test_what_is_not_translated_is_dropped_with_its_reason),
	};

	return cmocka_run_group_tests_name("nat", tests, weir_test_eal, NULL);
}
