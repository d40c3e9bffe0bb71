/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "action.h"
#include "testing/eal.h"
#include "testing/packet.h"

/* Applies the action and gives the frame as it is then; the packet is freed. */
static void
apply(const struct weir_action *action, const struct weir_test_ipv4 *what, uint8_t *frame,
      size_t *bytes)
{
	struct rte_mbuf *packet = weir_test_ipv4_packet(what);
	struct weir_headers headers, again;

	weir_headers_parse(packet, &headers);
	weir_action_apply(action, packet, &headers);
	weir_headers_parse(packet, &again);
	assert_memory_equal(&headers, &again, sizeof(headers)); /* brought up to date */
	*bytes = packet->data_len;
	memcpy(frame, rte_pktmbuf_mtod(packet, void *), *bytes);
	rte_pktmbuf_free(packet);
}

static void
a_new_tuple_is_written_and_every_checksum_follows(void **state)
{
	const uint8_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_GRE};

	(void)state;
	srand(4);
	for (unsigned int round = 0; round < 20000; round++) {
		struct weir_action action = {
			.set = rand() % 32,
			.ttl_decrement = rand() % 3,
			.src_ip = rand(),
			.dst_ip = rand(),
			.src_port = rand(),
			.dst_port = rand(),
		};
		struct weir_test_ipv4 what = {
			.protocol = protocols[rand() % 4],
			.src_port = 1 + rand() % 65535,
			.dst_port = 1 + rand() % 65535,
			.payload = "a payload of an odd length.",
			.payload_bytes = rand() % 28,
			.tagged = rand() % 2,
			.option_bytes = 4 * (rand() % 3),
		};
		uint8_t frame[WEIR_TEST_FRAME_BYTES];
		size_t bytes;

		/* An echo has one identifier for both. */
		action.dst_port = what.protocol == IPPROTO_ICMP ? action.src_port : action.dst_port;
		if (what.protocol == IPPROTO_ICMP && (action.set & WEIR_SET_SRC_PORT) != 0)
			action.set |= WEIR_SET_DST_PORT;
		else if (what.protocol == IPPROTO_ICMP)
			action.set &= ~WEIR_SET_DST_PORT;
		if (what.protocol == IPPROTO_GRE)
			action.set &= ~(WEIR_SET_SRC_PORT | WEIR_SET_DST_PORT);
		apply(&action, &what, frame, &bytes);
		assert_true(weir_test_checksums_right(frame, bytes));
		assert_int_equal(frame[what.tagged ? 26 : 22], 64 - action.ttl_decrement);
	}
}

static void
each_field_is_written_that_is_set_and_no_other(void **state)
{
	struct weir_action action = {
		.src_ip = inet_addr("203.0.113.1"),
		.dst_ip = inet_addr("203.0.113.2"),
		.src_port = 0x1234,
		.dst_port = 0x5678,
		.counters = {(void *)UINTPTR_MAX}, /* behind them, and no part of a tuple */
	};

	(void)state;
	for (unsigned int set = 0; set < 16; set++) {
		struct rte_mbuf *packet = weir_test_ipv4_packet(&(struct weir_test_ipv4){0});
		struct weir_headers headers, after;
		struct weir_tuple expected;

		weir_headers_parse(packet, &headers);
		expected = headers.tuple;
		action.set = (uint8_t)(set * WEIR_SET_SRC_IP);
		expected.src_ip = set & 1 ? action.src_ip : expected.src_ip;
		expected.dst_ip = set & 2 ? action.dst_ip : expected.dst_ip;
		expected.src_port = set & 4 ? action.src_port : expected.src_port;
		expected.dst_port = set & 8 ? action.dst_port : expected.dst_port;
		after = headers;
		weir_action_update_headers(&action, &after);
		assert_memory_equal(&after.tuple, &expected, sizeof(expected));
		weir_action_apply(&action, packet, &headers);
		assert_memory_equal(&headers.tuple, &expected, sizeof(expected));
		weir_headers_parse(packet, &after);
		assert_memory_equal(&after.tuple, &expected, sizeof(expected));
		assert_true(weir_test_checksums_right(rte_pktmbuf_mtod(packet, const uint8_t *),
						      packet->data_len));
		rte_pktmbuf_free(packet);
	}
}

static void
a_udp_checksum_of_zero_stays_zero(void **state)
{
	const struct weir_action action = {.set = WEIR_SET_SRC_IP, .src_ip = 1};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	apply(&action, &(struct weir_test_ipv4){.no_udp_checksum = true}, frame, &bytes);
	assert_int_equal(frame[40] << 8 | frame[41], 0);
}

static void
addresses_of_the_next_hop_are_written_destination_first(void **state)
{
	const struct weir_action action = {
		.set = WEIR_SET_MAC,
		.dst_mac = {{2, 0, 0, 0, 0, 0xd}},
		.src_mac = {{2, 0, 0, 0, 0, 0x5}},
	};
	const uint8_t expected[12] = {2, 0, 0, 0, 0, 0xd, 2, 0, 0, 0, 0, 0x5};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	apply(&action, &(struct weir_test_ipv4){0}, frame, &bytes);
	assert_memory_equal(frame, expected, sizeof(expected));
}

static void
a_later_fragment_gets_addresses_and_keeps_its_data(void **state)
{
	const struct weir_action action = {
		.set = WEIR_SET_TUPLE,
		.src_ip = inet_addr("203.0.113.1"),
		.dst_ip = inet_addr("203.0.113.2"),
		.src_port = 0x1234,
		.dst_port = 0x5678,
	};
	const struct weir_test_ipv4 what = {
		.fragment_offset_bytes = 64, .payload = "fragment", .payload_bytes = 8};
	struct rte_mbuf *packet = weir_test_ipv4_packet(&what);
	const uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct weir_headers headers;

	(void)state;
	weir_headers_parse(packet, &headers);
	weir_action_apply(&action, packet, &headers);
	assert_memory_equal(frame + 34, "fragment", 8);
	assert_memory_equal(frame + 26, &action.src_ip, 8);
	assert_true(weir_test_checksums_right(frame, packet->data_len));
	rte_pktmbuf_free(packet);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_tuple_is_written_and_every_checksum_follows),
		cmocka_unit_test(each_field_is_written_that_is_set_and_no_other),
		cmocka_unit_test(a_udp_checksum_of_zero_stays_zero),
		cmocka_unit_test(addresses_of_the_next_hop_are_written_destination_first),
		cmocka_unit_test(a_later_fragment_gets_addresses_and_keeps_its_data),
	};

	return cmocka_run_group_tests_name("action", tests, weir_test_eal, NULL);
}
