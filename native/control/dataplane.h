/* SPDX-License-Identifier: Apache-2.0 */
/* What `configure` built: the areas and rings of this process. Control thread only. */
#ifndef WEIR_CONTROL_DATAPLANE_H
#define WEIR_CONTROL_DATAPLANE_H

#include <jansson.h>
#include <rte_ring.h>

#include "core/chain.h"
#include "core/loop.h"

#define WEIR_AREAS_MAX 256
#define WEIR_RINGS_MAX 128

enum weir_area_kind { WEIR_AREA_CHAIN, WEIR_AREA_GENERATOR, WEIR_AREA_RECEIVER };

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
/* The area of functions of that name, or NULL. */
struct weir_chain *weir_chain_named(const char *name);
struct rte_ring *weir_ring_find(const char *name);

/* Stops the loops and frees everything that configure made. */
void weir_dataplane_reset(void);

/* The description printed by --describe and answered to `describe`: a new reference. */
json_t *weir_describe(void);
json_t *weir_ledger(void);

#endif
