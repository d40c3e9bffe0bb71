/* SPDX-License-Identifier: Apache-2.0 */
/* What is read out of the kernel's table of interfaces. */
#include "port/dropped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char table[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
	"drop fifo colls carrier compressed\n"
	"    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
	"  eth0: 21 22 23 24 25 26 27 28 29 30 31 18446744073709551615 33 34 35 36\n"
	"eth0.7:1 2 3 4 5 6 7 8 9 10 11 77 13 14 15 16\n";

static void
the_sent_packets_that_one_interface_dropped(void **state)
{
	uint64_t dropped = 0;

	(void)state;
	assert_true(weir_dropped_in(table, "lo", &dropped));
	assert_int_equal(dropped, 12);
	assert_true(weir_dropped_in(table, "eth0", &dropped));
	assert_true(dropped == UINT64_MAX);
	assert_true(weir_dropped_in(table, "eth0.7", &dropped));
	assert_int_equal(dropped, 77);
}

static void
of_an_interface_that_is_not_there_nothing(void **state)
{
	uint64_t dropped = 0;

	(void)state;
	assert_false(weir_dropped_in(table, "eth", &dropped));
	assert_false(weir_dropped_in("", "eth0", &dropped));
	assert_false(weir_dropped_in("eth0: 1 2 3", "eth0", &dropped));
}

/* Of all lines of a table that is longer than what is read of it at once, and cuts lines. */
static void
an_interface_is_found_wherever_it_stands_in_a_long_table(void **state)
{
	enum { INTERFACES = 999 };
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	for (unsigned int i = 0; i < INTERFACES; i++)
		fprintf(file, "veth%u: 1 2 3 4 5 6 7 8 9 10 11 %u 13 14 15 16\n", i, 1000 + i);
	fflush(file);
	for (unsigned int i = 0; i < INTERFACES; i++) {
		struct weir_dropped dropped = {.fd = fileno(file)};

		snprintf(dropped.interface, sizeof(dropped.interface), "veth%u", i);
		assert_int_equal(weir_dropped_read(&dropped), 1000 + i);
	}
	fclose(file);
}

static void
what_is_closed_says_nothing(void **state)
{
	struct weir_dropped dropped;

	(void)state;
	weir_dropped_open(&dropped, "lo");
	assert_true(dropped.fd >= 0);
	assert_int_equal(weir_dropped_read(&dropped), 0);
	weir_dropped_close(&dropped);
	assert_int_equal(weir_dropped_read(&dropped), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sent_packets_that_one_interface_dropped),
		cmocka_unit_test(of_an_interface_that_is_not_there_nothing),
		cmocka_unit_test(an_interface_is_found_wherever_it_stands_in_a_long_table),
		cmocka_unit_test(what_is_closed_says_nothing),
	};

	return cmocka_run_group_tests_name("dropped", tests, NULL, NULL);
}
