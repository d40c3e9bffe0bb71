/* SPDX-License-Identifier: Apache-2.0 */
#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES 4096

/* Reads to the end: what a file's size says need not be what it has (/proc). */
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

/* Nobody waits for the other end of a pipe here, nor reads what has no end. NULL with `errno`,
 * which is 0 for what is no file. */
static FILE *
open_regular(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat found;
	FILE *file = NULL;
	int failed;

	if (descriptor < 0)
		return NULL;
	failed = fstat(descriptor, &found) != 0 ? errno : 0;
	if (failed == 0 && S_ISREG(found.st_mode)) {
		file = fdopen(descriptor, "r");
		failed = errno;
	}
	if (file == NULL)
		close(descriptor);
	errno = failed;
	return file;
}

char *
weir_text_file_read(const char *path, size_t *bytes, const char *where, struct weir_error *error)
{
	FILE *file = open_regular(path);
	char *text = file != NULL ? read_all(file, bytes) : NULL;

	if (text != NULL)
		text[*bytes] = '\0';
	else if (errno == ENOMEM)
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory to read %s", path);
	else if (file == NULL && errno == 0)
		weir_fail(error, "bad_argument", where, "a text file", NULL,
			  "%s is no regular file", path);
	else
		weir_fail(error, "bad_argument", where, "a text file of less than 256 MiB", NULL,
			  "%s cannot be read: %s", path, strerror(errno));
	if (file != NULL)
		fclose(file);
	return text;
}
