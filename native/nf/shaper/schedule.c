/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#define FRACTION_BITS 20
#define BITS_PER_BYTE 8

/* A burst may be worth more than 64 bits of fractions, two hours. */
static uint64_t
cycles_of(const struct bucket *bucket, uint32_t bytes)
{
	return (uint64_t)(((unsigned __int128)bucket->cycles_per_byte * bytes) >> FRACTION_BITS);
}

/*
 * When the bucket has the tokens for a packet. One that is larger than the bucket goes when that is
 * full, and leaves a debt: its rate holds all the same.
 */
static uint64_t
due_at(const struct bucket *bucket, uint32_t bytes)
{
	uint32_t missing = bucket->burst_bytes - RTE_MIN(bytes, bucket->burst_bytes);
	uint64_t before = cycles_of(bucket, missing);

	return bucket->full_tsc > before ? bucket->full_tsc - before : 0;
}

/* Takes the tokens out at that time. */
static void
spend(struct bucket *bucket, uint32_t bytes, uint64_t at_tsc)
{
	uint64_t cost = bucket->cycles_per_byte * bytes;

	if (bucket->full_tsc < at_tsc) {
		bucket->full_tsc = at_tsc;
		bucket->full_fraction = 0;
	}
	cost += bucket->full_fraction;
	bucket->full_tsc += cost >> FRACTION_BITS;
	bucket->full_fraction = cost & ((1 << FRACTION_BITS) - 1);
}

int
schedule_init(struct schedule *schedule, uint16_t queues, uint32_t capacity)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->capacity = capacity;
	schedule->queue_count = queues;
	schedule->queues = rte_zmalloc("queues", queues * sizeof(struct queue), 0);
	schedule->waiting = rte_zmalloc("waiting", queues * sizeof(uint16_t), 0);
	schedule->rings = rte_zmalloc("packets", (size_t)queues * capacity * sizeof(struct queued),
				      RTE_CACHE_LINE_SIZE);
	if (schedule->queues == NULL || schedule->waiting == NULL || schedule->rings == NULL) {
		schedule_fini(schedule);
		return -1;
	}
	for (uint16_t i = 0; i < queues; i++)
		schedule->queues[i].packets = schedule->rings + (size_t)i * capacity;
	return 0;
}

void
schedule_fini(struct schedule *schedule)
{
	for (uint16_t i = 0; schedule->queues != NULL && i < schedule->queue_count; i++) {
		struct queue *queue = &schedule->queues[i];

		for (uint32_t j = 0; j < queue->count; j++)
			rte_pktmbuf_free(
				queue->packets[(queue->first + j) % schedule->capacity].packet);
	}
	rte_free(schedule->queues);
	rte_free(schedule->waiting);
	rte_free(schedule->rings);
	memset(schedule, 0, sizeof(*schedule));
}

void
schedule_set(struct schedule *schedule, uint16_t queue, uint64_t rate_bps, uint32_t burst_bytes)
{
	unsigned __int128 cycles = (unsigned __int128)rte_get_tsc_hz() * BITS_PER_BYTE
				   << FRACTION_BITS;

	schedule->queues[queue].bucket.cycles_per_byte = cycles / rate_bps;
	schedule->queues[queue].bucket.burst_bytes = burst_bytes;
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool
is_before(const struct schedule *schedule, uint16_t left, uint16_t right)
{
	return schedule->queues[schedule->waiting[left]].due_tsc <
	       schedule->queues[schedule->waiting[right]].due_tsc;
}

static void
swap(struct schedule *schedule, uint16_t left, uint16_t right)
{
	uint16_t queue = schedule->waiting[left];

	schedule->waiting[left] = schedule->waiting[right];
	schedule->waiting[right] = queue;
}

static void
sift_up(struct schedule *schedule, uint16_t at)
{
	while (at > 0 && is_before(schedule, at, (at - 1) / 2)) {
		swap(schedule, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void
sift_down(struct schedule *schedule)
{
	uint32_t at = 0;

	for (;;) {
		uint32_t least = at;

		for (uint32_t child = 2 * at + 1;
		     child <= 2 * at + 2 && child < schedule->waiting_count; child++) {
			if (is_before(schedule, child, least))
				least = child;
		}
		if (least == at)
			return;
		swap(schedule, at, least);
		at = least;
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

enum scheduled
schedule_put(struct schedule *schedule, uint16_t number, struct queued queued, uint64_t now_tsc)
{
	struct queue *queue = &schedule->queues[number];

	if (queue->count == 0) {
		queue->due_tsc = due_at(&queue->bucket, queued.bytes);
		if (queue->due_tsc <= now_tsc) {
			spend(&queue->bucket, queued.bytes, now_tsc);
			return SCHEDULED_NOW;
		}
		schedule->waiting[schedule->waiting_count] = number;
		sift_up(schedule, schedule->waiting_count++);
	} else if (queue->count == schedule->capacity) {
		return SCHEDULED_FULL;
	}
	queue->packets[(queue->first + queue->count++) % schedule->capacity] = queued;
	return SCHEDULED_LATER;
}

uint16_t
schedule_take(struct schedule *schedule, uint64_t now_tsc, struct queued *taken, uint16_t count)
{
	uint16_t done = 0;

	while (done < count && schedule->waiting_count > 0) {
		struct queue *queue = &schedule->queues[schedule->waiting[0]];

		if (queue->due_tsc > now_tsc)
			break;
		taken[done] = queue->packets[queue->first];
		/* As if it had gone when it was due: a poll that comes late costs no rate. */
		spend(&queue->bucket, taken[done++].bytes, queue->due_tsc);
		queue->first = (queue->first + 1) % schedule->capacity;
		if (--queue->count > 0)
			queue->due_tsc = due_at(&queue->bucket, queue->packets[queue->first].bytes);
		else
			swap(schedule, 0, --schedule->waiting_count);
		sift_down(schedule);
	}
	return done;
}
