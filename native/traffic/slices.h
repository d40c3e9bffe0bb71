/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of a stream by when they were due, in slices of the run's time: losses of the system
 * can then be separated from those while a core was taken away.
 *
 * A packet's *key* says when it was due. At a constant rate it is the sequence number, so that sent
 * packets need not be counted; else the stamp's time, in cycles from the run's start. Packet n,
 * from 0, is due when n + 1 of them are (pacing.h): one that is due with a slice's end belongs to
 * that slice, so that what a sender skips since its core was away is never in a slice before that.
 */
#ifndef WEIR_TRAFFIC_SLICES_H
#define WEIR_TRAFFIC_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "traffic.h"

struct weir_slice {
	uint64_t packets;
	uint64_t keys;	   /* their sum, each less the slice's first */
	uint64_t stamps;   /* what the stamps say, in cycles from the run's start */
	uint64_t arrivals; /* likewise */
};

/* One thread writes. */
struct weir_slices {
	unsigned int count; /* 0: not wanted, all is one slice */
	double width;	    /* in keys */
	bool by_time;
	uint64_t start_tsc;
	/* Of the current slice. */
	uint64_t first_key, keys;
	struct weir_slice *now;
	struct weir_slice slice[WEIR_SLICES_MAX];
};

/* For a run at `packets_per_cycle` (constant), or 0: by time. Its start is still to be set. */
void weir_slices_begin(struct weir_slices *slices, unsigned int count, uint64_t width_cycles,
		       double packets_per_cycle);
/* The slice of that key becomes the current one. */
void weir_slices_move(struct weir_slices *slices, uint64_t key);
/* Packets by their sequence numbers, from one up to another. Not by time. */
void weir_slices_add_range(struct weir_slices *slices, uint64_t from, uint64_t to);
/* The first key of a slice. */
uint64_t weir_slices_first(const struct weir_slices *slices, unsigned int slice);

/* A packet that arrived. Its stamp says when it was sent, or by time when it was due. */
static inline void
weir_slices_add(struct weir_slices *slices, uint64_t sequence, uint64_t stamp_tsc, uint64_t rx_tsc)
{
	uint64_t key = slices->by_time ? stamp_tsc - slices->start_tsc : sequence;

	if (unlikely(key - slices->first_key >= slices->keys))
		weir_slices_move(slices, key);
	slices->now->packets++;
	slices->now->keys += key - slices->first_key;
	slices->now->stamps += stamp_tsc - slices->start_tsc;
	slices->now->arrivals += rx_tsc - slices->start_tsc;
}

#endif
