/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments: RFC 4787, REQ-14. */
#include "nat_fixture_test.h"

#define UDP IPPROTO_UDP
#define EXTERNAL "203.0.113.1"

static struct weir_test_ipv4
fragment(uint16_t identification, uint16_t offset_bytes)
{
	return (struct weir_test_ipv4){
		.src = INSIDE,
		.src_port = 5000,
		.dst = REMOTE,
		.identification = identification,
		.fragment_offset_bytes = offset_bytes,
		.more_fragments = offset_bytes == 0,
		.payload_bytes = 64,
	};
}

static void
test_later_fragments_follow_the_first_in_both_directions(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	START({"external", EXTERNAL "/32"});
	leaves_from(UDP, OTHER_INSIDE, 5000, REMOTE, 80, 0);
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	assert_string_equal(pass(WEIR_OUTBOUND, &later).source, EXTERNAL ":0");
	first.dst_port = port_in(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	first.src = later.src = REMOTE;
	first.dst = later.dst = EXTERNAL;
	assert_string_equal(pass(WEIR_INBOUND, &first).destination, INSIDE ":5000");
	assert_string_equal(pass(WEIR_INBOUND, &later).destination, INSIDE ":0");
}

static void
test_a_fragment_before_its_first_is_held_and_one_of_a_dropped_first_is_dropped(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	START({"external", EXTERNAL "/32"});
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "held");
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	later.identification = 8;
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "held");
	later.identification = 7;
	now_s += 61;
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "held");
	first.src = later.src = REMOTE;
	first.dst = later.dst = EXTERNAL;
	assert_string_equal(pass(WEIR_INBOUND, &first).drop, "no_mapping");
	assert_string_equal(pass(WEIR_INBOUND, &later).drop, "no_mapping");
}

static void
test_later_fragments_of_a_first_one_with_a_cut_header_are_dropped_as_it_is(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 16);
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	size_t bytes;

	(void)state;
	START({"external", EXTERNAL "/32"});
	first.protocol = later.protocol = IPPROTO_TCP;
	bytes = weir_test_ipv4_frame(&first, frame);
	frame[17] = 36; /* the IP packet ends within the TCP header */
	assert_string_equal(pass_bytes(WEIR_OUTBOUND, frame, bytes).drop, "truncated");
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "truncated");
}

static void
test_fragments_of_a_mapping_that_ended_are_not_known(void **state)
{
	struct weir_test_ipv4 first = fragment(7, 0), later = fragment(7, 72);

	(void)state;
	START({"external", EXTERNAL "/32"}, {"udp_timeout_s", "1"});
	assert_null(pass(WEIR_OUTBOUND, &first).drop);
	wait_s(3);
	assert_string_equal(pass(WEIR_OUTBOUND, &later).drop, "fragment_unknown");
}

/* RFC 4787, REQ-14a. */
static void
test_a_flood_of_first_fragments_stays_within_its_memory(void **state)
{
	(void)state;
	START({"external", EXTERNAL "/32"}, {"fragments", "4"});
	for (uint16_t id = 1; id <= 1000; id++) {
		struct weir_test_ipv4 first = fragment(id, 0), later = fragment(id, 72);

		assert_null(pass(WEIR_OUTBOUND, &first).drop);
		assert_null(pass(WEIR_OUTBOUND, &later).drop);
	}
	assert_string_equal(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0),
			    leaves_from(UDP, INSIDE, 5000, OTHER_REMOTE, 80, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later_fragments_follow_the_first_in_both_directions),
		cmocka_unit_test(
			test_a_fragment_before_its_first_is_held_and_one_of_a_dropped_first_is_dropped),
		cmocka_unit_test(
			test_later_fragments_of_a_first_one_with_a_cut_header_are_dropped_as_it_is),
		cmocka_unit_test(test_fragments_of_a_mapping_that_ended_are_not_known),
		cmocka_unit_test(test_a_flood_of_first_fragments_stays_within_its_memory),
	};

	return cmocka_run_group_tests_name("nat fragments", tests, weir_test_eal, NULL);
}
