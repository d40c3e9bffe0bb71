/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Areas that run no functions but bring packets to those that do, and on from them: dispatcher,
 * rewrite worker, collector. Each has hops, from input queues to output queues. For each hop:
 * rx_packets = tx_packets + tx_queue_full + no_output, exactly.
 */
#ifndef WEIR_ENGINE_HOPS_H
#define WEIR_ENGINE_HOPS_H

#include "area.h"
#include "error.h"
#include "nf.h"
#include "outputs.h"

#define WEIR_HOPS_MAX 64
#define WEIR_INPUTS_MAX 16

struct weir_hop {
	char name[64];
	enum weir_direction direction;
	unsigned int input_count;
	struct weir_queue inputs[WEIR_INPUTS_MAX];
	struct weir_outputs out;
	uint64_t rx_packets;
};

struct weir_hops {
	struct weir_area area; /* first */
	char name[64];
	unsigned int count;
	struct weir_hop *hops;
	void (*free_own)(struct weir_hops *hops); /* what the kind has besides; may be NULL */
};

/*
 * An area of `size` bytes that begins with struct weir_hops, the rest zero, with a copy of `hops`.
 * For the kinds' own functions. NULL: no memory.
 */
struct weir_hops *weir_hops_create(size_t size, const char *name, unsigned int core,
				   weir_area_poll_fn poll, const struct weir_hop *hops,
				   unsigned int count);
void weir_hops_destroy(struct weir_hops *hops);

/*
 * The dispatcher assigns each packet to one of a hop's outputs, its workers: all packets of a flow,
 * in both directions, to the same one, in their order. Fragments follow their first one, ICMP
 * errors the flow that they are about. One input a hop.
 */
struct weir_hops *weir_dispatcher_create(const char *name, unsigned int core,
					 const struct weir_hop *hops, unsigned int count);
/* Asks the function which flows must meet; its configuration is `state`'s. Before the loops start.
 */
void weir_dispatcher_steer_by(struct weir_hops *dispatcher, const struct weir_nf *nf,
			      const void *state);

/*
 * The rewrite worker (kind `rewrite_worker`) has no state: does to each packet what a state core
 * handed over with it. One input, one output a hop, both rings. It takes no more than its output
 * has room for, so that it drops nothing and the state core's round-robin stays right.
 */
struct weir_hops *weir_rewrite_worker_create(const char *name, unsigned int core,
					     const struct weir_hop *hops, unsigned int count);

/*
 * The collector takes one packet from each of a hop's inputs, round-robin, as the state core sent
 * them to the rewrite workers; an input that is empty is waited for. So the order is restored
 * without sequence numbers. It sends each packet where the state core's functions said.
 */
struct weir_hops *weir_collector_create(const char *name, unsigned int core,
					const struct weir_hop *hops, unsigned int count);

#endif
