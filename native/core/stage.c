/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include "handover.h"

void
weir_batch_parse(struct weir_batch *batch)
{
	if (batch->parsed)
		return;
	for (uint16_t i = 0; i < batch->count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(batch->packet[i], void *));
	for (uint16_t i = 0; i < batch->count; i++)
		weir_headers_parse(batch->packet[i], &batch->headers[i]);
	batch->parsed = true;
}

void
weir_stage_decide(struct weir_stage *stage, struct weir_batch *batch, struct weir_action *actions)
{
	weir_batch_parse(batch);
	for (uint16_t i = 0; i < batch->count; i++)
		weir_action_clear(&actions[i]);
	stage->nf->decide(stage->state, batch, actions);
}

void
weir_batch_rewrite(struct weir_batch *batch, uint16_t index, const struct weir_action *action)
{
	struct rte_mbuf *packet = batch->packet[index];

	if (!batch->hands_over) {
		weir_action_apply(action, packet, &batch->headers[index]);
		return;
	}
	weir_action_compose(&weir_handover_of(packet)->action, action);
	weir_action_foresee(action, &batch->headers[index]);
}

bool
weir_stage_apply(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
		 uint8_t *drop_reason)
{
	struct rte_mbuf *packet = batch->packet[index];

	for (unsigned int i = 0; i < RTE_DIM(action->counters); i++) {
		if (action->counters[i] != NULL) {
			weir_count(&action->counters[i]->packets, 1);
			weir_count(&action->counters[i]->bytes, packet->pkt_len);
		}
	}
	if (unlikely(action->verdict == WEIR_DROP)) {
		*drop_reason = action->drop_reason;
		return false;
	}
	if (action->effect != NULL &&
	    unlikely(!action->effect->run(action->effect, packet, batch->now_tsc))) {
		*drop_reason = action->effect->drop_reason;
		return false;
	}
	if (action->has_egress)
		batch->egress[index] = action->egress;
	weir_batch_rewrite(batch, index, action);
	return true;
}

static void
keep(struct weir_batch *batch, uint16_t from, uint16_t to)
{
	batch->packet[to] = batch->packet[from];
	batch->egress[to] = batch->egress[from];
	batch->headers[to] = batch->headers[from];
}

void
weir_stage_run(struct weir_stage *stage, struct weir_batch *batch)
{
	struct weir_action actions[WEIR_BURST];
	uint16_t kept = 0;

	if (stage->nf->decide == NULL) {
		stage->nf->process(stage->state, batch, &stage->ledger);
		batch->parsed = false;
		return;
	}
	weir_stage_decide(stage, batch, actions);
	for (uint16_t i = 0; i < batch->count; i++) {
		uint8_t reason;

		if (likely(weir_stage_apply(batch, i, &actions[i], &reason))) {
			if (unlikely(kept != i))
				keep(batch, i, kept);
			kept++;
		} else {
			weir_count(&stage->ledger.drops[reason], 1);
			rte_pktmbuf_free(batch->packet[i]);
		}
	}
	batch->count = kept;
}
