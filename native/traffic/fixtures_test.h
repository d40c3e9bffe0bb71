/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of this folder: templates, an EAL without hugepages, rings as ports. */
#ifndef WEIR_TRAFFIC_FIXTURES_TEST_H
#define WEIR_TRAFFIC_FIXTURES_TEST_H

#include <rte_mbuf.h>

#include "stamp.h"
#include "traffic.h"

/* One of the eight: IPv4 or IPv6, UDP or TCP, untagged or tagged. */
struct weir_template template_of(bool v6, bool tcp, bool tagged);
/* One stream of that template and size: id 0, sent at port 0, received at port 1. */
struct weir_stream_config stream_of(struct weir_template template, uint16_t frame_bytes);

/* Group set-up: DPDK with one polling lcore, in ordinary memory. */
int start_eal(void **state);

/* A valid stamp of stream 0. */
struct weir_stamp stamp_of(uint16_t epoch, uint32_t sequence);
/* The bytes of a whole frame with that stamp, without FCS; checksums are zero. Returns their
 * number. `bytes` has room for the largest. */
uint16_t stamped_frame(const struct weir_template *template, uint16_t frame_bytes,
		       struct weir_stamp stamp, uint8_t *bytes);

#endif
