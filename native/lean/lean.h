/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lean measurement ([Lean], section II.D): batches of packets from memory through one path of
 * functions, as their area would run it, and what that costs. There is no port, no ring and no idle
 * time. Packets are copied into fresh buffers outside the measured region.
 *
 * The functions' clock is not the machine's: it advances by a fixed step a batch, so that the same
 * request does the same work each time.
 */
#ifndef WEIR_LEAN_LEAN_H
#define WEIR_LEAN_LEAN_H

#include "engine/chain.h"
#include "core_clock.h"
#include "frames.h"
#include "probe.h"
#include "steps.h"

/* Batches whose packets wait in memory at once, as in a receive ring of 256: what was copied is in
 * the second level of cache, not in the first, when its turn comes. */
#define WEIR_LEAN_AHEAD 8
#define WEIR_LEAN_BATCHES_MAX 65536 /* of one measurement */
#define WEIR_LEAN_STEP_US 10	    /* of the functions' clock, a batch: 3.2 Mpps */
/* Of first packets, spread over all of them: at most so many are measured, and no more are stepped
 * through when that took so many instructions. */
#define WEIR_LEAN_FIRST_BATCHES 8
#define WEIR_LEAN_FIRST_INSTRUCTIONS 300000

/* A stage's cycles and packets over the batches that nothing interrupted; packets and drops of all.
 */
struct weir_lean_stage {
	uint64_t cycles;
	double middle; /* cycles of a batch: mean of the middle half of all */
	uint64_t packets_in, packets_out;
	uint64_t drops[WEIR_DROP_REASONS_MAX];
};

/* Cycles of the time-stamp counter. */
struct weir_lean_timed {
	/* Cycles of the core for one of the counter, meanwhile; 0: not known. */
	double core_per_tsc;
	bool by_hardware; /* by a counter of the core, else by weir_core_clock */
	uint64_t batches, packets, forwarded;
	uint64_t interrupted; /* batches: left out of all cycles */
	uint64_t cycled;      /* packets of the others */
	uint64_t cycles;
	double middle; /* cycles of a batch: mean of the middle half, which few disturbed ones
			  hardly move */
	struct weir_lean_stage stages[WEIR_STAGES_MAX];
	/* With a fast path stages are what the slow path costs, and `cycles` all that is in no
	 * stage: look-ups, what entries did, and remembering what the slow path decided. */
	struct weir_fastpath_ledger fastpath;
	double fastpath_middle; /* the same of a batch, as above */
};

/* Instructions of the path and of each stage. */
struct weir_lean_stepped {
	uint64_t batches, packets;
	struct weir_steps steps;
};

/* What a probe counted around one thing: nothing at all, the whole path, or one stage. */
struct weir_lean_counted {
	char label[64];
	uint64_t batches, packets;
	uint64_t sums[WEIR_PROBE_EVENTS_MAX];
};
#define WEIR_LEAN_TARGETS_MAX (WEIR_STAGES_MAX + 2)

struct weir_lean {
	struct weir_chain *chain;
	struct weir_path *path;
	const struct weir_frames *frames;
	struct rte_mempool *pool;
	uint32_t next_frame;
	uint32_t *first; /* frames that begin a flow, which come before all others */
	uint32_t first_count, next_first;
	uint64_t now_tsc;
	uint64_t batch_number;
	uint64_t threshold_cycles; /* a batch that took longer was interrupted */
	double core_per_tsc;	   /* of the last measurement that knew it */
	double reading_cycles;	   /* what reading the counter takes */
	struct weir_probe *probe;  /* of the thread that measures; NULL: none */
	uint32_t *cycles;	   /* of each batch: the path's, each stage's, the rest */
	struct rte_mbuf *ahead[WEIR_LEAN_AHEAD][WEIR_BURST];
};

/* Readies the packets. -1 with `error`: no memory. Pool: at least 512 buffers. */
int weir_lean_open(struct weir_lean *lean, struct weir_chain *chain, struct weir_path *path,
		   const struct weir_frames *frames, struct rte_mempool *pool,
		   struct weir_error *error);
void weir_lean_close(struct weir_lean *lean);

/*
 * Right after opening, on the thread that measures, as all that follows: the first packet of each
 * flow, in batches, of which `wanted` are timed. Their number; 0: there are fewer flows than a
 * batch has packets. Or some of the same are stepped through, one at least; again their number.
 */
unsigned int weir_lean_first(struct weir_lean *lean, unsigned int wanted,
			     struct weir_lean_timed *timed);
unsigned int weir_lean_step_first(struct weir_lean *lean, struct weir_lean_stepped *stepped);
/* All frames, 32 times, and at least 2048 batches: sessions are there, what inspects a flow's first
 * packets has come to its verdict, caches are warm, and what an undisturbed batch takes is known.
 */
void weir_lean_warm_up(struct weir_lean *lean);
/* `batches`: WEIR_LEAN_BATCHES_MAX at most. */
void weir_lean_time(struct weir_lean *lean, uint64_t batches, struct weir_lean_timed *timed);
/* Steps through `batches` batches, spread over all frames. */
void weir_lean_step(struct weir_lean *lean, uint64_t batches, struct weir_lean_stepped *stepped);
/* The targets in turn, `batches` each: empty, the path, and, without a fast path, each stage.
 * Returns their number. */
unsigned int weir_lean_count(struct weir_lean *lean, struct weir_probe *probe, uint64_t batches,
			     struct weir_lean_counted *counted);

#endif
