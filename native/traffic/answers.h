/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that answers another one: its flow n goes to where flow n of that one is seen to come
 * from, which only who receives it knows when a function between translates addresses.
 *
 * A run that learns sends each flow of the answered stream once, in turn. The receiver notes the
 * addresses and ports that arrive; behind the run the answering stream's flows are made anew, with
 * their checksums, and then sent like all others. Where no source was translated they stay as they
 * are.
 */
#ifndef WEIR_TRAFFIC_ANSWERS_H
#define WEIR_TRAFFIC_ANSWERS_H

#include "parser.h"
#include "traffic.h"

struct weir_stream;

/* As a flow arrived, in network order. */
struct weir_seen_flow {
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	bool any;
};

/* Of a stream. Written by the control thread between runs, but for `seen`: by the receiver's core
 * in a run that learns. */
struct weir_answers {
	struct weir_stream *answered; /* by this stream; NULL: none */
	struct weir_seen_flow *seen;  /* of this stream, by flow; NULL: none answers it */
	bool learning;		      /* its flows, in this run or the last */
	struct weir_learned learned;  /* when that run has ended */
};

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

#endif
