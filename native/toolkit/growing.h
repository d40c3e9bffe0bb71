/* SPDX-License-Identifier: Apache-2.0 */
/* An array that grows while something is built. */
#ifndef WEIR_TOOLKIT_GROWING_H
#define WEIR_TOOLKIT_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_growing {
	void *items;
	size_t item_bytes;
	uint32_t count, room;
};

/* Room for `count` more items, cleared; *first: the index of the first. False: no memory. */
bool weir_growing_add(struct weir_growing *growing, uint32_t count, uint32_t *first);

#endif
