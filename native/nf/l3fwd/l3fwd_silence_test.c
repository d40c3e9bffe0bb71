/* SPDX-License-Identifier: Apache-2.0 */
/* What a router tells nobody: about which packets it never says anything, and how often at most. */
#include "station_fixture_test.h"

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
		cmocka_unit_test(errors_are_ten_at_once_and_then_at_their_rate),
		cmocka_unit_test(without_addresses_all_is_silent_as_ever),
	};

	return cmocka_run_group_tests_name("l3fwd_silence", tests, weir_test_eal, end_router);
}
