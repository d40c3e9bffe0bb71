/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1 << 20)

static char *
read_file(const char *path, const char *where, struct weir_error *error)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, FILE_BYTES_MAX + 1);
	size_t bytes;

	if (file == NULL || text == NULL) {
		weir_fail(error, "bad_argument", where, "a file that can be read", NULL, "%s: %s",
			  path, strerror(errno));
		goto failed;
	}
	bytes = fread(text, 1, FILE_BYTES_MAX + 1, file);
	if (bytes > FILE_BYTES_MAX || ferror(file)) {
		weir_fail(error, "bad_argument", where, "a text of 1 MiB at most", NULL,
			  "%s cannot be read, or is too long", path);
		goto failed;
	}
	fclose(file);
	return text;
failed:
	if (file != NULL)
		fclose(file);
	free(text);
	return NULL;
}

static int
each(char *text, weir_entry_fn take, void *argument, const char *where, struct weir_error *error)
{
	while (*text != '\0') {
		char *end = text + strcspn(text, ",\n#");
		char *next = *end == '#' ? end + strcspn(end, "\n") : end;

		next += *next != '\0';
		*end = '\0';
		if (text[strspn(text, " \t\r")] != '\0' && take(argument, text, where, error) < 0)
			return -1;
		text = next;
	}
	return 0;
}

int
weir_entries_each(const char *owner, const char *text, const char *path, weir_entry_fn take,
		  void *argument, const char *where, struct weir_error *error)
{
	char *copy;
	int status;

	if ((text[0] == '\0') == (path[0] == '\0'))
		return weir_fail(error, "bad_argument", where, "a list in the option, or in a file",
				 NULL, "%s is given no list, or two", owner);
	copy = path[0] != '\0' ? read_file(path, where, error) : strdup(text);
	if (copy == NULL)
		return -1;
	status = each(copy, take, argument, where, error);
	free(copy);
	return status;
}
