/* SPDX-License-Identifier: Apache-2.0 */
#include "imix.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS 128
#define SIZE_DIGITS_MAX 5

static const char expected[] = "letters of RFC 6985: a=64 b=128 c=256 d=512 e=1024 f=1280 g=1518 "
			       "h=2112 i=9000 z=1518, or A-Z said behind: aaA:A=570";

/* ":A=570:B=1400" into `bytes_of`. */
static int
custom_sizes(const char *text, uint16_t bytes_of[LETTERS], const char *where,
	     struct weir_error *error)
{
	while (*text == ':') {
		char letter = text[1];
		size_t digits =
			letter != '\0' && text[2] == '=' ? strspn(text + 3, "0123456789") : 0;
		unsigned long bytes =
			digits > 0 && digits <= SIZE_DIGITS_MAX ? strtoul(text + 3, NULL, 10) : 0;

		if (letter < 'A' || letter > 'Z' || bytes == 0 || bytes > UINT16_MAX)
			return weir_fail(error, "bad_argument", where, expected, NULL,
					 "'%s' says no frame size", text);
		if (bytes_of[(unsigned char)letter] != 0)
			return weir_fail(error, "bad_argument", where, expected, NULL,
					 "the size of '%c' is said twice", letter);
		bytes_of[(unsigned char)letter] = bytes;
		text += 3 + digits;
	}
	if (*text != '\0')
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "'%s' says no frame size", text);
	return 0;
}

int
weir_imix_sizes(const char *genome, uint16_t *sizes, unsigned int max, const char *where,
		struct weir_error *error)
{
	uint16_t bytes_of[LETTERS] = {
		['a'] = 64,   ['b'] = 128,  ['c'] = 256,  ['d'] = 512,	['e'] = 1024,
		['f'] = 1280, ['g'] = 1518, ['h'] = 2112, ['i'] = 9000, ['z'] = 1518,
	};
	size_t count = strcspn(genome, ":");

	if (custom_sizes(genome + count, bytes_of, where, error) < 0)
		return -1;
	if (count > max)
		return weir_fail(error, "bad_argument", where, "at most 64 letters", NULL,
				 "the IMIX genome is too long");
	if (count == 0)
		return weir_fail(error, "bad_argument", where, expected, NULL,
				 "the IMIX genome is empty");
	for (size_t i = 0; i < count; i++) {
		unsigned char letter = genome[i];

		if (letter >= LETTERS || bytes_of[letter] == 0)
			return weir_fail(error, "bad_argument", where, expected,
					 "j is larger than any frame that is sent here",
					 "'%c' is no frame size here", letter);
		sizes[i] = bytes_of[letter];
	}
	return (int)count;
}
