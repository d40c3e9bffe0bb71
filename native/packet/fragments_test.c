/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of fragmented datagrams: RFC 791, section 3.2; RFC 1122, section 3.3.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_cycles.h>

#include "fragments.h"
#include "testing/eal.h"
#include "testing/packet.h"

#define NOT_KNOWN UINT32_MAX

static struct weir_fragments *fragments;
static uint64_t now_s;

static int
empty(void **state)
{
	(void)state;
	fragments = weir_fragments_create(1024, 3, 100);
	now_s = 1000;
	return fragments != NULL ? 0 : -1;
}

static int
free_it(void **state)
{
	(void)state;
	weir_fragments_free(fragments);
	return 0;
}

static struct weir_test_ipv4
datagram(uint16_t identification)
{
	return (struct weir_test_ipv4){
		.src = "192.0.2.1",
		.dst = "198.51.100.1",
		.identification = identification,
		.payload_bytes = 64,
	};
}

static void
remember(struct weir_test_ipv4 first, uint32_t decision)
{
	struct weir_headers headers;
	struct rte_mbuf *packet;

	first.more_fragments = true;
	packet = weir_test_ipv4_packet(&first);
	weir_headers_parse(packet, &headers);
	assert_int_equal(headers.flags, WEIR_HEADER_FRAGMENT);
	weir_fragments_remember(fragments, packet, &headers, now_s * rte_get_tsc_hz(), decision);
	rte_pktmbuf_free(packet);
}

/* What is known of that datagram's fragment at that offset, or NOT_KNOWN. */
static uint32_t
recall_at(struct weir_test_ipv4 later, uint16_t offset_bytes)
{
	struct weir_headers headers;
	struct rte_mbuf *packet;
	uint64_t decision;

	later.fragment_offset_bytes = offset_bytes;
	packet = weir_test_ipv4_packet(&later);
	weir_headers_parse(packet, &headers);
	if (!weir_fragments_recall(fragments, packet, &headers, now_s * rte_get_tsc_hz(),
				   &decision))
		decision = NOT_KNOWN;
	rte_pktmbuf_free(packet);
	return (uint32_t)decision;
}

static uint32_t
recall(struct weir_test_ipv4 later)
{
	return recall_at(later, 72);
}

static void
a_later_fragment_gets_what_was_decided_on_the_first(void **state)
{
	(void)state;
	assert_int_equal(recall(datagram(7)), NOT_KNOWN);
	remember(datagram(7), 5);
	assert_int_equal(recall(datagram(7)), 5);
}

/* RFC 791: internet identification, source, destination and protocol. */
static void
another_source_destination_protocol_or_identification_is_another_datagram(void **state)
{
	struct weir_test_ipv4 source = datagram(7), destination = datagram(7);
	struct weir_test_ipv4 protocol = datagram(7);

	(void)state;
	source.src = "192.0.2.2";
	destination.dst = "198.51.100.2";
	protocol.protocol = IPPROTO_TCP;
	remember(datagram(7), 5);
	assert_int_equal(recall(datagram(8)), NOT_KNOWN);
	assert_int_equal(recall(source), NOT_KNOWN);
	assert_int_equal(recall(destination), NOT_KNOWN);
	assert_int_equal(recall(protocol), NOT_KNOWN);
	remember(source, 6);
	assert_int_equal(recall(source), 6);
	assert_int_equal(recall(datagram(7)), 5);
}

/* The other direction may have a datagram of that identification too. */
static void
directions_are_not_taken_for_each_other(void **state)
{
	struct weir_test_ipv4 back = datagram(7);

	(void)state;
	back.src = datagram(7).dst;
	back.dst = datagram(7).src;
	remember(datagram(7), 5);
	assert_int_equal(recall(back), NOT_KNOWN);
}

/* RFC 815: fragments come in any order, twice, and over each other. There is no reassembly: all are
 * one datagram's, whatever bytes they hold. */
static void
order_repetition_and_overlap_change_nothing(void **state)
{
	static const uint16_t offsets_bytes[] = {1480, 72, 72, 8, 64, 65528};

	(void)state;
	remember(datagram(7), 5);
	for (unsigned int i = 0; i < RTE_DIM(offsets_bytes); i++)
		assert_int_equal(recall_at(datagram(7), offsets_bytes[i]), 5);
}

/* RFC 6864: an identification comes again once the old datagram is gone, or the sender is wrong. */
static void
the_newest_first_fragment_of_an_identification_counts(void **state)
{
	(void)state;
	remember(datagram(7), 5);
	remember(datagram(7), 6);
	assert_int_equal(recall(datagram(7)), 6);
}

/* RFC 1122: reassembly is given up after 60 s, or later; later fragments do not prolong it. */
static void
after_a_minute_a_datagram_is_not_known_any_more(void **state)
{
	(void)state;
	remember(datagram(7), 5);
	now_s += WEIR_FRAGMENTS_TIMEOUT_S / 2;
	assert_int_equal(recall(datagram(7)), 5);
	now_s += WEIR_FRAGMENTS_TIMEOUT_S / 2;
	assert_int_equal(recall(datagram(7)), 5);
	now_s++;
	assert_int_equal(recall(datagram(7)), NOT_KNOWN);
	remember(datagram(7), 6);
	assert_int_equal(recall(datagram(7)), 6);
}

static void
nothing_is_known_of_a_datagram_of_zeros_that_was_not_there(void **state)
{
	struct weir_test_ipv4 zeros = {.src = "0.0.0.0", .dst = "0.0.0.0", .payload_bytes = 8};

	(void)state;
	now_s = 0;
	assert_int_equal(recall(zeros), NOT_KNOWN);
	remember(zeros, 5);
	assert_int_equal(recall(zeros), 5);
}

/* RFC 4787, REQ-14a: a flood takes the places of the oldest, never of the newest. */
static void
a_full_memory_forgets_the_oldest(void **state)
{
	(void)state;
	weir_fragments_free(fragments);
	fragments = weir_fragments_create(4, 0, 0);
	for (uint16_t i = 1; i <= 1000; i++) {
		now_s++;
		remember(datagram(i), i);
		for (uint16_t age = 0; age < 4 && age < i; age++)
			assert_int_equal(recall(datagram(i - age)), i - age);
		if (i > 4)
			assert_int_equal(recall(datagram(i - 4)), NOT_KNOWN);
	}
}

/* Places are sets of four: more than asked for, so that few sets run over. */
static void
there_is_room_for_as_many_as_asked_for(void **state)
{
	unsigned int known = 0;

	(void)state;
	weir_fragments_free(fragments);
	fragments = weir_fragments_create(5, 0, 0);
	for (uint16_t i = 1; i <= 5; i++)
		remember(datagram(i), i);
	for (uint16_t i = 1; i <= 5; i++)
		known += recall(datagram(i)) == i;
	assert_int_equal(known, 5);
}

static struct rte_mbuf *
wait(struct weir_test_ipv4 later, uint8_t direction, bool *waits)
{
	struct weir_headers headers;
	struct weir_fragment fragment = {.direction = direction, .egress = 1};

	later.fragment_offset_bytes = 72;
	fragment.packet = weir_test_ipv4_packet(&later);
	weir_headers_parse(fragment.packet, &headers);
	*waits = weir_fragments_wait(fragments, &fragment, &headers, now_s * rte_get_tsc_hz());
	return fragment.packet;
}

/* The next one of that direction that waits no longer, which is freed; NULL: none. */
static const struct rte_mbuf *
next(uint8_t direction, uint64_t after_ms, bool *late)
{
	uint64_t now_tsc = now_s * rte_get_tsc_hz() + after_ms * (rte_get_tsc_hz() / 1000);
	struct weir_fragment fragment;

	if (!weir_fragments_next(fragments, direction, now_tsc, &fragment, late))
		return NULL;
	assert_int_equal(fragment.egress, 1);
	rte_pktmbuf_free(fragment.packet);
	return fragment.packet;
}

static void
what_waits_comes_out_behind_its_first_fragment_in_the_order_in_which_it_came(void **state)
{
	const struct rte_mbuf *packets[3];
	bool waits, late;

	(void)state;
	packets[0] = wait(datagram(7), 0, &waits);
	packets[1] = wait(datagram(8), 0, &waits);
	packets[2] = wait(datagram(7), 0, &waits);
	assert_true(waits);
	assert_null(next(0, 0, &late));
	remember(datagram(7), 5);
	assert_null(next(1, 0, &late)); /* nothing came by the other direction */
	assert_ptr_equal(next(0, 0, &late), packets[0]);
	assert_false(late);
	assert_ptr_equal(next(0, 0, &late), packets[2]);
	assert_null(next(0, 100, &late));
	assert_ptr_equal(next(0, 101, &late), packets[1]);
	assert_true(late);
	assert_null(next(0, 101, &late));
}

/* Both came in one burst: what was decided on the first one was remembered before the other waits.
 */
static void
a_first_fragment_that_was_seen_meanwhile_is_waited_for_no_longer(void **state)
{
	const struct rte_mbuf *packet;
	bool waits, late;

	(void)state;
	remember(datagram(7), 5);
	packet = wait(datagram(7), 0, &waits);
	assert_ptr_equal(next(0, 0, &late), packet);
	assert_false(late);
}

static void
no_more_wait_than_there_is_room_for_and_they_are_freed_with_it(void **state)
{
	unsigned int free_before = rte_mempool_avail_count(weir_test_pool());
	bool waits;

	(void)state;
	for (uint16_t i = 0; i < 4; i++) {
		struct rte_mbuf *packet = wait(datagram(i), 0, &waits);

		assert_int_equal(waits, i < 3);
		if (!waits)
			rte_pktmbuf_free(packet);
	}
	weir_fragments_free(fragments);
	fragments = weir_fragments_create(4, 0, 0);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), free_before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_later_fragment_gets_what_was_decided_on_the_first,
						empty, free_it),
		cmocka_unit_test_setup_teardown(
			another_source_destination_protocol_or_identification_is_another_datagram,
			empty, free_it),
		cmocka_unit_test_setup_teardown(directions_are_not_taken_for_each_other, empty,
						free_it),
		cmocka_unit_test_setup_teardown(order_repetition_and_overlap_change_nothing, empty,
						free_it),
		cmocka_unit_test_setup_teardown(
			the_newest_first_fragment_of_an_identification_counts, empty, free_it),
		cmocka_unit_test_setup_teardown(after_a_minute_a_datagram_is_not_known_any_more,
						empty, free_it),
		cmocka_unit_test_setup_teardown(
			nothing_is_known_of_a_datagram_of_zeros_that_was_not_there, empty, free_it),
		cmocka_unit_test_setup_teardown(a_full_memory_forgets_the_oldest, empty, free_it),
		cmocka_unit_test_setup_teardown(there_is_room_for_as_many_as_asked_for, empty,
						free_it),
		cmocka_unit_test_setup_teardown(
			what_waits_comes_out_behind_its_first_fragment_in_the_order_in_which_it_came,
			empty, free_it),
		cmocka_unit_test_setup_teardown(
			a_first_fragment_that_was_seen_meanwhile_is_waited_for_no_longer, empty,
			free_it),
		cmocka_unit_test_setup_teardown(
			no_more_wait_than_there_is_room_for_and_they_are_freed_with_it, empty,
			free_it),
	};

	return cmocka_run_group_tests_name("fragments", tests, weir_test_eal, NULL);
}
