/* SPDX-License-Identifier: Apache-2.0 */
/* What generator, receiver and control share about streams; for the files of this folder. */
#ifndef WEIR_TRAFFIC_STREAM_H
#define WEIR_TRAFFIC_STREAM_H

#include <rte_cycles.h>
#include <rte_mempool.h>

#include "capture.h"
#include "delays.h"
#include "flows.h"
#include "losses.h"
#include "packet_fields.h"
#include "pacing.h"
#include "parser.h"
#include "slices.h"

/* Packets that may be missing at once before a late one is taken for lost. */
#define WEIR_WINDOW_PACKETS 65536
#define WEIR_WINDOW_WORDS (WEIR_WINDOW_PACKETS / 64)

/* That a generator builds at once, and hands to its port. */
#define WEIR_SEND_BURST 32

/* The sending half: written by the control thread between runs, by the generator's core during one.
 * Others ask that core (weir_area_run()), but for `done`. */
struct weir_sender {
	const struct weir_stream_config *config;
	struct weir_offsets at;
	uint16_t head_bytes; /* written for each packet */
	struct weir_flows flows;
	struct weir_frame *frames;	   /* one a letter of the sequence */
	struct weir_packet_fields *fields; /* NULL: none */
	struct weir_capture capture;	   /* in place of them; empty: none */
	struct rte_mempool *pool;	   /* its own: the payload behind the head stays zero */
	struct weir_pacing pacing;
	uint16_t epoch;
	uint64_t deadline_tsc; /* nothing is sent after it: a shortfall */
	uint64_t intended;     /* set at the end of the run */
	uint32_t next_order;
	uint32_t next_frame;
	uint32_t first_frame;	/* of the run's packet 0; set before it begins */
	uint64_t sequence;	/* of the next packet */
	uint64_t offered;	/* packets: fewer than that where some were skipped */
	uint64_t offered_bytes; /* of frames of a capture, with FCS */
	uint64_t refused;
	uint64_t last_tx_tsc;
	bool done;
	/* What was due while the host had the generator's core is skipped, not made up for: the
	 * system under test, which lost no core, shall see the load, not a burst. */
	bool skips;
	/* Packets in this range are to be skipped, once those before it are sent; no end: none are.
	 */
	uint64_t skip_from, skip_to;
	/* Packets sent, where slices go by time; else those skipped. */
	struct weir_slices slices;
	/* Of packets when they were built: how long ago they were due. Without a rate: none. */
	struct weir_histogram lateness_cycles;
};

/* The receiving half: written by the receiver's core; others ask it, but for `delivered`. */
struct weir_arrivals {
	bool any;
	uint64_t highest; /* sequence, not wrapped */
	uint64_t delivered, duplicates, reordered, stale, too_late;
	/* Gaps in the sequence; packets that come late fill none. */
	uint64_t gaps;
	uint64_t after_gap_tsc;	     /* when the packet behind the last of them was sent */
	uint64_t longest_gap_cycles; /* between the arrivals on its two sides */
	uint64_t newest_rx_tsc;	     /* when the highest sequence arrived; 0: none did */
	struct weir_frame_sample frame_sample;
	uint64_t window[WEIR_WINDOW_WORDS];
	struct weir_losses losses;
	struct weir_slices slices;
	struct weir_delays delays;
};

/* A flow as it arrived, in network order. */
struct weir_seen_flow {
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	bool any;
};

/* Streams that answer others. Written by the control thread between runs, but for `seen`: by the
 * receiver's core in a run that learns. */
struct weir_answers {
	struct weir_stream *answered; /* by this stream; NULL: none */
	struct weir_seen_flow *seen;  /* of this stream, by flow; NULL: none answers it */
	bool learning;		      /* its flows, in this run or the last */
	bool translated;	      /* this stream sends to addresses that were learned */
	struct weir_learned learned;  /* when that run has ended */
};

struct weir_stream {
	struct weir_stream_config config;
	struct weir_sender sender;
	struct weir_arrivals arrivals;
	struct weir_answers answers;
};

/* One conversion for all that is told of a stream: figures of parts are those of the whole, to the
 * last bit. */
static inline double
weir_ns_per_cycle(void)
{
	return 1e9 / (double)rte_get_tsc_hz();
}

/* Whether its frames are a capture's, which carry no stamp: where they are expected, all that is
 * not Weir's own counts for the stream. */
static inline bool
weir_stream_is_unstamped(const struct weir_stream *stream)
{
	return stream->config.capture[0] != '\0' && !stream->config.stamped;
}

/* Number of the last run, 0 before the first and after one that was stopped: the generators send
 * only in a run. */
extern uint16_t weir_epoch;
/* The drain is over: packets that arrive now are too late. */
extern bool weir_run_closed;

/* Counts the arrival of `sequence` (wrapping 32 bits), and how long it was under way. */
void weir_arrivals_add(struct weir_arrivals *arrivals, uint32_t sequence, uint64_t tx_tsc,
		       uint64_t rx_tsc);
/* The same of a packet whose time of arrival is not known exactly: it has no delay. */
void weir_arrivals_add_untimed(struct weir_arrivals *arrivals, uint32_t sequence, uint64_t tx_tsc,
			       uint64_t now_tsc);
void weir_arrivals_clear(struct weir_arrivals *arrivals);

/* The sequence number nearest to the highest seen that has these low 32 bits. */
static inline uint64_t
weir_arrivals_unwrap(const struct weir_arrivals *arrivals, uint32_t sequence)
{
	int32_t step = (int32_t)(sequence - (uint32_t)arrivals->highest);

	if (step < 0 && (uint64_t)(-(int64_t)step) > arrivals->highest)
		return sequence;
	return arrivals->highest + step;
}

/* In nanoseconds, what a histogram has in cycles. */
void weir_latency_of(const struct weir_histogram *cycles, struct weir_latency_ns *latency);

/* Compares a frame that arrived, and counts for that stream, with what was sent. */
void weir_frame_sample_take(struct weir_stream *stream, const struct rte_mbuf *packet,
			    uint32_t low_sequence);

/* Finds whom each stream answers. -1 with `error` at the stream with index `*at`. */
int weir_answers_join(unsigned int *at, struct weir_error *error);
void weir_answers_free(struct weir_answers *answers);
/* Whether a stream answers another one. */
bool weir_answers_any(void);
/* Before a run, whether it learns or not; the loops have stopped. True: this stream is sent. */
bool weir_answers_ready(struct weir_stream *stream, bool learns);
/* A packet of a stream whose flows are learned arrived; `head` reaches to its ports. */
void weir_answers_note(struct weir_stream *stream, const uint8_t *head,
		       const struct weir_payload *at, uint64_t sequence);
/* The run is closed: nobody sends or receives. Gives answering streams what was learned, if it was
 * a run that learns. */
void weir_answers_take(void);

/* Registers and unregisters an area of the tester. -1 with `error`: the port has one
 * already, or there are too many. */
int weir_tester_area_add(struct weir_area *area, bool sends, uint16_t port_id,
			 struct weir_error *error);
void weir_tester_area_remove(struct weir_area *area);
/* The area that sends or receives on a port, or NULL. */
struct weir_area *weir_generator_of(uint16_t port_id);
struct weir_area *weir_receiver_of(uint16_t port_id);
unsigned int weir_generator_count(void);
struct weir_area *weir_generator_at(unsigned int index);
struct weir_area *weir_receiver_at(unsigned int index);

/* The streams, by index; streams.c makes and frees them. */
extern struct weir_stream *weir_streams[WEIR_STREAMS_MAX];
extern unsigned int weir_streams_used;
struct weir_stream *weir_stream_at(unsigned int index);
/* Forgets the last run. */
void weir_run_forget(void);

/* Gives the senders of a port to its generator, and all streams by id to a receiver. Control
 * thread, between runs. */
void weir_generator_take(struct weir_area *area, struct weir_sender **senders, unsigned int count);
/* Whether its port gives back every packet before the call that sends it returns. */
bool weir_generator_copies(const struct weir_area *area);
void weir_receiver_take(struct weir_area *area, struct weir_stream *const *by_id);
/* The stream whose frames carry no stamp, of which a receiver may have one; NULL: none. */
void weir_receiver_take_unstamped(struct weir_area *area, struct weir_stream *stream);
bool weir_receiver_has_unstamped(const struct weir_area *area);
const char *weir_receiver_port_name(const struct weir_area *area);
struct weir_receiver_count *weir_receiver_counts(struct weir_area *area);

/* Fills one burst of `count` packets of the sender, and counts them as offered. False: no buffers.
 */
bool weir_sender_fill(struct weir_sender *sender, struct rte_mbuf **packets, uint16_t count);
/* Skips what was due in a gap, if the sender skips. What was due before the gap and is not sent yet
 * is still sent: else each gap would hide that the sender is too slow. Until then further gaps are
 * not skipped. */
void weir_sender_skip(struct weir_sender *sender, uint64_t host_gap_begin_tsc,
		      uint64_t host_gap_end_tsc);
/* How many packets are sent before the next skipped range; at its begin the sequence jumps over it.
 */
uint64_t weir_sender_room_before_skip(struct weir_sender *sender);

static inline uint64_t
weir_sender_room(struct weir_sender *sender)
{
	return likely(sender->skip_to == 0) ? UINT64_MAX : weir_sender_room_before_skip(sender);
}
/* `copied`: no packet is in use any more when the next burst is built, so that the stream needs
 * few. */
int weir_sender_prepare(struct weir_sender *sender, const struct weir_stream_config *config,
			bool copied, struct weir_error *error);
void weir_sender_free(struct weir_sender *sender);
/* The capture that the stream names. -1 with `error`, and nothing to free. */
int weir_captured_read(const struct weir_stream_config *config, struct weir_capture *capture,
		       struct weir_error *error);
/* Writes the next `count` of the sender's captured frames into packets. */
void weir_captured_fill(struct weir_sender *sender, struct rte_mbuf **packets, uint16_t count,
			uint64_t now_tsc);
/* Prepares it for the run of that number; only its pacing's start and its deadline are still to be
 * set, by weir_sender_begin(). */
void weir_sender_ready(struct weir_sender *sender, uint16_t epoch, struct weir_pacing pacing);
void weir_sender_begin(struct weir_sender *sender, uint64_t start_tsc);
/* Its flows one after the other, from the first on; or again as its distribution has them. */
void weir_sender_in_turn(struct weir_sender *sender, bool in_turn);
/* Lets nothing become due any more. On the thread of its generator, or between runs. */
void weir_sender_finish(struct weir_sender *sender, uint64_t now_tsc);

#endif
