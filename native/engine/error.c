/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at `text` (RFC 3629, section 4), 0: none begins there. */
static unsigned int
character_bytes(const uint8_t *text)
{
	unsigned int bytes = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;

	if (text[0] >= 0x80 && (text[0] < 0xc2 || text[0] > 0xf4))
		return 0;
	for (unsigned int i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than needed, a surrogate, or beyond U+10FFFF. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return bytes;
}

/* Texts quote what users wrote, of any bytes, and are cut anywhere; JSON takes UTF-8 alone. */
static void
make_utf8(char *text)
{
	while (*text != '\0') {
		unsigned int bytes = character_bytes((const uint8_t *)text);

		if (bytes == 0)
			*text = '?';
		text += bytes > 0 ? bytes : 1;
	}
}

static void
put(char *field, size_t size, const char *text)
{
	snprintf(field, size, "%s", text != NULL ? text : "");
	make_utf8(field);
}

int
weir_fail(struct weir_error *error, const char *code, const char *where, const char *expected,
	  const char *fix, const char *format, ...)
{
	va_list arguments;

	memset(error, 0, sizeof(*error));
	put(error->code, sizeof(error->code), code);
	put(error->where, sizeof(error->where), where);
	put(error->expected, sizeof(error->expected), expected);
	put(error->fix, sizeof(error->fix), fix);
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	make_utf8(error->message);
	return -1;
}
