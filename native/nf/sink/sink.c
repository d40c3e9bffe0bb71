/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink: takes packets in and frees them, each counted as dropped with reason `sink`.
 *
 * Ends a chain; nothing leaves it. Use it to find the cost of what comes before. No options.
 * Example: {"nf": "sink"}
 */
#include "engine/nf.h"

enum { DROP_SINK };
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_SINK] = {"sink", "The packet reached a sink, as the chain says."},
};

static void
process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	(void)state;
	weir_count(&ledger->drops[DROP_SINK], batch->count);
	rte_pktmbuf_free_bulk(batch->packet, batch->count);
	batch->count = 0;
}

extern const struct weir_nf weir_nf_sink;
const struct weir_nf weir_nf_sink = {
	.name = "sink",
	.summary = "Takes packets in and frees them.",
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = false,
	.process = process,
};
