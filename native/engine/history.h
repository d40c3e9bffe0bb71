/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last entries of something that one thread writes and another one reads meanwhile: entry
 * number n at n % kept. A reader that was overtaken knows it, and leaves out what was overwritten.
 */
#ifndef WEIR_ENGINE_HISTORY_H
#define WEIR_ENGINE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* The entry that is written next. */
#define weir_history_at(entries, count, kept) (&(entries)[(count) % (kept)])

/* Makes the entry at weir_history_at() visible. */
static inline void
weir_history_added(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

/*
 * Copies the entries from number `from` on, oldest first, `kept` at most, of `bytes` each. Returns
 * how many they are; `*next`: the number after the last one. Where next - from is more than that,
 * older ones are forgotten.
 */
unsigned int weir_history_read(const void *entries, size_t bytes, const uint64_t *count,
			       unsigned int kept, uint64_t from, void *copies, uint64_t *next);

#endif
