/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where entries of the fast path can live below the data plane, so that their packets do not come
 * up at all. One of these belongs to one input of a chain, and to that chain's thread; what is
 * counted another thread may read.
 *
 * An entry goes down once its flow had `packets_min` packets within a flush of the cache (a quarter
 * of a second), and comes up when it carried none in WEIR_OFFLOAD_IDLE_FLUSHES of them, or when the
 * cache forgets it: before the change that it is forgotten for takes effect.
 */
#ifndef WEIR_ENGINE_OFFLOAD_H
#define WEIR_ENGINE_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_OFFLOAD_IDLE_FLUSHES 8
#define WEIR_OFFLOAD_NONE 0 /* no place: places begin with 1 */

struct weir_flow_entry;
struct weir_offload;

/* Why a flow stays in software; each flow is counted once for each. */
enum weir_offload_refusal {
	WEIR_OFFLOAD_EFFECT, /* something happens for each of its packets (a meter) */
	WEIR_OFFLOAD_DROPS,  /* it is dropped, and the drop has a stage and a reason */
	WEIR_OFFLOAD_TAGGED, /* its frames have a VLAN tag */
	WEIR_OFFLOAD_OUTPUT, /* it leaves by an output that is not there */
	WEIR_OFFLOAD_FULL,   /* no place is free */
	WEIR_OFFLOAD_FAILED, /* the kernel or the card refused it */
	WEIR_OFFLOAD_REFUSALS,
};

struct weir_offload_kind {
	const char *name;
	/* The entry's place, or WEIR_OFFLOAD_NONE with `*refusal`. */
	uint32_t (*put)(struct weir_offload *offload, const struct weir_flow_entry *entry,
			enum weir_offload_refusal *refusal);
	/* After it returns no packet is treated by that place's entry. */
	void (*revoke)(struct weir_offload *offload, uint32_t place);
	/* What was counted there since the last call; between revoke() and free_place(), all. */
	void (*take_counts)(struct weir_offload *offload, uint32_t place, uint64_t *packets,
			    uint64_t *bytes);
	void (*free_place)(struct weir_offload *offload, uint32_t place);
	/* Any thread: what was forwarded below by output `output` (below WEIR_OUTPUTS_MAX), exact
	 * once traffic rests; of these, `failed` packets were lost on their way to it. */
	void (*totals)(const struct weir_offload *offload, unsigned int output, uint64_t *packets,
		       uint64_t *bytes, uint64_t *failed);
	void (*close)(struct weir_offload *offload);
};

/* First member of what a kind keeps. */
struct weir_offload {
	const struct weir_offload_kind *kind;
	uint32_t packets_min;
	uint64_t flows; /* now below */
	uint64_t put, revoked;
	uint64_t refused[WEIR_OFFLOAD_REFUSALS];
};

#endif
