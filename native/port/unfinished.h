/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame that the kernel left unfinished, for a network card to finish: an L4 checksum that is not
 * filled in, or a TCP or UDP packet of up to 64 KiB that is to be cut into segments (TSO and USO;
 * what GRO and LRO merged looks the same). Between two veth interfaces there is no card: here its
 * work is done, so that functions see the packets that a wire would carry. Pure: no system calls.
 */
#ifndef WEIR_PORT_UNFINISHED_H
#define WEIR_PORT_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* since Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

struct weir_unfinished {
	const uint8_t *frame; /* borrowed, until its last packet is written */
	uint32_t length;
	uint32_t segment_bytes; /* payload of each but the last; 0: the frame stays whole */
	uint32_t payload_at;	/* where that of the next segment begins */
	uint16_t segment;	/* number of the next one */
	uint16_t l3_offset;
	uint16_t l4_offset; /* where the checksum begins */
	uint16_t header_bytes;
	uint16_t checksum_offset; /* in the L4 header */
	uint8_t protocol;	  /* of a frame to be cut: TCP or UDP */
	bool is_ipv6;
	bool has_checksum; /* nothing is to be filled in */
	bool is_done;	   /* all packets are written */
};

/*
 * `asked`: what is to be done, in the words of virtio, as packet sockets tell it (PACKET_VNET_HDR).
 * False: the request contradicts the frame, or is one that is not done here (tunnels, IP fragments,
 * headers that differ from segment to segment).
 */
bool weir_unfinished_begin(struct weir_unfinished *unfinished, const uint8_t *frame,
			   uint32_t length, const struct virtio_net_hdr *asked);

/* Bytes of the next packet; of a frame to be cut no later one is longer. */
static inline uint32_t
weir_unfinished_bytes(const struct weir_unfinished *unfinished)
{
	uint32_t left = unfinished->length - unfinished->payload_at;

	if (unfinished->segment_bytes == 0)
		return unfinished->length;
	return unfinished->header_bytes +
	       (left < unfinished->segment_bytes ? left : unfinished->segment_bytes);
}

/* Writes the next packet, weir_unfinished_bytes() long, or passes it over where `to` is NULL. */
void weir_unfinished_write(struct weir_unfinished *unfinished, uint8_t *to);

#endif
