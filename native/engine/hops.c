/* SPDX-License-Identifier: Apache-2.0 */
#include "hops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weir_hops *
weir_hops_create(size_t size, const char *name, unsigned int core, weir_area_poll_fn poll,
		 const struct weir_hop *hops, unsigned int count)
{
	size_t rounded = RTE_CACHE_LINE_ROUNDUP(size);
	struct weir_hops *made = aligned_alloc(RTE_CACHE_LINE_SIZE, rounded);

	if (made == NULL)
		return NULL;
	memset(made, 0, rounded);
	snprintf(made->name, sizeof(made->name), "%s", name);
	made->area.name = made->name;
	made->area.core = core;
	made->area.poll = poll;
	made->hops = calloc(count, sizeof(*hops));
	if (made->hops == NULL) {
		free(made);
		return NULL;
	}
	memcpy(made->hops, hops, count * sizeof(*hops));
	made->count = count;
	return made;
}

void
weir_hops_destroy(struct weir_hops *hops)
{
	if (hops->free_own != NULL)
		hops->free_own(hops);
	free(hops->hops);
	free(hops);
}
