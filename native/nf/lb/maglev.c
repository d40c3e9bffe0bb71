/* SPDX-License-Identifier: Apache-2.0 */
#include "maglev.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY UINT16_MAX

bool
maglev_is_prime(uint64_t number)
{
	for (uint64_t i = 2; i * i <= number; i++) {
		if (number % i == 0)
			return false;
	}
	return number >= 2;
}

/* A back-end's permutation of the table: its next choice, and the step to the one behind. */
struct permutation {
	uint32_t at;
	uint32_t step;
};

bool
maglev_fill(uint16_t *table, uint32_t size, const struct maglev_entry *entries, unsigned int count)
{
	struct permutation *permutations = calloc(count, sizeof(*permutations));
	uint32_t filled = 0;

	if (permutations == NULL)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		permutations[i].at = weir_mix(entries[i].name ^ MAGLEV_OFFSET_SEED) % size;
		permutations[i].step =
			weir_mix(entries[i].name ^ MAGLEV_SKIP_SEED) % (size - 1) + 1;
	}
	memset(table, 0xff, size * sizeof(*table));
	/* They take turns; each takes the first free place of its permutation. */
	for (unsigned int i = 0; filled < size; i = (i + 1) % count) {
		struct permutation *permutation = &permutations[i];

		while (table[permutation->at] != EMPTY)
			permutation->at = (permutation->at + permutation->step) % size;
		table[permutation->at] = entries[i].number;
		filled++;
	}
	free(permutations);
	return true;
}
