/* SPDX-License-Identifier: Apache-2.0 */
/* The polled cores: which they are, the areas placed on each, and what its loop noted. */
#ifndef WEIR_ENGINE_CORES_H
#define WEIR_ENGINE_CORES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "area.h"
#include "error.h"
#include "core_speed.h"
#include "history.h"
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

/* Iterations of the loop of core `index` since the first start. */
uint64_t weir_core_loops(unsigned int index);
/* Of core `index` since the process started. A reader may find one piece without its cycles. */
struct weir_core_speed weir_core_speed_of(unsigned int index);
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

/* --- for the polling loop ------------------------------------------------------------------------
 */

struct weir_core {
	unsigned int cpu;
	unsigned int lcore;
	unsigned int area_count;
	struct weir_area *areas[WEIR_AREAS_PER_CORE_MAX];
	bool ledger;
	uint64_t stall_cycles;
	uint64_t time_cycles;	    /* until both clocks are read again */
	struct weir_core_time time; /* the loop's own */
	uint64_t piece_cycles;	    /* until the next piece of work is timed */
	uint64_t piece_tsc;	    /* when one was */
	/* The gap that ends now: the long polls in it that were looked at, both clocks before the
	 * first of them, and what the host took. */
	uint64_t attributed_cycles;
	struct weir_core_time time_before;
	uint64_t host_cycles;
	const char *blamed; /* the area whose poll it was */
	/* Written by the loop, read by the control thread, which clears `has_ended` before it
	 * begins.
	 */
	uint64_t loops;
	bool has_ended;
	struct weir_core_speed speed;
	struct weir_stalls stalls;
	uint64_t gap_count, piece_count;
	/* Of struct weir_gap and struct weir_piece: see history.h. */
	uint64_t gaps[WEIR_GAPS_KEPT][WEIR_HISTORY_WORDS(struct weir_gap)];
	uint64_t pieces[WEIR_PIECES_KEPT][WEIR_HISTORY_WORDS(struct weir_piece)];
} __rte_cache_aligned;

extern struct weir_core weir_cores[WEIR_CORES_MAX];
extern unsigned int weir_cores_used;
extern bool weir_cores_polled; /* the loops run */

#endif
