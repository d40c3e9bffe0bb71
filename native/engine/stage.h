/* SPDX-License-Identifier: Apache-2.0 */
/* One network function at its place in a chain: runs it on a batch and counts. */
#ifndef WEIR_ENGINE_STAGE_H
#define WEIR_ENGINE_STAGE_H

#include "nf.h"

struct weir_stage {
	const struct weir_nf *nf;
	void *state;
	char name[32];	   /* as the lab calls it; empty: as its function is called */
	bool shares_state; /* another stage owns it: the other direction of the same function */
	struct weir_stage_ledger ledger;
};

/* A packet with its egress and headers, within a batch or into another one. */
static inline void
weir_batch_move(struct weir_batch *into, uint16_t to, const struct weir_batch *from, uint16_t at)
{
	into->packet[to] = from->packet[at];
	into->egress[to] = from->egress[at];
	into->headers[to] = from->headers[at];
}

/* A stage's batch that takes longer is long: the least of the cores' stall thresholds. Written
 * while no loop runs. */
extern uint64_t weir_long_batch_cycles;

/* A stage's batch took so long. */
static inline void
weir_stage_count_cycles(struct weir_stage_ledger *ledger, uint64_t cycles)
{
	weir_count(&ledger->cycles, cycles);
	if (__builtin_expect(cycles > weir_long_batch_cycles, 0))
		weir_count(&ledger->long_cycles, cycles);
}

/* Reads the headers of the batch if they are not known. */
void weir_batch_parse(struct weir_batch *batch);

/*
 * Runs the function on the batch: decides, applies, drops and compacts. Counts drops; packets in
 * and out and cycles are the caller's to count.
 */
void weir_stage_run(struct weir_stage *stage, struct weir_batch *batch);

/* Decides only: actions[i] for packet[i]. The function must be one that decides. */
void weir_stage_decide(struct weir_stage *stage, struct weir_batch *batch,
		       struct weir_action *actions);

/* Rewrites packet `index` and its headers; or, where the batch says so, leaves the rewriting to be
 * done behind its stages, and looks ahead in the headers. */
void weir_batch_rewrite(struct weir_batch *batch, uint16_t index, const struct weir_action *action);

/* Ends the way of packet `index`, which weir_stage_apply() refused for `drop_reason`: gives it to
 * the function where that takes it; else counts and frees it. */
void weir_stage_end(struct weir_stage *stage, struct weir_batch *batch, uint16_t index,
		    const struct weir_action *action, uint8_t drop_reason);

/*
 * Does what was decided on packet `index`: its counter, its effect, its rewrites. False: it is to
 * be dropped, for the reason whose index is `*drop_reason`; nothing was rewritten then.
 */
bool weir_stage_apply(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
		      uint8_t *drop_reason);

#endif
