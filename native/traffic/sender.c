/* SPDX-License-Identifier: Apache-2.0 */
/* Building packets: copy the head, write the varied fields and the stamp, complete the checksums.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "engine/handover.h"
#include "stamp.h"
#include "stream.h"

/* What rings, queues and functions may hold of one stream where packets go on without a copy. */
#define POOL_MBUFS 16383
#define POOL_CACHE 256
/* One burst, of which nothing is left when the next is built. Without a cache, in which each core
 * would keep some, and which takes more memory than the packets. */
#define POOL_MBUFS_COPIED 63
static_assert(POOL_MBUFS_COPIED >= WEIR_SEND_BURST, "a burst fits");
#define ROOM_BYTES 1536
#define JUMBO_ROOM_BYTES 9280
static_assert(JUMBO_ROOM_BYTES >= WEIR_FRAME_BYTES_MAX + RTE_VLAN_HLEN, "all frames fit a buffer");

/* The payload behind the head is zero from here on: no checksum depends on it. */
static void
clear_data(struct rte_mempool *pool, void *argument, void *object, unsigned int index)
{
	struct rte_mbuf *packet = object;

	(void)pool;
	(void)argument;
	(void)index;
	memset(packet->buf_addr, 0, packet->buf_len);
}

/*
 * The pool of a stream number, for heads of that size and frames that fit that room: each packet
 * overwrites the whole head of the one before it in its buffer, and nothing else. Frames of
 * captures, and payloads that change, overwrite more, and have pools of their own, as a stream has
 * that moves to a port which copies, or from there. It lives as long as weir-dp: the transmit rings
 * of ports hold its packets until their slots are used again, which may be after the next
 * traffic.configure. So it is neither freed (one made anew at the same place would get them back a
 * second time) nor cleared again (they may not have been read yet).
 */
static struct rte_mempool *
pool_of(uint16_t stream, const char *kind, uint16_t head_bytes, uint16_t room_bytes, bool copied)
{
	const unsigned int mbufs = copied ? POOL_MBUFS_COPIED : POOL_MBUFS;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "%s-%u-%u-%u-%u", kind, stream, head_bytes, room_bytes, mbufs);
	pool = rte_mempool_lookup(name);
	if (pool != NULL)
		return pool;
	pool = rte_pktmbuf_pool_create(name, mbufs, copied ? 0 : POOL_CACHE, WEIR_PRIVATE_BYTES,
				       RTE_PKTMBUF_HEADROOM + room_bytes, SOCKET_ID_ANY);
	if (pool != NULL)
		rte_mempool_obj_iter(pool, clear_data, NULL);
	return pool;
}

/* What the largest frame of the stream needs. */
static uint16_t
room_bytes_of(const struct weir_stream_config *config, const struct weir_capture *capture)
{
	for (uint32_t i = 0; i < capture->count; i++) {
		if (capture->offset[i + 1] - capture->offset[i] > ROOM_BYTES)
			return JUMBO_ROOM_BYTES;
	}
	for (unsigned int i = 0; i < config->frame_count; i++) {
		if (config->frame_bytes[i] > ROOM_BYTES)
			return JUMBO_ROOM_BYTES;
	}
	return ROOM_BYTES;
}

int
weir_sender_prepare(struct weir_sender *sender, const struct weir_stream_config *config,
		    bool copied, struct weir_error *error)
{
	bool captured = config->capture[0] != '\0';
	const char *kind = captured						? "capture"
			   : config->fields[WEIR_PACKET_PAYLOAD_BYTE].count > 0 ? "payload"
										: "stream";

	memset(sender, 0, sizeof(*sender));
	sender->config = config;
	sender->at = weir_frame_offsets(&config->template);
	sender->head_bytes = sender->at.stamp + sizeof(struct weir_stamp) <= WEIR_SHORT_HEAD_BYTES
				     ? WEIR_SHORT_HEAD_BYTES
				     : WEIR_HEAD_BYTES;
	if (captured && weir_captured_read(config, &sender->capture, error) < 0)
		return -1;
	if (weir_packet_fields_make(config, &sender->fields, error) < 0 ||
	    weir_flows_make(config, &sender->flows, error) < 0) {
		weir_sender_free(sender);
		return -1;
	}
	sender->frames = aligned_alloc(32, config->frame_count * sizeof(*sender->frames));
	sender->pool = pool_of(config->id, kind, sender->head_bytes,
			       room_bytes_of(config, &sender->capture), copied);
	if (sender->frames == NULL || sender->pool == NULL) {
		weir_sender_free(sender);
		return weir_fail(error, "no_memory", NULL, NULL,
				 "reserve more hugepages, or give weir-dp more --memory-mb",
				 "no memory for the packets of stream %u: %s", config->id,
				 rte_strerror(rte_errno));
	}
	for (unsigned int i = 0; i < config->frame_count; i++)
		weir_frame_build(&config->template, config->frame_bytes[i], &sender->frames[i]);
	return 0;
}

void
weir_sender_free(struct weir_sender *sender)
{
	weir_capture_free(&sender->capture);
	weir_flows_free(&sender->flows);
	free(sender->fields);
	free(sender->frames);
	memset(sender, 0, sizeof(*sender));
}

void
weir_sender_ready(struct weir_sender *sender, uint16_t epoch, struct weir_pacing pacing)
{
	sender->epoch = epoch;
	sender->pacing = pacing;
	sender->intended = 0;
	sender->sequence = 0;
	if (sender->capture.count > 0)
		sender->next_frame = 0;
	sender->first_frame = sender->next_frame;
	sender->skip_to = 0;
	sender->offered = 0;
	sender->offered_bytes = 0;
	sender->refused = 0;
	sender->done = false;
	weir_histogram_clear(&sender->lateness_cycles);
}

void
weir_sender_in_turn(struct weir_sender *sender, bool in_turn)
{
	weir_flows_in_turn(&sender->flows, in_turn);
	if (in_turn || sender->next_order >= sender->flows.order_count)
		sender->next_order = 0;
}

/* A packet that is due may still go out a little later than it should have. */
static uint64_t
grace_cycles(const struct weir_sender *sender)
{
	const struct weir_pacing *pacing = &sender->pacing;

	return !pacing->limited ? 0 : pacing->duration_cycles / 1000 + 100000;
}

void
weir_sender_begin(struct weir_sender *sender, uint64_t start_tsc)
{
	uint64_t duration = sender->pacing.duration_cycles;

	sender->pacing.start_tsc = start_tsc;
	sender->deadline_tsc = start_tsc + duration + grace_cycles(sender);
	sender->last_tx_tsc = start_tsc;
}

void
weir_sender_finish(struct weir_sender *sender, uint64_t now_tsc)
{
	weir_pacing_cut(&sender->pacing, now_tsc);
	sender->deadline_tsc = RTE_MIN(sender->deadline_tsc, now_tsc + grace_cycles(sender));
}

static inline const struct weir_flow *
next_flow(struct weir_sender *sender)
{
	const struct weir_flows *flows = &sender->flows;
	uint32_t at = sender->next_order;

	sender->next_order = at + 1 == flows->order_count ? 0 : at + 1;
	return &flows->flow[flows->order != NULL ? flows->order[at] : at];
}

static inline const struct weir_frame *
next_frame(struct weir_sender *sender)
{
	uint32_t at = sender->next_frame;

	sender->next_frame = at + 1 == sender->config->frame_count ? 0 : at + 1;
	return &sender->frames[at];
}

static __rte_always_inline void
put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static __rte_always_inline uint16_t
fold32(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* `stamp_base`: the sum of the stamp's words that are the same for the whole burst. */
static __rte_always_inline void
build(uint8_t *data, const struct weir_frame *frame, const struct weir_flow *flow,
      struct weir_offsets at, uint16_t head_bytes, struct weir_stamp *stamp, uint32_t stamp_base)
{
	uint16_t checksum;

	if (head_bytes == WEIR_SHORT_HEAD_BYTES)
		memcpy(data, frame->head, WEIR_SHORT_HEAD_BYTES);
	else
		memcpy(data, frame->head, WEIR_HEAD_BYTES);
	if (at.ip_checksum != 0) {
		memcpy(data + at.addresses, flow, 8);
		put16(data + at.ip_checksum,
		      ~fold32((uint32_t)flow->ip_sum + frame->ip_length_word));
	} else {
		memcpy(data + at.addresses + 12, &flow->src_ip, 4);
		memcpy(data + at.addresses + 28, &flow->dst_ip, 4);
	}
	memcpy(data + at.ports, &flow->src_port, 4);
	checksum = ~fold32((uint32_t)flow->l4_sum + frame->l4_length_sum);
	/* RFC 768: a computed zero is sent as all ones. For TCP both mean the same. */
	put16(data + at.l4_checksum, checksum != 0 ? checksum : 0xffff);
	stamp->check =
		fold32(WEIR_STAMP_SUM + (uint16_t)~fold32(stamp_base + (stamp->sequence & 0xffff) +
							  (stamp->sequence >> 16)));
	memcpy(data + at.stamp, stamp, sizeof(*stamp));
}

/* How late a burst is that begins with that packet and is built now. */
static void
count_lateness(struct weir_sender *sender, uint64_t sequence, uint32_t count, uint64_t now_tsc)
{
	const struct weir_pacing *pacing = &sender->pacing;

	while (weir_pacing_is_constant(pacing) && count > 0) {
		struct weir_since_due late = weir_since_due(pacing, sequence, now_tsc);
		uint32_t alike = (uint32_t)RTE_MIN(late.end - sequence, (uint64_t)count);

		weir_since_due_add(&sender->lateness_cycles, late.first, late.step, alike);
		sequence += alike;
		count -= alike;
	}
	for (; pacing->poisson && count > 0; sequence++, count--)
		weir_histogram_add(&sender->lateness_cycles,
				   now_tsc - weir_pacing_drawn_tsc(pacing, sequence));
}

/* One of the two bursts below, as the compiler makes them: only drawn gaps are in the stamps,
 * packet by packet. */
static __rte_always_inline void
fill_burst(struct weir_sender *sender, struct rte_mbuf **packets, uint16_t count, uint64_t now_tsc,
	   const bool drawn)
{
	const struct weir_offsets at = sender->at;
	const uint16_t head_bytes = sender->head_bytes;
	const bool sliced_by_time = sender->slices.by_time;
	struct weir_stamp stamp = {
		.epoch = sender->epoch,
		.stream = sender->config->id,
		.sequence = (uint32_t)sender->sequence,
		.tx_tsc = now_tsc,
	};
	uint32_t stamp_base = weir_sum_fold(stamp.tx_tsc) + stamp.epoch + stamp.stream;

	for (uint16_t i = 0; i < count; i++, stamp.sequence++) {
		const struct weir_frame *frame = next_frame(sender);
		struct rte_mbuf *packet = packets[i];

		if (drawn) {
			stamp.tx_tsc = weir_pacing_drawn_tsc(&sender->pacing, sender->sequence + i);
			stamp_base = weir_sum_fold(stamp.tx_tsc) + stamp.epoch + stamp.stream;
		}
		packet->data_len = frame->length;
		packet->pkt_len = frame->length;
		build(rte_pktmbuf_mtod(packet, uint8_t *), frame, next_flow(sender), at, head_bytes,
		      &stamp, stamp_base);
		if (unlikely(sliced_by_time))
			weir_slices_add(&sender->slices, stamp.sequence, stamp.tx_tsc,
					stamp.tx_tsc);
	}
}

bool
weir_sender_fill(struct weir_sender *sender, struct rte_mbuf **packets, uint16_t count)
{
	uint64_t now_tsc;

	if (unlikely(rte_pktmbuf_alloc_bulk(sender->pool, packets, count) != 0))
		return false;
	now_tsc = rte_rdtsc();
	if (unlikely(sender->capture.count > 0))
		weir_captured_fill(sender, packets, count, now_tsc);
	else if (sender->pacing.poisson)
		fill_burst(sender, packets, count, now_tsc, true);
	else
		fill_burst(sender, packets, count, now_tsc, false);
	if (sender->fields != NULL)
		weir_packet_fields_write(sender->fields, sender->sequence, packets, count);
	count_lateness(sender, sender->sequence, count, now_tsc);
	sender->last_tx_tsc = now_tsc;
	sender->sequence += count;
	sender->offered += count;
	return true;
}

/* Flows and frame sizes go on as if those packets had been sent: each sequence number has its own.
 */
static void
jump(struct weir_sender *sender)
{
	uint64_t skipped = sender->skip_to - sender->sequence;

	weir_slices_add_range(&sender->slices, sender->sequence, sender->skip_to);
	sender->next_order = (uint32_t)((sender->next_order + skipped) % sender->flows.order_count);
	sender->next_frame = (uint32_t)((sender->next_frame + skipped) %
					(sender->capture.count > 0 ? sender->capture.count
								   : sender->config->frame_count));
	sender->sequence = sender->skip_to;
	sender->skip_to = 0;
}

void
weir_sender_skip(struct weir_sender *sender, uint64_t host_gap_begin_tsc, uint64_t host_gap_end_tsc)
{
	uint64_t from = weir_pacing_due(&sender->pacing, host_gap_begin_tsc, UINT64_MAX);
	uint64_t to = weir_pacing_due(&sender->pacing, host_gap_end_tsc, UINT64_MAX);

	if (sender->skip_to != 0 || to <= RTE_MAX(from, sender->sequence))
		return;
	sender->skip_from = from;
	sender->skip_to = to;
	if (sender->sequence >= from)
		jump(sender);
}

uint64_t
weir_sender_room_before_skip(struct weir_sender *sender)
{
	if (sender->sequence < sender->skip_from)
		return sender->skip_from - sender->sequence;
	jump(sender);
	return UINT64_MAX;
}
