/* SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include <stdlib.h>

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

bool
weir_cells_link(uint8_t *memory, size_t count, size_t stride)
{
	uint32_t *order = malloc(count * sizeof(*order));
	uint64_t state = 88172645463325252ULL;

	if (order == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = next_random(&state) % i;
		uint32_t kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (size_t i = 0; i < count; i++)
		*(void **)(memory + order[i] * stride) = memory + order[(i + 1) % count] * stride;
	free(order);
	return true;
}

void *
weir_cells_follow(void *at, uint64_t loads)
{
	for (uint64_t i = 0; i < loads; i++) {
		at = *(void *volatile *)at;
	}
	return at;
}
