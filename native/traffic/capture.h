/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a capture file (pcap, pcapng) in memory, in their order, with the gaps between
 * them. A file that cannot be sent as it is, frame by frame, is refused, and which frame is why.
 */
#ifndef WEIR_TRAFFIC_CAPTURE_H
#define WEIR_TRAFFIC_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ether.h>

#include "address_map.h"
#include "engine/error.h"

#define WEIR_CAPTURE_BYTES_MAX (512u << 20) /* of all frames of one file */
#define WEIR_CAPTURE_FRAMES_MAX (1u << 22)

/* Frame i is bytes[offset[i]] to bytes[offset[i + 1] - 1], without FCS. */
struct weir_capture {
	uint32_t count;
	uint64_t *offset;
	uint8_t *bytes;
	/* From frame i - 1 to frame i, not below 0; of frame 0, from the last one to it when the
	 * file begins again: the mean of the others. */
	double *gap_ns;
	double mean_gap_ns;   /* 0: one frame, or all at one time */
	double lead_ns;	      /* from the file's first frame, passed or not, to frame 0 */
	uint32_t frames_read; /* of the file, those that the filter left out too */
	/* Where in frame i Weir's stamp goes; NULL: the frames stay as they are. */
	uint16_t *stamp_at;
	uint64_t room; /* of `bytes` */
	uint32_t capacity;
};

struct weir_capture_wanted {
	uint16_t frame_bytes_max; /* with FCS */
	/* A stamp at the start of each payload, and the checksum of UDP or TCP made right. */
	bool stamp;
	/* NULL: the file's own. */
	const struct rte_ether_addr *src_mac, *dst_mac;
	/* Only the frames that pass, in the language of pcap-filter(7); NULL or "": all. */
	const char *filter;
	const struct weir_address_map *maps;
	unsigned int map_count;
};

/* -1 with `error`, whose place is "capture.path" or "capture.filter", and nothing to free. */
int weir_capture_open(const char *path, const struct weir_capture_wanted *wanted,
		      struct weir_capture *capture, struct weir_error *error);
/* The same from an open file, which it closes; `path` is for messages. */
int weir_capture_read(FILE *file, const char *path, const struct weir_capture_wanted *wanted,
		      struct weir_capture *capture, struct weir_error *error);
void weir_capture_free(struct weir_capture *capture);

#endif
