/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane.h"

#include <string.h>

#include "port/open.h"
#include "traffic/connections/connections.h"
#include "traffic/traffic.h"

struct weir_dataplane weir_dataplane;
bool weir_memory_is_huge;

const struct weir_placed_area *
weir_area_named(const char *name)
{
	for (unsigned int i = 0; i < weir_dataplane.area_count; i++) {
		if (strcmp(weir_dataplane.areas[i].area->name, name) == 0)
			return &weir_dataplane.areas[i];
	}
	return NULL;
}

struct weir_chain *
weir_chain_named(const char *name)
{
	const struct weir_placed_area *placed = weir_area_named(name);

	return placed != NULL && placed->kind->runs_functions ? (struct weir_chain *)placed->area
							      : NULL;
}

struct weir_stage *
weir_chain_stage_named(struct weir_chain *chain, const char *name)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			struct weir_stage *stage = &path->stages[j];
			const char *called = stage->name[0] != '\0' ? stage->name : stage->nf->name;

			if (!stage->shares_state && strcmp(called, name) == 0)
				return stage;
		}
	}
	return NULL;
}

int
weir_path_named(const char *area, const char *name, struct weir_chain **chain,
		struct weir_path **path, struct weir_error *error)
{
	*chain = weir_chain_named(area);
	if (*chain == NULL)
		return weir_fail(error, "bad_argument", "area", "the name of an area of functions",
				 NULL, "there is no area '%s'", area);
	for (unsigned int i = 0; i < (*chain)->path_count; i++) {
		*path = &(*chain)->paths[i];
		if (strcmp((*path)->name, name) == 0)
			return 0;
	}
	return weir_fail(error, "bad_argument", "path", "the name of a path of that area", NULL,
			 "area '%s' has no path '%s'", area, name);
}

struct rte_ring *
weir_ring_find(const char *name)
{
	for (unsigned int i = 0; i < weir_dataplane.ring_count; i++) {
		if (strcmp(weir_dataplane.rings[i]->name, name) == 0)
			return weir_dataplane.rings[i];
	}
	return NULL;
}

void
weir_dataplane_reset(void)
{
	struct weir_dataplane *plane = &weir_dataplane;

	weir_loops_stop();
	if (plane->before_areas_go != NULL)
		plane->before_areas_go();
	weir_streams_clear();
	weir_connections_clear();
	weir_areas_clear();
	while (plane->area_count > 0) {
		const struct weir_placed_area *placed = &plane->areas[--plane->area_count];

		placed->kind->destroy(placed->area);
	}
	while (plane->ring_count > 0)
		weir_packet_ring_free(plane->rings[--plane->ring_count]);
	weir_ports_close();
	plane->configured = false;
}
