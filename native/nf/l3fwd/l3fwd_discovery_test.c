/* SPDX-License-Identifier: Apache-2.0 */
/* A router and neighbour discovery: what it asks and answers to the byte, and what it does not
 * believe. */
#include "station_fixture_test.h"

#include <stdio.h>
#include <string.h>

enum { SOLICITATION = 135, ADVERTISEMENT = 136 };
enum { SOLICITED = 0x40, OVERRIDE = 0x20 };

#define HOST6 "2001:db8:1::2"
#define ROUTER6 "2001:db8:1::1"
#define ROUTER6_GROUP "ff02::1:ff00:1"

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

/* A host that knows the answer's address asks it directly, when that is old (RFC 4861, 7.3.3). */
static void
an_address_in_front_of_it_is_answered_for_to_who_asks_it_directly_too(void **state)
{
	const struct frame probe = discovery(SOLICITATION, 0, "2001:db8:2::2", "2001:db8:2::8001",
					     "2001:db8:2::8001", GATEWAY_MAC);
	const struct frame answer =
		discovery(ADVERTISEMENT, SOLICITED | OVERRIDE, "2001:db8:2::8001", "2001:db8:2::2",
			  "2001:db8:2::8001", RIGHT_MAC);
	struct frame sent;

	(void)state;
	start_router("answers_for", "2001:db8:2::8000/113");
	arrives(RIGHT, &probe);
	assert_true(leaves(RIGHT, &sent));
	assert_memory_equal(sent.bytes + 8 + 14, answer.bytes + 8 + 14, 32); /* addresses */
	assert_memory_equal(sent.bytes + 54 + 8, answer.bytes + 54 + 8, 16 + 8);
	nothing_leaves();
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_in_ipv6_by_the_solicited_node_group),
		cmocka_unit_test(a_solicitation_is_answered_with_all_that_rfc_4861_wants),
		cmocka_unit_test(
			an_address_in_front_of_it_is_answered_for_to_who_asks_it_directly_too),
		cmocka_unit_test(duplicate_address_detection_is_answered_to_all_nodes),
		cmocka_unit_test(its_link_local_address_is_of_its_mac_address),
		cmocka_unit_test(discovery_that_is_not_as_it_must_be_is_dropped),
		cmocka_unit_test(
			an_advertisement_without_override_leaves_the_address_and_one_with_it_changes_it),
	};

	return cmocka_run_group_tests_name("l3fwd_discovery", tests, weir_test_eal, end_router);
}
