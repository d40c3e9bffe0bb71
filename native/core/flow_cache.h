/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path's memory: what a whole chain decided on a flow's first packet, composed into one
 * entry (the consistent policy execution path of the paper, section III.B.3). One cache belongs to
 * one path-set of one area and its thread.
 *
 * A decision holds until something it rests on changes. Whoever decides names the object (a
 * session, a route, a back-end) in the action's `dependents`; whoever ends the object forgets its
 * dependents. A change that could concern flows which rest on no object that changed (a new rule, a
 * longer route) asks for each entry, by the tuple that the function saw.
 */
#ifndef WEIR_CORE_FLOW_CACHE_H
#define WEIR_CORE_FLOW_CACHE_H

#include "action.h"
#include "nf.h"

/* Embedded in the object that decisions rest on; all zero when none do. */
struct weir_dependents {
	uint32_t first;
};

/* Forgets the entries that rest on the object; before the object is freed or changed. `cache` NULL:
 * nothing to do. */
void weir_flow_cache_forget(struct weir_flow_cache *cache, struct weir_dependents *dependents);

/* Forgets the entries of which `concerns` says so, asked with the tuple that the function of
 * `state` saw. */
void weir_flow_cache_forget_if(struct weir_flow_cache *cache, const void *state,
			       bool (*concerns)(const struct weir_tuple *tuple,
						enum weir_direction direction, void *argument),
			       void *argument);

#endif
