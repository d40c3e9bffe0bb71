/* SPDX-License-Identifier: Apache-2.0 */
/* The area that counts what arrives at one port of the tester. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "parser.h"
#include "stream.h"

#define BURST 32

struct receiver {
	struct weir_area area; /* first */
	char name[64];
	struct weir_queue queue;
	uint16_t port_id;
	struct weir_stream *const *by_id; /* WEIR_STREAMS_MAX entries; NULL before configure */
	struct weir_receiver_count counts;
};

/* The frame's first bytes in one piece: in the first segment, or copied together into `room`. */
static inline const uint8_t *
head_of(const struct rte_mbuf *packet, uint8_t room[WEIR_PARSER_BYTES], size_t *length)
{
	if (likely(packet->nb_segs == 1)) {
		*length = packet->data_len;
		return rte_pktmbuf_mtod(packet, const uint8_t *);
	}
	*length = RTE_MIN((size_t)packet->pkt_len, (size_t)WEIR_PARSER_BYTES);
	return rte_pktmbuf_read(packet, 0, *length, room);
}

static inline void
count_packet(struct receiver *receiver, const struct rte_mbuf *packet, uint16_t epoch, bool closed,
	     uint64_t now)
{
	uint8_t room[WEIR_PARSER_BYTES];
	struct weir_stamp stamp;
	struct weir_stream *stream;
	size_t length;
	const uint8_t *head = head_of(packet, room, &length);

	switch (head != NULL ? weir_parse(head, length, packet->pkt_len, &stamp)
			     : WEIR_PARSED_MALFORMED) {
	case WEIR_PARSED_MALFORMED:
		receiver->counts.malformed++;
		return;
	case WEIR_PARSED_FOREIGN:
		receiver->counts.foreign++;
		return;
	case WEIR_PARSED_STAMP:
		break;
	}
	stream = stamp.stream < WEIR_STREAMS_MAX && receiver->by_id != NULL
			 ? receiver->by_id[stamp.stream]
			 : NULL;
	if (stream == NULL || stream->config.to_port_id != receiver->port_id) {
		receiver->counts.foreign++;
		return;
	}
	if (stamp.epoch != epoch) {
		receiver->counts.stale++;
		stream->arrivals.stale++;
		return;
	}
	if (unlikely(closed)) {
		stream->arrivals.too_late++;
		return;
	}
	weir_arrivals_add(&stream->arrivals, stamp.sequence, stamp.tx_tsc, now);
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	struct receiver *receiver = (struct receiver *)area;
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&receiver->queue, packets, BURST);
	uint16_t epoch;
	bool closed;

	(void)now_tsc;
	if (count == 0)
		return 0;
	now_tsc = rte_rdtsc();
	epoch = __atomic_load_n(&weir_epoch, __ATOMIC_ACQUIRE);
	closed = __atomic_load_n(&weir_run_closed, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], void *));
	for (uint16_t i = 0; i < count; i++)
		count_packet(receiver, packets[i], epoch, closed, now_tsc);
	rte_pktmbuf_free_bulk(packets, count);
	return count;
}

struct weir_area *
weir_receiver_create(const char *name, unsigned int core, const struct weir_queue *queue,
		     uint16_t port_id, struct weir_error *error)
{
	struct receiver *receiver = calloc(1, sizeof(*receiver));

	if (receiver == NULL) {
		weir_fail(error, "no_memory", queue->name, NULL, NULL, "no memory for a receiver");
		return NULL;
	}
	snprintf(receiver->name, sizeof(receiver->name), "%s", name);
	receiver->queue = *queue;
	receiver->area = (struct weir_area){.poll = poll, .name = receiver->name, .core = core};
	receiver->port_id = port_id;
	if (weir_tester_area_add(&receiver->area, false, error) < 0) {
		free(receiver);
		return NULL;
	}
	return &receiver->area;
}

void
weir_receiver_destroy(struct weir_area *area)
{
	weir_tester_area_remove(area);
	free(area);
}

void
weir_receiver_take(struct weir_area *area, struct weir_stream *const *by_id)
{
	((struct receiver *)area)->by_id = by_id;
}

uint16_t
weir_receiver_port_id(const struct weir_area *area)
{
	return ((const struct receiver *)area)->port_id;
}

const char *
weir_receiver_port_name(const struct weir_area *area)
{
	return ((const struct receiver *)area)->queue.name;
}

struct weir_receiver_count *
weir_receiver_counts(struct weir_area *area)
{
	return &((struct receiver *)area)->counts;
}
