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
	static const uint16_t expected[] = {64, 128, 256, 512, 1024, 1280, 1518, 64};
	uint16_t sizes[64];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("abcdefga", sizes, 64, "frame", &error), 8);
	assert_memory_equal(sizes, expected, sizeof(expected));
}

static void
other_letters_none_and_too_many_are_refused(void **state)
{
	uint16_t sizes[4];
	struct weir_error error;

	(void)state;
	assert_int_equal(weir_imix_sizes("ah", sizes, 4, "frame", &error), -1);
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
		cmocka_unit_test(other_letters_none_and_too_many_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
