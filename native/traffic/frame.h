/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that every frame of one stream and size shares, and where the varied fields are. */
#ifndef WEIR_TRAFFIC_FRAME_H
#define WEIR_TRAFFIC_FRAME_H

#include "traffic.h"

/* Ethernet 14 + tag 4 + IPv6 40 + TCP 20 + stamp 18 = 96 bytes at the most: three vectors. */
#define WEIR_HEAD_BYTES 96
#define WEIR_SHORT_HEAD_BYTES 64 /* UDP over IPv4: two vectors */

struct weir_frame {
	uint8_t head[WEIR_HEAD_BYTES] __attribute__((aligned(32)));
	uint16_t length;	 /* in the buffer: without FCS */
	uint16_t ip_length_word; /* what the IPv4 length adds to the header's sum */
	uint16_t l4_length_sum;	 /* what the length adds to the transport sum */
};

struct weir_offsets {
	uint16_t ip_checksum; /* 0 with IPv6 */
	uint16_t addresses;   /* source address, then destination */
	uint16_t address_bytes;
	uint16_t ports;
	uint16_t l4_checksum;
	uint16_t stamp;
};

/* The smallest frame that holds the headers and a stamp, with FCS. */
uint16_t weir_frame_minimum(const struct weir_template *template);
struct weir_offsets weir_frame_offsets(const struct weir_template *template);
/* Builds the frame of `frame_bytes` (with FCS) with zero checksums; its size has been checked. */
void weir_frame_build(const struct weir_template *template, uint16_t frame_bytes,
		      struct weir_frame *frame);

#endif
