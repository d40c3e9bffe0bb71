/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as a kernel leaves them to a network card, and what a wire would carry of them. */
#include "port/unfinished.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "testing/packet.h"

#define L3 RTE_ETHER_HDR_LEN
#define L4 (L3 + sizeof(struct rte_ipv4_hdr))
#define PAYLOAD_BYTES 5000
#define SEGMENT_BYTES 1448
#define TCP_CHECKSUM offsetof(struct rte_tcp_hdr, cksum)
#define UDP_CHECKSUM offsetof(struct rte_udp_hdr, dgram_cksum)

static uint8_t payload[PAYLOAD_BYTES];

/* What the card is asked for: the L4 checksum. */
static struct virtio_net_hdr
checksum_at(uint16_t start, uint16_t offset)
{
	return (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = start, .csum_offset = offset};
}

static struct virtio_net_hdr
segments_of(uint8_t type, uint16_t start, uint16_t checksum_offset)
{
	struct virtio_net_hdr asked = checksum_at(start, checksum_offset);

	asked.gso_type = type;
	asked.gso_size = SEGMENT_BYTES;
	return asked;
}

/* A frame of that protocol, its L4 checksum as a kernel leaves it: the pseudo header's. */
static size_t
unfinished_frame(uint8_t protocol, uint16_t payload_bytes, uint8_t tcp_flags, uint8_t *frame)
{
	const struct weir_test_ipv4 what = {.protocol = protocol,
					    .tcp_flags = tcp_flags,
					    .tcp_seq = 0xfffffff0,
					    .identification = 7,
					    .payload = payload,
					    .payload_bytes = payload_bytes};
	size_t bytes = weir_test_ipv4_frame(&what, frame);
	uint16_t pseudo = rte_ipv4_phdr_cksum((const struct rte_ipv4_hdr *)(frame + L3), 0);

	memcpy(frame + L4 + (protocol == IPPROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM), &pseudo, 2);
	return bytes;
}

static void
a_checksum_that_was_left_out_is_filled_in(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	uint8_t frame[WEIR_TEST_FRAME_BYTES], written[WEIR_TEST_FRAME_BYTES];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		/* Odd, nothing at all, and padded. */
		for (uint16_t payload_bytes = 0; payload_bytes < 99; payload_bytes += 7) {
			size_t bytes = unfinished_frame(protocols[i], payload_bytes, 0, frame);
			struct virtio_net_hdr asked = checksum_at(
				L4, protocols[i] == IPPROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM);
			struct weir_unfinished unfinished;

			assert_false(weir_test_checksums_right(frame, bytes));
			assert_true(weir_unfinished_begin(&unfinished, frame, bytes, &asked));
			assert_int_equal(weir_unfinished_bytes(&unfinished), bytes);
			weir_unfinished_write(&unfinished, written);
			assert_true(unfinished.is_done);
			assert_true(weir_test_checksums_right(written, bytes));
		}
	}
}

static void
a_finished_frame_stays_as_it_is(void **state)
{
	uint8_t frame[WEIR_TEST_FRAME_BYTES], written[WEIR_TEST_FRAME_BYTES];
	size_t bytes = unfinished_frame(IPPROTO_TCP, 100, 0, frame);
	const struct virtio_net_hdr asked = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};
	struct weir_unfinished unfinished;

	(void)state;
	assert_true(weir_unfinished_begin(&unfinished, frame, bytes, &asked));
	weir_unfinished_write(&unfinished, written);
	assert_memory_equal(written, frame, bytes);
}

/* CRC32c bit by bit (RFC 9260, appendix A). */
static uint32_t
crc32c(const uint8_t *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void
sctp_has_a_crc(void **state)
{
	const struct weir_test_ipv4 what = {
		.protocol = 132, .payload = payload, .payload_bytes = 61};
	const struct virtio_net_hdr asked = checksum_at(L4, 8);
	uint8_t frame[WEIR_TEST_FRAME_BYTES], written[WEIR_TEST_FRAME_BYTES];
	size_t bytes = weir_test_ipv4_frame(&what, frame);
	struct weir_unfinished unfinished;
	uint32_t crc;

	(void)state;
	assert_int_equal(crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	assert_true(weir_unfinished_begin(&unfinished, frame, bytes, &asked));
	weir_unfinished_write(&unfinished, written);
	memset(frame + L4 + 8, 0, 4);
	crc = crc32c(frame + L4, bytes - L4);
	assert_memory_equal(written + L4 + 8, &crc, 4);
}

static void
a_long_tcp_packet_is_cut_as_a_card_would(void **state)
{
	const uint8_t flags =
		RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_CWR_FLAG;
	const struct virtio_net_hdr asked =
		segments_of(VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN, L4, TCP_CHECKSUM);
	uint8_t frame[2 * PAYLOAD_BYTES], written[WEIR_TEST_FRAME_BYTES];
	size_t bytes = unfinished_frame(IPPROTO_TCP, PAYLOAD_BYTES, flags, frame);
	const size_t header_bytes = L4 + sizeof(struct rte_tcp_hdr);
	const struct rte_tcp_hdr *tcp = (const void *)(written + L4);
	const struct rte_ipv4_hdr *ip = (const void *)(written + L3);
	struct weir_unfinished unfinished;
	size_t seen = 0;
	unsigned int count = 0;

	(void)state;
	assert_true(weir_unfinished_begin(&unfinished, frame, bytes, &asked));
	while (!unfinished.is_done) {
		uint32_t segment = weir_unfinished_bytes(&unfinished);
		bool first = count == 0, last = seen + segment - header_bytes == PAYLOAD_BYTES;

		assert_true(segment <= header_bytes + SEGMENT_BYTES);
		weir_unfinished_write(&unfinished, written);
		assert_int_equal(rte_be_to_cpu_16(ip->total_length), segment - L3);
		assert_int_equal(rte_be_to_cpu_16(ip->packet_id), 7 + count);
		assert_true(weir_test_checksums_right(written, segment));
		assert_int_equal(rte_be_to_cpu_32(tcp->sent_seq), (uint32_t)(0xfffffff0 + seen));
		assert_int_equal(tcp->tcp_flags,
				 RTE_TCP_ACK_FLAG | (first ? RTE_TCP_CWR_FLAG : 0) |
					 (last ? RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG : 0));
		assert_memory_equal(written + header_bytes, payload + seen, segment - header_bytes);
		seen += segment - header_bytes;
		count++;
	}
	assert_int_equal(seen, PAYLOAD_BYTES);
	assert_int_equal(count, 4);
}

static void
a_long_udp_packet_is_cut_into_datagrams(void **state)
{
	const struct virtio_net_hdr asked =
		segments_of(VIRTIO_NET_HDR_GSO_UDP_L4, L4, UDP_CHECKSUM);
	uint8_t frame[2 * PAYLOAD_BYTES], written[WEIR_TEST_FRAME_BYTES];
	size_t bytes = unfinished_frame(IPPROTO_UDP, PAYLOAD_BYTES, 0, frame);
	const struct rte_udp_hdr *udp = (const void *)(written + L4);
	struct weir_unfinished unfinished;
	size_t seen = 0;

	(void)state;
	assert_true(weir_unfinished_begin(&unfinished, frame, bytes, &asked));
	weir_unfinished_write(&unfinished, NULL); /* for want of a buffer */
	seen += SEGMENT_BYTES;
	while (!unfinished.is_done) {
		uint32_t datagram = weir_unfinished_bytes(&unfinished);
		size_t data_bytes = datagram - L4 - sizeof(*udp);

		weir_unfinished_write(&unfinished, written);
		assert_int_equal(rte_be_to_cpu_16(udp->dgram_len), datagram - L4);
		assert_true(weir_test_checksums_right(written, datagram));
		assert_memory_equal(udp + 1, payload + seen, data_bytes);
		seen += data_bytes;
	}
	assert_int_equal(seen, PAYLOAD_BYTES);
}

/* Of IPv6: tagged, and with an options header that all segments have. */
static void
ipv6_is_cut_too(void **state)
{
	const size_t l3 = L3 + 4, l4 = l3 + sizeof(struct rte_ipv6_hdr) + 8,
		     header_bytes = l4 + sizeof(struct rte_tcp_hdr);
	const struct virtio_net_hdr asked = segments_of(VIRTIO_NET_HDR_GSO_TCPV6, l4, TCP_CHECKSUM);
	uint8_t frame[2 * PAYLOAD_BYTES] = {0}, written[WEIR_TEST_FRAME_BYTES];
	struct rte_ipv6_hdr *ip = (void *)(frame + l3);
	struct rte_tcp_hdr *tcp = (void *)(frame + l4);
	struct weir_unfinished unfinished;
	size_t seen = 0;

	(void)state;
	memcpy(frame + 12, (const uint8_t[]){0x81, 0x00, 0, 5, 0x86, 0xdd}, 6);
	ip->vtc_flow = rte_cpu_to_be_32(6U << 28);
	ip->proto = IPPROTO_DSTOPTS;
	memset(ip->src_addr, 0xf1, 16);
	memset(ip->dst_addr, 0xe2, 16);
	frame[l4 - 8] = IPPROTO_TCP;
	tcp->data_off = 5 << 4;
	memcpy(frame + header_bytes, payload, PAYLOAD_BYTES);
	assert_true(
		weir_unfinished_begin(&unfinished, frame, header_bytes + PAYLOAD_BYTES, &asked));
	while (!unfinished.is_done) {
		uint32_t segment = weir_unfinished_bytes(&unfinished);
		struct rte_ipv6_hdr pseudo;

		weir_unfinished_write(&unfinished, written);
		memcpy(&pseudo, written + l3, sizeof(pseudo));
		assert_int_equal(rte_be_to_cpu_16(pseudo.payload_len), segment - l3 - sizeof(*ip));
		/* DPDK's check knows no options. */
		pseudo.proto = IPPROTO_TCP;
		pseudo.payload_len = rte_cpu_to_be_16(segment - l4);
		assert_int_equal(rte_ipv6_udptcp_cksum_verify(&pseudo, written + l4), 0);
		assert_memory_equal(written + header_bytes, payload + seen, segment - header_bytes);
		seen += segment - header_bytes;
	}
	assert_int_equal(seen, PAYLOAD_BYTES);
}

/* The longest frame that a packet socket reads: an IPv6 packet of 65,535 bytes behind two VLAN
 * tags.
 */
#define LONGEST_BYTES (L3 + 8 + UINT16_MAX)

/* Options of the greatest length follow each other up to a TCP header, at `l4`. */
static void
write_options(uint8_t *frame, size_t l4)
{
	struct rte_ipv6_hdr *ip = (void *)(frame + L3);
	size_t at = L3 + sizeof(*ip);

	memset(frame, 0, LONGEST_BYTES);
	memcpy(frame + 12, (const uint8_t[]){0x86, 0xdd}, 2);
	ip->vtc_flow = rte_cpu_to_be_32(6U << 28);
	ip->proto = IPPROTO_DSTOPTS;
	while (at < l4) {
		size_t bytes = RTE_MIN(l4 - at, 8 * 256U);

		frame[at] = at + bytes == l4 ? IPPROTO_TCP : IPPROTO_DSTOPTS;
		frame[at + 1] = bytes / 8 - 1;
		at += bytes;
	}
	frame[l4 + 12] = 5 << 4;
}

/* 65,538 bytes of headers are 2 in sixteen bits, and the segment would end before its TCP header.
 */
static void
headers_longer_than_a_packet_are_refused(void **state)
{
	static uint8_t frame[LONGEST_BYTES];
	const size_t longest = L3 + sizeof(struct rte_ipv6_hdr) + 8 * 8182;
	const struct {
		size_t l4;
		bool begins;
	} cases[] = {{longest, true}, {longest + 8, false}};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct virtio_net_hdr asked =
			segments_of(VIRTIO_NET_HDR_GSO_TCPV6, cases[i].l4, TCP_CHECKSUM);
		struct weir_unfinished unfinished;

		write_options(frame, cases[i].l4);
		assert_int_equal(weir_unfinished_begin(&unfinished, frame, sizeof(frame), &asked),
				 cases[i].begins);
	}
	assert_true(longest + sizeof(struct rte_tcp_hdr) <= UINT16_MAX);
	assert_true(longest + 8 + sizeof(struct rte_tcp_hdr) > UINT16_MAX);
}

static void
what_contradicts_itself_or_is_not_done_here_is_refused(void **state)
{
	uint8_t frame[2 * PAYLOAD_BYTES];
	size_t bytes = unfinished_frame(IPPROTO_TCP, PAYLOAD_BYTES, 0, frame);
	const struct virtio_net_hdr right = segments_of(VIRTIO_NET_HDR_GSO_TCPV4, L4, TCP_CHECKSUM);
	struct virtio_net_hdr asked[] = {
		right, right, right, right, right, right, checksum_at(bytes - 10, TCP_CHECKSUM)};
	struct weir_unfinished unfinished;

	(void)state;
	asked[0].gso_type = VIRTIO_NET_HDR_GSO_UDP; /* IP fragments */
	asked[1].gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
	asked[2].gso_size = 0;
	asked[3].flags = 0;
	asked[4].csum_start = L4 + 50; /* the packet in a tunnel */
	asked[5].csum_offset = 60;
	for (unsigned int i = 0; i < RTE_DIM(asked); i++)
		assert_false(weir_unfinished_begin(&unfinished, frame, bytes, &asked[i]));
	for (size_t cut = 0; cut <= L4 + sizeof(struct rte_tcp_hdr); cut++)
		assert_false(weir_unfinished_begin(&unfinished, frame, cut, &right));
	frame[L4 + 12] = 0xf0; /* options that are not all there */
	assert_false(weir_unfinished_begin(&unfinished, frame, L4 + 40, &right));
	frame[L3] = 0x4f;
	assert_false(weir_unfinished_begin(&unfinished, frame, bytes, &right));
}

/* A peer's kernel need not be honest: bytes and requests are near right ones, and all is written
 * into buffers of just the length that is told. */
static void
whatever_is_asked_nothing_is_read_or_written_outside(void **state)
{
	uint8_t right[WEIR_TEST_FRAME_BYTES];
	size_t bytes = unfinished_frame(IPPROTO_TCP, 500, 0, right);
	unsigned int begun = 0;

	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t length = rand() % 4 == 0 ? rand() % (bytes + 1) : bytes;
		uint8_t *frame = malloc(length > 0 ? length : 1);
		struct virtio_net_hdr asked = segments_of(1 + rand() % 5, L4, TCP_CHECKSUM);
		struct weir_unfinished unfinished;

		memcpy(frame, right, length);
		for (unsigned int changes = rand() % 4; changes > 0 && length > 12; changes--)
			frame[12 + rand() % RTE_MIN(length - 12, 50U)] = rand();
		if (rand() % 2 == 0)
			asked.csum_start = rand() % 70;
		if (rand() % 2 == 0)
			asked.csum_offset = rand() % 20;
		asked.gso_size = rand() % 300;
		if (rand() % 4 == 0 &&
		    length > L4) { /* a header of any length, and UDP behind it */
			frame[L3] = 0x40 | rand() % 16;
			frame[L3 + 9] = IPPROTO_UDP;
			asked.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
			asked.csum_start = L3 + 4 * (frame[L3] & 0xf);
			asked.csum_offset = UDP_CHECKSUM;
		}
		if (weir_unfinished_begin(&unfinished, frame, length, &asked)) {
			begun++;
			while (!unfinished.is_done) {
				uint8_t *to = malloc(weir_unfinished_bytes(&unfinished));

				weir_unfinished_write(&unfinished, to);
				free(to);
			}
		}
		free(frame);
	}
	assert_true(begun > 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checksum_that_was_left_out_is_filled_in),
		cmocka_unit_test(a_finished_frame_stays_as_it_is),
		cmocka_unit_test(sctp_has_a_crc),
		cmocka_unit_test(a_long_tcp_packet_is_cut_as_a_card_would),
		cmocka_unit_test(a_long_udp_packet_is_cut_into_datagrams),
		cmocka_unit_test(ipv6_is_cut_too),
		cmocka_unit_test(headers_longer_than_a_packet_are_refused),
		cmocka_unit_test(what_contradicts_itself_or_is_not_done_here_is_refused),
		cmocka_unit_test(whatever_is_asked_nothing_is_read_or_written_outside),
	};

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 31 + (i >> 8));
	return cmocka_run_group_tests_name("unfinished", tests, NULL, NULL);
}
