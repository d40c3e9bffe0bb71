/* SPDX-License-Identifier: Apache-2.0 */
/* What `configure` built. Areas and rings are owned here, ports by port/, runs and streams by
 * traffic/. Control thread only. */
#ifndef WEIR_CONTROL_DATAPLANE_H
#define WEIR_CONTROL_DATAPLANE_H

#include <jansson.h>
#include <rte_ring.h>

#include "engine/chain.h"
#include "engine/loop.h"

#define WEIR_AREAS_MAX 256
#define WEIR_RINGS_MAX 1024

/* A kind of area: what control does with one. Each kind's rows are in a file of their own, listed
 * in areas.c. */
struct weir_area_kind {
	const char *name;
	/* The area that `object` describes; NULL with `error`, and nothing left behind. */
	struct weir_area *(*create)(const json_t *object, const char *where,
				    struct weir_error *error);
	void (*destroy)(struct weir_area *area);
	/* Once all areas are there: joins it with those that `object` names. NULL: it names none.
	 */
	int (*connect)(struct weir_area *area, const json_t *object, const char *where,
		       struct weir_error *error);
	/* Its paths as the ledger shows them, new references; NULL: it has none. */
	void (*add_paths)(const struct weir_area *area, json_t *list);
	bool runs_functions; /* the area is a struct weir_chain */
	bool dispatches;     /* it is a struct weir_hops, with areas of functions behind it */
};

struct weir_placed_area {
	const struct weir_area_kind *kind;
	struct weir_area *area;
};

struct weir_dataplane {
	bool configured;
	struct weir_loop_options loop;
	unsigned int area_count;
	struct weir_placed_area areas[WEIR_AREAS_MAX]; /* owned */
	unsigned int ring_count;
	struct rte_ring *rings[WEIR_RINGS_MAX]; /* owned */
	/* Lets go of areas, whose loops have ended; NULL: nobody else holds one. */
	void (*before_areas_go)(void);
};

extern struct weir_dataplane weir_dataplane;
extern bool weir_memory_is_huge;

/* The area of that name, or NULL. */
const struct weir_placed_area *weir_area_named(const char *name);
/* The area of functions of that name, or NULL. */
struct weir_chain *weir_chain_named(const char *name);
/* Its stage of that name, or of that function where it has none; NULL: there is none. */
struct weir_stage *weir_chain_stage_named(struct weir_chain *chain, const char *name);
/* The path `name` of the area of functions `area`; -1 with `error`: there is none. */
int weir_path_named(const char *area, const char *name, struct weir_chain **chain,
		    struct weir_path **path, struct weir_error *error);
struct rte_ring *weir_ring_find(const char *name);

/* Stops the loops, forgets streams and runs, closes the ports and frees what configure made. */
void weir_dataplane_reset(void);

#endif
