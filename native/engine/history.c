/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <string.h>

unsigned int
weir_history_read(const void *entries, size_t bytes, const uint64_t *count, unsigned int kept,
		  uint64_t from, void *copies, uint64_t *next)
{
	uint64_t end = __atomic_load_n(count, __ATOMIC_ACQUIRE);
	uint64_t first = end - from > kept ? end - kept : from;
	uint64_t safe;
	char *copy = copies;

	for (uint64_t number = first; number < end; number++)
		memcpy(copy + (number - first) * bytes,
		       (const char *)entries + number % kept * bytes, bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* The one behind the last may be being written, over the oldest. */
	safe = __atomic_load_n(count, __ATOMIC_RELAXED) + 1;
	*next = end;
	if (safe - first > kept) {
		uint64_t overtaken = safe - kept < end ? safe - kept - first : end - first;

		memmove(copy, copy + overtaken * bytes, (end - first - overtaken) * bytes);
		first += overtaken;
	}
	return (unsigned int)(end - first);
}
