/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_ether.h>
#include <rte_tcp.h>

#include "headers.h"
#include "testing/eal.h"
#include "testing/packet.h"

#define EXTENSIONS_MOST 40 /* in a packet of these tests */

static struct weir_headers
parsed(const uint8_t *frame, size_t bytes)
{
	struct rte_mbuf *packet = weir_test_packet(frame, bytes);
	struct weir_headers headers;

	memset(&headers, 0xff, sizeof(headers));
	weir_headers_parse(packet, &headers);
	rte_pktmbuf_free(packet);
	return headers;
}

static struct weir_headers
parsed_ipv4(const struct weir_test_ipv4 *what)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(what, frame);

	return parsed(frame, bytes);
}

static void
a_udp_packet_gives_its_five_tuple_and_offsets(void **state)
{
	struct weir_headers headers = parsed_ipv4(&(struct weir_test_ipv4){
		.src = "192.0.2.7", .dst = "198.51.100.9", .src_port = 4000, .dst_port = 53});

	(void)state;
	assert_int_equal(headers.network, WEIR_NETWORK_IPV4);
	assert_int_equal(headers.tuple.src_ip, inet_addr("192.0.2.7"));
	assert_int_equal(headers.tuple.dst_ip, inet_addr("198.51.100.9"));
	assert_int_equal(headers.tuple.src_port, htons(4000));
	assert_int_equal(headers.tuple.dst_port, htons(53));
	assert_int_equal(headers.tuple.protocol, IPPROTO_UDP);
	assert_int_equal(headers.l3_offset, 14);
	assert_int_equal(headers.l4_offset, 34);
	assert_int_equal(headers.payload_offset, 42);
	assert_int_equal(headers.l3_bytes, 28); /* not the padding to 60 bytes */
	assert_int_equal(headers.flags, 0);
}

static void
tags_and_options_move_the_offsets(void **state)
{
	struct weir_headers headers = parsed_ipv4(&(struct weir_test_ipv4){
		.tagged = true, .option_bytes = 8, .protocol = IPPROTO_TCP, .tcp_flags = 0x12});

	(void)state;
	assert_int_equal(headers.vlan, 100);
	assert_int_equal(headers.l3_offset, 18);
	assert_int_equal(headers.l4_offset, 18 + 28);
	assert_int_equal(headers.payload_offset, 18 + 28 + 20);
	assert_int_equal(headers.flags, WEIR_HEADER_OPTIONS);
	assert_int_equal(headers.tcp_flags, 0x12);
}

static void
a_tcp_fragment_that_would_overwrite_flags_is_as_a_cut_header(void **state)
{
	struct weir_headers tcp = parsed_ipv4(&(struct weir_test_ipv4){
		.protocol = IPPROTO_TCP, .fragment_offset_bytes = 8, .payload_bytes = 16});
	struct weir_headers behind = parsed_ipv4(&(struct weir_test_ipv4){
		.protocol = IPPROTO_TCP, .fragment_offset_bytes = 24, .payload_bytes = 16});
	struct weir_headers udp = parsed_ipv4(
		&(struct weir_test_ipv4){.fragment_offset_bytes = 8, .payload_bytes = 16});

	(void)state;
	assert_true((tcp.flags & WEIR_HEADER_L4_CUT) != 0);
	assert_true((behind.flags & WEIR_HEADER_L4_CUT) == 0);
	assert_true((udp.flags & WEIR_HEADER_L4_CUT) == 0);
}

static void
a_later_fragment_has_no_ports_and_a_first_one_has(void **state)
{
	struct weir_headers first = parsed_ipv4(&(struct weir_test_ipv4){
		.src_port = 7, .more_fragments = true, .payload_bytes = 8});
	struct weir_headers later = parsed_ipv4(
		&(struct weir_test_ipv4){.fragment_offset_bytes = 16, .payload_bytes = 16});

	(void)state;
	assert_int_equal(first.flags, WEIR_HEADER_FRAGMENT);
	assert_int_equal(first.tuple.src_port, htons(7));
	assert_int_equal(later.flags, WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT);
	assert_int_equal(later.tuple.src_port, 0);
	assert_int_equal(later.l4_offset, 0);
}

static void
echo_has_its_identifier_for_both_ports_and_other_icmp_has_none(void **state)
{
	struct weir_headers echo =
		parsed_ipv4(&(struct weir_test_ipv4){.protocol = IPPROTO_ICMP, .src_port = 77});
	struct weir_headers error = parsed_ipv4(
		&(struct weir_test_ipv4){.protocol = IPPROTO_ICMP, .icmp_type = 3, .src_port = 77});

	(void)state;
	assert_int_equal(echo.tuple.src_port, htons(77));
	assert_int_equal(echo.tuple.dst_port, htons(77));
	assert_int_equal(error.tuple.src_port, 0);
	assert_int_equal(error.l4_offset, 34);
}

static void
a_wrong_checksum_a_group_address_and_options_are_flagged(void **state)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&(struct weir_test_ipv4){.option_bytes = 4}, frame);

	(void)state;
	assert_int_equal(parsed(frame, bytes).flags, WEIR_HEADER_OPTIONS);
	frame[0] |= 1;
	assert_int_equal(parsed(frame, bytes).flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_GROUP);
	frame[24] ^= 0x40;
	assert_int_equal(parsed(frame, bytes).flags,
			 WEIR_HEADER_OPTIONS | WEIR_HEADER_GROUP | WEIR_HEADER_BAD_CHECKSUM);
}

static void
lengths_that_contradict_each_other_are_malformed(void **state)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&(struct weir_test_ipv4){.payload_bytes = 40}, frame);

	(void)state;
	assert_int_equal(parsed(frame, bytes).network, WEIR_NETWORK_IPV4);
	assert_int_equal(parsed(frame, bytes - 1).network, WEIR_NETWORK_MALFORMED);
	frame[14] = 0x44; /* a header of 16 bytes */
	assert_int_equal(parsed(frame, bytes).network, WEIR_NETWORK_MALFORMED);
	frame[14] = 0x65; /* version 6 */
	assert_int_equal(parsed(frame, bytes).network, WEIR_NETWORK_MALFORMED);
	assert_int_equal(parsed(frame, 20).network, WEIR_NETWORK_MALFORMED);
	assert_int_equal(parsed(frame, 13).network, WEIR_NETWORK_OTHER);
}

static void
an_l4_header_beyond_the_ip_length_is_cut(void **state)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&(struct weir_test_ipv4){.src_port = 9}, frame);
	struct weir_headers headers;

	(void)state;
	frame[17] = 27; /* seven bytes of UDP, though padding follows */
	frame[25]++;	/* and the checksum with it */
	headers = parsed(frame, bytes);
	assert_int_equal(headers.network, WEIR_NETWORK_IPV4);
	assert_int_equal(headers.flags, WEIR_HEADER_L4_CUT);
	assert_int_equal(headers.l4_offset, 0);
	assert_int_equal(headers.tuple.src_port, 0);
}

static void
ipv6_extension_headers_are_skipped(void **state)
{
	uint8_t frame[14 + 40 + 8 + 8 + 8] = {0};
	struct weir_headers headers;

	(void)state;
	frame[12] = 0x86;
	frame[13] = 0xdd;
	frame[14] = 0x60;
	frame[14 + 5] = 24; /* payload length */
	frame[14 + 6] = 0;  /* hop-by-hop */
	frame[14 + 7] = 3;  /* hop limit */
	frame[54] = 44;	    /* then a fragment header */
	frame[62] = IPPROTO_UDP;
	frame[65] = 1; /* offset 0, more fragments */
	frame[70 + 1] = 5;
	headers = parsed(frame, sizeof(frame));
	assert_int_equal(headers.network, WEIR_NETWORK_IPV6);
	assert_int_equal(headers.tuple.protocol, IPPROTO_UDP);
	assert_int_equal(headers.tuple.src_port, htons(5));
	assert_int_equal(headers.ttl, 3);
	assert_int_equal(headers.l4_offset, 70);
	assert_int_equal(headers.flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_FRAGMENT);
	frame[55] = 200; /* a hop-by-hop header longer than the packet */
	headers = parsed(frame, sizeof(frame));
	assert_int_equal(headers.network, WEIR_NETWORK_IPV6);
	assert_int_equal(headers.flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_L4_CUT);
	assert_int_equal(headers.l4_offset, 0);
}

/* RFC 8200, 4.5: a later fragment repeats the next header of the first, whose header it has not. */
static void
behind_the_header_of_a_later_ipv6_fragment_there_is_only_data(void **state)
{
	static const uint8_t named[] = {0, 43, 44, 60, IPPROTO_UDP, IPPROTO_TCP};
	uint8_t frame[14 + 40 + 8 + 24] = {0};

	(void)state;
	memset(frame + 62, 0xff, 24);
	frame[12] = 0x86;
	frame[13] = 0xdd;
	frame[14] = 0x60;
	frame[14 + 5] = 32;
	frame[14 + 6] = 44;
	frame[54 + 3] = 8; /* offset */
	for (unsigned int i = 0; i < RTE_DIM(named); i++) {
		struct weir_headers headers;

		frame[54] = named[i];
		headers = parsed(frame, sizeof(frame));
		assert_int_equal(headers.network, WEIR_NETWORK_IPV6);
		assert_int_equal(headers.tuple.protocol, named[i]);
		assert_int_equal(headers.l4_offset, 0);
		assert_int_equal(headers.flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_FRAGMENT |
							WEIR_HEADER_LATER_FRAGMENT);
	}
}

/* UDP behind so many destination options. */
static struct weir_headers
parsed_behind(unsigned int extensions)
{
	uint8_t frame[14 + 40 + 8 * EXTENSIONS_MOST + 8] = {0};
	uint16_t payload_bytes = 8 * extensions + 8;

	frame[12] = 0x86;
	frame[13] = 0xdd;
	frame[14] = 0x60;
	frame[14 + 4] = payload_bytes >> 8;
	frame[14 + 5] = payload_bytes & 0xff;
	frame[14 + 6] = 60;
	for (unsigned int i = 0; i < extensions; i++)
		frame[54 + 8 * i] = i + 1 < extensions ? 60 : IPPROTO_UDP;
	frame[54 + 8 * extensions + 1] = 5;
	return parsed(frame, 54 + payload_bytes);
}

static void
eight_ipv6_extension_headers_are_walked_and_more_are_not(void **state)
{
	struct weir_headers eight = parsed_behind(8), nine = parsed_behind(9);

	(void)state;
	assert_int_equal(eight.flags, WEIR_HEADER_OPTIONS);
	assert_int_equal(eight.tuple.protocol, IPPROTO_UDP);
	assert_int_equal(eight.tuple.src_port, htons(5));
	assert_int_equal(eight.l4_offset, 54 + 8 * 8);
	assert_int_equal(nine.flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_L4_CUT);
	assert_int_equal(nine.tuple.src_port, 0);
	assert_int_equal(nine.l4_offset, 0);
}

static void
more_ipv6_extension_headers_than_are_walked_make_no_packet_malformed(void **state)
{
	struct weir_headers headers = parsed_behind(EXTENSIONS_MOST);

	(void)state;
	assert_int_equal(headers.network, WEIR_NETWORK_IPV6);
	assert_int_equal(headers.flags, WEIR_HEADER_OPTIONS | WEIR_HEADER_L4_CUT);
	assert_int_equal(headers.l3_bytes, 40 + 8 * EXTENSIONS_MOST + 8);
}

static void
no_bytes_whatever_are_read_outside(void **state)
{
	uint8_t frame[128];

	(void)state;
	srand(3);
	for (unsigned int round = 0; round < 200000; round++) {
		size_t bytes = rand() % sizeof(frame);
		uint8_t *exact = malloc(bytes);
		struct rte_mbuf packet = {.buf_addr = exact, .data_len = bytes, .nb_segs = 1};
		struct weir_headers headers;

		assert_non_null(exact);
		for (size_t i = 0; i < bytes; i++)
			exact[i] = rand();
		if (bytes > 20 && rand() % 2 == 0)
			memcpy(exact + 12, (uint8_t[]){8, 0, 0x45}, 3);
		else if (bytes > 20)
			memcpy(exact + 12, (uint8_t[]){0x86, 0xdd, 0x60}, 3);
		weir_headers_parse(&packet, &headers); /* ASan watches */
		assert_true(headers.l4_offset <= bytes && headers.payload_offset <= bytes);
		free(exact);
	}
}

/* A frame with a tag never takes the straight path of those without. */
static void
a_priority_tag_moves_what_is_read_by_four_bytes_and_changes_nothing_else(void **state)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES], tagged[WEIR_TEST_FRAME_BYTES + 4];

	(void)state;
	srand(5);
	for (unsigned int round = 0; round < 100000; round++) {
		size_t bytes = weir_test_ipv4_frame(
			&(struct weir_test_ipv4){.protocol = rand() % 2 ? IPPROTO_TCP : IPPROTO_UDP,
						 .tcp_flags = rand(),
						 .payload_bytes = rand() % 8,
						 .option_bytes = rand() % 8 == 0 ? 4 : 0},
			frame);
		struct weir_headers plain, moved;

		for (int changes = rand() % 3; changes > 0; changes--)
			frame[rand() % 56] ^= 1 << rand() % 8;
		if (rand() % 4 == 0)
			bytes = rand() % (bytes + 1);
		if (bytes < RTE_ETHER_HDR_LEN || frame[12] == 0x81)
			continue; /* another tag makes two */
		memcpy(tagged, frame, 12);
		memcpy(tagged + 12, (uint8_t[]){0x81, 0, 0, 0}, 4);
		memcpy(tagged + 16, frame + 12, bytes - 12);
		plain = parsed(frame, bytes);
		moved = parsed(tagged, bytes + 4);
		if (plain.l3_offset != 0)
			plain.l3_offset += 4;
		if (plain.l4_offset != 0) {
			plain.l4_offset += 4;
			plain.payload_offset += 4;
		}
		assert_memory_equal(&plain, &moved, sizeof(plain));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_udp_packet_gives_its_five_tuple_and_offsets),
		cmocka_unit_test(tags_and_options_move_the_offsets),
		cmocka_unit_test(a_tcp_fragment_that_would_overwrite_flags_is_as_a_cut_header),
		cmocka_unit_test(a_later_fragment_has_no_ports_and_a_first_one_has),
		cmocka_unit_test(echo_has_its_identifier_for_both_ports_and_other_icmp_has_none),
		cmocka_unit_test(a_wrong_checksum_a_group_address_and_options_are_flagged),
		cmocka_unit_test(lengths_that_contradict_each_other_are_malformed),
		cmocka_unit_test(an_l4_header_beyond_the_ip_length_is_cut),
		cmocka_unit_test(ipv6_extension_headers_are_skipped),
		cmocka_unit_test(behind_the_header_of_a_later_ipv6_fragment_there_is_only_data),
		cmocka_unit_test(eight_ipv6_extension_headers_are_walked_and_more_are_not),
		cmocka_unit_test(
			more_ipv6_extension_headers_than_are_walked_make_no_packet_malformed),
		cmocka_unit_test(no_bytes_whatever_are_read_outside),
		cmocka_unit_test(
			a_priority_tag_moves_what_is_read_by_four_bytes_and_changes_nothing_else),
	};

	return cmocka_run_group_tests_name("headers", tests, weir_test_eal, NULL);
}
