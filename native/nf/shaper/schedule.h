/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that are emptied at a rate: each a FIFO behind a token bucket, and a heap that knows which
 * queue's first packet is due first. Time is in TSC cycles and 2^-20 of one, so that rates are
 * exact to 1 in 10^6 at 10 Gbit/s.
 */
#ifndef WEIR_NF_SHAPER_SCHEDULE_H
#define WEIR_NF_SHAPER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/* A token bucket by the time at which it will be full (virtual scheduling, as ITU-T I.371's). */
struct bucket {
	uint64_t full_tsc;
	uint64_t full_fraction;
	uint64_t cycles_per_byte; /* in 2^-20 cycles */
	uint32_t burst_bytes;
};

struct queued {
	struct rte_mbuf *packet;
	uint32_t bytes;
	uint8_t mark; /* the caller's */
};

struct queue {
	struct bucket bucket;
	uint64_t due_tsc; /* of the first packet */
	uint32_t first;
	uint32_t count;
	struct queued *packets; /* a ring of `capacity` */
};

struct schedule {
	uint32_t capacity; /* packets a queue */
	uint16_t queue_count;
	uint16_t waiting_count;
	struct queue *queues;
	uint16_t *waiting; /* a heap of queues with packets, by due_tsc */
	struct queued *rings;
};

/* Queues without rates yet. -1: no memory. */
int schedule_init(struct schedule *schedule, uint16_t queues, uint32_t capacity);
/* Frees the packets that still wait. */
void schedule_fini(struct schedule *schedule);

/* `rate_bps` of 1,000 at least, and a full bucket. */
void schedule_set(struct schedule *schedule, uint16_t queue, uint64_t rate_bps,
		  uint32_t burst_bytes);

enum scheduled { SCHEDULED_NOW, SCHEDULED_LATER, SCHEDULED_FULL };

/* Whether a packet goes on now, waits (the schedule then has it), or finds the
 * queue full. */
enum scheduled schedule_put(struct schedule *schedule, uint16_t queue, struct queued queued,
			    uint64_t now_tsc);

/* Packets that are due, the longest due first; `count` at most. */
uint16_t schedule_take(struct schedule *schedule, uint64_t now_tsc, struct queued *taken,
		       uint16_t count);

#endif
