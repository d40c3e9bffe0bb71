/* SPDX-License-Identifier: Apache-2.0 */
/* What RFC 1812 and RFC 8200 ask of a router that forwards, packet by packet. */
#include "l3fwd_fixture_test.h"

#include <stdio.h>
#include <string.h>

#include <rte_ip.h>

static void
without_routes_everything_goes_to_the_lab_s_next_hop(void **state)
{
	static const char *const options[][2] = {{"src_mac", SRC_MAC},
						 {"dst_mac", "02:00:00:00:00:0b"},
						 {"inbound_dst_mac", "02:00:00:00:00:0c"},
						 {NULL, NULL}};
	const struct weir_test_ipv4 what = {.dst = "203.0.113.1"};

	(void)state;
	start(options);
	assert_string_equal(to("198.51.100.1"), "0b/0");
	assert_string_equal(ipv6("2001:db8::1", "2001:db8:1::1"), "0b/0");
	assert_string_equal(fate(weir_test_run(&weir_nf_l3fwd, l3fwd, WEIR_INBOUND,
					       weir_test_ipv4_packet(&what), 0)),
			    "0c/0");
}

static void
the_longest_prefix_says_next_hop_and_egress(void **state)
{
	(void)state;
	start_with_routes("# prefix next-hop [egress]\n"
			  "0.0.0.0/0        02:00:00:00:00:01\n"
			  "198.51.0.0/16    02:00:00:00:00:02 1\n"
			  "\n"
			  "198.51.100.0/24  02:00:00:00:00:03 2   # documentation\n"
			  "198.51.100.7     02:00:00:00:00:04 3\n"
			  "2001:db8::/32    02:00:00:00:00:05 4\n"
			  "2001:db8:0:1::/64 02:00:00:00:00:06\n");
	assert_string_equal(to("203.0.113.1"), "01/0");
	assert_string_equal(to("198.51.7.7"), "02/1");
	assert_string_equal(to("198.51.100.8"), "03/2");
	assert_string_equal(to("198.51.100.7"), "04/3");
	assert_string_equal(ipv6("2001:db8::1", "2001:db8::2"), "05/4");
	assert_string_equal(ipv6("2001:db8::1", "2001:db8:0:1::2"), "06/0");
	assert_string_equal(ipv6("2001:db8::1", "2001:db9::2"), "no_route");
}

static void
a_forwarded_packet_has_new_addresses_and_one_ttl_less(void **state)
{
	const struct weir_test_ipv4 what = {.ttl = 2};
	struct weir_test_outcome outcome;
	const uint8_t *frame;

	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n");
	outcome = weir_test_run(&weir_nf_l3fwd, l3fwd, WEIR_OUTBOUND, weir_test_ipv4_packet(&what),
				0);
	assert_non_null(outcome.packet);
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_memory_equal(frame, "\2\0\0\0\0\1\2\0\0\0\0\12", 12);
	assert_int_equal(frame[RTE_ETHER_HDR_LEN + 8], 1);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	rte_pktmbuf_free(outcome.packet);
}

static void
the_rest_of_a_fragmented_tagged_packet_with_options_is_left_alone(void **state)
{
	const struct weir_test_ipv4 what = {.tagged = true,
					    .option_bytes = 8,
					    .more_fragments = true,
					    .payload = "hello, router",
					    .payload_bytes = 13};
	uint8_t expected[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&what, expected);
	struct weir_test_outcome outcome;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(expected + RTE_ETHER_HDR_LEN + 4);

	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n");
	outcome = weir_test_run(&weir_nf_l3fwd, l3fwd, WEIR_OUTBOUND,
				weir_test_packet(expected, bytes), 0);
	assert_non_null(outcome.packet);
	memcpy(expected, "\2\0\0\0\0\1\2\0\0\0\0\12", 12);
	ip->time_to_live--;
	ip->hdr_checksum = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->hdr_checksum) + 0x100);
	assert_memory_equal(rte_pktmbuf_mtod(outcome.packet, const uint8_t *), expected, bytes);
	rte_pktmbuf_free(outcome.packet);
}

static void
a_packet_whose_time_is_up_is_dropped(void **state)
{
	struct weir_test_ipv4 what = {.ttl = 1};
	struct rte_mbuf *zero;

	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n::/0 02:00:00:00:00:01\n");
	assert_string_equal(pass(weir_test_ipv4_packet(&what)), "ttl_expired");
	zero = weir_test_ipv4_packet(&what);
	rte_pktmbuf_mtod(zero, uint8_t *)[22] = 0;
	rte_pktmbuf_mtod(zero, uint8_t *)[24]++; /* the checksum's high byte */
	assert_string_equal(pass(zero), "ttl_expired");
	assert_string_equal(pass(ipv6_packet("2001:db8::1", "2001:db8::2", 1)), "ttl_expired");
	assert_string_equal(pass(ipv6_packet("2001:db8::1", "2001:db8::2", 0)), "ttl_expired");
	assert_string_equal(pass(ipv6_packet("2001:db8::1", "2001:db8::2", 2)), "01/0");
}

static void
addresses_that_belong_on_no_wire_are_dropped(void **state)
{
	static const char *const both[] = {"0.1.2.3", "127.0.0.1", "240.0.0.1", "255.255.255.255"};
	static const char *const ipv6_both[] = {"::", "::1", "fe80::1"};

	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n::/0 02:00:00:00:00:01\n");
	for (unsigned int i = 0; i < RTE_DIM(both); i++) {
		assert_string_equal(from(both[i]), "martian");
		assert_string_equal(to(both[i]), "martian");
	}
	for (unsigned int i = 0; i < RTE_DIM(ipv6_both); i++) {
		assert_string_equal(ipv6(ipv6_both[i], "2001:db8::1"), "martian");
		assert_string_equal(ipv6("2001:db8::1", ipv6_both[i]), "martian");
	}
	assert_string_equal(from("224.0.0.1"), "martian");
	assert_string_equal(ipv6("ff02::1", "2001:db8::1"), "martian");
	assert_string_equal(to("239.255.255.250"), "multicast");
	assert_string_equal(ipv6("2001:db8::1", "ff0e::1"), "multicast");
	assert_string_equal(ipv6("2001:db8::1", "::2"), "01/0");
	assert_string_equal(to("223.255.255.254"), "01/0");
}

static void
frames_that_a_router_does_not_forward_are_dropped(void **state)
{
	const struct weir_test_ipv4 plain = {0};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&plain, frame);

	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n");
	frame[0] = 0xff;
	assert_string_equal(pass(weir_test_packet(frame, bytes)), "link_broadcast");
	frame[0] = 0x02;
	frame[25] ^= 1;
	assert_string_equal(pass(weir_test_packet(frame, bytes)), "bad_checksum");
	frame[25] ^= 1;
	assert_string_equal(pass(weir_test_packet(frame, 33)), "malformed");
	assert_string_equal(pass(weir_test_packet(frame, 13)), "not_ip");
	frame[13] = 0x06; /* ARP */
	assert_string_equal(pass(weir_test_packet(frame, bytes)), "not_ip");
}

/* Options of 8 bytes, their checksum made right. */
static const char *
with_options(const void *options)
{
	const struct weir_test_ipv4 what = {.option_bytes = 8};
	struct rte_mbuf *packet = weir_test_ipv4_packet(&what);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);

	memcpy(frame + RTE_ETHER_HDR_LEN + sizeof(*ip), options, 8);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ~rte_raw_cksum(ip, 28);
	return pass(packet);
}

static void
source_routes_are_dropped_and_other_options_pass(void **state)
{
	(void)state;
	start_with_routes("0.0.0.0/0 02:00:00:00:00:01\n");
	assert_string_equal(with_options("\203\7\4\12\0\0\1\0"), "source_route");
	assert_string_equal(with_options("\1\211\7\4\12\0\0\1"), "source_route");
	assert_string_equal(with_options("\7\7\4\0\0\0\0\0"), "01/0");	   /* record route */
	assert_string_equal(with_options("\224\4\0\0\0\203\7\4"), "01/0"); /* ends before it */
	assert_string_equal(with_options("\7\1\0\0\0\0\0\0"), "malformed");
	assert_string_equal(with_options("\7\11\4\0\0\0\0\0"), "malformed");
}

/* Destination and source, "last byte from last byte", of a packet that goes that way. */
static const char *
addressed(enum weir_direction direction, const char *destination)
{
	static char text[16];
	const struct weir_test_ipv4 what = {.dst = destination};
	struct weir_test_outcome outcome =
		weir_test_run(&weir_nf_l3fwd, l3fwd, direction, weir_test_ipv4_packet(&what), 0);
	const uint8_t *frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);

	snprintf(text, sizeof(text), "%02x from %02x", frame[5], frame[11]);
	rte_pktmbuf_free(outcome.packet);
	return text;
}

#define BOTH_SIDES                                                                                 \
	{"src_mac", SRC_MAC}, {"dst_mac", "02:00:00:00:00:0b"},                                    \
		{"inbound_src_mac", "02:00:00:00:00:1a"},                                          \
	{                                                                                          \
		"inbound_dst_mac", "02:00:00:00:00:1b"                                             \
	}

static void
the_output_that_leads_inside_has_the_inbound_addresses_whatever_the_direction(void **state)
{
	static const char *const options[][2] = {BOTH_SIDES,
						 {"inside_output", "1"},
						 {"route_list",
						  "0.0.0.0/0 default, 10.1.0.0/24 default 1, "
						  "10.2.0.0/24 02:00:00:00:00:2b 1"},
						 {NULL, NULL}};

	(void)state;
	start(options);
	for (enum weir_direction way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		assert_string_equal(addressed(way, "192.0.2.1"), "0b from 0a");
		assert_string_equal(addressed(way, "10.1.0.1"), "1b from 1a");
		assert_string_equal(addressed(way, "10.2.0.1"), "2b from 1a");
	}
	assert_string_equal(to("10.2.0.1"), "2b/1");
	assert_string_equal(to("10.3.0.1"), "0b/0");
}

static void
without_such_an_output_the_default_next_hop_is_that_of_the_direction(void **state)
{
	static const char *const options[][2] = {
		BOTH_SIDES, {"route_list", "10.0.0.0/8 default"}, {NULL, NULL}};

	(void)state;
	start(options);
	assert_string_equal(addressed(WEIR_OUTBOUND, "10.1.0.1"), "0b from 0a");
	assert_string_equal(addressed(WEIR_INBOUND, "10.1.0.1"), "1b from 1a");
	assert_string_equal(to("192.0.2.1"), "no_route");
}

static void
a_wrong_route_in_a_list_is_named_by_its_number(void **state)
{
	const struct weir_option_value wrong[] = {{"route_list", "10.0.0.0/8 default"}};
	const struct weir_option_value later[] = {
		{"route_list", "10.0.0.0/8 02:00:00:00:00:01, 10.1.0.0/8 02:00:00:00:00:01"}};
	struct weir_error error = {0};

	(void)state;
	assert_null(weir_nf_create(&weir_nf_l3fwd, wrong, 1, "options", &error));
	assert_non_null(strstr(error.message, "there is no default next hop"));
	assert_null(weir_nf_create(&weir_nf_l3fwd, later, 1, "options", &error));
	assert_non_null(strstr(error.message, "route_list, route 2"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_routes_everything_goes_to_the_lab_s_next_hop),
		cmocka_unit_test(the_longest_prefix_says_next_hop_and_egress),
		cmocka_unit_test(a_forwarded_packet_has_new_addresses_and_one_ttl_less),
		cmocka_unit_test(the_rest_of_a_fragmented_tagged_packet_with_options_is_left_alone),
		cmocka_unit_test(a_packet_whose_time_is_up_is_dropped),
		cmocka_unit_test(addresses_that_belong_on_no_wire_are_dropped),
		cmocka_unit_test(frames_that_a_router_does_not_forward_are_dropped),
		cmocka_unit_test(source_routes_are_dropped_and_other_options_pass),
		cmocka_unit_test(
			the_output_that_leads_inside_has_the_inbound_addresses_whatever_the_direction),
		cmocka_unit_test(
			without_such_an_output_the_default_next_hop_is_that_of_the_direction),
		cmocka_unit_test(a_wrong_route_in_a_list_is_named_by_its_number),
	};

	return cmocka_run_group_tests_name("l3fwd", tests, weir_test_eal, end);
}
