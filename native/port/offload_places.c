/* SPDX-License-Identifier: Apache-2.0 */
#include "offload_places.h"

#include <stdlib.h>
#include <string.h>

bool
weir_offload_places_make(struct weir_offload_places *places, uint32_t count)
{
	places->free = calloc(count, sizeof(*places->free));
	for (uint32_t i = 0; places->free != NULL && i < count; i++)
		places->free[i] = count - 1 - i;
	places->free_count = count;
	return places->free != NULL;
}

void
weir_offload_places_free(struct weir_offload_places *places)
{
	free(places->free);
}

bool
weir_offload_places_find(const struct weir_offload_places *places,
			 const struct weir_flow_entry *entry, unsigned int output_count,
			 unsigned int *output, uint32_t *index, enum weir_offload_refusal *refusal)
{
	uint16_t vlan;

	*output = entry->egress == WEIR_FLOW_NO_EGRESS ? 0 : entry->egress;
	memcpy(&vlan, &entry->key.zero[1], sizeof(vlan));
	if (*output >= output_count)
		*refusal = WEIR_OFFLOAD_OUTPUT;
	else if (vlan != 0)
		*refusal = WEIR_OFFLOAD_TAGGED;
	else if (places->free_count == 0)
		*refusal = WEIR_OFFLOAD_FULL;
	else {
		*index = places->free[places->free_count - 1];
		return true;
	}
	return false;
}

void
weir_offload_places_take(struct weir_offload_places *places)
{
	places->free_count--;
}

void
weir_offload_places_give(struct weir_offload_places *places, uint32_t index)
{
	places->free[places->free_count++] = index;
}
