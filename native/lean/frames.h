/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in memory, in their order: what a lean measurement sends, again and again. */
#ifndef WEIR_LEAN_FRAMES_H
#define WEIR_LEAN_FRAMES_H

#include <stdint.h>

#include "engine/error.h"
#include "traffic/traffic.h"

/* Frame i is bytes[offset[i]] to bytes[offset[i + 1] - 1], without FCS. */
struct weir_frames {
	uint32_t count;
	uint64_t *offset;
	uint8_t *bytes;
	uint64_t size, room; /* of `bytes` */
	uint32_t capacity;   /* of `offset`, less one */
	uint32_t left_out;   /* of a file: cut off when captured, or too long for a packet buffer */
	bool no_memory;
};

/* The Ethernet frames of a capture file that fit into the ports' packet buffers. -1 with `error`:
 * it cannot be read, or has none. */
int weir_frames_from_pcap(const char *path, struct weir_frames *frames, struct weir_error *error);
/* The first `count` frames of a stream. */
int weir_frames_from_stream(const struct weir_stream_config *config, uint32_t count,
			    struct weir_frames *frames, struct weir_error *error);
void weir_frames_free(struct weir_frames *frames);

#endif
