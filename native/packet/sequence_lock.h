/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence lock: one thread writes a few words that belong together, others read them meanwhile
 * and know when what they read is of two writings. The writer never waits and pays two stores; on
 * x86-64 its fence is no instruction.
 *
 * The sequence number is odd while the words change. The words are 64 bits each, written and read
 * with relaxed atomics, as a reader may meet them half written; the fences order them against the
 * number (C17, section 7.17.4; Boehm, 2012).
 */
#ifndef WEIR_PACKET_SEQUENCE_LOCK_H
#define WEIR_PACKET_SEQUENCE_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies `count` words into shared memory. */
static inline void
weir_words_put(uint64_t *shared, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
		__atomic_store_n(&shared[i], word, __ATOMIC_RELAXED);
	}
}

/* Copies `count` words out of shared memory. */
static inline void
weir_words_get(void *to, const uint64_t *shared, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word = __atomic_load_n(&shared[i], __ATOMIC_RELAXED);

		memcpy((char *)to + i * sizeof(word), &word, sizeof(word));
	}
}

/* Of the writer, before the words change. */
static inline void
weir_sequence_open(uint32_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELAXED);
	/* The odd number before the first word: whoever reads a new word also reads that number,
	 * or a later one. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Of the writer, once they have changed. */
static inline void
weir_sequence_close(uint32_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
}

/* Of a reader, before it reads the words. */
static inline uint32_t
weir_sequence_begin(const uint32_t *sequence)
{
	return __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
}

/* Of a reader that has read the words: whether they are of one writing. */
static inline bool
weir_sequence_holds(const uint32_t *sequence, uint32_t begun)
{
	/* The words before the number that is compared. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (begun & 1) == 0 && __atomic_load_n(sequence, __ATOMIC_RELAXED) == begun;
}

#endif
