/* SPDX-License-Identifier: Apache-2.0 */
#include "slow_path.h"

#include <string.h>

#include <rte_cycles.h>

/* A burst on the slow path, and what is learnt about each packet. */
struct slow_burst {
	uint16_t place[WEIR_BURST]; /* in the batch that they came in */
	bool known[WEIR_BURST];	    /* could be: its decision is worth remembering */
	struct weir_flow_decision decision[WEIR_BURST];
	struct weir_flow_stages stages[WEIR_BURST];
};

static void
add_operation(struct weir_flow_decision *decision, bool *known, unsigned int stage,
	      struct weir_counter *counter, struct weir_effect *effect)
{
	if (counter == NULL && effect == NULL)
		return;
	if (decision->operation_count == WEIR_FLOW_OPERATIONS_MAX) {
		*known = false;
		return;
	}
	decision->stage_of[decision->operation_count] = stage;
	decision->operations[decision->operation_count++] =
		(struct weir_flow_operation){.counter = counter, .effect = effect};
	decision->has_effects |= effect != NULL;
}

/* Adds what one stage decided to what the stages before it did. `seen`: the tuple that it saw. */
static void
compose(struct weir_flow_decision *decision, struct weir_flow_stages *stages, bool *known,
	unsigned int stage, const struct weir_action *action, const struct weir_tuple *seen)
{
	stages->seen[stage] = *seen;
	stages->invalidation[stage] = action->invalidation;
	stages->stage_count = stage + 1;
	if (action->once)
		*known = false;
	for (unsigned int i = 0; i < RTE_DIM(action->counters); i++)
		add_operation(decision, known, stage, action->counters[i], NULL);
	weir_action_compose(&decision->action, action);
	if (action->verdict == WEIR_DROP)
		decision->drop_stage = stage;
	else
		add_operation(decision, known, stage, NULL, action->effect);
}

/* The whole rewrite: from the tuple that came to the one that leaves. */
static void
finish(struct weir_flow_decision *decision, const struct weir_tuple *leaves)
{
	const struct weir_tuple *came = &decision->key;

	weir_action_set_tuple(&decision->action, leaves);
	decision->ip_change = weir_checksum_change32(came->src_ip, leaves->src_ip) +
			      weir_checksum_change32(came->dst_ip, leaves->dst_ip);
	decision->l4_change = decision->ip_change +
			      weir_checksum_change16(came->src_port, leaves->src_port) +
			      weir_checksum_change16(came->dst_port, leaves->dst_port);
}

/* The packets are moved: their headers and egress with them. */
static void
move(struct slow_burst *burst, struct weir_batch *batch, uint16_t from, uint16_t to)
{
	if (from == to)
		return;
	weir_batch_move(batch, to, batch, from);
	burst->place[to] = burst->place[from];
	burst->known[to] = burst->known[from];
	burst->decision[to] = burst->decision[from];
	burst->stages[to] = burst->stages[from];
}

static void
remember(struct weir_flow_cache *cache, struct slow_burst *burst, uint16_t index,
	 const struct weir_tuple *leaves)
{
	if (!burst->known[index])
		return;
	finish(&burst->decision[index], leaves);
	weir_flow_cache_remember(cache, &burst->decision[index], &burst->stages[index]);
}

/* Runs one stage on the packets that are still there. */
static void
run_stage(struct weir_fastpath *fastpath, struct weir_stage *stage, unsigned int number,
	  struct slow_burst *burst, struct weir_batch *batch)
{
	struct weir_action actions[WEIR_BURST];
	uint16_t kept = 0;

	weir_stage_decide(stage, batch, actions);
	for (uint16_t i = 0; i < batch->count; i++) {
		struct weir_tuple seen = batch->headers[i].tuple;
		uint8_t reason;

		compose(&burst->decision[i], &burst->stages[i], &burst->known[i], number,
			&actions[i], &seen);
		if (weir_stage_apply(batch, i, &actions[i], &reason)) {
			move(burst, batch, i, kept++);
			continue;
		}
		if (actions[i].verdict == WEIR_DROP)
			remember(fastpath->cache, burst, i, &seen);
		weir_stage_end(stage, batch, i, &actions[i], reason);
	}
	batch->count = kept;
}

void
weir_slow_path_run(struct weir_fastpath *fastpath, struct weir_stage *stages,
		   unsigned int stage_count, struct weir_batch *batch, uint16_t first, uint16_t end,
		   bool ledger)
{
	struct weir_batch part = {
		.direction = batch->direction,
		.parsed = true,
		.hands_over = batch->hands_over,
		.now_tsc = batch->now_tsc,
		.cache = fastpath->cache,
	};
	struct slow_burst burst;

	for (uint16_t i = first; i < end; i++) {
		uint16_t to = part.count++;

		weir_batch_move(&part, to, batch, i);
		batch->packet[i] = NULL;
		burst.place[to] = i;
		burst.known[to] = weir_flow_may_be_known(&part.headers[to]);
		memset(&burst.decision[to], 0, sizeof(burst.decision[to]));
		burst.decision[to].key = weir_flow_key(fastpath, &part.headers[to]);
		burst.stages[to].stage_count = 0;
	}
	weir_flow_cache_begin(fastpath->cache);
	weir_count(&fastpath->ledger.slow_packets, part.count);
	for (unsigned int i = 0; i < stage_count && part.count > 0; i++) {
		uint64_t start = ledger ? rte_rdtsc() : 0;

		weir_count(&stages[i].ledger.packets_in, part.count);
		run_stage(fastpath, &stages[i], i, &burst, &part);
		weir_count(&stages[i].ledger.packets_out, part.count);
		if (ledger)
			weir_stage_count_cycles(&stages[i].ledger, rte_rdtsc() - start);
	}
	for (uint16_t i = 0; i < part.count; i++) {
		uint16_t place = burst.place[i];

		remember(fastpath->cache, &burst, i, &part.headers[i].tuple);
		weir_batch_move(batch, place, &part, i);
	}
}
