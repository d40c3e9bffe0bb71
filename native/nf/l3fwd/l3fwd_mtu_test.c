/* SPDX-License-Identifier: Apache-2.0 */
/* How long frames are that leave by a link with an MTU. */
#include "station_fixture_test.h"

#include <string.h>

/* What stands behind the IP packet in its frame is no part of it (RFC 894), and fills no link. */
static void
a_frame_is_no_longer_than_the_mtu_of_its_link_lets_a_packet_be(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 64, 1000 - 28);
	struct frame trailed = packet, sent;

	(void)state;
	start_router("mtu_bytes", "1000");
	memset(trailed.bytes + packet.size, 0xee, 40);
	trailed.size += 40;
	arrives(LEFT, &trailed); /* waits */
	assert_true(leaves(RIGHT, &sent));
	gateway_answers_arp();
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(leaves(RIGHT, &sent));
		assert_int_equal(sent.size, packet.size);
		assert_memory_equal(sent.bytes + 34, packet.bytes + 34, packet.size - 34);
		arrives(LEFT, &trailed);
	}
	assert_true(leaves(RIGHT, &sent));
	nothing_leaves();
	assert_int_equal(dropped("too_big"), 0);
	all_is_accounted_for();
}

/* Of a short packet as much as an Ethernet frame needs: 60 bytes. */
static void
a_short_packet_keeps_the_padding_of_its_frame(void **state)
{
	struct frame padded = ipv4_to("198.51.100.1", 64, 0), sent;

	(void)state;
	start_router("mtu_bytes", "1000");
	memset(padded.bytes + padded.size, 0xee, 1100 - padded.size);
	padded.size = 1100;
	arrives(LEFT, &padded);
	assert_true(leaves(RIGHT, &sent));
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	assert_int_equal(sent.size, 60);
	nothing_leaves();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_no_longer_than_the_mtu_of_its_link_lets_a_packet_be),
		cmocka_unit_test(a_short_packet_keeps_the_padding_of_its_frame),
	};

	return cmocka_run_group_tests_name("l3fwd_mtu", tests, weir_test_eal, end_router);
}
