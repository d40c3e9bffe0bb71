/* SPDX-License-Identifier: Apache-2.0 */
/* The area that counts what arrives at one port of the tester. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "engine/loop.h"
#include "parser.h"
#include "stream.h"

#define BURST 32

struct receiver {
	struct weir_area area; /* first */
	char name[64];
	struct weir_queue queue;
	uint16_t port_id;
	struct weir_stream *const *by_id; /* WEIR_STREAMS_MAX entries; NULL before configure */
	struct weir_stream *unstamped;	  /* NULL: none */
	struct weir_receiver_count counts;
	uint64_t foreign;		 /* of all runs, and between them */
	uint64_t signals;		 /* of these: such as functions make */
	struct weir_arrival_clock clock; /* of poll_stamped() */
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

static void
add_foreign(struct receiver *receiver)
{
	receiver->counts.foreign++;
	weir_count(&receiver->foreign, 1);
}

/* A frame that is not Weir's own, where those of a capture without stamps are expected. */
static void
add_unstamped(struct receiver *receiver, uint16_t epoch, bool closed)
{
	struct weir_arrivals *arrivals = &receiver->unstamped->arrivals;

	if (epoch == 0)
		add_foreign(receiver);
	else if (closed)
		arrivals->too_late++;
	else
		weir_count(&arrivals->delivered, 1);
}

/* The stream of this run that the packet counts for, and its stamp; NULL: none, which is counted.
 */
static inline struct weir_stream *
stream_of(struct receiver *receiver, const struct rte_mbuf *packet, uint16_t epoch, bool closed,
	  struct weir_stamp *stamp)
{
	uint8_t room[WEIR_PARSER_BYTES];
	struct weir_stream *stream;
	size_t length;
	const uint8_t *head = head_of(packet, room, &length);

	enum weir_parsed parsed = head != NULL ? weir_parse(head, length, packet->pkt_len, stamp)
					       : WEIR_PARSED_MALFORMED;

	if (unlikely(parsed != WEIR_PARSED_STAMP && receiver->unstamped != NULL)) {
		add_unstamped(receiver, epoch, closed);
		return NULL;
	}
	switch (parsed) {
	case WEIR_PARSED_MALFORMED:
		receiver->counts.malformed++;
		return NULL;
	case WEIR_PARSED_FOREIGN:
		add_foreign(receiver);
		weir_count(&receiver->signals, weir_parse_signal(head, length, packet->pkt_len));
		return NULL;
	case WEIR_PARSED_STAMP:
		break;
	}
	stream = stamp->stream < WEIR_STREAMS_MAX && receiver->by_id != NULL
			 ? receiver->by_id[stamp->stream]
			 : NULL;
	if (stream == NULL || stream->config.to_port_id != receiver->port_id) {
		add_foreign(receiver);
		return NULL;
	}
	if (stamp->epoch != epoch) {
		receiver->counts.stale++;
		stream->arrivals.stale++;
		return NULL;
	}
	if (unlikely(closed)) {
		stream->arrivals.too_late++;
		return NULL;
	}
	return stream;
}

/* A stamp can be true if the packet arrived after it was sent and before it was taken, as far as
 * the card's clock is known. */
static inline void
add_stamped(struct receiver *receiver, struct weir_stream *stream, const struct weir_stamp *stamp,
	    const struct rte_mbuf *packet, uint64_t now, int64_t inexact)
{
	const struct weir_arrival_clock *clock = &receiver->clock;

	if (likely((packet->ol_flags & clock->flag) != 0)) {
		uint64_t at =
			weir_arrival_tsc(clock, *RTE_MBUF_DYNFIELD(packet, clock->field_offset,
								   rte_mbuf_timestamp_t *));
		int64_t after = (int64_t)(at - stamp->tx_tsc), before = (int64_t)(now - at);

		if (likely(after >= -inexact && before >= -inexact)) {
			receiver->counts.timed++;
			weir_arrivals_add(&stream->arrivals, stamp->sequence, stamp->tx_tsc,
					  after >= 0 ? at : stamp->tx_tsc);
			return;
		}
		if (after < -inexact)
			stream->arrivals.delays.negative++;
	}
	receiver->counts.untimed++;
	weir_arrivals_add_untimed(&stream->arrivals, stamp->sequence, stamp->tx_tsc, now);
}

/* One of the two polls below, as the compiler makes them. */
static __rte_always_inline uint32_t
take_burst(struct receiver *receiver, const bool stamped)
{
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&receiver->queue, packets, BURST);
	int64_t inexact = 0;
	uint64_t now;
	uint16_t epoch;
	bool closed;

	if (count == 0)
		return 0;
	now = rte_rdtsc();
	if (stamped)
		inexact = weir_arrival_uncertainty(&receiver->clock, now);
	epoch = __atomic_load_n(&weir_epoch, __ATOMIC_ACQUIRE);
	closed = __atomic_load_n(&weir_run_closed, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], void *));
	for (uint16_t i = 0; i < count; i++) {
		struct weir_stamp stamp;
		struct weir_stream *stream = stream_of(receiver, packets[i], epoch, closed, &stamp);

		if (unlikely(stream == NULL))
			continue;
		if (stamped)
			add_stamped(receiver, stream, &stamp, packets[i], now, inexact);
		else
			weir_arrivals_add(&stream->arrivals, stamp.sequence, stamp.tx_tsc, now);
		if (unlikely(stream->arrivals.frame_sample.until_next-- == 0))
			weir_frame_sample_take(stream, packets[i], stamp.sequence);
	}
	rte_pktmbuf_free_bulk(packets, count);
	return count;
}

static uint32_t
poll(struct weir_area *area, uint64_t now_tsc)
{
	(void)now_tsc;
	return take_burst((struct receiver *)area, false);
}

static uint32_t
poll_stamped(struct weir_area *area, uint64_t now_tsc)
{
	(void)now_tsc;
	return take_burst((struct receiver *)area, true);
}

struct following {
	struct receiver *receiver;
	const struct weir_arrival_clock *clock;
};

/* On the receiver's thread, between two of its polls. */
static void
follow(void *argument)
{
	const struct following *following = argument;
	struct receiver *receiver = following->receiver;

	if (following->clock == NULL) {
		receiver->area.poll = poll;
		return;
	}
	if (receiver->area.poll == poll_stamped)
		receiver->counts.clock_steps += following->clock->steps - receiver->clock.steps;
	receiver->clock = *following->clock;
	receiver->area.poll = poll_stamped;
}

void
weir_receiver_follow(uint16_t port_id, const struct weir_arrival_clock *clock)
{
	struct weir_area *area = weir_receiver_of(port_id);
	struct following following = {.receiver = (struct receiver *)area, .clock = clock};

	if (area != NULL)
		weir_area_run(area, follow, &following);
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
	if (weir_tester_area_add(&receiver->area, false, port_id, error) < 0) {
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
	struct receiver *receiver = (struct receiver *)area;

	receiver->by_id = by_id;
	if (by_id == NULL)
		receiver->unstamped = NULL;
}

void
weir_receiver_take_unstamped(struct weir_area *area, struct weir_stream *stream)
{
	((struct receiver *)area)->unstamped = stream;
}

bool
weir_receiver_has_unstamped(const struct weir_area *area)
{
	return ((const struct receiver *)area)->unstamped != NULL;
}

const char *
weir_receiver_port_name(const struct weir_area *area)
{
	return ((const struct receiver *)area)->queue.name;
}

uint64_t
weir_port_foreign(uint16_t port_id)
{
	const struct receiver *receiver = (const struct receiver *)weir_receiver_of(port_id);

	return receiver != NULL ? weir_counted(&receiver->foreign) : 0;
}

uint64_t
weir_port_signals(uint16_t port_id)
{
	const struct receiver *receiver = (const struct receiver *)weir_receiver_of(port_id);

	return receiver != NULL ? weir_counted(&receiver->signals) : 0;
}

struct weir_receiver_count *
weir_receiver_counts(struct weir_area *area)
{
	return &((struct receiver *)area)->counts;
}
