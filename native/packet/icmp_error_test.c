/* SPDX-License-Identifier: Apache-2.0 */
/* The packet inside an ICMP error: which are read (RFC 792, RFC 1122), and what rewriting keeps
 * right (RFC 1624, RFC 5508). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "icmp_error.h"
#include "testing/eal.h"
#include "testing/packet.h"

#define INSIDE_AT (14 + 20 + 8)
#define L4_AT (INSIDE_AT + 20)
#define UDP_CHECKSUM_AT (L4_AT + 6)

static struct weir_test_icmp_error
error_about(uint8_t protocol)
{
	return (struct weir_test_icmp_error){
		.src = "192.0.2.254",
		.dst = "203.0.113.1",
		.inside = {.src = "203.0.113.1",
			   .dst = "198.51.100.1",
			   .protocol = protocol,
			   .src_port = 4000,
			   .dst_port = 53,
			   .payload_bytes = 11},
	};
}

static struct rte_mbuf *
packet_of(const struct weir_test_icmp_error *what, struct weir_headers *headers)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	struct rte_mbuf *packet = weir_test_packet(frame, weir_test_icmp_error_frame(what, frame));

	weir_headers_parse(packet, headers);
	return packet;
}

static bool
is_read(struct weir_test_icmp_error what, struct weir_icmp_error *error)
{
	struct weir_headers headers;
	struct rte_mbuf *packet = packet_of(&what, &headers);
	bool read = weir_icmp_error_parse(packet, &headers, error);

	rte_pktmbuf_free(packet);
	return read;
}

static void
the_packet_inside_has_the_tuple_that_it_was_sent_with(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP};
	struct weir_icmp_error error;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		bool echo = protocols[i] == IPPROTO_ICMP;

		assert_true(is_read(error_about(protocols[i]), &error));
		assert_int_equal(error.tuple.src_ip, inet_addr("203.0.113.1"));
		assert_int_equal(error.tuple.dst_ip, inet_addr("198.51.100.1"));
		assert_int_equal(error.tuple.protocol, protocols[i]);
		assert_int_equal(error.tuple.src_port, htons(4000));
		assert_int_equal(error.tuple.dst_port, htons(echo ? 4000 : 53));
		assert_int_equal(error.ip_offset, INSIDE_AT);
		assert_int_equal(error.l4_offset, L4_AT);
	}
}

/* RFC 792: destination unreachable, source quench, time exceeded, parameter problem. */
static void
four_types_are_error_messages(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_UDP);
	struct weir_icmp_error error;

	(void)state;
	for (unsigned int type = 1; type < 256; type++) {
		what.type = type;
		assert_int_equal(is_read(what, &error),
				 type == 3 || type == 4 || type == 11 || type == 12);
	}
}

/* RFC 1122, section 3.2.2: there are no errors about errors. */
static void
an_error_about_an_error_is_not_read(void **state)
{
	struct weir_test_icmp_error about_error = error_about(IPPROTO_ICMP);
	struct weir_icmp_error error;

	(void)state;
	about_error.inside.icmp_type = 3;
	assert_false(is_read(about_error, &error));
}

static void
an_error_about_a_protocol_without_ports_names_its_addresses(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_GRE, IPPROTO_ESP, IPPROTO_SCTP};
	struct weir_icmp_error error;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		assert_true(is_read(error_about(protocols[i]), &error));
		assert_int_equal(error.tuple.src_ip, inet_addr("203.0.113.1"));
		assert_int_equal(error.tuple.dst_ip, inet_addr("198.51.100.1"));
		assert_int_equal(error.tuple.protocol, protocols[i]);
		assert_int_equal(error.tuple.src_port, 0);
		assert_int_equal(error.tuple.dst_port, 0);
	}
}

/* RFC 792: the IP header and the first 8 bytes behind it. */
static void
eight_bytes_behind_the_header_are_needed_options_or_not(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_TCP);
	struct weir_icmp_error error;

	(void)state;
	what.inside_bytes = 28;
	assert_true(is_read(what, &error));
	what.inside_bytes = 27;
	assert_false(is_read(what, &error));
	what.inside.option_bytes = 40;
	what.inside_bytes = 68;
	assert_true(is_read(what, &error));
	assert_int_equal(error.l4_offset, INSIDE_AT + 60);
	assert_int_equal(error.tuple.src_port, htons(4000));
	what.inside_bytes = 67;
	assert_false(is_read(what, &error));
	what.inside_bytes = 19;
	assert_false(is_read(what, &error));
}

static void
a_first_fragment_inside_is_read_and_a_later_one_has_no_ports(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_UDP);
	struct weir_icmp_error error;

	(void)state;
	what.inside.more_fragments = true;
	assert_true(is_read(what, &error));
	what.inside.more_fragments = false;
	what.inside.fragment_offset_bytes = 8;
	assert_false(is_read(what, &error));
}

/* Bytes of the frame that make it something else, and what they become. */
static bool
is_read_with(unsigned int at, uint8_t byte)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_UDP);
	struct weir_icmp_error error;
	struct weir_headers headers;
	struct rte_mbuf *packet = packet_of(&what, &headers);
	bool read;

	rte_pktmbuf_mtod(packet, uint8_t *)[at] = byte;
	weir_headers_parse(packet, &headers);
	read = weir_icmp_error_parse(packet, &headers, &error);
	rte_pktmbuf_free(packet);
	return read;
}

static void
what_is_inside_must_be_an_ipv4_header_and_the_error_whole(void **state)
{
	(void)state;
	assert_true(is_read_with(INSIDE_AT, 0x45));
	assert_false(is_read_with(INSIDE_AT, 0x65)); /* IPv6 */
	assert_false(is_read_with(INSIDE_AT, 0x44)); /* a header of 16 bytes */
	assert_false(is_read_with(INSIDE_AT, 0x4f)); /* longer than what is there */
	assert_false(is_read_with(14 + 6, 0x20));    /* the error is a first fragment */
	assert_false(is_read_with(14 + 7, 0x01));    /* or a later one */
	assert_false(is_read_with(14 + 9, IPPROTO_UDP));
	assert_false(is_read_with(14 + 3, 20 + 8 + 19)); /* ends in the header inside */
}

/* Rewrites the packet inside to come from 10.0.0.1:5000 and go to 10.0.0.2:6000; checksums of the
 * error itself must be right. The bytes of the frame are in `left`. */
static void
rewrite(const struct weir_test_icmp_error *what, uint8_t *left)
{
	struct weir_headers headers;
	struct rte_mbuf *packet = packet_of(what, &headers);
	struct weir_icmp_error error;
	struct weir_tuple after;

	assert_true(weir_icmp_error_parse(packet, &headers, &error));
	after = error.tuple;
	after.src_ip = inet_addr("10.0.0.1");
	after.dst_ip = inet_addr("10.0.0.2");
	after.src_port = htons(5000);
	after.dst_port = htons(6000);
	weir_icmp_error_rewrite(packet, &headers, &error, &after);
	memcpy(left, rte_pktmbuf_mtod(packet, uint8_t *), packet->pkt_len);
	assert_true(weir_test_checksums_right(left, packet->pkt_len));
	rte_pktmbuf_free(packet);
}

/* The packet inside is, byte for byte, as if it had been made with the new addresses and ports. */
static void
assert_as_if_sent_so(struct weir_test_icmp_error what, uint16_t inside_bytes)
{
	uint8_t left[WEIR_TEST_FRAME_BYTES], expected[WEIR_TEST_FRAME_BYTES];

	rewrite(&what, left);
	what.inside.src = "10.0.0.1";
	what.inside.dst = "10.0.0.2";
	what.inside.src_port = 5000;
	what.inside.dst_port = 6000;
	weir_test_icmp_error_frame(&what, expected);
	assert_memory_equal(left, expected, INSIDE_AT + inside_bytes);
}

static void
all_checksums_follow_where_they_are_there(void **state)
{
	struct weir_test_icmp_error udp = error_about(IPPROTO_UDP);
	struct weir_test_icmp_error tcp = error_about(IPPROTO_TCP);
	struct weir_test_icmp_error echo = error_about(IPPROTO_ICMP);

	(void)state;
	assert_as_if_sent_so(udp, 20 + 8 + 11);
	assert_as_if_sent_so(tcp, 20 + 20 + 11);
	assert_as_if_sent_so(echo, 20 + 8 + 11);
	udp.inside.option_bytes = 12;
	assert_as_if_sent_so(udp, 32 + 8 + 11);
	tcp.inside_bytes = 20 + 18; /* just behind the TCP checksum */
	assert_as_if_sent_so(tcp, 20 + 18);
	tcp.inside_bytes = 20 + 16; /* just in front of it */
	assert_as_if_sent_so(tcp, 20 + 16);
}

static void
half_a_checksum_is_left_alone(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_TCP);
	uint8_t before[WEIR_TEST_FRAME_BYTES], left[WEIR_TEST_FRAME_BYTES];

	(void)state;
	what.inside_bytes = 20 + 17;
	weir_test_icmp_error_frame(&what, before);
	rewrite(&what, left);
	assert_int_equal(left[L4_AT + 16], before[L4_AT + 16]);
}

/* RFC 768: a checksum of zero was not computed, and one that comes to zero is written as ones. */
static void
a_udp_packet_without_checksum_stays_without(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_UDP);

	(void)state;
	what.inside.no_udp_checksum = true;
	assert_as_if_sent_so(what, 20 + 8 + 11);
}

static void
a_udp_checksum_that_comes_to_zero_is_written_as_ones(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_UDP);
	uint8_t left[WEIR_TEST_FRAME_BYTES], payload[2] = {0, 0};
	unsigned int all_ones = 0;

	(void)state;
	what.inside.payload = payload;
	what.inside.payload_bytes = sizeof(payload);
	for (unsigned int word = 0; word < 0x10000; word++) {
		payload[0] = word >> 8;
		payload[1] = word;
		rewrite(&what, left);
		assert_false(left[UDP_CHECKSUM_AT] == 0 && left[UDP_CHECKSUM_AT + 1] == 0);
		all_ones += left[UDP_CHECKSUM_AT] == 0xff && left[UDP_CHECKSUM_AT + 1] == 0xff;
	}
	assert_int_equal(all_ones, 1);
}

/* What was damaged on its way stays so: whoever reads it can tell. */
static void
a_wrong_checksum_stays_wrong(void **state)
{
	struct weir_test_icmp_error what = error_about(IPPROTO_TCP);
	struct weir_headers headers;
	struct rte_mbuf *packet = packet_of(&what, &headers);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct weir_icmp_error error;
	struct weir_tuple after;

	(void)state;
	frame[14 + 20 + 2] ^= 1;
	assert_true(weir_icmp_error_parse(packet, &headers, &error));
	after = error.tuple;
	after.src_ip = inet_addr("10.0.0.1");
	weir_icmp_error_rewrite(packet, &headers, &error, &after);
	assert_false(weir_test_checksums_right(frame, packet->pkt_len));
	frame[14 + 20 + 2] ^= 1;
	assert_true(weir_test_checksums_right(frame, packet->pkt_len));
	rte_pktmbuf_free(packet);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_packet_inside_has_the_tuple_that_it_was_sent_with),
		cmocka_unit_test(four_types_are_error_messages),
		cmocka_unit_test(an_error_about_an_error_is_not_read),
		cmocka_unit_test(an_error_about_a_protocol_without_ports_names_its_addresses),
		cmocka_unit_test(eight_bytes_behind_the_header_are_needed_options_or_not),
		cmocka_unit_test(a_first_fragment_inside_is_read_and_a_later_one_has_no_ports),
		cmocka_unit_test(what_is_inside_must_be_an_ipv4_header_and_the_error_whole),
		cmocka_unit_test(all_checksums_follow_where_they_are_there),
		cmocka_unit_test(half_a_checksum_is_left_alone),
		cmocka_unit_test(a_udp_packet_without_checksum_stays_without),
		cmocka_unit_test(a_udp_checksum_that_comes_to_zero_is_written_as_ones),
		cmocka_unit_test(a_wrong_checksum_stays_wrong),
	};

	return cmocka_run_group_tests_name("icmp error", tests, weir_test_eal, NULL);
}
