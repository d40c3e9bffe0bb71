/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

const char *
weir_test_path(void)
{
	static char path[32];

	if (path[0] == '\0')
		snprintf(path, sizeof(path), "/tmp/weir-test-%d", getpid());
	return path;
}

const char *
weir_test_file(const char *text)
{
	FILE *file = fopen(weir_test_path(), "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return weir_test_path();
}

int
weir_test_file_remove(void **state)
{
	(void)state;
	unlink(weir_test_path());
	return 0;
}
