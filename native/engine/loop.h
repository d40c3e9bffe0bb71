/* SPDX-License-Identifier: Apache-2.0 */
/* One polling loop a core: polls the areas placed on it in turn and watches for host stalls. */
#ifndef WEIR_ENGINE_LOOP_H
#define WEIR_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "cores.h"

struct weir_loop_options {
	bool ledger;				     /* count cycles and polls a poll */
	uint32_t stall_threshold_us[WEIR_CORES_MAX]; /* by core index */
};

/*
 * Runs `run` between two polls of the area, on its thread, and returns when it has been run; at
 * once while no loop polls the area. Control thread only.
 */
void weir_area_run(struct weir_area *area, void (*run)(void *argument), void *argument);

void weir_loops_start(const struct weir_loop_options *options);
/* Returns when every loop has ended. */
void weir_loops_stop(void);
bool weir_loops_running(void);
/* Starts the loops again as they were started last, after a stop to change what they read. */
void weir_loops_resume(void);

/* Returns when every loop has begun a new iteration: it then sees what was written before this
 * call, and has ended all that it began earlier. At once if the loops do not run. */
void weir_loops_pass(void);

#endif
