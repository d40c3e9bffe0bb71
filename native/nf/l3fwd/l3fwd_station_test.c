/* SPDX-License-Identifier: Apache-2.0 */
/* A router as a station: what it answers to the byte, whom it asks, what waits and for how long. */
#include "station_fixture_test.h"

#include <stdio.h>
#include <string.h>

enum { REQUEST = 1, REPLY = 2, SOLICITATION = 135, ADVERTISEMENT = 136 };
enum { SOLICITED = 0x40, OVERRIDE = 0x20 };

#define HOST6 "2001:db8:1::2"
#define ROUTER6 "2001:db8:1::1"
#define ROUTER6_GROUP "ff02::1:ff00:1"

/* The next frame of that side has just these bytes. */
static void
leaves_as(enum side side, const void *bytes, size_t size)
{
	struct frame frame;

	assert_true(leaves(side, &frame));
	assert_int_equal(frame.size, size);
	assert_memory_equal(frame.bytes, bytes, size);
}

static void
nobody_is_answered(enum side side, const struct frame *frame, const char *reason)
{
	uint64_t before = dropped(reason);

	arrives(side, frame);
	nothing_leaves();
	assert_int_equal(dropped(reason), before + 1);
	all_is_accounted_for();
}

static void
an_arp_request_for_its_address_is_answered_to_who_asked(void **state)
{
	static const char answer[60] = HOST_MAC LEFT_MAC "\x08\6\0\1\x08\0\6\4\0\2" LEFT_MAC
							 "\x0a\0\1\1" HOST_MAC "\x0a\0\1\2";
	const struct frame request = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.1");

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &request);
	leaves_as(LEFT, answer, sizeof(answer));
	nothing_leaves();
	assert_int_equal(dropped("for_router"), 1);
	assert_int_equal(router->paths[1].stages[0].ledger.originated, 1);
	all_is_accounted_for();
}

static void
a_tagged_request_is_answered_with_its_tag(void **state)
{
	const struct frame request = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.1");
	struct frame tagged = request, answer;

	(void)state;
	start_router(NULL, NULL);
	memcpy(tagged.bytes + 12, "\x81\0\0\x64", 4);
	memcpy(tagged.bytes + 16, request.bytes + 12, 30);
	arrives(LEFT, &tagged);
	assert_true(leaves(LEFT, &answer));
	assert_memory_equal(answer.bytes, HOST_MAC LEFT_MAC "\x81\0\0\x64\x08\6", 18);
	assert_memory_equal(answer.bytes + 26, LEFT_MAC "\x0a\0\1\1", 10);
}

static void
a_probe_without_a_senders_address_is_answered_and_teaches_nothing(void **state)
{
	const struct frame probe = arp(REQUEST, HOST_MAC, "0.0.0.0", "10.0.1.1");
	const struct frame packet = ipv4_to("10.0.1.9", 64, 10);
	struct frame answer;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &probe);
	assert_true(leaves(LEFT, &answer));
	arrives(RIGHT, &packet);
	assert_int_equal(held(), 1);
}

static void
arp_that_is_not_as_it_must_be_is_dropped(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = {{15, 6}, {16, 0x86}, {18, 8}, {19, 16}, {21, 3}, {22, 0xff}};
	struct frame frame;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		frame = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.1");
		frame.bytes[wrong[i].at] = wrong[i].byte;
		nobody_is_answered(LEFT, &frame, "malformed");
	}
	for (size_t size = 15; size < 42; size++) {
		frame = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.1");
		frame.size = size;
		nobody_is_answered(LEFT, &frame, "malformed");
	}
}

static void
who_says_to_be_the_router_or_is_of_another_network_is_not_believed(void **state)
{
	const struct frame spoofed = arp(REQUEST, HOST_MAC, "10.0.1.1", "10.0.1.1");
	const struct frame stranger = arp(REQUEST, HOST_MAC, "192.0.2.7", "10.0.1.1");
	const struct frame reply = arp(REPLY, HOST_MAC, "10.0.1.1", "10.0.1.1");
	const struct frame other_side = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.2.1");
	const struct frame for_another = arp(REQUEST, HOST_MAC, "10.0.1.2", "10.0.1.77");

	(void)state;
	start_router(NULL, NULL);
	nobody_is_answered(LEFT, &spoofed, "for_router");
	nobody_is_answered(LEFT, &stranger, "for_router");
	nobody_is_answered(LEFT, &reply, "for_router");
	nobody_is_answered(LEFT, &other_side, "for_router");
	nobody_is_answered(LEFT, &for_another, "for_router");
}

static void
a_packet_waits_while_its_next_hop_is_asked_for_and_then_goes_there(void **state)
{
	static const char request[60] =
		"\xff\xff\xff\xff\xff\xff" RIGHT_MAC "\x08\6\0\1\x08\0\6\4\0\1" RIGHT_MAC
		"\x0a\0\2\1\0\0\0\0\0\0\x0a\0\2\2";
	const struct frame packet = ipv4_to("198.51.100.1", 64, 10);
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &packet);
	leaves_as(RIGHT, request, sizeof(request));
	nothing_leaves();
	assert_int_equal(held(), 1);
	all_is_accounted_for();
	gateway_answers_arp();
	assert_int_equal(held(), 0);
	assert_true(leaves(RIGHT, &sent));
	assert_memory_equal(sent.bytes, GATEWAY_MAC RIGHT_MAC, 12);
	assert_int_equal(sent.bytes[22], 63);
	assert_memory_equal(sent.bytes + 26, packet.bytes + 26, packet.size - 26);
	arrives(LEFT, &packet); /* at once, now */
	assert_true(leaves(RIGHT, &sent));
	assert_memory_equal(sent.bytes, GATEWAY_MAC RIGHT_MAC, 12);
	assert_int_equal(sent.bytes[22], 63);
	nothing_leaves();
	all_is_accounted_for();
}

static void
the_same_in_ipv6_by_the_solicited_node_group(void **state)
{
	const struct frame packet = ipv6_to("2001:db8:ffff::1", 64, 10);
	const struct frame answer = discovery(ADVERTISEMENT, SOLICITED | OVERRIDE, "2001:db8:2::2",
					      "2001:db8:2::1", "2001:db8:2::2", GATEWAY_MAC);
	struct frame wanted = discovery(SOLICITATION, 0, "2001:db8:2::1", "ff02::1:ff00:2",
					"2001:db8:2::2", RIGHT_MAC);
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	memcpy(wanted.bytes, "\x33\x33\xff\0\0\2", 6);
	arrives(LEFT, &packet);
	leaves_as(RIGHT, wanted.bytes, wanted.size);
	assert_int_equal(held(), 1);
	arrives(RIGHT, &answer);
	assert_true(leaves(RIGHT, &sent));
	assert_memory_equal(sent.bytes, GATEWAY_MAC RIGHT_MAC, 12);
	assert_int_equal(sent.bytes[21], 63);
	assert_memory_equal(sent.bytes + 22, packet.bytes + 22, packet.size - 22);
	assert_int_equal(held(), 0);
	all_is_accounted_for();
}

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

static void
a_solicitation_is_answered_with_all_that_rfc_4861_wants(void **state)
{
	const struct frame asked =
		discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	/* R, S and O; the target's address as an option. */
	struct frame answer = discovery(ADVERTISEMENT, 0xe0, ROUTER6, HOST6, ROUTER6, LEFT_MAC);
	const struct frame packet = ipv6_to(HOST6, 64, 10);
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	memcpy(answer.bytes, HOST_MAC LEFT_MAC, 12);
	arrives(LEFT, &asked);
	leaves_as(LEFT, answer.bytes, answer.size);
	arrives(RIGHT, &packet); /* who asked is known */
	assert_true(leaves(LEFT, &sent));
	assert_memory_equal(sent.bytes, HOST_MAC LEFT_MAC, 12);
	all_is_accounted_for();
}

static void
duplicate_address_detection_is_answered_to_all_nodes(void **state)
{
	struct frame asked = discovery(SOLICITATION, 0, "::", ROUTER6_GROUP, ROUTER6, NULL);
	struct frame answer = discovery(ADVERTISEMENT, 0xa0, ROUTER6, "ff02::1", ROUTER6, LEFT_MAC);

	(void)state;
	start_router(NULL, NULL);
	memcpy(answer.bytes, "\x33\x33\0\0\0\1" LEFT_MAC, 12);
	arrives(LEFT, &asked);
	leaves_as(LEFT, answer.bytes, answer.size);
}

static void
its_link_local_address_is_of_its_mac_address(void **state)
{
	const struct frame asked = discovery(SOLICITATION, 0, "fe80::11", "ff02::1:ff00:1a",
					     "fe80::ff:fe00:1a", HOST_MAC);
	struct frame answer;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &asked);
	assert_true(leaves(LEFT, &answer));
	assert_memory_equal(answer.bytes + 14 + 24, asked.bytes + 14 + 8, 16);
	arrives(RIGHT, &asked);
	nothing_leaves();
}

static void
discovery_that_is_not_as_it_must_be_is_dropped(void **state)
{
	struct frame frame;

	(void)state;
	start_router(NULL, NULL);
	frame = discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	frame.bytes[21] = 254; /* from beyond the link */
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	frame.bytes[56] ^= 1; /* checksum */
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	frame.bytes[55] = 1; /* code */
	set_icmpv6_checksum(&frame);
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	frame.bytes[79] = 0; /* an option without length */
	set_icmpv6_checksum(&frame);
	nobody_is_answered(LEFT, &frame, "malformed");
	frame.bytes[79] = 2; /* an option beyond the end */
	set_icmpv6_checksum(&frame);
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(SOLICITATION, 0, "::", ROUTER6_GROUP, ROUTER6, HOST_MAC);
	nobody_is_answered(LEFT, &frame, "malformed"); /* from nobody, with an address */
	frame = discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, "ff02::1", HOST_MAC);
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(ADVERTISEMENT, SOLICITED, HOST6, "ff02::1", HOST6, HOST_MAC);
	nobody_is_answered(LEFT, &frame, "malformed");
	frame = discovery(SOLICITATION, 0, ROUTER6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	nobody_is_answered(LEFT, &frame, "for_router"); /* spoofed */
}

static void
an_advertisement_without_override_leaves_the_address_and_one_with_it_changes_it(void **state)
{
	static const char other[] = "\2\0\0\0\0\x77";
	const struct frame asked =
		discovery(SOLICITATION, 0, HOST6, ROUTER6_GROUP, ROUTER6, HOST_MAC);
	const struct frame weak = discovery(ADVERTISEMENT, 0, HOST6, "ff02::1", HOST6, other);
	const struct frame strong =
		discovery(ADVERTISEMENT, OVERRIDE, HOST6, "ff02::1", HOST6, other);
	const struct frame packet = ipv6_to(HOST6, 64, 10);
	struct frame sent;

	(void)state;
	start_router(NULL, NULL);
	arrives(LEFT, &asked);
	assert_true(leaves(LEFT, &sent));
	arrives(LEFT, &weak);
	arrives(RIGHT, &packet);
	assert_true(leaves(LEFT, &sent));
	assert_memory_equal(sent.bytes, HOST_MAC, 6);
	arrives(LEFT, &strong);
	arrives(RIGHT, &packet);
	assert_true(leaves(LEFT, &sent));
	assert_memory_equal(sent.bytes, other, 6);
	all_is_accounted_for();
}

static void
it_answers_for_addresses_that_a_function_in_front_of_it_has(void **state)
{
	const struct frame asked = arp(REQUEST, GATEWAY_MAC, "10.0.2.2", "10.0.2.35");
	const struct frame other = arp(REQUEST, GATEWAY_MAC, "10.0.2.2", "10.0.2.48");
	struct frame answer;

	(void)state;
	start_router("answers_for", "10.0.2.32/28");
	arrives(RIGHT, &asked);
	assert_true(leaves(RIGHT, &answer));
	assert_memory_equal(answer.bytes + 22, RIGHT_MAC "\x0a\0\2\x23", 10);
	nobody_is_answered(RIGHT, &other, "for_router");
}

static void
wrong_addresses_are_refused_by_name(void **state)
{
	static const struct {
		const char *name, *text, *said;
	} wrong[] = {
		{"addresses", "10.0.2.1", "addresses: '10.0.2.1'"},
		{"addresses", "10.0.2.0/24", "10.0.2.0/24"},
		{"addresses", "10.0.2.255/24", "10.0.2.255/24"},
		{"addresses", "224.0.0.1/24", "224.0.0.1/24"},
		{"addresses", "10.0.1.7/16", "both links"},
		{"addresses", "2001:db8::1/129", "/129"},
		{"route_list", "0.0.0.0/0 via 192.0.2.1", "in no network"},
		{"route_list", "0.0.0.0/0 via 10.0.1.1", "the router's own"},
		{"route_list", "0.0.0.0/0 via ::1", "family"},
		{"inside_output", "0", "by the side that asks"},
		{"inbound_src_mac", "03:00:00:00:00:01", "inbound_src_mac"},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		const struct weir_option_value values[] = {{"src_mac", "02:00:00:00:00:0a"},
							   {"inside_output", "1"},
							   {"inbound_addresses", "10.0.1.1/24"},
							   {wrong[i].name, wrong[i].text}};
		struct weir_error error = {0};

		assert_null(
			weir_nf_create(&weir_nf_l3fwd, values, RTE_DIM(values), "options", &error));
		if (strstr(error.message, wrong[i].said) == NULL)
			fail_msg("%s: %s", wrong[i].text, error.message);
	}
}

static void
workers_cannot_share_it(void **state)
{
	struct weir_error error = {0};
	const void *shared;

	(void)state;
	start_router(NULL, NULL);
	shared = router->paths[0].stages[0].state;
	assert_int_equal(weir_nf_l3fwd.share((void *)(uintptr_t)shared, 0, 2, "stage", &error), -1);
	assert_non_null(strstr(error.message, "2 workers"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arp_request_for_its_address_is_answered_to_who_asked),
		cmocka_unit_test(a_tagged_request_is_answered_with_its_tag),
		cmocka_unit_test(a_probe_without_a_senders_address_is_answered_and_teaches_nothing),
		cmocka_unit_test(arp_that_is_not_as_it_must_be_is_dropped),
		cmocka_unit_test(
			who_says_to_be_the_router_or_is_of_another_network_is_not_believed),
		cmocka_unit_test(
			a_packet_waits_while_its_next_hop_is_asked_for_and_then_goes_there),
		cmocka_unit_test(the_same_in_ipv6_by_the_solicited_node_group),
		cmocka_unit_test(of_more_packets_than_may_wait_the_oldest_go),
		cmocka_unit_test(
			packets_that_wait_for_many_neighbours_are_bounded_and_so_are_neighbours),
		cmocka_unit_test(a_stale_neighbour_makes_room_for_a_new_one),
		cmocka_unit_test(
			a_next_hop_that_never_answers_is_asked_for_three_times_and_the_sender_told),
		cmocka_unit_test(a_neighbour_in_use_is_probed_when_it_may_be_gone_and_found_again),
		cmocka_unit_test(a_neighbour_that_nobody_uses_is_not_probed),
		cmocka_unit_test(
			a_new_address_of_a_neighbour_is_used_at_once_also_by_flows_that_are_known),
		cmocka_unit_test(a_solicitation_is_answered_with_all_that_rfc_4861_wants),
		cmocka_unit_test(duplicate_address_detection_is_answered_to_all_nodes),
		cmocka_unit_test(its_link_local_address_is_of_its_mac_address),
		cmocka_unit_test(discovery_that_is_not_as_it_must_be_is_dropped),
		cmocka_unit_test(
			an_advertisement_without_override_leaves_the_address_and_one_with_it_changes_it),
		cmocka_unit_test(it_answers_for_addresses_that_a_function_in_front_of_it_has),
		cmocka_unit_test(wrong_addresses_are_refused_by_name),
		cmocka_unit_test(workers_cannot_share_it),
	};

	return cmocka_run_group_tests_name("l3fwd_station", tests, weir_test_eal, end_router);
}
