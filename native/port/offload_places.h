/* SPDX-License-Identifier: Apache-2.0 */
/* Places of entries below the data plane, whatever they live in: which are free, and which entries
 * may have one. */
#ifndef WEIR_PORT_OFFLOAD_PLACES_H
#define WEIR_PORT_OFFLOAD_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/flow_entry.h"

struct weir_offload_places {
	uint32_t free_count;
	uint32_t *free; /* their indices; the next one last */
};

/* With that many, all free. False: no memory. */
bool weir_offload_places_make(struct weir_offload_places *places, uint32_t count);
void weir_offload_places_free(struct weir_offload_places *places);

/* The output that the entry's packets leave by, and a free place for it, which stays free until it
 * is taken. False with `*refusal`: none of the path's `output_count` is that, its frames are
 * tagged, or no place is free. */
bool weir_offload_places_find(const struct weir_offload_places *places,
			      const struct weir_flow_entry *entry, unsigned int output_count,
			      unsigned int *output, uint32_t *index,
			      enum weir_offload_refusal *refusal);
/* The one that was found. */
void weir_offload_places_take(struct weir_offload_places *places);
void weir_offload_places_give(struct weir_offload_places *places, uint32_t index);

#endif
