/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a packet socket share. */
#ifndef WEIR_PORT_PACKET_SOCKET_H
#define WEIR_PORT_PACKET_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dropped.h"
#include "kind.h"
#include "unfinished.h"

/* packet_ring.c: a ring that the kernel fills, and the frame that is being taken out of it. */
struct packet_ring {
	int fd;
	uint8_t *frames;
	size_t bytes;
	unsigned int place_bytes; /* of a frame, with the kernel's header */
	unsigned int frame_count;
	unsigned int next_frame;
	uint8_t *long_frame; /* room for one that no place of the ring holds */
	struct rte_mempool *mempool;
	uint32_t room_bytes;	      /* of its buffers */
	struct weir_unfinished taken; /* of the next place of the ring, if that is taken */
	bool is_taken;
	uint16_t tag[2]; /* of it, as on the wire */
	uint32_t tag_bytes;
	struct rte_eth_stats stats; /* but for imissed: one writer, the polling core */
	uint64_t too_long, unread, unknown_offload, no_room;
	uint64_t missed; /* reading the kernel's counter clears it */
};

struct packet_socket {
	struct packet_ring ring; /* the first member: receive() is given it */
	int send_fd;
	struct weir_dropped dropped;
	uint64_t dropped_known; /* of what the interface dropped: has been told, or was before */
	struct rte_eth_stats stats;
	uint64_t tx_too_long, tx_down;
};

/* Makes the ring of at least so many frames and begins to receive. NULL, or what failed, with
 * errno.
 */
const char *packet_ring_open(struct packet_ring *ring, int interface, uint16_t frames);
void packet_ring_close(struct packet_ring *ring);
uint16_t packet_ring_receive(void *state, struct rte_mbuf **packets, uint16_t count);
/* Fills in what was received. */
void packet_ring_stats(struct packet_ring *ring, struct weir_port_stats *stats);

#endif
