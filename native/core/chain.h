/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area that runs network functions: paths, each an input queue, stages in order, and output
 * queues. For each path: rx_packets = Σ drops of its stages + tx_packets + tx_queue_full +
 * no_output, exactly.
 */
#ifndef WEIR_CORE_CHAIN_H
#define WEIR_CORE_CHAIN_H

#include "area.h"
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
	bool has_ticks; /* a function of it wants to be called now and then */
	uint64_t next_tick_tsc;
};

/* Notes which functions want ticks; after all paths have their stages. */
void weir_chain_complete(struct weir_chain *chain);

/* Calls the functions that want it, with that time. */
void weir_chain_tick(struct weir_chain *chain, uint64_t now_tsc);

/* A chain without paths, polled with or without cycle counts of its stages. NULL: no memory. */
struct weir_chain *weir_chain_create(const char *name, unsigned int core, bool ledger);
/* Destroys the states of its stages too. */
void weir_chain_destroy(struct weir_chain *chain);

#endif
