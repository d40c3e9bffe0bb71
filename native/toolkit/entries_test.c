/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in options and files: what separates entries, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "entries.h"
#include "testing/file.h"

static char heard[256];

static int
hear(void *argument, char *entry, const char *where, struct weir_error *error)
{
	(void)argument;
	if (strstr(entry, "bad") != NULL)
		return weir_fail(error, "bad_argument", where, NULL, NULL, "bad entry");
	strcat(heard, "[");
	strcat(heard, entry);
	strcat(heard, "]");
	return 0;
}

static int
read_list(const char *text, const char *path)
{
	struct weir_error error;

	heard[0] = '\0';
	return weir_entries_each("test", text, path, hear, NULL, "options", &error);
}

static void
test_commas_and_line_ends_separate_and_remarks_end_with_their_line(void **state)
{
	(void)state;
	assert_int_equal(read_list("a 1,b 2\nc 3 # not, this\n\n , \n#nor this\nd", ""), 0);
	assert_string_equal(heard, "[a 1][b 2][c 3 ][d]");
}

static void
test_a_file_is_read_in_place_of_the_option(void **state)
{
	const char *path = weir_test_file("a\nb # remark");

	assert_int_equal(read_list("", path), 0);
	assert_string_equal(heard, "[a][b ]");
	assert_int_equal(read_list("c", path), -1);
	weir_test_file_remove(state);
	assert_int_equal(read_list("", path), -1);
	assert_int_equal(read_list("", ""), -1);
}

static void
test_nothing_behind_a_bad_entry_is_read(void **state)
{
	(void)state;
	assert_int_equal(read_list("a,bad,c", ""), -1);
	assert_string_equal(heard, "[a]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_commas_and_line_ends_separate_and_remarks_end_with_their_line),
		cmocka_unit_test(test_a_file_is_read_in_place_of_the_option),
		cmocka_unit_test(test_nothing_behind_a_bad_entry_is_read),
	};

	return cmocka_run_group_tests_name("entries", tests, NULL, NULL);
}
