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

/*
 * Does what was decided on packet `index`: its counter, its effect, its rewrites. False: it is to
 * be dropped, for the reason whose index is `*drop_reason`; nothing was rewritten then.
 */
bool weir_stage_apply(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
		      uint8_t *drop_reason);

#endif
