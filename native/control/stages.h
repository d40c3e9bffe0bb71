/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves `area` and `stage` of a request to stages: one, or one per worker behind a dispatcher.
 */
#ifndef WEIR_CONTROL_STAGES_H
#define WEIR_CONTROL_STAGES_H

#include "engine/chain.h"

#define WEIR_WORKERS_MAX WEIR_OUTPUTS_MAX

/* One state of the function. */
struct weir_named_stage {
	struct weir_chain *chain;
	struct weir_stage *stage; /* the one that owns the state */
};

/*
 * The stages that `area` and `stage` name: one where `area` runs functions, one of
 * each worker where it is a dispatcher. Gives how many, WEIR_WORKERS_MAX at most, or -1 with
 * `error`.
 */
int weir_stages_named(const char *area, const char *stage, struct weir_named_stage *stages,
		      struct weir_error *error);

/*
 * Runs the command on all these states of a function, each between two batches of its own, or on
 * none: -1 with `error`.
 */
int weir_stages_change(const struct weir_named_stage *stages, unsigned int count,
		       const struct weir_command *command, const void *arguments,
		       struct weir_error *error);

#endif
