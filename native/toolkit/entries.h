/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that users write: in an option, or in a file that another option names. */
#ifndef WEIR_TOOLKIT_ENTRIES_H
#define WEIR_TOOLKIT_ENTRIES_H

#include "engine/error.h"

/* One entry, without its remark; may be written to. 0, or -1 with `error`. */
typedef int (*weir_entry_fn)(void *argument, char *entry, const char *where,
			     struct weir_error *error);

/*
 * Calls `take` for each entry of `text`, or of the file at `path` if that is not "": exactly one of
 * them is to be given. Entries are separated by commas or line ends; '#' begins a remark up to the
 * end of its line; blank ones are passed over. Ends at the first -1. `owner`: whose list it is.
 */
int weir_entries_each(const char *owner, const char *text, const char *path, weir_entry_fn take,
		      void *argument, const char *where, struct weir_error *error);

#endif
