/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

const char *
weir_test_path(void)
{
	static char path[] = "/tmp/weir-test-XXXXXX";
	static bool made;
	int fd;

	if (!made) { /* with a name that nobody else on the machine could take first */
		fd = mkstemp(path);
		assert_true(fd >= 0);
		close(fd);
		made = true;
	}
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
