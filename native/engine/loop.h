/* SPDX-License-Identifier: Apache-2.0 */
/* One polling loop a core: polls the areas placed on it in turn and watches for host stalls. */
#ifndef WEIR_ENGINE_LOOP_H
#define WEIR_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "area.h"
#include "error.h"
#include "pace.h"
#include "stall.h"

#define WEIR_CORES_MAX 64
#define WEIR_AREAS_PER_CORE_MAX 256

/* The CPUs given with --cores, in that order; set once at start. Each has a DPDK lcore of its own.
 */
int weir_cores_set(const unsigned int *cpus, const unsigned int *lcores, unsigned int count);
unsigned int weir_core_count(void);
unsigned int weir_core_number(unsigned int index);
unsigned int weir_core_lcore(unsigned int index);
bool weir_core_known(unsigned int cpu);

/* Places `area` on its core. Fails while the loops run, for an unknown core, or when the core is
 * full. */
int weir_area_add(struct weir_area *area, struct weir_error *error);
/* Takes all areas off all cores; the caller owns and frees them. Only while the loops are stopped.
 */
void weir_areas_clear(void);

struct weir_loop_options {
	bool ledger;				     /* count cycles and polls a poll */
	uint32_t stall_threshold_us[WEIR_CORES_MAX]; /* by core index */
};

/*
 * Runs `run` between two polls of the area, on its thread, and returns when it has been run; at
 * once while the loops are stopped. Control thread only.
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

/* Iterations of the loop of core `index` since the first start. */
uint64_t weir_core_loops(unsigned int index);
/* Of core `index` since the process started. A reader may find one piece without its cycles. */
struct weir_pace weir_core_pace(unsigned int index);
struct weir_stalls weir_core_stalls(unsigned int index);
/* Starts a new window for `longest_cycles`. */
void weir_core_stalls_begin(unsigned int index);
/*
 * The gaps of core `index` from number `from` on, oldest first, WEIR_GAPS_KEPT at most. Returns how
 * many they are; `*next`: the number after the last one. Where next - from is more than that, older
 * ones are forgotten.
 */
unsigned int weir_core_gaps(unsigned int index, uint64_t from, struct weir_gap *gaps,
			    uint64_t *next);
/* Likewise the pieces of work that it timed, WEIR_PIECES_KEPT at most. */
unsigned int weir_core_pieces(unsigned int index, uint64_t from, struct weir_piece *pieces,
			      uint64_t *next);

#endif
