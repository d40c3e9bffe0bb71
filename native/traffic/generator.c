/* SPDX-License-Identifier: Apache-2.0 */
/* The area that sends the streams of one port. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "stream.h"

struct generator {
	struct weir_area area; /* first */
	char name[64];
	struct weir_queue queue;
	uint64_t host_gap_end_tsc; /* of the last gap that was handled */
	unsigned int sender_count;
	struct weir_sender *senders[WEIR_STREAMS_MAX];
};

static inline uint32_t
send_due(struct generator *generator, struct weir_sender *sender, uint64_t now)
{
	struct rte_mbuf *packets[WEIR_SEND_BURST];
	uint64_t due, room;
	uint16_t count, sent;

	if (sender->done)
		return 0;
	if (now > sender->deadline_tsc || weir_pacing_ended(&sender->pacing, sender->sequence)) {
		__atomic_store_n(&sender->done, true, __ATOMIC_RELEASE);
		return 0;
	}
	room = weir_sender_room(sender);
	due = weir_pacing_due(&sender->pacing, now, sender->sequence + WEIR_SEND_BURST);
	if (due <= sender->sequence)
		return 0;
	count = RTE_MIN(RTE_MIN(due - sender->sequence, room), (uint64_t)WEIR_SEND_BURST);
	/* No buffer: the packets stay due; what is never built is a shortfall. */
	if (!weir_sender_fill(sender, packets, count))
		return 0;
	sent = weir_queue_transmit(&generator->queue, packets, count);
	if (unlikely(sent < count)) {
		sender->refused += count - sent;
		rte_pktmbuf_free_bulk(&packets[sent], count - sent);
	}
	return count;
}

/* Skips what was due while the host had the core. */
static void
skip(struct generator *generator)
{
	generator->host_gap_end_tsc = generator->area.host_gap_end_tsc;
	for (unsigned int i = 0; i < generator->sender_count; i++) {
		if (generator->senders[i]->skips && !generator->senders[i]->done)
			weir_sender_skip(generator->senders[i], generator->area.host_gap_begin_tsc,
					 generator->host_gap_end_tsc);
	}
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct generator *generator = (struct generator *)area;
	uint32_t handled = 0;

	if (__atomic_load_n(&weir_epoch, __ATOMIC_ACQUIRE) == 0)
		return 0;
	if (unlikely(generator->host_gap_end_tsc != area->host_gap_end_tsc))
		skip(generator);
	for (unsigned int i = 0; i < generator->sender_count; i++)
		handled += send_due(generator, generator->senders[i], now_tsc);
	return handled;
}

struct weir_area *
weir_generator_create(const char *name, unsigned int core, const struct weir_queue *queue,
		      uint16_t port_id, struct weir_error *error)
{
	struct generator *generator = calloc(1, sizeof(*generator));

	if (generator == NULL) {
		weir_fail(error, "no_memory", queue->name, NULL, NULL, "no memory for a generator");
		return NULL;
	}
	snprintf(generator->name, sizeof(generator->name), "%s", name);
	generator->area = (struct weir_area){.poll = poll, .name = generator->name, .core = core};
	generator->queue = *queue;
	if (weir_tester_area_add(&generator->area, true, port_id, error) < 0) {
		free(generator);
		return NULL;
	}
	return &generator->area;
}

void
weir_generator_destroy(struct weir_area *area)
{
	weir_tester_area_remove(area);
	free(area);
}

bool
weir_generator_copies(const struct weir_area *area)
{
	return weir_queue_copies(&((const struct generator *)area)->queue);
}

void
weir_generator_take(struct weir_area *area, struct weir_sender **senders, unsigned int count)
{
	struct generator *generator = (struct generator *)area;

	if (count > 0)
		memcpy(generator->senders, senders, count * sizeof(*senders));
	generator->sender_count = count;
}
