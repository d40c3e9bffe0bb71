/* SPDX-License-Identifier: Apache-2.0 */
#include "batches.h"

#include "flows.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#define STEPS_A_TICK (1000 / WEIR_LEAN_STEP_US) /* functions want their tick each millisecond */

static uint32_t
next_frame(struct weir_lean *lean)
{
	uint32_t frame;

	if (lean->next_first < lean->first_count)
		return lean->first[lean->next_first++];
	frame = lean->next_frame++;
	if (lean->next_frame == lean->frames->count)
		lean->next_frame = 0;
	return frame;
}

static bool
refill(struct weir_lean *lean, struct rte_mbuf **packets)
{
	const struct weir_frames *frames = lean->frames;

	if (rte_pktmbuf_alloc_bulk(lean->pool, packets, WEIR_BURST) != 0)
		return false;
	for (unsigned int i = 0; i < WEIR_BURST; i++) {
		uint32_t frame = next_frame(lean);
		uint64_t offset = frames->offset[frame];
		uint16_t length = frames->offset[frame + 1] - offset;

		memcpy(rte_pktmbuf_mtod(packets[i], void *), frames->bytes + offset, length);
		packets[i]->data_len = length;
		packets[i]->pkt_len = length;
	}
	return true;
}

int
weir_lean_open(struct weir_lean *lean, struct weir_chain *chain, struct weir_path *path,
	       const struct weir_frames *frames, struct rte_mempool *pool, struct weir_error *error)
{
	memset(lean, 0, sizeof(*lean));
	lean->chain = chain;
	lean->path = path;
	lean->frames = frames;
	lean->pool = pool;
	/* A time at which nothing looks as old as the beginning of time. */
	lean->now_tsc = 3600 * rte_get_tsc_hz();
	lean->cycles =
		malloc((path->stage_count + 2) * WEIR_LEAN_BATCHES_MAX * sizeof(*lean->cycles));
	lean->first = weir_flows_first(frames, pool, &lean->first_count);
	lean->first_count -= lean->first_count % WEIR_BURST;
	for (unsigned int i = 0; i < WEIR_LEAN_AHEAD; i++) {
		if (lean->cycles == NULL || lean->first == NULL || !refill(lean, lean->ahead[i])) {
			weir_lean_close(lean);
			return weir_fail(error, "no_memory", NULL, NULL, "give more --memory-mb",
					 "no memory for packets");
		}
	}
	return 0;
}

void
weir_lean_close(struct weir_lean *lean)
{
	for (unsigned int i = 0; i < WEIR_LEAN_AHEAD; i++) {
		if (lean->ahead[i][0] != NULL)
			rte_pktmbuf_free_bulk(lean->ahead[i], WEIR_BURST);
		lean->ahead[i][0] = NULL;
	}
	free(lean->cycles);
	lean->cycles = NULL;
	free(lean->first);
	lean->first = NULL;
}

struct rte_mbuf **
weir_lean_batch_begin(struct weir_lean *lean, struct weir_batch *batch)
{
	struct rte_mbuf **packets = lean->ahead[lean->batch_number % WEIR_LEAN_AHEAD];

	memcpy(batch->packet, packets, sizeof(batch->packet));
	memset(batch->egress, 0, sizeof(batch->egress));
	batch->count = WEIR_BURST;
	batch->direction = lean->path->direction;
	batch->parsed = false;
	batch->hands_over = false;
	batch->cache = NULL;
	batch->now_tsc = lean->now_tsc;
	return packets;
}

/* What the batch took is given back before as much is taken anew: the buffers last. */
void
weir_lean_batch_end(struct weir_lean *lean, struct weir_batch *batch, struct rte_mbuf **packets)
{
	if (batch->count > 0)
		rte_pktmbuf_free_bulk(batch->packet, batch->count);
	if (!refill(lean, packets))
		rte_panic("packet buffers are lost: a function neither forwards nor frees them\n");
	lean->batch_number++;
	lean->now_tsc += WEIR_LEAN_STEP_US * (rte_get_tsc_hz() / 1000000);
	if (lean->batch_number % STEPS_A_TICK == 0)
		weir_chain_tick(lean->chain, lean->now_tsc);
}
