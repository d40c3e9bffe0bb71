/* SPDX-License-Identifier: Apache-2.0 */
/* Which errors a router with addresses tells by ICMP and ICMPv6, to whom, and how much it quotes.
 */
#include "station_fixture_test.h"

#include <arpa/inet.h>
#include <string.h>

#define IPV4_AT 14
#define ERROR_AT (IPV4_AT + 20)
#define QUOTE_AT (ERROR_AT + 8)

/* An error to 10.0.1.2 from the router's own address on that side, about just that packet. */
static void
complains_about(const struct frame *packet, uint8_t type, uint8_t code, uint16_t quoted)
{
	struct frame error;

	assert_true(leaves(LEFT, &error));
	assert_memory_equal(error.bytes, HOST_MAC LEFT_MAC "\x08\0\x45\xc0", 16);
	assert_int_equal(error.bytes[16] << 8 | error.bytes[17], 28 + quoted);
	assert_memory_equal(error.bytes + 18, "\0\0\x40\0\x40\1", 6); /* DF, TTL 64, ICMP */
	assert_memory_equal(error.bytes + 26, "\x0a\0\1\1\x0a\0\1\2", 8);
	assert_int_equal(error.bytes[ERROR_AT], type);
	assert_int_equal(error.bytes[ERROR_AT + 1], code);
	assert_memory_equal(error.bytes + QUOTE_AT, packet->bytes + IPV4_AT, quoted);
	assert_int_equal(error.size, QUOTE_AT + quoted);
	all_is_accounted_for();
}

static void
a_packet_whose_time_is_up_is_told_to_its_sender(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 1, 100);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about(&packet, 11, 0, 128);
	nothing_leaves();
	assert_int_equal(dropped("ttl_expired"), 1);
	assert_int_equal(router->paths[1].stages[0].ledger.originated, 1);
}

static void
of_a_long_packet_as_much_is_told_as_makes_576_bytes(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 1, 1400);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about(&packet, 11, 0, 576 - 28);
}

static void
a_destination_without_a_route_is_unreachable(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);

	(void)state;
	start_router("route_list", "203.0.113.0/24 via 10.0.2.2");
	arrives(LEFT, &packet);
	complains_about(&packet, 3, 0, 38);
	assert_int_equal(dropped("no_route"), 1);
}

static void
a_datagram_to_the_router_itself_finds_no_port(void **state)
{
	const struct frame packet = ipv4_to("10.0.2.1", 64, 10);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about(&packet, 3, 3, 38);
	assert_int_equal(dropped("for_router"), 1);
}

/* It is not forwarded, so that its TTL does not matter (RFC 1812, 5.3.1): the last line of a
 * traceroute to the router. */
static void
a_datagram_to_the_router_itself_may_have_a_ttl_of_one(void **state)
{
	const struct frame packet = ipv4_to("10.0.2.1", 1, 10);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about(&packet, 3, 3, 38);
	assert_int_equal(dropped("ttl_expired"), 0);
}

static void
dont_fragment(struct frame *frame)
{
	uint32_t sum = 0;
	uint8_t *ip = frame->bytes + IPV4_AT;

	ip[6] |= 0x40;
	ip[10] = ip[11] = 0;
	for (unsigned int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void
a_packet_longer_than_the_mtu_is_told_with_it_where_it_must_not_be_cut(void **state)
{
	struct frame packet = ipv4_to("198.51.100.1", 64, 1000 - 28 + 1), fits;

	(void)state;
	start_router("mtu_bytes", "1000");
	arrives(LEFT, &packet); /* may be cut, and is not: no error (RFC 1191) */
	nothing_leaves();
	assert_int_equal(dropped("too_big"), 1);
	dont_fragment(&packet);
	arrives(LEFT, &packet);
	complains_about(&packet, 3, 4, 576 - 28);
	assert_int_equal(dropped("too_big"), 2);
	fits = ipv4_to("198.51.100.1", 64, 1000 - 28);
	arrives(LEFT, &fits);
	assert_int_equal(held(), 1);
}

static void
the_mtu_of_a_link_holds_for_later_packets_of_a_flow_too(void **state)
{
	struct frame small = ipv4_to("198.51.100.1", 64, 10);
	struct frame big = ipv4_to("198.51.100.1", 64, 1200), sent;

	(void)state;
	start_router("mtu_bytes", "1000");
	arrives(LEFT, &small);
	assert_true(leaves(RIGHT, &sent));
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	for (unsigned int i = 0; i < 3; i++) {
		arrives(LEFT, &small);
		assert_true(leaves(RIGHT, &sent));
	}
	dont_fragment(&big);
	arrives(LEFT, &big);
	complains_about(&big, 3, 4, 576 - 28);
	nothing_leaves();
}

static void
time_that_is_up_is_told_of_known_flows_too(void **state)
{
	struct frame packet = ipv4_to("198.51.100.1", 64, 10), sent;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	assert_true(leaves(RIGHT, &sent));
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	for (unsigned int i = 0; i < 3; i++) {
		arrives(LEFT, &packet);
		assert_true(leaves(RIGHT, &sent));
	}
	assert_true(router->paths[0].fastpath.ledger.hits > 0);
	packet = ipv4_to("198.51.100.1", 1, 10);
	arrives(LEFT, &packet);
	complains_about(&packet, 11, 0, 38);
}

/* The same in IPv6: from that address of the router's to 2001:db8:1::2. */
static void
complains_about_ipv6_from(const char *own, const struct frame *packet, uint8_t type, uint8_t code,
			  uint32_t word, uint16_t quoted)
{
	struct frame error, checked;
	const uint8_t *icmp = error.bytes + 54;
	uint8_t source[16];

	assert_int_equal(inet_pton(AF_INET6, own, source), 1);
	assert_true(leaves(LEFT, &error));
	assert_memory_equal(error.bytes, HOST_MAC LEFT_MAC "\x86\xdd\x6c\0\0\0", 18);
	assert_int_equal(error.bytes[18] << 8 | error.bytes[19], 8 + quoted);
	assert_memory_equal(error.bytes + 20, "\x3a\x40", 2); /* ICMPv6, hop limit 64 */
	assert_memory_equal(error.bytes + 38, packet->bytes + 22, 16);
	assert_memory_equal(error.bytes + 22, source, sizeof(source));
	assert_int_equal(icmp[0], type);
	assert_int_equal(icmp[1], code);
	assert_int_equal((uint32_t)icmp[4] << 24 | icmp[5] << 16 | icmp[6] << 8 | icmp[7], word);
	assert_memory_equal(icmp + 8, packet->bytes + 14, quoted);
	checked = error;
	set_icmpv6_checksum(&checked);
	assert_memory_equal(checked.bytes, error.bytes, error.size);
	all_is_accounted_for();
}

static void
complains_about_ipv6(const struct frame *packet, uint8_t type, uint8_t code, uint32_t word,
		     uint16_t quoted)
{
	complains_about_ipv6_from("2001:db8:1::1", packet, type, code, word, quoted);
}

static void
ipv6_has_the_same_by_icmpv6(void **state)
{
	struct frame packet = ipv6_to("2001:db8:ffff::1", 1, 100);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about_ipv6(&packet, 3, 0, 0, 148);
	packet = ipv6_to("2001:db8:ffff::1", 1, 1400);
	arrives(LEFT, &packet);
	complains_about_ipv6(&packet, 3, 0, 0, 1280 - 48);
	packet = ipv6_to("2001:db8:1::1", 64, 10);
	arrives(LEFT, &packet);
	complains_about_ipv6(&packet, 1, 4, 0, 58);
	start_router("mtu_bytes", "1300");
	packet = ipv6_to("2001:db8:ffff::1", 64, 1300 - 48 + 1);
	arrives(LEFT, &packet);
	complains_about_ipv6(&packet, 2, 0, 1300, 1280 - 48);
	start_router("route_list", "203.0.113.0/24 via 10.0.2.2");
	packet = ipv6_to("2001:db8:ffff::1", 64, 10);
	arrives(LEFT, &packet);
	complains_about_ipv6(&packet, 1, 0, 0, 58);
	start_router(NULL, NULL);
	packet = ipv6_to("2001:db8:ffff::1", 64, 10);
	arrives(LEFT, &packet);
	pass_ms(3500);
	complains_about_ipv6(&packet, 1, 3, 0, 58);
}

static void
about_a_packet_to_its_far_ipv6_address_the_router_complains_from_that_address(void **state)
{
	const struct frame packet = ipv6_to("2001:db8:2::1", 64, 10);

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	complains_about_ipv6_from("2001:db8:2::1", &packet, 1, 4, 0, 58);
	nothing_leaves();
	assert_int_equal(dropped("for_router"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_whose_time_is_up_is_told_to_its_sender),
		cmocka_unit_test(of_a_long_packet_as_much_is_told_as_makes_576_bytes),
		cmocka_unit_test(a_destination_without_a_route_is_unreachable),
		cmocka_unit_test(a_datagram_to_the_router_itself_may_have_a_ttl_of_one),
		cmocka_unit_test(a_datagram_to_the_router_itself_finds_no_port),
		cmocka_unit_test(
			a_packet_longer_than_the_mtu_is_told_with_it_where_it_must_not_be_cut),
		cmocka_unit_test(the_mtu_of_a_link_holds_for_later_packets_of_a_flow_too),
		cmocka_unit_test(time_that_is_up_is_told_of_known_flows_too),
		cmocka_unit_test(ipv6_has_the_same_by_icmpv6),
		cmocka_unit_test(
			about_a_packet_to_its_far_ipv6_address_the_router_complains_from_that_address),
	};

	return cmocka_run_group_tests_name("l3fwd_icmp", tests, weir_test_eal, end_router);
}
