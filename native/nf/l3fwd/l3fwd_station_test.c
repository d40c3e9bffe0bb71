/* SPDX-License-Identifier: Apache-2.0 */
/* A router as a station: what ARP it answers to the byte, what waits for whom, what is refused. */
#include "station_fixture_test.h"

#include <stdio.h>
#include <string.h>

enum { REQUEST = 1, REPLY = 2 };

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
		{"route_list", "10.0.1.1/32 02:00:00:00:00:09", "the router's own"},
		{"route_list", "10.0.1.255/32 02:00:00:00:00:09", "broadcast"},
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
		cmocka_unit_test(it_answers_for_addresses_that_a_function_in_front_of_it_has),
		cmocka_unit_test(wrong_addresses_are_refused_by_name),
		cmocka_unit_test(workers_cannot_share_it),
	};

	return cmocka_run_group_tests_name("l3fwd_station", tests, weir_test_eal, end_router);
}
