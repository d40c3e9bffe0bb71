/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of packets from memory, one after the other. */
#ifndef WEIR_LEAN_BATCHES_H
#define WEIR_LEAN_BATCHES_H

#include "lean.h"

/* The next batch, as an area makes it of what it received. Returns where its packets were. */
struct rte_mbuf **weir_lean_batch_begin(struct weir_lean *lean, struct weir_batch *batch);
/* Behind the functions: takes the packets back, and goes on with the clock. */
void weir_lean_batch_end(struct weir_lean *lean, struct weir_batch *batch,
			 struct rte_mbuf **packets);

/* Runs a batch that is not timed; steps through it, unless `stepped` is NULL. */
void weir_lean_pass(struct weir_lean *lean, struct weir_lean_stepped *stepped);

#endif
