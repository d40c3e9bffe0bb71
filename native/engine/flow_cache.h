/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path's memory: what a whole chain decided on a flow's first packet, composed into one
 * entry (consistent policy execution path: [Lean], section III.B.3). One cache belongs to
 * one area and its thread.
 *
 * A decision holds until something it rests on changes. Whoever decides names the object (a
 * session, a route, a back-end) by its list in the action's `invalidation`; whoever ends the object
 * forgets the entries in that list. A change that could concern flows which rest on no object that
 * changed (a new rule, a longer route) asks for each entry, by the tuple that the function saw.
 */
#ifndef WEIR_ENGINE_FLOW_CACHE_H
#define WEIR_ENGINE_FLOW_CACHE_H

#include "flow_entry.h"
#include "nf.h"

#define WEIR_FLOW_STAGES_MAX 16
#define WEIR_FLOW_PATHS_MAX 8

/* Embedded in the object that decisions rest on; all zero when none do. */
struct weir_invalidation_list {
	uint32_t first;
};

/* Forgets the entries that rest on the object; before the object is freed or changed. `cache` NULL:
 * nothing to do. */
void weir_flow_cache_forget(struct weir_flow_cache *cache,
			    struct weir_invalidation_list *invalidation);

/*
 * Gives what was counted in the entries that rest on the object to its counters, which are
 * otherwise up to a quarter of a second behind: for a function that acts on a counter, or sets it,
 * in decide().
 */
void weir_flow_cache_flush_for(struct weir_flow_cache *cache,
			       const struct weir_invalidation_list *invalidation);

/* Forgets the entries of which `concerns` says so, asked with the tuple that the function of
 * `state` saw. `cache` NULL: nothing to do. */
void weir_flow_cache_forget_if(struct weir_flow_cache *cache, const void *state,
			       bool (*concerns)(const struct weir_tuple *tuple,
						enum weir_direction direction, void *argument),
			       void *argument);

/* What the cache is told about each path: whose states its stages have. */
struct weir_flow_path {
	enum weir_direction direction;
	unsigned int stage_count;
	const void *state[WEIR_FLOW_STAGES_MAX];
};

/* Room for `capacity` flows. NULL: no memory. */
struct weir_flow_cache *weir_flow_cache_create(uint32_t capacity,
					       const struct weir_flow_path *paths,
					       unsigned int path_count);
/* Closes what its paths are offloaded to, too. */
void weir_flow_cache_free(struct weir_flow_cache *cache);
/* From now on entries of that path may live there, which the cache then owns. */
void weir_flow_cache_offload(struct weir_flow_cache *cache, unsigned int path,
			     struct weir_offload *offload);

/* The composed decision of a chain, as its stages decided it one after another. */
struct weir_flow_decision {
	struct weir_tuple key;	   /* zero: path + 1, VLAN */
	struct weir_action action; /* counters, effect and invalidation are NULL: see operations */
	uint8_t drop_stage;	   /* with WEIR_DROP */
	uint8_t operation_count;
	bool has_effects;
	uint8_t stage_of[WEIR_FLOW_OPERATIONS_MAX];
	uint32_t ip_change; /* what the rewrites add to ~checksum (RFC 1624) */
	uint32_t l4_change;
	struct weir_flow_operation operations[WEIR_FLOW_OPERATIONS_MAX];
};

/* What each stage saw of the packet that an entry is made of. */
struct weir_flow_stages {
	unsigned int stage_count; /* as far as it came */
	struct weir_tuple seen[WEIR_FLOW_STAGES_MAX];
	struct weir_invalidation_list *invalidation[WEIR_FLOW_STAGES_MAX];
};

/* The entry under each key (a tuple with path + 1 and VLAN in `zero`), or NULL; `count` at most 32.
 * Pointers hold until something is forgotten or remembered: see weir_flow_cache_changes(). */
void weir_flow_cache_find(struct weir_flow_cache *cache, const struct weir_tuple *const keys[],
			  struct weir_flow_entry *entries[], unsigned int count);
/* Grows with each entry that is forgotten. */
uint64_t weir_flow_cache_changes(const struct weir_flow_cache *cache);

/*
 * Before packets go through the stages: what is forgotten from now on is not remembered behind them
 * either. A packet may end what an earlier one of its batch was decided on.
 */
void weir_flow_cache_begin(struct weir_flow_cache *cache);

/* Keeps `decision` unless its key is there; makes room by forgetting a flow that was not
 * used lately. */
void weir_flow_cache_remember(struct weir_flow_cache *cache,
			      const struct weir_flow_decision *decision,
			      const struct weir_flow_stages *stages);

/*
 * Gives what was counted in entries to the functions' counters. weir_flow_cache_flush() does it for
 * all; a share of them, 1 / `parts` and in turn, is for every tick, so that a function which looks
 * at its counters now and then sees them about as they are. Forgetting an entry flushes it.
 */
void weir_flow_cache_flush(struct weir_flow_cache *cache);
void weir_flow_cache_flush_some(struct weir_flow_cache *cache, uint32_t parts);

uint32_t weir_flow_cache_count(const struct weir_flow_cache *cache);

/* Packets passed or dropped by an entry (`hits`), and those of the slow path. */
struct weir_fastpath_ledger {
	uint64_t hits;
	uint64_t slow_packets;
	uint64_t cycles; /* look-ups and what entries did; the slow path is in the stages' cycles */
};

/* One path's use of a cache. */
struct weir_fastpath {
	struct weir_flow_cache *cache; /* NULL: off */
	uint8_t path;		       /* index of the path in its area */
	struct weir_offload *offload;  /* of the cache; NULL: none */
	struct weir_fastpath_ledger ledger;
};

#endif
