/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <stdlib.h>
#include <string.h>

#include "text_file.h"

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
	size_t bytes;
	int status;

	if ((text[0] == '\0') == (path[0] == '\0'))
		return weir_fail(error, "bad_argument", where, "a list in the option, or in a file",
				 NULL, "%s is given no list, or two", owner);
	copy = path[0] != '\0' ? weir_text_file_read(path, &bytes, where, error) : strdup(text);
	if (copy == NULL && path[0] == '\0')
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for the list of %s",
			  owner);
	if (copy == NULL)
		return -1;
	status = each(copy, take, argument, where, error);
	free(copy);
	return status;
}
