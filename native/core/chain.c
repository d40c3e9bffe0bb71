/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

static __rte_always_inline void
run_stage(struct weir_stage *stage, struct weir_batch *batch, uint64_t *now, const bool ledger)
{
	if (ledger)
		weir_count(&stage->ledger.packets_in, batch->count);
	stage->nf->process(stage->state, batch, &stage->ledger);
	if (ledger) {
		uint64_t end = rte_rdtsc();

		weir_count(&stage->ledger.packets_out, batch->count);
		weir_count(&stage->ledger.cycles, end - *now);
		*now = end;
	}
}

static __rte_always_inline uint32_t
poll_path(struct weir_path *path, const bool ledger)
{
	struct weir_batch batch;
	uint16_t received = weir_queue_receive(&path->in, batch.packet, WEIR_BURST);
	uint16_t sent;
	uint64_t now = 0;

	if (received == 0)
		return 0;
	batch.count = received;
	if (ledger) {
		weir_count(&path->rx_packets, received);
		if (path->stage_count != 0)
			now = rte_rdtsc();
	}
	for (unsigned int i = 0; i < path->stage_count; i++)
		run_stage(&path->stages[i], &batch, &now, ledger);
	if (batch.count == 0)
		return received;
	sent = weir_queue_transmit(&path->out, batch.packet, batch.count);
	if (ledger)
		weir_count(&path->tx_packets, sent);
	if (unlikely(sent < batch.count)) {
		weir_count(&path->tx_queue_full, batch.count - sent);
		rte_pktmbuf_free_bulk(&batch.packet[sent], batch.count - sent);
	}
	return received;
}

static uint32_t
poll_with_ledger(struct weir_area *area, uint64_t now_tsc __rte_unused)
{
	struct weir_chain *chain = (struct weir_chain *)area;
	uint32_t handled = 0;

	for (unsigned int i = 0; i < chain->path_count; i++)
		handled += poll_path(&chain->paths[i], true);
	return handled;
}

static uint32_t
poll_without_ledger(struct weir_area *area, uint64_t now_tsc __rte_unused)
{
	struct weir_chain *chain = (struct weir_chain *)area;
	uint32_t handled = 0;

	for (unsigned int i = 0; i < chain->path_count; i++)
		handled += poll_path(&chain->paths[i], false);
	return handled;
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

void
weir_chain_destroy(struct weir_chain *chain)
{
	for (unsigned int i = 0; i < chain->path_count; i++) {
		struct weir_path *path = &chain->paths[i];

		for (unsigned int j = 0; j < path->stage_count; j++)
			weir_nf_destroy(path->stages[j].nf, path->stages[j].state);
	}
	free(chain);
}
