/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area that runs network functions: paths, each an input queue, stages in order, and output
 * queues. For each path: rx_packets + Σ originated by its stages = Σ drops of its stages + held
 * by them + tx_packets + tx_queue_full + no_output, exactly.
 *
 * A state core (architecture `separated`, kind `state_core`) is such an area that only decides: it
 * hands over what is to be rewritten, and sends the packets of each path to its outputs
 * round-robin.
 */
#ifndef WEIR_ENGINE_CHAIN_H
#define WEIR_ENGINE_CHAIN_H

#include "area.h"
#include "fastpath.h"
#include "outputs.h"
#include "stage.h"

#define WEIR_STAGES_MAX 16
#define WEIR_PATHS_MAX 8

struct weir_path {
	char name[64];
	enum weir_direction direction;
	struct weir_queue in;
	/* Where a packet goes is its batch's `egress`; 0 unless a function decides otherwise. */
	struct weir_outputs out;
	unsigned int stage_count;
	struct weir_stage stages[WEIR_STAGES_MAX];
	bool releases;		     /* a stage keeps packets for later, or makes some */
	struct weir_stage *listener; /* takes what is for itself as it comes; NULL: none */
	struct weir_fastpath fastpath;
	uint64_t rx_packets;
};

struct weir_chain {
	struct weir_area area; /* first */
	char name[64];
	unsigned int path_count;
	struct weir_path paths[WEIR_PATHS_MAX];
	bool hands_over;	       /* a state core */
	struct weir_flow_cache *flows; /* of all paths; NULL: no fast path */
	bool has_ticks;		       /* a function of it wants to be called now and then */
	uint64_t next_tick_tsc;
};

/*
 * After all paths have their stages: notes which functions want ticks and which keep packets, and
 * makes the fast path with room for `flows` flows; 0: none. -1 with `error`: no memory, a function
 * in the fast path that does not decide, or one that keeps packets of two paths in one direction.
 */
int weir_chain_complete(struct weir_chain *chain, uint32_t flows, struct weir_error *error);

/* Runs a batch through the path's functions, as its area does: with the fast path, if it has one.
 */
void weir_path_run(struct weir_path *path, struct weir_batch *batch);

/* Calls the functions that want it, with that time. */
void weir_chain_tick(struct weir_chain *chain, uint64_t now_tsc);

/* A chain without paths, polled with or without cycle counts of its stages. NULL: no memory. A
 * state core's functions must be such that decide. */
struct weir_chain *weir_chain_create(const char *name, unsigned int core, bool ledger);
struct weir_chain *weir_state_core_create(const char *name, unsigned int core, bool ledger);
/* Destroys the states of its stages too. */
void weir_chain_destroy(struct weir_chain *chain);

#endif
