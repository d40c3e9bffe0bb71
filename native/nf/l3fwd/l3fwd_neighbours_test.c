/* SPDX-License-Identifier: Apache-2.0 */
/* A router's neighbours: how many packets wait, how long one is believed to be there, when it is
 * asked. */
#include "station_fixture_test.h"

#include <stdio.h>
#include <string.h>

#include "engine/handover.h"
#include "engine/made_packet.h"

enum { REQUEST = 1 };

static void
of_more_packets_than_may_wait_the_oldest_go(void **state)
{
	struct frame packet;

	(void)state;
	start_router(NULL, NULL);
	for (uint16_t i = 0; i < 6; i++) {
		packet = ipv4_to("198.51.100.1", 64, 20 + i);
		arrives(LEFT, &packet);
	}
	assert_int_equal(held(), 4);
	assert_int_equal(dropped("neighbour_queue_full"), 2);
	all_is_accounted_for();
	assert_true(leaves(RIGHT, &packet)); /* one request for all */
	gateway_answers_arp();
	for (uint16_t i = 2; i < 6; i++) {
		assert_true(leaves(RIGHT, &packet));
		assert_int_equal(packet.bytes[17], 20 + 8 + 20 + i);
	}
	nothing_leaves();
	all_is_accounted_for();
}

static void
packets_that_wait_for_many_neighbours_are_bounded_and_so_are_neighbours(void **state)
{
	char address[16];
	struct frame packet;

	(void)state;
	start_router(NULL, NULL);
	for (unsigned int i = 0; i < 270; i++) {
		snprintf(address, sizeof(address), "10.0.1.%u", 3 + i % 67);
		packet = ipv4_to(address, 64, 10);
		arrives(RIGHT, &packet);
	}
	assert_int_equal(held(), 256);
	assert_int_equal(dropped("neighbour_queue_full"), 270 - 256);
	all_is_accounted_for();
	start_router("neighbours_max", "2");
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(address, sizeof(address), "10.0.1.%u", 3 + i);
		packet = ipv4_to(address, 64, 10);
		arrives(RIGHT, &packet);
	}
	assert_int_equal(held(), 2);
	assert_int_equal(dropped("neighbour_table_full"), 1);
	all_is_accounted_for();
}

static void
a_stale_neighbour_makes_room_for_a_new_one(void **state)
{
	const struct frame first = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.1");
	const struct frame second = arp(REQUEST, HOST_MAC, "10.0.1.3", "10.0.1.1");
	const struct frame packet = ipv4_to("10.0.1.3", 64, 10);
	struct frame sent;

	(void)state;
	start_router("neighbours_max", "1");
	arrives(LEFT, &first);
	arrives(LEFT, &second);
	assert_true(leaves(LEFT, &sent));
	assert_true(leaves(LEFT, &sent));
	arrives(RIGHT, &packet);
	assert_true(leaves(LEFT, &sent));
	assert_memory_equal(sent.bytes, HOST_MAC LEFT_MAC, 12);
	assert_int_equal(held(), 0);
}

/* A sender's buffers keep the payload that they were set up with. */
static void
a_question_is_written_into_no_buffer_of_what_waits_for_its_answer(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);
	struct rte_mempool *own = rte_pktmbuf_pool_create(
		"own", 63, 0, WEIR_PRIVATE_BYTES, RTE_PKTMBUF_HEADROOM + 256, SOCKET_ID_ANY);
	struct frame sent;

	(void)state;
	assert_non_null(own);
	weir_made_packets_from(own);
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	assert_int_equal(rte_mempool_in_use_count(own), 1);
	assert_true(leaves(RIGHT, &sent));
	weir_made_packets_from(NULL);
	assert_memory_equal(sent.bytes + 12, "\x08\6", 2);
	assert_int_equal(rte_mempool_in_use_count(own), 0);
	rte_mempool_free(own);
}

static void
a_next_hop_that_never_answers_is_asked_for_three_times_and_the_sender_told(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);
	struct frame sent;
	unsigned int requests = 0;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	for (unsigned int i = 0; i < 35; i++) {
		while (leaves(RIGHT, &sent)) {
			assert_memory_equal(sent.bytes + 12, "\x08\6", 2);
			assert_int_equal(requests, i / 10);
			requests++;
		}
		pass_ms(100);
	}
	assert_int_equal(requests, 3);
	assert_int_equal(held(), 0);
	assert_int_equal(dropped("neighbour_unresolved"), 1);
	assert_true(leaves(LEFT, &sent));
	assert_memory_equal(sent.bytes, HOST_MAC LEFT_MAC, 12);
	assert_memory_equal(sent.bytes + 34, "\3\1", 2); /* host unreachable */
	nothing_leaves();
	all_is_accounted_for();
	arrives(LEFT, &packet); /* from the beginning */
	assert_int_equal(held(), 1);
}

/* What is sent to the gateway in so many seconds, of each kind: packets, broadcasts, probes. */
struct seen {
	unsigned int packets, broadcasts, probes;
};

static struct seen
send_for_s(unsigned int seconds)
{
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);
	struct frame sent;
	struct seen seen = {0};

	for (unsigned int i = 0; i < seconds; i++) {
		arrives(LEFT, &packet);
		pass_ms(1000);
		while (leaves(RIGHT, &sent)) {
			if (memcmp(sent.bytes + 12, "\x08\6", 2) != 0)
				seen.packets++;
			else if (sent.bytes[0] == 0xff)
				seen.broadcasts++;
			else
				seen.probes++;
		}
	}
	return seen;
}

static void
a_neighbour_in_use_is_probed_when_it_may_be_gone_and_found_again(void **state)
{
	struct seen seen;
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	seen = send_for_s(1);
	assert_int_equal(seen.broadcasts, 1);
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	seen = send_for_s(14); /* reachable for 15 s at the least */
	assert_int_equal(seen.packets, 14);
	assert_int_equal(seen.probes + seen.broadcasts, 0);
	/* Stale after 45 s at the most, probed 5 s later, three times. */
	seen = (struct seen){0};
	for (unsigned int i = 0; i < 45 && seen.probes == 0; i++)
		seen = send_for_s(1);
	assert_int_equal(seen.probes, 1);
	assert_int_equal(seen.packets, 1); /* meanwhile it is believed to be there */
	gateway_answers_arp();
	seen = send_for_s(14);
	assert_int_equal(seen.packets, 14);
	assert_int_equal(seen.probes + seen.broadcasts, 0);
	/* Silent from now on: three probes, and all anew. */
	seen = (struct seen){0};
	for (unsigned int i = 0; i < 60 && seen.broadcasts == 0; i++)
		seen = send_for_s(1);
	assert_int_equal(seen.broadcasts, 1);
	all_is_accounted_for();
}

static void
a_neighbour_that_nobody_uses_is_not_probed(void **state)
{
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	assert_int_equal(send_for_s(1).broadcasts, 1);
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	pass_ms(120000);
	nothing_leaves();
	assert_int_equal(send_for_s(1).packets, 1);
}

static void
a_new_address_of_a_neighbour_is_used_at_once_also_by_flows_that_are_known(void **state)
{
	static const char other[] = "\2\0\0\0\0\x77";
	const struct frame moved = arp(REQUEST, other, "10.0.2.2", "10.0.2.2"); /* gratuitous */
	const struct frame unknown = arp(REQUEST, other, "10.0.2.3", "10.0.2.3");
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	send_for_s(1);
	gateway_answers_arp();
	assert_true(leaves(RIGHT, &sent));
	assert_int_equal(send_for_s(3).packets, 3);
	assert_true(router->paths[0].fastpath.ledger.hits > 0);
	arrives(RIGHT, &unknown);
	arrives(RIGHT, &moved);
	arrives(LEFT, &packet);
	assert_true(leaves(RIGHT, &sent));
	assert_memory_equal(sent.bytes, "\2\0\0\0\0\x77" RIGHT_MAC, 12);
	nothing_leaves();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_more_packets_than_may_wait_the_oldest_go),
		cmocka_unit_test(
			packets_that_wait_for_many_neighbours_are_bounded_and_so_are_neighbours),
		cmocka_unit_test(a_stale_neighbour_makes_room_for_a_new_one),
		cmocka_unit_test(a_question_is_written_into_no_buffer_of_what_waits_for_its_answer),
		cmocka_unit_test(
			a_next_hop_that_never_answers_is_asked_for_three_times_and_the_sender_told),
		cmocka_unit_test(a_neighbour_in_use_is_probed_when_it_may_be_gone_and_found_again),
		cmocka_unit_test(a_neighbour_that_nobody_uses_is_not_probed),
		cmocka_unit_test(
			a_new_address_of_a_neighbour_is_used_at_once_also_by_flows_that_are_known),
	};

	return cmocka_run_group_tests_name("l3fwd_neighbours", tests, weir_test_eal, end_router);
}
