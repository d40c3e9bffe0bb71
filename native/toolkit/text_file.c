/* SPDX-License-Identifier: Apache-2.0 */
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096

/* Reads to the end: what a file's size says need not be what it has (/proc, pipes). */
static char *
read_all(FILE *file, size_t *bytes)
{
	size_t room = FIRST_BYTES;
	char *text = NULL;

	*bytes = 0;
	for (;;) {
		char *grown = realloc(text, room + 1);

		if (grown == NULL)
			break;
		text = grown;
		*bytes += fread(text + *bytes, 1, room - *bytes, file);
		if (ferror(file))
			break;
		if (*bytes < room)
			return text;
		if (room >= WEIR_TEXT_FILE_BYTES_MAX) {
			errno = EFBIG;
			break;
		}
		room *= 2;
	}
	free(text);
	return NULL;
}

char *
weir_text_file_read(const char *path, size_t *bytes, const char *where, struct weir_error *error)
{
	FILE *file = fopen(path, "r");
	char *text = file != NULL ? read_all(file, bytes) : NULL;

	if (text != NULL)
		text[*bytes] = '\0';
	else if (errno == ENOMEM)
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory to read %s", path);
	else
		weir_fail(error, "bad_argument", where, "a text file of less than 256 MiB", NULL,
			  "%s cannot be read: %s", path, strerror(errno));
	if (file != NULL)
		fclose(file);
	return text;
}
