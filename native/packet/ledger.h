/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: what every area, path and stage counted. One writer (the core that runs the area),
 * any number of readers (the control thread): counters are plain 64-bit words written with relaxed
 * atomics, never reset while the loop runs; readers take differences of two snapshots.
 */
#ifndef WEIR_PACKET_LEDGER_H
#define WEIR_PACKET_LEDGER_H

#include <stdint.h>

#define WEIR_DROP_REASONS_MAX 20

/* One word of the ledger: a single writer, so load + store relaxed is exact and costs a plain add.
 */
static inline void
weir_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline uint64_t
weir_counted(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* A drop reason of a stage or of an area: symbol for machines, sentence for people. */
struct weir_drop_reason {
	const char *symbol;   /* "tx_queue_full" */
	const char *sentence; /* "The port took fewer packets than were ready." */
};

/* Packets and cycles of one stage on one path. packets_in + originated = packets_out + Σ drops +
 * held, exactly. */
struct weir_stage_ledger {
	uint64_t packets_in;
	uint64_t packets_out;
	uint64_t held;	     /* kept now, to go on later */
	uint64_t originated; /* made by the function: answers, questions, ICMP errors */
	uint64_t
		drops[WEIR_DROP_REASONS_MAX]; /* index: position in the stage's drop reason table */
	uint64_t cycles;		      /* time-stamp counter cycles inside the stage */
	uint64_t long_cycles; /* of these, batches that took as long as a stall, whatever caused it
			       */
};

/* Time of one area on its core. */
struct weir_area_ledger {
	uint64_t polls;
	uint64_t empty_polls;
	uint64_t busy_cycles; /* polls that handled at least one packet */
	uint64_t idle_cycles; /* empty polls */
	/* Polls with packets that took longer than the core's stall threshold, and not because the
	 * host had taken the core away. */
	uint64_t long_polls;
	uint64_t long_cycles;
};

#endif
