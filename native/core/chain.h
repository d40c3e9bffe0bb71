/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area that runs network functions: paths, each an input queue, stages in order, and output
 * queues. For each path: rx_packets = Σ drops of its stages + tx_packets + tx_queue_full +
 * no_output, exactly.
 */
#ifndef WEIR_CORE_CHAIN_H
#define WEIR_CORE_CHAIN_H

#include "area.h"
#include "fastpath.h"
#include "queue.h"
#include "stage.h"

#define WEIR_STAGES_MAX 16
#define WEIR_PATHS_MAX 8
#define WEIR_OUTPUTS_MAX 16

struct weir_path {
	char name[64];
	enum weir_direction direction;
	struct weir_queue in;
	/* Where a packet goes is its batch's `egress`; 0 unless a function decides otherwise. */
	unsigned int output_count;
	struct weir_queue outputs[WEIR_OUTPUTS_MAX];
	unsigned int stage_count;
	struct weir_stage stages[WEIR_STAGES_MAX];
	struct weir_fastpath fastpath;
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t tx_queue_full;
	uint64_t no_output; /* sent to an output that the path does not have */
};

struct weir_chain {
	struct weir_area area; /* first */
	char name[64];
	unsigned int path_count;
	struct weir_path paths[WEIR_PATHS_MAX];
	struct weir_flow_cache *flows; /* of all paths; NULL: no fast path */
	bool has_ticks;		       /* a function of it wants to be called now and then */
	uint64_t next_tick_tsc;
};

/*
 * After all paths have their stages: notes which functions want ticks, and makes the fast path with
 * room for `flows` flows; 0: none. -1 with `error`: no memory, or a function that does not decide.
 */
int weir_chain_complete(struct weir_chain *chain, uint32_t flows, struct weir_error *error);

/* Runs a batch through the path's functions, as its area does: with the fast path, if it has one.
 */
void weir_path_run(struct weir_path *path, struct weir_batch *batch);

/* Calls the functions that want it, with that time. */
void weir_chain_tick(struct weir_chain *chain, uint64_t now_tsc);

/* A chain without paths, polled with or without cycle counts of its stages. NULL: no memory. */
struct weir_chain *weir_chain_create(const char *name, unsigned int core, bool ledger);
/* Destroys the states of its stages too. */
void weir_chain_destroy(struct weir_chain *chain);

#endif
