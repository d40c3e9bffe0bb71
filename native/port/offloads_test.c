/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums that the kernel left to a card, told from those that are there. */
#include "port/offloads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "testing/eal.h"
#include "testing/packet.h"

#define IPV4_L4_OFFSET 34
#define IPV6_L4_OFFSET 54
#define UDP_CHECKSUM 6
#define TCP_CHECKSUM 16

static bool
is_unfinished(const uint8_t *frame, size_t bytes)
{
	struct rte_mbuf *packet = weir_test_packet(frame, bytes);
	struct weir_headers headers;
	bool found;

	weir_headers_parse(packet, &headers);
	found = weir_is_unfinished(packet, &headers);
	rte_pktmbuf_free(packet);
	return found;
}

/* As the kernel leaves it: the sum over the pseudo header. */
static void
leave_to_the_card(uint8_t *frame, uint32_t checksum_offset)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + 14);
	uint16_t sum = rte_ipv4_phdr_cksum(ip, 0);

	memcpy(frame + IPV4_L4_OFFSET + checksum_offset, &sum, sizeof(sum));
}

static void
a_checksum_that_is_left_to_the_card_is_told_from_a_whole_one(void **state)
{
	static const struct {
		uint8_t protocol;
		uint32_t offset;
	} kinds[] = {{IPPROTO_TCP, TCP_CHECKSUM}, {IPPROTO_UDP, UDP_CHECKSUM}};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		for (uint16_t bytes = 0; bytes < 64; bytes++) {
			const struct weir_test_ipv4 what = {.protocol = kinds[i].protocol,
							    .payload =
								    "payload of any length, "
								    "odd ones too, in the "
								    "test's frame, and more of it",
							    .payload_bytes = bytes};
			uint8_t frame[WEIR_TEST_FRAME_BYTES];
			size_t length = weir_test_ipv4_frame(&what, frame);

			assert_false(is_unfinished(frame, length));
			leave_to_the_card(frame, kinds[i].offset);
			assert_true(is_unfinished(frame, length));
		}
	}
}

static void
one_of_ipv6_too(void **state)
{
	uint8_t frame[14 + 40 + 8 + 4] = {[12] = 0x86, 0xdd, 0x60, [19] = 12, IPPROTO_UDP, 64};
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(frame + 14);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + IPV6_L4_OFFSET);

	(void)state;
	memset(ip->src_addr, 0x20, sizeof(ip->src_addr));
	memset(ip->dst_addr, 0xfd, sizeof(ip->dst_addr));
	udp->dgram_len = rte_cpu_to_be_16(12);
	udp->dgram_cksum = rte_ipv6_phdr_cksum(ip, 0);
	assert_true(is_unfinished(frame, sizeof(frame)));
	udp->dgram_cksum = 0;
	udp->dgram_cksum = rte_ipv6_udptcp_cksum(ip, udp);
	assert_false(is_unfinished(frame, sizeof(frame)));
}

static void
a_whole_packet_whose_checksum_happens_to_be_that_sum_is_whole(void **state)
{
	uint16_t payload = 0;
	const struct weir_test_ipv4 what = {.payload = &payload, .payload_bytes = sizeof(payload)};
	const struct rte_ipv4_hdr *ip;
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	uint16_t found, pseudo;
	size_t length;
	bool met = false;

	(void)state;
	for (uint32_t value = 0; value <= UINT16_MAX; value++) {
		payload = (uint16_t)value;
		length = weir_test_ipv4_frame(&what, frame);
		ip = (const struct rte_ipv4_hdr *)(frame + 14);
		pseudo = rte_ipv4_phdr_cksum(ip, 0);
		memcpy(&found, frame + IPV4_L4_OFFSET + UDP_CHECKSUM, sizeof(found));
		if (found != pseudo)
			continue;
		met = true;
		assert_false(is_unfinished(frame, length));
	}
	assert_true(met);
}

static void
what_has_no_such_field_is_whole(void **state)
{
	const struct weir_test_ipv4 whole[] = {
		{.protocol = IPPROTO_ICMP},
		{.no_udp_checksum = true},
		{.more_fragments = true, .payload = "12345678", .payload_bytes = 8},
		{.fragment_offset_bytes = 8, .payload = "12345678", .payload_bytes = 8},
	};
	const uint8_t arp[60] = {[12] = 0x08, 0x06};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(whole); i++) {
		size_t length = weir_test_ipv4_frame(&whole[i], frame);

		assert_false(is_unfinished(frame, length));
		assert_false(is_unfinished(frame, IPV4_L4_OFFSET + 3));
	}
	assert_false(is_unfinished(arp, sizeof(arp)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checksum_that_is_left_to_the_card_is_told_from_a_whole_one),
		cmocka_unit_test(one_of_ipv6_too),
		cmocka_unit_test(a_whole_packet_whose_checksum_happens_to_be_that_sum_is_whole),
		cmocka_unit_test(what_has_no_such_field_is_whole),
	};

	return cmocka_run_group_tests_name("offloads", tests, weir_test_eal, NULL);
}
