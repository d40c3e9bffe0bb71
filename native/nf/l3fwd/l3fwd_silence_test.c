/* SPDX-License-Identifier: Apache-2.0 */
/* What a router tells nobody: about which packets it never says anything, and how often at most. */
#include "station_fixture_test.h"

#include <arpa/inet.h>
#include <string.h>

static void
nothing_is_said_about_errors_later_fragments_and_what_was_sent_to_many(void **state)
{
	static const uint8_t errors[] = {3, 4, 5, 11, 12};
	static const char inside[28] = "\x45\0\0\x1c\0\0\0\0\x40\x11";
	struct frame frame;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(errors); i++) {
		frame.size = weir_test_ipv4_frame(
			&(struct weir_test_ipv4){.src = "10.0.1.2",
						 .dst = "198.51.100.1",
						 .protocol = IPPROTO_ICMP,
						 .icmp_type = errors[i],
						 .payload = inside,
						 .payload_bytes = sizeof(inside),
						 .ttl = 1},
			frame.bytes);
		nobody_is_answered(LEFT, &frame, "ttl_expired");
	}
	frame.size = weir_test_ipv4_frame(&(struct weir_test_ipv4){.src = "10.0.1.2",
								   .dst = "198.51.100.1",
								   .fragment_offset_bytes = 64,
								   .payload = inside,
								   .payload_bytes = sizeof(inside),
								   .ttl = 1},
					  frame.bytes);
	nobody_is_answered(LEFT, &frame, "ttl_expired");
	frame = ipv4_to("198.51.100.1", 1, 10);
	memset(frame.bytes, 0xff, 6);
	nobody_is_answered(LEFT, &frame, "link_broadcast");
	frame = ipv4_to("224.0.0.9", 1, 10);
	nobody_is_answered(LEFT, &frame, "multicast");
	frame = ipv4_to("10.0.2.255", 64, 10); /* a directed broadcast: RFC 2644 */
	nobody_is_answered(LEFT, &frame, "for_router");
	frame = ipv4_to("198.51.100.1", 1, 10);
	memset(frame.bytes + 6, 0xff, 6); /* from a group: nobody to tell */
	nobody_is_answered(LEFT, &frame, "ttl_expired");
	frame = ipv6_to("2001:db8:ffff::1", 1, 10);
	frame.bytes[20] = 58; /* an ICMPv6 error: type 4 */
	nobody_is_answered(LEFT, &frame, "ttl_expired");
}

/* Of IPv4, to there: with a TTL of one, or an echo request. */
static struct frame
from_to(const char *source, const char *destination, uint8_t protocol)
{
	struct weir_test_ipv4 what = {.src = source, .dst = destination, .protocol = protocol};
	struct frame frame;

	what.ttl = protocol == IPPROTO_ICMP ? 64 : 1;
	frame.size = weir_test_ipv4_frame(&what, frame.bytes);
	memcpy(frame.bytes, LEFT_MAC HOST_MAC, 12);
	return frame;
}

/* RFC 1812, 4.3.2.7: broadcasts of its networks, its own addresses, and what belongs on no wire. */
static void
nothing_is_said_to_a_source_that_is_not_one_other_station(void **state)
{
	static const char *const own[] = {"10.0.1.255", "10.0.1.0", "10.0.2.255",
					  "10.0.2.0",	"10.0.1.1", "10.0.2.1"};
	static const char *const martians[] = {"0.0.0.0", "127.0.0.1", "224.0.0.1",
					       "255.255.255.255"};
	struct frame frame;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(own); i++) {
		frame = from_to(own[i], "198.51.100.1", IPPROTO_UDP);
		nobody_is_answered(LEFT, &frame, "ttl_expired");
		frame = from_to(own[i], "10.0.1.1", IPPROTO_UDP);
		nobody_is_answered(LEFT, &frame, "for_router");
		frame = from_to(own[i], "10.0.1.1", IPPROTO_ICMP);
		nobody_is_answered(LEFT, &frame, "for_router");
	}
	for (size_t i = 0; i < RTE_DIM(martians); i++) {
		frame = from_to(martians[i], "10.0.1.1", IPPROTO_UDP);
		nobody_is_answered(LEFT, &frame, "martian");
		frame = from_to(martians[i], "10.0.1.1", IPPROTO_ICMP);
		nobody_is_answered(LEFT, &frame, "martian");
	}
}

static void
nothing_is_said_to_an_ipv6_source_that_is_not_one_other_station(void **state)
{
	static const struct {
		const char *source, *udp, *echo; /* why each is dropped */
	} cases[] = {
		{"2001:db8:1::1", "ttl_expired", "for_router"},
		{"2001:db8:2::1", "ttl_expired", "for_router"},
		{"ff02::1", "martian", "martian"},
		{"::", "martian", "martian"},
	};
	struct frame frame;

	(void)state;
	start_router(NULL, NULL);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		frame = ipv6_to("2001:db8:ffff::1", 1, 10);
		assert_int_equal(inet_pton(AF_INET6, cases[i].source, frame.bytes + 22), 1);
		nobody_is_answered(LEFT, &frame, cases[i].udp);
		frame = ipv6_to("2001:db8:1::1", 64, 10);
		assert_int_equal(inet_pton(AF_INET6, cases[i].source, frame.bytes + 22), 1);
		frame.bytes[20] = IPPROTO_ICMPV6;
		memcpy(frame.bytes + 54, "\x80\0\0\0", 4);
		set_icmpv6_checksum(&frame);
		nobody_is_answered(LEFT, &frame, cases[i].echo);
	}
}

/* The first and last address of a network of two are stations (RFC 3021). */
static void
the_last_address_of_a_network_of_two_is_told(void **state)
{
	const struct frame packet = from_to("10.0.1.3", "198.51.100.1", IPPROTO_UDP);
	struct frame error;

	(void)state;
	start_router("inbound_addresses", "10.0.1.2/31");
	arrives(LEFT, &packet);
	assert_true(leaves(LEFT, &error));
	assert_memory_equal(error.bytes + 26, "\x0a\0\1\2\x0a\0\1\3", 8);
	assert_int_equal(error.bytes[34], 11);
	all_is_accounted_for();
}

static void
errors_are_ten_at_once_and_then_at_their_rate(void **state)
{
	const struct frame packet = ipv4_to("198.51.100.1", 1, 10);
	struct frame error;
	unsigned int told = 0;

	(void)state;
	start_router("icmp_errors_pps", "5");
	for (unsigned int i = 0; i < 50; i++)
		arrives(LEFT, &packet);
	while (leaves(LEFT, &error))
		told++;
	assert_int_equal(told, 10);
	pass_ms(1010);
	for (unsigned int i = 0; i < 50; i++)
		arrives(LEFT, &packet);
	while (leaves(LEFT, &error))
		told++;
	assert_int_equal(told, 15);
	assert_int_equal(dropped("ttl_expired"), 100);
	all_is_accounted_for();
	start_router("icmp_errors_pps", "0");
	arrives(LEFT, &packet);
	nothing_leaves();
}

static void
without_addresses_all_is_silent_as_ever(void **state)
{
	static const char *const options[][2] = {
		{"src_mac", SRC_MAC}, {"dst_mac", "02:00:00:00:00:0b"}, {NULL, NULL}};
	const struct weir_test_ipv4 dying = {.ttl = 1};

	(void)state;
	start(options);
	assert_true(weir_nf_l3fwd.idle(l3fwd));
	assert_string_equal(pass(weir_test_ipv4_packet(&dying)), "ttl_expired");
	end(NULL);
	l3fwd = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			nothing_is_said_about_errors_later_fragments_and_what_was_sent_to_many),
		cmocka_unit_test(nothing_is_said_to_a_source_that_is_not_one_other_station),
		cmocka_unit_test(nothing_is_said_to_an_ipv6_source_that_is_not_one_other_station),
		cmocka_unit_test(the_last_address_of_a_network_of_two_is_told),
		cmocka_unit_test(errors_are_ten_at_once_and_then_at_their_rate),
		cmocka_unit_test(without_addresses_all_is_silent_as_ever),
	};

	return cmocka_run_group_tests_name("l3fwd_silence", tests, weir_test_eal, end_router);
}
