/* SPDX-License-Identifier: Apache-2.0 */
/* Packets by the slice of time in which they were due; and entries that were overtaken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/history.h"
#include "stream.h"

#define START 1000000
#define WIDTH 1000

static struct weir_slices slices;

static void
begin(unsigned int count, double packets_per_cycle)
{
	weir_slices_begin(&slices, count, WIDTH, packets_per_cycle);
	slices.start_tsc = START;
}

static uint64_t
packets_of_all(void)
{
	uint64_t packets = 0;

	for (unsigned int i = 0; i < slices.count; i++)
		packets += slices.slice[i].packets;
	return packets;
}

static void
at_a_constant_rate_the_number_of_a_packet_says_its_slice(void **state)
{
	(void)state;
	begin(4, 0.01); /* 10 packets a slice */
	for (uint64_t sequence = 0; sequence < 40; sequence++)
		weir_slices_add(&slices, sequence, START + sequence * 100 + 200,
				START + sequence * 100 + 350);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(slices.slice[i].packets, 10);
		assert_int_equal(slices.slice[i].keys, 45);
		assert_int_equal(slices.slice[i].stamps, 10 * (i * 1000 + 200) + 4500);
		assert_int_equal(slices.slice[i].arrivals, 10 * (i * 1000 + 350) + 4500);
	}
}

static void
packets_count_in_the_slice_in_which_they_were_due(void **state)
{
	(void)state;
	begin(3, 0.0025); /* 2.5 packets a slice */
	/* Packet 2 is due after 1,200 cycles. */
	assert_int_equal(weir_slices_first(&slices, 1), 2);
	assert_int_equal(weir_slices_first(&slices, 2), 5);
	for (uint64_t sequence = 0; sequence < 8; sequence++)
		weir_slices_add(&slices, sequence, 0, START);
	assert_int_equal(slices.slice[0].packets, 2);
	assert_int_equal(slices.slice[1].packets, 3);
	assert_int_equal(slices.slice[2].packets, 3);
}

static void
a_range_of_packets_counts_in_each_slice_that_it_touches(void **state)
{
	(void)state;
	begin(4, 0.01); /* 10 packets a slice */
	weir_slices_add_range(&slices, 7, 7);
	assert_int_equal(packets_of_all(), 0);
	weir_slices_add_range(&slices, 7, 32);
	weir_slices_add_range(&slices, 38, 50); /* beyond the last one's end */
	assert_int_equal(slices.slice[0].packets, 3);
	assert_int_equal(slices.slice[1].packets, 10);
	assert_int_equal(slices.slice[2].packets, 10);
	assert_int_equal(slices.slice[3].packets, 2 + 12);
}

static void
packets_out_of_order_count_where_they_were_due(void **state)
{
	(void)state;
	begin(4, 0.01);
	weir_slices_add(&slices, 35, 0, START);
	weir_slices_add(&slices, 5, 0, START);
	weir_slices_add(&slices, 36, 0, START);
	weir_slices_add(&slices, 19, 0, START);
	assert_int_equal(slices.slice[0].packets, 1);
	assert_int_equal(slices.slice[1].packets, 1);
	assert_int_equal(slices.slice[2].packets, 0);
	assert_int_equal(slices.slice[3].packets, 2);
	assert_int_equal(slices.slice[1].keys, 9);
}

static void
without_a_constant_rate_the_time_says_it(void **state)
{
	(void)state;
	begin(3, 0);
	weir_slices_add(&slices, 7, START + 999, START + 1200);
	weir_slices_add(&slices, 8, START + 1000, START + 1300);
	weir_slices_add(&slices, 9, START + 99999, START + 100000); /* behind the end: the last */
	assert_int_equal(slices.slice[0].packets, 1);
	assert_int_equal(slices.slice[0].keys, 999);
	assert_int_equal(slices.slice[1].packets, 1);
	assert_int_equal(slices.slice[1].arrivals, 1300);
	assert_int_equal(slices.slice[2].packets, 1);
}

static void
rates_below_a_packet_a_slice_leave_slices_empty(void **state)
{
	/* Due after 2,500, 5,000, 7,500 and 10,000 cycles: with the end of the slices before. */
	const uint64_t packets[10] = {0, 0, 1, 0, 1, 0, 0, 1, 0, 1};

	(void)state;
	begin(10, 0.0004);
	for (uint64_t sequence = 0; sequence < 4; sequence++)
		weir_slices_add(&slices, sequence, 0, START);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(slices.slice[i].packets, packets[i]);
}

static void
packets_that_were_due_behind_a_time_are_in_no_slice_before_it(void **state)
{
	/* A packet in 20 slices: the second one is due with the end of slice 39. */
	(void)state;
	begin(80, 0.00005);
	weir_slices_add_range(&slices, 1, 2);
	for (unsigned int i = 0; i < 80; i++)
		assert_int_equal(slices.slice[i].packets, i == 39);
}

static void
a_run_that_wants_none_has_one(void **state)
{
	(void)state;
	begin(0, 0.01);
	weir_slices_add(&slices, 1ull << 40, 0, START);
	assert_int_equal(slices.slice[0].packets, 1);
}

static void
a_reader_that_was_overtaken_leaves_out_what_was_overwritten(void **state)
{
	uint64_t entries[4], copies[4], count = 0, next;

	(void)state;
	for (uint64_t number = 0; number < 10; number++)
		weir_history_add(entries, &number, 1, 4, &count);
	/* The one that the writer may be writing is left out, too. */
	assert_int_equal(weir_history_read(entries, 1, &count, 4, 2, copies, &next), 3);
	assert_int_equal(next, 10);
	assert_int_equal(copies[0], 7);
	assert_int_equal(copies[2], 9);
	assert_int_equal(weir_history_read(entries, 1, &count, 4, 8, copies, &next), 2);
	assert_int_equal(copies[0], 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_a_constant_rate_the_number_of_a_packet_says_its_slice),
		cmocka_unit_test(packets_count_in_the_slice_in_which_they_were_due),
		cmocka_unit_test(a_range_of_packets_counts_in_each_slice_that_it_touches),
		cmocka_unit_test(packets_out_of_order_count_where_they_were_due),
		cmocka_unit_test(without_a_constant_rate_the_time_says_it),
		cmocka_unit_test(rates_below_a_packet_a_slice_leave_slices_empty),
		cmocka_unit_test(packets_that_were_due_behind_a_time_are_in_no_slice_before_it),
		cmocka_unit_test(a_run_that_wants_none_has_one),
		cmocka_unit_test(a_reader_that_was_overtaken_leaves_out_what_was_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
