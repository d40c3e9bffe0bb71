/* SPDX-License-Identifier: Apache-2.0 */
#include "growing.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

bool
weir_growing_add(struct weir_growing *growing, uint32_t count, uint32_t *first)
{
	if (growing->count + count > growing->room) {
		uint32_t room = RTE_MAX(growing->room * 2, growing->count + count);
		void *items = realloc(growing->items, room * growing->item_bytes);

		if (items == NULL)
			return false;
		growing->items = items;
		growing->room = room;
	}
	*first = growing->count;
	memset((uint8_t *)growing->items + *first * growing->item_bytes, 0,
	       count * growing->item_bytes);
	growing->count += count;
	return true;
}
