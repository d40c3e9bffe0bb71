/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether frames arrive as they were sent, by sample: a driver or a function that pads, cuts, joins
 * or overwrites them is found out, though every packet is counted.
 *
 * What a generator sends behind its stamp is one byte over and over, or a capture's, and a packet's
 * number tells it, and its size. Headers are not compared: functions may change every field of
 * them, and how many there are.
 */
#include <string.h>

#include <rte_mbuf.h>

#include "parser.h"
#include "random.h"
#include "stream.h"

#define STAMP_BYTES (sizeof(struct weir_stamp))
#define LEAST_FRAME_BYTES (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)

/* `count`, one at least, by vectors, as memcmp() goes. */
static inline bool
same(const uint8_t *bytes, const uint8_t *sent, uint8_t fill, uint32_t count)
{
	if (sent != NULL)
		return memcmp(bytes, sent, count) == 0;
	return bytes[0] == fill && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* The first byte of the frame from `from` up to but without `to` that is not as it was sent; `to`:
 * all are. `sent`: those from `from` on; NULL: all are `fill`. */
static uint32_t
first_different(const struct rte_mbuf *packet, uint32_t from, uint32_t to, const uint8_t *sent,
		uint8_t fill, uint8_t *byte)
{
	uint32_t start = 0;

	for (const struct rte_mbuf *segment = packet; segment != NULL; segment = segment->next) {
		const uint8_t *data = rte_pktmbuf_mtod(segment, const uint8_t *);
		uint32_t at = RTE_MAX(from, start), end = RTE_MIN(start + segment->data_len, to);

		if (at < end && !same(data + (at - start), sent != NULL ? sent + (at - from) : NULL,
				      fill, end - at)) {
			while (data[at - start] == (sent != NULL ? sent[at - from] : fill))
				at++;
			*byte = data[at - start];
			return at;
		}
		start += segment->data_len;
	}
	return to;
}

static void
note(struct weir_frame_sample *sample, enum weir_change what, uint64_t sequence, uint32_t offset,
     uint32_t expected, uint32_t received)
{
	if (sample->changed++ > 0)
		return;
	sample->first.what = what;
	sample->first.sequence = sequence;
	sample->first.offset_bytes = offset;
	sample->first.expected = expected;
	sample->first.received = received;
}

/* The payload that a packet was sent with, and how many bytes follow its IP packet. */
struct sent {
	uint32_t bytes, trailer;
	const uint8_t *payload; /* NULL: `fill` behind the stamp */
	uint8_t fill;
};

static struct sent
captured(const struct weir_capture *capture, uint64_t sequence)
{
	uint64_t at = sequence % capture->count;
	const uint8_t *frame = capture->bytes + capture->offset[at];
	size_t length = capture->offset[at + 1] - capture->offset[at];
	struct weir_payload payload = {0};

	weir_parse_payload(frame, length, length, &payload); /* so it was stamped */
	return (struct sent){
		.bytes = payload.end - payload.at,
		.trailer = length - payload.end,
		.payload = frame + payload.at,
	};
}

static struct sent
sent_as(const struct weir_stream *stream, uint64_t sequence)
{
	const struct weir_stream_config *config = &stream->config;
	uint64_t at;

	if (stream->sender.capture.count > 0)
		return captured(&stream->sender.capture, sequence);
	at = (stream->sender.first_frame + sequence) % config->frame_count;
	return (struct sent){
		.bytes = config->frame_bytes[at] - RTE_ETHER_CRC_LEN - stream->sender.at.stamp,
		.fill = weir_packet_fields_payload(stream->sender.fields, sequence),
	};
}

/* How many frames go by before the next one that is compared: 0 to 2 x 66, each as likely, so that
 * no period of flows, sizes or fields hides from it; none in a run that learns flows. */
static uint32_t
draw_until_next(const struct weir_stream *stream, struct weir_frame_sample *sample)
{
	if (stream->answers.learning)
		return 0;
	if (sample->sampled == 1)
		sample->random = stream->config.seed + stream->sender.epoch;
	return (uint32_t)((weir_random_next(&sample->random) >> 32) * (2 * WEIR_SAMPLE_EVERY - 1) >>
			  32);
}

void
weir_frame_sample_take(struct weir_stream *stream, const struct rte_mbuf *packet,
		       uint32_t low_sequence)
{
	struct weir_frame_sample *sample = &stream->arrivals.frame_sample;
	uint64_t sequence = weir_arrivals_unwrap(&stream->arrivals, low_sequence);
	struct sent sent = sent_as(stream, sequence);
	uint32_t received, trailer, at;
	uint8_t room[WEIR_PARSER_BYTES], byte = 0;
	const uint8_t *head;
	size_t head_bytes = RTE_MIN((size_t)packet->pkt_len, sizeof(room));
	struct weir_payload payload;

	sample->sampled++;
	sample->until_next = draw_until_next(stream, sample);
	/* It has a stamp: it has a payload. */
	head = rte_pktmbuf_read(packet, 0, head_bytes, room);
	if (!weir_parse_payload(head, head_bytes, packet->pkt_len, &payload))
		return;
	if (stream->answers.learning)
		weir_answers_note(stream, head, &payload, sequence);
	received = payload.end - payload.at;
	if (received != sent.bytes) {
		note(sample, WEIR_CHANGED_LENGTH, sequence, RTE_MIN(sent.bytes, received),
		     sent.bytes, received);
		return;
	}
	at = first_different(packet, payload.at + STAMP_BYTES, payload.end,
			     sent.payload != NULL ? sent.payload + STAMP_BYTES : NULL, sent.fill,
			     &byte);
	trailer = packet->pkt_len - payload.end;
	if (at < payload.end)
		note(sample, WEIR_CHANGED_PAYLOAD, sequence, at - payload.at,
		     sent.payload != NULL ? sent.payload[at - payload.at] : sent.fill, byte);
	else if (trailer != sent.trailer && packet->pkt_len > LEAST_FRAME_BYTES)
		note(sample, WEIR_CHANGED_TRAILER, sequence, received, sent.trailer, trailer);
}
