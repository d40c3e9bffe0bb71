/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <string.h>

unsigned int
weir_history_read(const uint64_t *entries, size_t words, const uint64_t *count, unsigned int kept,
		  uint64_t from, void *copies, uint64_t *next)
{
	uint64_t end = __atomic_load_n(count, __ATOMIC_ACQUIRE);
	uint64_t first = end - from > kept ? end - kept : from;
	size_t bytes = words * sizeof(*entries);
	char *copy = copies;
	uint64_t safe;

	for (uint64_t number = first; number < end; number++)
		weir_words_get(copy + (number - first) * bytes, &entries[number % kept * words],
			       words);
	/* The entries before the count that tells which of them may be written over: with the
	 * writer's fence, a word of a newer entry brings along a count that rules it out. */
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
