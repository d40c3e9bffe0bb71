/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "handover.h"

static __rte_always_inline void
run_stage(struct weir_stage *stage, struct weir_batch *batch, uint64_t *now, const bool ledger)
{
	if (ledger)
		weir_count(&stage->ledger.packets_in, batch->count);
	weir_stage_run(stage, batch);
	if (ledger) {
		uint64_t end = rte_rdtsc();

		weir_count(&stage->ledger.packets_out, batch->count);
		weir_stage_count_cycles(&stage->ledger, end - *now);
		*now = end;
	}
}

static __rte_always_inline void
run_stages_from(struct weir_path *path, unsigned int first, struct weir_batch *batch,
		const bool ledger)
{
	uint64_t now = ledger && first < path->stage_count ? rte_rdtsc() : 0;

	for (unsigned int i = first; i < path->stage_count; i++)
		run_stage(&path->stages[i], batch, &now, ledger);
}

static __rte_always_inline void
run_path(struct weir_path *path, struct weir_batch *batch, const bool ledger)
{
	batch->cache = path->fastpath.cache;
	if (path->fastpath.cache != NULL)
		weir_fastpath_run(&path->fastpath, path->stages, path->stage_count, batch, ledger);
	else
		run_stages_from(path, 0, batch, ledger);
}

static void
take_own(struct weir_path *path, struct weir_batch *batch)
{
	struct weir_stage *listener = path->listener;

	batch->cache = path->fastpath.cache;
	weir_batch_parse(batch);
	listener->nf->listen(listener->state, batch, &listener->ledger);
}

void
weir_path_run(struct weir_path *path, struct weir_batch *batch)
{
	if (path->listener != NULL)
		take_own(path, batch);
	if (batch->count > 0)
		run_path(path, batch, true);
}

/* What is decided on the batch from now on is left with each packet. */
static inline void
begin_to_hand_over(struct weir_batch *batch)
{
	weir_batch_parse(batch);
	for (uint16_t i = 0; i < batch->count; i++)
		weir_handover_begin(batch->packet[i], &batch->headers[i]);
	batch->hands_over = true;
}

static inline void
end_to_hand_over(struct weir_path *path, struct weir_batch *batch)
{
	for (uint16_t i = 0; i < batch->count; i++)
		weir_action_set_tuple(&weir_handover_of(batch->packet[i])->action,
				      &batch->headers[i].tuple);
	if (batch->count > 0)
		weir_outputs_send_round_robin(&path->out, batch->packet, batch->count);
}

/* Decides on the batch, and leaves with each packet what is to be done to it. */
static __rte_always_inline void
run_and_hand_over(struct weir_path *path, struct weir_batch *batch, const bool ledger)
{
	begin_to_hand_over(batch);
	run_path(path, batch, ledger);
	end_to_hand_over(path, batch);
}

/* What stage `index` released goes its way. */
static void
go_on(struct weir_path *path, unsigned int index, struct weir_batch *batch, const bool hands_over)
{
	batch->cache = path->fastpath.cache;
	if (hands_over) {
		begin_to_hand_over(batch);
		for (uint16_t i = 0; i < batch->count; i++) {
			struct weir_action *action = &weir_handover_of(batch->packet[i])->action;

			action->has_egress = true;
			action->egress = batch->egress[i];
		}
	}
	if (batch->released == WEIR_RELEASED_BEHIND)
		run_stages_from(path, index + 1, batch, true);
	else if (batch->released == WEIR_RELEASED_TO_BEGINNING)
		run_path(path, batch, true);
	if (hands_over)
		end_to_hand_over(path, batch);
	else if (batch->count > 0)
		weir_outputs_send(&path->out, batch->packet, batch->egress, batch->count);
}

/* Sends on what stages of the path kept and is due, a burst of each at most; how many those were.
 */
static uint32_t
release_due(struct weir_path *path, uint64_t now_tsc, const bool hands_over)
{
	uint32_t released = 0;

	for (unsigned int i = 0; i < path->stage_count; i++) {
		struct weir_stage *stage = &path->stages[i];
		struct weir_batch batch;

		if (stage->nf->release == NULL || weir_nf_is_idle(stage->nf, stage->state) ||
		    (stage->nf->releases_held_only && stage->ledger.held == 0))
			continue;
		batch = (struct weir_batch){.direction = path->direction,
					    .now_tsc = now_tsc,
					    .cache = path->fastpath.cache};
		stage->nf->release(stage->state, &batch, &stage->ledger);
		if (batch.count == 0)
			continue;
		released += batch.count;
		weir_count(&stage->ledger.packets_out, batch.count);
		go_on(path, i, &batch, hands_over);
	}
	return released;
}

static __rte_always_inline uint32_t
poll_path(struct weir_path *path, uint64_t now_tsc, const bool ledger, const bool hands_over)
{
	struct weir_batch batch;
	uint32_t released = unlikely(path->releases) ? release_due(path, now_tsc, hands_over) : 0;
	uint16_t received = weir_queue_receive(&path->in, batch.packet, WEIR_BURST);

	if (received == 0)
		return released;
	batch.count = received;
	batch.direction = path->direction;
	batch.parsed = false;
	batch.hands_over = false;
	batch.now_tsc = now_tsc;
	memset(batch.egress, 0, sizeof(batch.egress));
	weir_count(&path->rx_packets, received);
	if (unlikely(path->listener != NULL)) {
		take_own(path, &batch);
		if (batch.count == 0)
			return received + released;
	}
	if (hands_over) {
		run_and_hand_over(path, &batch, ledger);
		return received + released;
	}
	run_path(path, &batch, ledger);
	if (batch.count > 0)
		weir_outputs_send(&path->out, batch.packet, batch.egress, batch.count);
	return received + released;
}

#define TICKS_PER_S 1000
#define TICKS_TO_FLUSH 256 /* then every counter has what its flows had */

void
weir_chain_tick(struct weir_chain *chain, uint64_t now_tsc)
{
	if (chain->flows != NULL)
		weir_flow_cache_flush_some(chain->flows, TICKS_TO_FLUSH);
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			struct weir_stage *stage = &path->stages[j];

			if (stage->nf->tick != NULL && !stage->shares_state &&
			    !weir_nf_is_idle(stage->nf, stage->state))
				stage->nf->tick(stage->state, now_tsc, chain->flows);
		}
	}
}

static __rte_always_inline uint32_t
poll_all(struct weir_chain *chain, uint64_t now_tsc, const bool ledger, const bool hands_over)
{
	uint32_t handled = 0;

	if (unlikely(chain->has_ticks && now_tsc >= chain->next_tick_tsc)) {
		chain->next_tick_tsc = now_tsc + rte_get_tsc_hz() / TICKS_PER_S;
		weir_chain_tick(chain, now_tsc);
	}
	for (unsigned int i = 0; i < chain->path_count; i++)
		handled += poll_path(&chain->paths[i], now_tsc, ledger, hands_over);
	return handled;
}

static uint32_t
poll_with_ledger(struct weir_area *area, uint64_t now_tsc)
{
	return poll_all((struct weir_chain *)area, now_tsc, true, false);
}

static uint32_t
poll_without_ledger(struct weir_area *area, uint64_t now_tsc)
{
	return poll_all((struct weir_chain *)area, now_tsc, false, false);
}

static uint32_t
poll_state_core_with_ledger(struct weir_area *area, uint64_t now_tsc)
{
	return poll_all((struct weir_chain *)area, now_tsc, true, true);
}

static uint32_t
poll_state_core_without_ledger(struct weir_area *area, uint64_t now_tsc)
{
	return poll_all((struct weir_chain *)area, now_tsc, false, true);
}

static int
make_fastpath(struct weir_chain *chain, uint32_t flows, struct weir_error *error)
{
	struct weir_flow_path paths[WEIR_PATHS_MAX] = {0};

	for (unsigned int i = 0; i < chain->path_count; i++) {
		const struct weir_path *path = &chain->paths[i];

		paths[i].direction = path->direction;
		paths[i].stage_count = path->stage_count;
		for (unsigned int j = 0; j < path->stage_count; j++) {
			if (path->stages[j].nf->decide == NULL)
				return weir_fail(error, "bad_argument", chain->name,
						 "functions that decide: see weir-dp --describe",
						 "leave the fast path out",
						 "%s cannot be in a fast path: its decisions are "
						 "not known",
						 path->stages[j].nf->name);
			paths[i].state[j] = path->stages[j].state;
		}
	}
	chain->flows = weir_flow_cache_create(flows, paths, chain->path_count);
	if (chain->flows == NULL)
		return weir_fail(error, "no_memory", chain->name, NULL,
				 "give weir-dp more --memory-mb, or ask for fewer flows",
				 "no memory for the fast path of %u flows", flows);
	for (unsigned int i = 0; i < chain->path_count; i++) {
		chain->paths[i].fastpath.cache = chain->flows;
		chain->paths[i].fastpath.path = i;
	}
	return 0;
}

/* A function that keeps packets may be on one path of each direction only: else it is not known
 * which path a released packet continues on. */
static int
check_release(const struct weir_chain *chain, const struct weir_path *path,
	      const struct weir_stage *stage, struct weir_error *error)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		const struct weir_path *other = &chain->paths[i];

		for (unsigned int j = 0; j < other->stage_count; j++) {
			if (other != path && other->direction == path->direction &&
			    other->stages[j].state == stage->state)
				return weir_fail(error, "bad_argument", chain->name,
						 "one path in each direction through it",
						 "give each path a function of its own",
						 "%s keeps packets, and paths %s and %s share it",
						 stage->nf->name, path->name, other->name);
		}
	}
	return 0;
}

int
weir_chain_complete(struct weir_chain *chain, uint32_t flows, struct weir_error *error)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			struct weir_stage *stage = &path->stages[j];

			if (weir_nf_is_idle(stage->nf, stage->state))
				continue;
			if (stage->nf->tick != NULL)
				chain->has_ticks = true;
			if (stage->nf->listen != NULL && path->listener == NULL)
				path->listener = stage;
			if (stage->nf->release == NULL)
				continue;
			path->releases = true;
			if (check_release(chain, path, stage, error) < 0)
				return -1;
		}
	}
	return flows > 0 ? make_fastpath(chain, flows, error) : 0;
}

struct weir_chain *
weir_chain_create(const char *name, unsigned int core, bool ledger)
{
	struct weir_chain *chain =
		aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(sizeof(*chain)));

	if (chain == NULL)
		return NULL;
	memset(chain, 0, sizeof(*chain));
	snprintf(chain->name, sizeof(chain->name), "%s", name);
	chain->area.name = chain->name;
	chain->area.core = core;
	chain->area.poll = ledger ? poll_with_ledger : poll_without_ledger;
	return chain;
}

struct weir_chain *
weir_state_core_create(const char *name, unsigned int core, bool ledger)
{
	struct weir_chain *chain = weir_chain_create(name, core, ledger);

	if (chain == NULL)
		return NULL;
	chain->hands_over = true;
	chain->area.poll = ledger ? poll_state_core_with_ledger : poll_state_core_without_ledger;
	return chain;
}

void
weir_chain_destroy(struct weir_chain *chain)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++) {
			if (!path->stages[j].shares_state)
				weir_nf_destroy(path->stages[j].nf, path->stages[j].state);
		}
	}
	weir_flow_cache_free(chain->flows);
	free(chain);
}
