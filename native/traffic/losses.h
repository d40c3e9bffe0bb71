/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When packets of a stream went missing: a packet arrived, and some that were sent before it had
 * not. Such gaps close to each other are one loss. Those that come late after all are reordered,
 * not lost; the number that is missing in the end is the highest sequence number less those that
 * arrived.
 */
#ifndef WEIR_TRAFFIC_LOSSES_H
#define WEIR_TRAFFIC_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_LOSSES_MAX 64 /* kept between two readings; more are counted together */

struct weir_loss {
	uint64_t tsc; /* the first gap was noticed */
	uint64_t packets;
};

struct weir_losses {
	uint64_t together_cycles; /* gaps nearer than this to the last one belong to it */
	uint64_t last_tsc;
	unsigned int count;
	struct weir_loss kept[WEIR_LOSSES_MAX];
	uint64_t left_out_packets;
};

static inline void
weir_losses_add(struct weir_losses *losses, uint64_t now_tsc, uint64_t packets)
{
	struct weir_loss *last = losses->count > 0 ? &losses->kept[losses->count - 1] : NULL;
	bool near = now_tsc - losses->last_tsc <= losses->together_cycles;

	losses->last_tsc = now_tsc;
	if (last != NULL && near && losses->left_out_packets == 0)
		last->packets += packets;
	else if (losses->count < WEIR_LOSSES_MAX)
		losses->kept[losses->count++] =
			(struct weir_loss){.tsc = now_tsc, .packets = packets};
	else
		losses->left_out_packets += packets;
}

#endif
