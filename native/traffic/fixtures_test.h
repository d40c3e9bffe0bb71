/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of this folder: templates, DPDK without hugepages, a tester at a wire. */
#ifndef WEIR_TRAFFIC_FIXTURES_TEST_H
#define WEIR_TRAFFIC_FIXTURES_TEST_H

#include <rte_mbuf.h>

#include "stamp.h"
#include "traffic.h"

/* One of the eight: IPv4 or IPv6, UDP or TCP, untagged or tagged. */
struct weir_template template_of(bool v6, bool tcp, bool tagged);
/* One stream of that template and size: id 0, sent at port 0, received at port 1. */
struct weir_stream_config stream_of(struct weir_template template, uint16_t frame_bytes);

/* Group set-up: DPDK with one polling lcore, in ordinary memory, and the wire. */
int start_eal(void **state);

/* A ring of 4,095 packets, as an in-memory port has: port 0 sends into it, port 1 receives from it.
 */
extern struct weir_queue wire;
/* Test set-up: a generator at port 0 and a receiver at port 1, which no loop polls yet. */
extern struct weir_area *generator, *receiver;
int make_tester(void **state);
/* Test clean-up: stops the loops, and frees what is on the wire. */
int free_tester(void **state);

/* Gives the area to the polling loop, which does not run. */
void place(struct weir_area *area);
/* The loop runs; it has stalled where it takes longer than a millisecond. */
void start_loop(void);
/* The only stream from here on. */
void configure(const struct weir_stream_config *config);
/* Generator and receiver with that stream, and the loop that polls them. */
void run_tester(const struct weir_stream_config *config);
void start_run(double rate_pps, uint64_t duration_ns, uint64_t drain_ns);
/* Waits for the end of the run, a second at most; the counts of its stream. */
struct weir_stream_count wait_for_end(void);

/* Of stream 0, as at the end of a run: for tests without one. */
struct weir_stream_count stream_counts(void);

/* RFC 1071, byte by byte: the sum of what a right checksum covers is all ones. */
uint32_t summed(const uint8_t *at, size_t bytes, uint32_t sum);
/* The same of a transport header with its pseudo header, by where the headers begin and it ends. */
uint32_t transport_sum(const uint8_t *frame, size_t network, size_t transport, size_t end,
		       uint8_t protocol);

/* A valid stamp of stream 0. */
struct weir_stamp stamp_of(uint16_t epoch, uint32_t sequence);
/* The bytes of a whole frame with that stamp, without FCS; checksums are zero. Returns their
 * number. `bytes` has room for the largest. */
uint16_t stamped_frame(const struct weir_template *template, uint16_t frame_bytes,
		       struct weir_stamp stamp, uint8_t *bytes);

#endif
