/* SPDX-License-Identifier: Apache-2.0 */
/* Loss, duplicates and reordering by sequence number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stream.h"

static struct weir_arrivals arrivals;

static void
add(const uint32_t *sequences, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		weir_arrivals_add(&arrivals, sequences[i], 0, 100);
}

static void
duplicates_and_reordering_are_told_apart(void **state)
{
	static const uint32_t order[] = {0, 1, 3, 2, 3, 4, 0};

	(void)state;
	weir_arrivals_clear(&arrivals);
	add(order, 7);
	assert_int_equal(arrivals.delivered, 5);
	assert_int_equal(arrivals.duplicates, 2);
	assert_int_equal(arrivals.reordered, 1);
	weir_delays_flush(&arrivals.delays);
	assert_int_equal(arrivals.delays.latency_cycles.count, 5);
}

static void
gaps_say_when_the_last_lost_packet_was_sent_and_how_long_nothing_came(void **state)
{
	(void)state;
	weir_arrivals_clear(&arrivals);
	weir_arrivals_add(&arrivals, 0, 1000, 1100);
	weir_arrivals_add(&arrivals, 4, 1040, 1500); /* 1 to 3 are missing, 400 long */
	weir_arrivals_add(&arrivals, 5, 1050, 1510);
	weir_arrivals_add(&arrivals, 7, 1070, 1600); /* 6 is missing, 90 long */
	weir_arrivals_add(&arrivals, 8, 1080, 9000); /* none is missing, though long */
	assert_int_equal(arrivals.gaps, 2);
	assert_int_equal(arrivals.after_gap_tsc, 1070);
	assert_int_equal(arrivals.longest_gap_cycles, 400);
}

static void
packets_missing_before_the_first_are_a_gap_without_a_length(void **state)
{
	(void)state;
	weir_arrivals_clear(&arrivals);
	weir_arrivals_add(&arrivals, 3, 1030, 1100);
	assert_int_equal(arrivals.gaps, 1);
	assert_int_equal(arrivals.after_gap_tsc, 1030);
	assert_int_equal(arrivals.longest_gap_cycles, 0);
}

static void
what_is_missing_is_neither_delivered_nor_reordered(void **state)
{
	(void)state;
	weir_arrivals_clear(&arrivals);
	for (uint32_t sequence = 5; sequence < 300000; sequence++) {
		if (sequence % 7 != 0)
			weir_arrivals_add(&arrivals, sequence, 0, 100);
	}
	assert_int_equal(arrivals.delivered, 299995 - (300000 / 7));
	assert_int_equal(arrivals.reordered + arrivals.duplicates + arrivals.too_late, 0);
}

/* A simple model that remembers every sequence number. */
static void
a_random_order_is_counted_as_a_model_counts_it(void **state)
{
	enum { COUNT = 200000 };
	uint8_t *seen = calloc(COUNT, 1);
	uint64_t random = 11, delivered = 0, duplicates = 0, reordered = 0, highest = 0;

	(void)state;
	weir_arrivals_clear(&arrivals);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t back = weir_random_next(&random) % 1000;
		uint32_t sequence = i < back ? i : i - back;

		weir_arrivals_add(&arrivals, sequence, 0, 100);
		if (seen[sequence]++ != 0)
			duplicates++;
		else if (delivered++ != 0 && sequence < highest)
			reordered++;
		if (sequence > highest)
			highest = sequence;
	}
	assert_int_equal(arrivals.delivered, delivered);
	assert_int_equal(arrivals.duplicates, duplicates);
	assert_int_equal(arrivals.reordered, reordered);
	free(seen);
}

static void
a_packet_after_65536_later_ones_is_too_late(void **state)
{
	static const uint32_t order[] = {1, WEIR_WINDOW_PACKETS, 0, 2};

	(void)state;
	weir_arrivals_clear(&arrivals);
	add(order, 4);
	assert_int_equal(arrivals.delivered, 3);
	assert_int_equal(arrivals.too_late, 1);
	assert_int_equal(arrivals.reordered, 1);
}

static void
sequence_numbers_go_on_when_their_32_bits_wrap(void **state)
{
	static const uint32_t order[] = {UINT32_MAX - 1, 0, UINT32_MAX, 1, 1};

	(void)state;
	weir_arrivals_clear(&arrivals);
	for (uint64_t sequence = 0; sequence < (1ull << 32); sequence += 1ull << 28)
		weir_arrivals_add(&arrivals, (uint32_t)sequence, 0, 100);
	assert_int_equal(arrivals.delivered, 16);
	add(order, 5);
	assert_int_equal(arrivals.delivered, 20);
	assert_int_equal(arrivals.reordered, 1);
	assert_int_equal(arrivals.duplicates, 1);
	assert_int_equal(arrivals.highest, (1ull << 32) + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplicates_and_reordering_are_told_apart),
		cmocka_unit_test(
			gaps_say_when_the_last_lost_packet_was_sent_and_how_long_nothing_came),
		cmocka_unit_test(packets_missing_before_the_first_are_a_gap_without_a_length),
		cmocka_unit_test(what_is_missing_is_neither_delivered_nor_reordered),
		cmocka_unit_test(a_random_order_is_counted_as_a_model_counts_it),
		cmocka_unit_test(a_packet_after_65536_later_ones_is_too_late),
		cmocka_unit_test(sequence_numbers_go_on_when_their_32_bits_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
