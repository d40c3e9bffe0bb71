/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include "handover.h"

uint64_t weir_long_batch_cycles = UINT64_MAX;

void
weir_batch_parse(struct weir_batch *batch)
{
	if (batch->parsed)
		return;
	weir_headers_parse_all(batch->packet, batch->headers, batch->count);
	batch->parsed = true;
}

void
weir_stage_decide(struct weir_stage *stage, struct weir_batch *batch, struct weir_action *actions)
{
	weir_batch_parse(batch);
	for (uint16_t i = 0, count = batch->count; i < count; i++)
		weir_action_clear(&actions[i]);
	stage->nf->decide(stage->state, batch, actions);
}

/* `hands_over` is the batch's, known while compiling where it can be. */
static __rte_always_inline void
rewrite(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
	const bool hands_over)
{
	struct rte_mbuf *packet = batch->packet[index];

	if (!hands_over) {
		weir_action_apply(action, packet, &batch->headers[index]);
		return;
	}
	weir_action_compose(&weir_handover_of(packet)->action, action);
	weir_action_update_headers(action, &batch->headers[index]);
}

void
weir_batch_rewrite(struct weir_batch *batch, uint16_t index, const struct weir_action *action)
{
	rewrite(batch, index, action, batch->hands_over);
}

static inline void
count(const struct weir_action *action, const struct rte_mbuf *packet)
{
	for (unsigned int i = 0; i < RTE_DIM(action->counters); i++) {
		if (action->counters[i] != NULL) {
			weir_count(&action->counters[i]->packets, 1);
			weir_count(&action->counters[i]->bytes, packet->pkt_len);
		}
	}
}

static __rte_always_inline bool
apply(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
      uint8_t *drop_reason, const bool hands_over)
{
	struct rte_mbuf *packet = batch->packet[index];
	const bool plain = action->counters[0] == NULL && action->counters[1] == NULL &&
			   action->effect == NULL;

	if (!plain)
		count(action, packet);
	if (unlikely(action->verdict != WEIR_FORWARD)) {
		*drop_reason = action->drop_reason;
		return false;
	}
	if (!plain && action->effect != NULL &&
	    unlikely(!action->effect->run(action->effect, packet, batch->now_tsc))) {
		*drop_reason = action->effect->drop_reason;
		return false;
	}
	if (action->has_egress)
		batch->egress[index] = action->egress;
	rewrite(batch, index, action, hands_over);
	return true;
}

bool
weir_stage_apply(struct weir_batch *batch, uint16_t index, const struct weir_action *action,
		 uint8_t *drop_reason)
{
	return apply(batch, index, action, drop_reason, batch->hands_over);
}

void
weir_stage_end(struct weir_stage *stage, struct weir_batch *batch, uint16_t index,
	       const struct weir_action *action, uint8_t drop_reason)
{
	struct rte_mbuf *packet = batch->packet[index];

	if (action->verdict != WEIR_TAKE) {
		weir_count(&stage->ledger.drops[drop_reason], 1);
		rte_pktmbuf_free(packet);
		return;
	}
	if (batch->hands_over) {
		struct weir_handover *handover = weir_handover_of(packet);

		weir_action_set_tuple(&handover->action, &batch->headers[index].tuple);
		weir_action_apply(&handover->action, packet, &handover->headers);
	}
	stage->nf->take(stage->state, batch, index, action, &stage->ledger);
}

static __rte_always_inline void
apply_all(struct weir_stage *stage, struct weir_batch *batch, const struct weir_action *actions,
	  const bool hands_over)
{
	const uint16_t count = batch->count;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t reason;

		if (likely(apply(batch, i, &actions[i], &reason, hands_over))) {
			if (unlikely(kept != i))
				weir_batch_move(batch, kept, batch, i);
			kept++;
		} else {
			weir_stage_end(stage, batch, i, &actions[i], reason);
		}
	}
	batch->count = kept;
}

void
weir_stage_run(struct weir_stage *stage, struct weir_batch *batch)
{
	struct weir_action actions[WEIR_BURST];

	if (stage->nf->decide == NULL) {
		stage->nf->process(stage->state, batch, &stage->ledger);
		batch->parsed = false;
		return;
	}
	weir_batch_parse(batch);
	if (batch->hands_over) {
		weir_stage_decide(stage, batch, actions);
		apply_all(stage, batch, actions, true);
	} else if (stage->nf->forward == NULL || !stage->nf->forward(stage->state, batch)) {
		weir_stage_decide(stage, batch, actions);
		apply_all(stage, batch, actions, false);
	}
}
