/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
weir_fail(struct weir_error *error, const char *code, const char *where, const char *expected,
	  const char *fix, const char *format, ...)
{
	va_list arguments;

	memset(error, 0, sizeof(*error));
	snprintf(error->code, sizeof(error->code), "%s", code);
	snprintf(error->where, sizeof(error->where), "%s", where != NULL ? where : "");
	snprintf(error->expected, sizeof(error->expected), "%s", expected != NULL ? expected : "");
	snprintf(error->fix, sizeof(error->fix), "%s", fix != NULL ? fix : "");
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return -1;
}
