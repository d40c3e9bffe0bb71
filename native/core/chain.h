/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area that runs network functions: paths, each an input queue, stages in order, and an output
 * queue. A queue is a port or a ring. For each path: rx_packets = Σ drops of its stages +
 * tx_packets + tx_queue_full, exactly.
 */
#ifndef WEIR_CORE_CHAIN_H
#define WEIR_CORE_CHAIN_H

#include "area.h"
#include "nf.h"
#include "queue.h"

#define WEIR_STAGES_MAX 16
#define WEIR_PATHS_MAX 8

struct weir_stage {
	const struct weir_nf *nf;
	void *state;
	struct weir_stage_ledger ledger;
};

struct weir_path {
	char name[64];
	struct weir_queue in;
	struct weir_queue out;
	unsigned int stage_count;
	struct weir_stage stages[WEIR_STAGES_MAX];
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t tx_queue_full;
};

struct weir_chain {
	struct weir_area area; /* first */
	char name[64];
	unsigned int path_count;
	struct weir_path paths[WEIR_PATHS_MAX];
};

/* A chain without paths, polled with or without cycle counts of its stages. NULL: no memory. */
struct weir_chain *weir_chain_create(const char *name, unsigned int core, bool ledger);
/* Destroys the states of its stages too. */
void weir_chain_destroy(struct weir_chain *chain);

#endif
