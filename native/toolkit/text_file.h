/* SPDX-License-Identifier: Apache-2.0 */
/* Files that options name: rules, routes, lists. */
#ifndef WEIR_TOOLKIT_TEXT_FILE_H
#define WEIR_TOOLKIT_TEXT_FILE_H

#include <stddef.h>

#include "engine/error.h"

#define WEIR_TEXT_FILE_BYTES_MAX ((size_t)256 << 20)

/* All of the file with a NUL behind it, to be freed; `*bytes` without that. NULL with `error` if it
 * cannot be read, is no regular file, or has WEIR_TEXT_FILE_BYTES_MAX or more. */
char *weir_text_file_read(const char *path, size_t *bytes, const char *where,
			  struct weir_error *error);

#endif
