/* SPDX-License-Identifier: Apache-2.0 */
/* IMIX genomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "imix.h"

static void
a_genome_gives_its_sizes_in_order(void **state)
{
	static const uint16_t expected[] = {64,	  128,	256,  512,  1024, 1280,
					    1518, 2112, 9000, 1518, 64};
	uint16_t sizes[64];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("abcdefghiza", sizes, 64, "frame", &error), 11);
	assert_memory_equal(sizes, expected, sizeof(expected));
}

static void
capital_letters_are_the_sizes_said_behind_the_genome(void **state)
{
	static const uint16_t expected[] = {64, 570, 9018, 570, 1518};
	static const char *const wrong[] = {"aA",     "aA:A",	    "aA:A=",	  "aA:A=0",
					    "aA:a=9", "aA:A=99999", "aA:A=64:",	  "aA:A=64 ",
					    ":A=64",  "aA:AB=64",   "A:A=64:A=65"};
	uint16_t sizes[64];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("aABAg:A=570:B=9018", sizes, 64, "frame", &error), 5);
	assert_memory_equal(sizes, expected, sizeof(expected));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(weir_imix_sizes(wrong[i], sizes, 64, "frame", &error), -1);
}

static void
other_letters_none_and_too_many_are_refused(void **state)
{
	uint16_t sizes[4];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("aj", sizes, 4, "frame", &error), -1);
	assert_int_equal(weir_imix_sizes("A", sizes, 4, "frame", &error), -1);
	assert_int_equal(weir_imix_sizes("", sizes, 4, "frame", &error), -1);
	assert_int_equal(weir_imix_sizes("aaaa", sizes, 4, "frame", &error), 4);
	assert_int_equal(weir_imix_sizes("aaaaa", sizes, 4, "frame", &error), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_genome_gives_its_sizes_in_order),
		cmocka_unit_test(capital_letters_are_the_sizes_said_behind_the_genome),
		cmocka_unit_test(other_letters_none_and_too_many_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
