/* SPDX-License-Identifier: Apache-2.0 */
/* What RFC 1812 and RFC 8200 ask of a router that forwards, packet by packet. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_ip.h>

#include "core/fastpath.h"
#include "testing/eal.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_l3fwd;

#define SRC_MAC "02:00:00:00:00:0a"
#define TCP_ACK 0x10

static void *l3fwd;
static char file[] = "/tmp/weir-l3fwd-XXXXXX";

static void
write_routes(const char *lines)
{
	FILE *routes = fopen(file, "w");

	assert_non_null(routes);
	fputs(lines, routes);
	fclose(routes);
}

static void
start(const char *const (*options)[2])
{
	weir_nf_destroy(&weir_nf_l3fwd, l3fwd);
	l3fwd = weir_test_state(&weir_nf_l3fwd, options);
}

static void
start_with_routes(const char *lines)
{
	const char *const options[][2] = {{"routes", file}, {"src_mac", SRC_MAC}, {NULL, NULL}};

	write_routes(lines);
	start(options);
}

/* Where a packet goes, "last byte of the next hop/egress", or why not; frees it. */
static const char *
fate(struct weir_test_outcome outcome)
{
	static char text[16];
	const uint8_t *frame;

	if (outcome.packet == NULL)
		return outcome.drop_reason;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	snprintf(text, sizeof(text), "%02x/%u", frame[5], outcome.egress);
	rte_pktmbuf_free(outcome.packet);
	return text;
}

static const char *
pass(struct rte_mbuf *packet)
{
	return fate(weir_test_run(&weir_nf_l3fwd, l3fwd, WEIR_OUTBOUND, packet, 0));
}

static const char *
to(const char *destination)
{
	const struct weir_test_ipv4 what = {.dst = destination};

	return pass(weir_test_ipv4_packet(&what));
}

static const char *
from(const char *source)
{
	const struct weir_test_ipv4 what = {.src = source};

	return pass(weir_test_ipv4_packet(&what));
}

static struct rte_mbuf *
ipv6_packet(const char *source, const char *destination, uint8_t hop_limit)
{
	uint8_t frame[60] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60};

	frame[20] = IPPROTO_NONE;
	frame[21] = hop_limit;
	assert_int_equal(inet_pton(AF_INET6, source, frame + 22), 1);
	assert_int_equal(inet_pton(AF_INET6, destination, frame + 38), 1);
	return weir_test_packet(frame, sizeof(frame));
}

static const char *
ipv6(const char *source, const char *destination)
{
	return pass(ipv6_packet(source, destination, 64));
}

/* --- where packets go ----------------------------------------------------------------------------
 */

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

/* --- what is dropped -----------------------------------------------------------------------------
 */

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

/* --- files and commands --------------------------------------------------------------------------
 */

static void
refused(const char *lines, const char *message)
{
	const struct weir_option_value options[] = {{"routes", file}, {"ipv4_groups_max", "1"}};
	struct weir_error error = {0};

	write_routes(lines);
	assert_null(weir_nf_create(&weir_nf_l3fwd, options, 2, "options", &error));
	assert_non_null(strstr(error.message, message));
	assert_non_null(strstr(error.message, file));
}

static void
a_wrong_line_is_named_by_file_and_number(void **state)
{
	(void)state;
	refused("10.0.0.1/8 02:00:00:00:00:01\n", ":1: not a prefix");
	refused("# one\n\n10.0.0.0/8\n", ":3: the next hop");
	refused("10.0.0.0/8 ff:ff:ff:ff:ff:ff\n", ":1: the next hop");
	refused("10.0.0.0/8 02:00:00:00:00:01 16\n", ":1: the egress");
	refused("10.0.0.0/8 02:00:00:00:00:01 1 2\n", ":1: more than");
	refused("::/0 02:00:00:00:00:01\n::/0 02:00:00:00:00:02\n", ":2: the prefix is there");
	refused("10.0.0.1 02:00:00:00:00:01\n10.0.1.1 02:00:00:00:00:01\n", ":2: the 1 groups");
}

static const char *
add(const char *prefix, const char *next_hop)
{
	const char *const arguments[][2] = {
		{"prefix", prefix}, {"next_hop", next_hop}, {"egress", "5"}, {NULL, NULL}};

	return weir_test_command(&weir_nf_l3fwd, l3fwd, "route-add", arguments);
}

static const char *delete (const char *prefix)
{
	const char *const arguments[][2] = {{"prefix", prefix}, {NULL, NULL}};

	return weir_test_command(&weir_nf_l3fwd, l3fwd, "route-delete", arguments);
}

static void
routes_come_change_and_go(void **state)
{
	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n");
	assert_null(add("198.51.100.0/24", "02:00:00:00:00:02"));
	assert_string_equal(to("198.51.100.1"), "02/5");
	assert_null(add("198.51.100.0/24", "02:00:00:00:00:03"));
	assert_string_equal(to("198.51.100.1"), "03/5");
	assert_null(delete ("198.51.100.0/24"));
	assert_string_equal(to("198.51.100.1"), "01/0");
	assert_non_null(delete ("198.51.100.0/24"));
	assert_non_null(add("198.51.100.1/24", "02:00:00:00:00:02"));
	assert_non_null(add("198.51.100.0/24", "03:00:00:00:00:02"));
	assert_null(add("2001:db8::/32", "02:00:00:00:00:04"));
	assert_string_equal(ipv6("2001:db8::1", "2001:db8::2"), "04/5");
}

static void
next_hops_that_no_route_needs_make_room(void **state)
{
	const char *const options[][2] = {
		{"dst_mac", "02:00:00:00:00:01"}, {"next_hops_max", "2"}, {NULL, NULL}};
	char mac[18];

	(void)state;
	start(options);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(mac, sizeof(mac), "02:00:00:00:01:%02x", i);
		assert_null(add("10.0.0.0/8", mac));
	}
	assert_null(add("10.1.0.0/16", "02:00:00:00:02:01"));
	assert_non_null(add("10.2.0.0/16", "02:00:00:00:02:02"));
}

static void
a_file_replaces_all_routes_at_once_or_none(void **state)
{
	const char *const arguments[][2] = {{"routes", file}, {NULL, NULL}};

	(void)state;
	start_with_routes("198.51.100.0/24 02:00:00:00:00:01\n2001:db8::/32 02:00:00:00:00:01\n");
	write_routes("203.0.113.0/24 02:00:00:00:00:02\nnonsense\n");
	assert_non_null(weir_test_command(&weir_nf_l3fwd, l3fwd, "routes-load", arguments));
	assert_string_equal(to("198.51.100.1"), "01/0");
	write_routes("203.0.113.0/24 02:00:00:00:00:02\n");
	assert_null(weir_test_command(&weir_nf_l3fwd, l3fwd, "routes-load", arguments));
	assert_string_equal(to("203.0.113.1"), "02/0");
	assert_string_equal(to("198.51.100.1"), "no_route");
	assert_string_equal(ipv6("2001:db8::1", "2001:db8::2"), "no_route");
}

/* --- with a fast path ----------------------------------------------------------------------------
 */

struct fast {
	struct weir_stage stage;
	struct weir_fastpath fastpath;
};

static struct fast
fast_start(void)
{
	const struct weir_flow_path path = {
		.direction = WEIR_OUTBOUND, .stage_count = 1, .state = {l3fwd}};
	struct fast fast = {.stage = {.nf = &weir_nf_l3fwd, .state = l3fwd}};

	fast.fastpath.cache = weir_flow_cache_create(64, &path, 1);
	assert_non_null(fast.fastpath.cache);
	return fast;
}

/* The last byte of the next hop; 0: dropped. */
static uint8_t
fast_to(struct fast *fast, const char *destination)
{
	const struct weir_test_ipv4 what = {.dst = destination};
	struct weir_batch batch = {.count = 1, .packet = {weir_test_ipv4_packet(&what)}};
	uint8_t last;

	weir_fastpath_run(&fast->fastpath, &fast->stage, 1, &batch, false);
	if (batch.count == 0)
		return 0;
	last = rte_pktmbuf_mtod(batch.packet[0], const uint8_t *)[5];
	rte_pktmbuf_free(batch.packet[0]);
	return last;
}

static void
fast_command(struct fast *fast, const char *name, const char *prefix, const char *next_hop)
{
	const char *const arguments[][2] = {
		{"prefix", prefix}, {next_hop != NULL ? "next_hop" : NULL, next_hop}, {NULL, NULL}};

	assert_null(weir_test_command_beside(&weir_nf_l3fwd, l3fwd, name, arguments,
					     fast->fastpath.cache));
}

static void
a_change_of_routes_forgets_the_flows_that_it_concerns_and_no_others(void **state)
{
	struct fast fast;

	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n198.51.100.128/25 02:00:00:00:00:02\n");
	fast = fast_start();
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 1);
	assert_int_equal(fast_to(&fast, "198.51.100.129"), 2);
	assert_int_equal(fast_to(&fast, "198.51.101.1"), 1);
	assert_int_equal(fast_to(&fast, "203.0.113.1"), 0);
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 4);

	/* More specific than one flow's route, less specific than another's. */
	fast_command(&fast, "route-add", "198.51.100.0/24", "02:00:00:00:00:03");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 3);

	/* A prefix that leads elsewhere. */
	fast_command(&fast, "route-add", "198.51.100.0/24", "02:00:00:00:00:04");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 4);

	/* A flow that had no route. */
	fast_command(&fast, "route-add", "0.0.0.0/0", "02:00:00:00:00:05");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "203.0.113.1"), 5);

	fast_command(&fast, "route-delete", "198.51.100.128/25", NULL);
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.129"), 4);
	assert_int_equal(fast_to(&fast, "198.51.101.1"), 1);
	assert_int_equal(fast.fastpath.ledger.hits, 1);
	weir_flow_cache_free(fast.fastpath.cache);
}

static void
a_new_file_of_routes_forgets_all_flows(void **state)
{
	const char *const arguments[][2] = {{"routes", file}, {NULL, NULL}};
	struct fast fast;

	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n");
	fast = fast_start();
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 1);
	write_routes("198.51.0.0/16 02:00:00:00:00:02\n");
	assert_null(weir_test_command_beside(&weir_nf_l3fwd, l3fwd, "routes-load", arguments,
					     fast.fastpath.cache));
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 0);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 2);
	weir_flow_cache_free(fast.fastpath.cache);
}

/* Both ways of the core: a batch of plain packets at once, or each by its action. */
static void
forwarding_at_once_does_what_deciding_and_applying_do(void **state)
{
	struct weir_stage stage;

	(void)state;
	start_with_routes("10.0.0.0/8 02:00:00:00:00:01\n10.7.0.0/16 02:00:00:00:00:02 3\n"
			  "10.7.7.0/25 02:00:00:00:00:03 1\n");
	stage = (struct weir_stage){.nf = &weir_nf_l3fwd, .state = l3fwd};
	srand(6);
	for (unsigned int round = 0; round < 2000; round++) {
		struct weir_batch once = {.direction = rand() % 2}, each;
		struct weir_action actions[WEIR_BURST];
		const bool plain = rand() % 2;

		once.count = 1 + rand() % WEIR_BURST;
		each = once;
		for (unsigned int i = 0; i < once.count; i++) {
			char text[INET_ADDRSTRLEN];
			const struct weir_test_ipv4 what = {
				.dst = text,
				.ttl = plain ? 2 + rand() % 254 : 1 + rand() % 3,
				.protocol = rand() % 2 ? IPPROTO_TCP : IPPROTO_UDP,
				.tagged = rand() % 2,
				.identification = rand(),
			};

			snprintf(text, sizeof(text), "%u.%u.7.%u", plain || rand() % 9 ? 10 : 11,
				 7 + rand() % 2, rand() % 256);
			once.packet[i] = weir_test_ipv4_packet(&what);
			each.packet[i] = weir_test_ipv4_packet(&what);
		}
		weir_stage_run(&stage, &once);
		weir_stage_decide(&stage, &each, actions);
		for (unsigned int i = 0, j = 0; i < each.count; i++) {
			uint8_t reason;

			if (weir_stage_apply(&each, i, &actions[i], &reason)) {
				assert_true(j < once.count);
				assert_int_equal(each.egress[i], once.egress[j]);
				assert_memory_equal(&each.headers[i], &once.headers[j],
						    sizeof(each.headers[i]));
				assert_memory_equal(rte_pktmbuf_mtod(each.packet[i], void *),
						    rte_pktmbuf_mtod(once.packet[j], void *),
						    each.packet[i]->data_len);
				j++;
			}
		}
		rte_pktmbuf_free_bulk(each.packet, each.count);
		if (plain)
			assert_int_equal(once.count, each.count);
		rte_pktmbuf_free_bulk(once.packet, once.count);
	}
}

static int
begin(void **state)
{
	int descriptor = mkstemp(file);

	return descriptor < 0 || close(descriptor) < 0 ? -1 : weir_test_eal(state);
}

static int
end(void **state)
{
	(void)state;
	weir_nf_destroy(&weir_nf_l3fwd, l3fwd);
	return unlink(file);
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
		cmocka_unit_test(a_wrong_line_is_named_by_file_and_number),
		cmocka_unit_test(routes_come_change_and_go),
		cmocka_unit_test(next_hops_that_no_route_needs_make_room),
		cmocka_unit_test(a_file_replaces_all_routes_at_once_or_none),
		cmocka_unit_test(
			a_change_of_routes_forgets_the_flows_that_it_concerns_and_no_others),
		cmocka_unit_test(a_new_file_of_routes_forgets_all_flows),
		cmocka_unit_test(forwarding_at_once_does_what_deciding_and_applying_do),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
