/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last entries of something that one thread writes and another one reads meanwhile: entry
 * number n at n % kept. A reader that was overtaken knows it, and leaves out what was overwritten.
 *
 * A sequence lock (packet/sequence_lock.h) whose number is the count of entries.
 */
#ifndef WEIR_ENGINE_HISTORY_H
#define WEIR_ENGINE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "packet/sequence_lock.h"

/* How many words an entry of that type has. */
#define WEIR_HISTORY_WORDS(type) (sizeof(type) / sizeof(uint64_t))

/* Of the thread that writes: keeps `entry`, of so many words, as number `*count`. */
static inline void
weir_history_add(uint64_t *entries, const void *entry, size_t words, unsigned int kept,
		 uint64_t *count)
{
	uint64_t number = __atomic_load_n(count, __ATOMIC_RELAXED);
	uint64_t *at = &entries[number % kept * words];

	/* The count so far before this entry's first word: whoever reads a word of it also reads
	 * that count, and knows that the entry in this place is being written over. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	weir_words_put(at, entry, words);
	/* The entry before the count that has it. */
	__atomic_store_n(count, number + 1, __ATOMIC_RELEASE);
}

/*
 * Copies the entries from number `from` on, oldest first, `kept` at most, of `words` 64-bit words
 * each. Returns how many they are; `*next`: the number after the last one. Where next - from is
 * more than that, older ones are forgotten.
 */
unsigned int weir_history_read(const uint64_t *entries, size_t words, const uint64_t *count,
			       unsigned int kept, uint64_t from, void *copies, uint64_t *next);

#endif
