/* SPDX-License-Identifier: Apache-2.0 */
/* Model: the history of a core's gaps and pieces of work, one writer and one reader at once. */
#include "checker.h"
#include <stddef.h>
#include <stdint.h>

/* By words: the checker knows no memmove() of a size that varies. */
static void
move_words(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

#include <string.h>
#define memmove move_words
#include "engine/history.c"

#define KEPT 2
#define WORDS 2
#define ENTRIES 3 /* the third one over the first */

static uint64_t entries[KEPT * WORDS], count;

static void *
write_entries(void *unused)
{
	for (uint64_t number = 0; number < ENTRIES; number++) {
		uint64_t entry[WORDS] = {number + 1, number + 1};

		weir_history_add(entries, entry, WORDS, KEPT, &count);
	}
	return unused;
}

int
main(void)
{
	uint64_t copies[KEPT * WORDS] = {0}, next;
	unsigned int found;
	long writer;

	writer = model_thread(write_entries);
	found = weir_history_read(entries, WORDS, &count, KEPT, 0, copies, &next);
	for (unsigned int i = 0; i < found; i++) {
		model_assert(copies[i * WORDS] == next - found + i + 1);
		model_assert(copies[i * WORDS + 1] == copies[i * WORDS]);
	}
	model_join(writer);
	return 0;
}
