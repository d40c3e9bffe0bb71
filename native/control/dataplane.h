/* SPDX-License-Identifier: Apache-2.0 */
/* What `configure` built: the areas and rings of this process. Control thread only. */
#ifndef WEIR_CONTROL_DATAPLANE_H
#define WEIR_CONTROL_DATAPLANE_H

#include <jansson.h>
#include <rte_ring.h>

#include "engine/chain.h"
#include "engine/loop.h"

#define WEIR_AREAS_MAX 256
#define WEIR_RINGS_MAX 1024

enum weir_area_kind {
	WEIR_AREA_CHAIN, /* weir_chain, as WEIR_AREA_OWNER */
	WEIR_AREA_OWNER,
	WEIR_AREA_DISPATCHER, /* weir_hops, as the next two */
	WEIR_AREA_APPLIER,
	WEIR_AREA_COLLECTOR,
	WEIR_AREA_GENERATOR,
	WEIR_AREA_RECEIVER,
	WEIR_AREA_KINDS,
};

static inline bool
weir_area_runs_functions(enum weir_area_kind kind)
{
	return kind == WEIR_AREA_CHAIN || kind == WEIR_AREA_OWNER;
}

static inline bool
weir_area_has_hops(enum weir_area_kind kind)
{
	return kind == WEIR_AREA_DISPATCHER || kind == WEIR_AREA_APPLIER ||
	       kind == WEIR_AREA_COLLECTOR;
}

struct weir_placed_area {
	enum weir_area_kind kind;
	struct weir_area *area;
};

struct weir_dataplane {
	bool configured;
	struct weir_loop_options loop;
	unsigned int area_count;
	struct weir_placed_area areas[WEIR_AREAS_MAX];
	unsigned int ring_count;
	struct rte_ring *rings[WEIR_RINGS_MAX];
};

extern struct weir_dataplane weir_dataplane;
extern bool weir_quit_asked;
extern bool weir_memory_is_huge;

const char *weir_area_kind_name(enum weir_area_kind kind);

/* Makes the area that `object` describes and places it. */
int weir_area_from_json(const json_t *object, const char *where, struct weir_error *error);
/* Once all areas are made: joins the one that `object` describes with those that it names. */
int weir_area_connect(const json_t *object, const char *where, struct weir_error *error);
void weir_area_destroy(const struct weir_placed_area *placed);
/* The area of that name, or NULL. */
const struct weir_placed_area *weir_area_named(const char *name);
/* The area of functions of that name, or NULL. */
struct weir_chain *weir_chain_named(const char *name);
/* Its stage of that name, or of that function where it has none; NULL: there is none. */
struct weir_stage *weir_chain_stage_named(struct weir_chain *chain, const char *name);
struct rte_ring *weir_ring_find(const char *name);

/* Stops the loops and frees everything that configure made. */
void weir_dataplane_reset(void);

/* The description printed by --describe and answered to `describe`: a new reference. */
json_t *weir_describe(void);
json_t *weir_ledger(void);

#endif
