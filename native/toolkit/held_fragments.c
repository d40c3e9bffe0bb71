/* SPDX-License-Identifier: Apache-2.0 */
#include "held_fragments.h"

#include "engine/stage.h"

static void
drop(struct rte_mbuf *packet, uint8_t reason, struct weir_stage_ledger *ledger)
{
	weir_count(&ledger->drops[reason], 1);
	rte_pktmbuf_free(packet);
}

void
weir_held_fragments_take(struct weir_fragments *fragments, const struct weir_batch *batch,
			 uint16_t index, const struct weir_action *action,
			 struct weir_stage_ledger *ledger)
{
	const struct weir_fragment fragment = {
		.packet = batch->packet[index],
		.direction = batch->direction,
		.egress = batch->egress[index],
	};

	if (weir_fragments_wait(fragments, &fragment, &batch->headers[index], batch->now_tsc))
		weir_count(&ledger->held, 1);
	else
		drop(fragment.packet, action->drop_reason, ledger);
}

static void
take_due(struct weir_fragments *fragments, struct weir_batch *batch, uint8_t late_reason,
	 struct weir_stage_ledger *ledger)
{
	struct weir_fragment fragment;
	bool late;

	while (batch->count < WEIR_BURST &&
	       weir_fragments_next(fragments, batch->direction, batch->now_tsc, &fragment, &late)) {
		weir_count(&ledger->held, -(uint64_t)1);
		if (late) {
			drop(fragment.packet, late_reason, ledger);
			continue;
		}
		batch->egress[batch->count] = fragment.egress;
		batch->packet[batch->count++] = fragment.packet;
	}
}

void
weir_held_fragments_release(const struct weir_nf *nf, void *state, struct weir_fragments *fragments,
			    struct weir_batch *batch, uint8_t late,
			    struct weir_stage_ledger *ledger)
{
	struct weir_stage stage = {.nf = nf, .state = state};
	struct weir_action actions[WEIR_BURST];
	uint16_t kept = 0;

	take_due(fragments, batch, late, ledger);
	if (batch->count == 0)
		return;
	weir_stage_decide(&stage, batch, actions);
	for (uint16_t i = 0; i < batch->count; i++) {
		uint8_t reason;

		if (weir_stage_apply(batch, i, &actions[i], &reason))
			weir_batch_move(batch, kept++, batch, i);
		else /* or taken again: its place was taken by newer datagrams in between */
			drop(batch->packet[i], reason, ledger);
	}
	batch->count = kept;
}
