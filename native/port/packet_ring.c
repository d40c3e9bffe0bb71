/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive ring of a packet socket (TPACKET_V2, packet(7)), read without system calls. A frame
 * that is longer than its places (GRO, TSO of a veth peer) is queued whole at the socket too, and
 * read from there. What the kernel left unfinished is finished here (unfinished.h).
 */
#include "packet_socket.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_ether.h>

#include "packet/ledger.h"

#define BLOCK_BYTES_MAX 65536U
/* The longest IP packet, in a tagged frame. */
#define LONG_FRAME_BYTES (RTE_ETHER_HDR_LEN + 2 * sizeof(struct rte_vlan_hdr) + UINT16_MAX)
/* Of long frames that wait. */
#define LONG_FRAMES_BYTES (16 << 20)

/* A block is whole pages and whole places: places lie side by side in the mapped ring. */
static_assert((BLOCK_BYTES_MAX / WEIR_ROOM_BYTES * WEIR_ROOM_BYTES) % 4096 == 0 &&
		      (BLOCK_BYTES_MAX / WEIR_JUMBO_ROOM_BYTES * WEIR_JUMBO_ROOM_BYTES) % 4096 == 0,
	      "blocks are whole pages");

static int
set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

/* Options first, then the ring, then the interface: nothing arrives before all is ready. */
const char *
packet_ring_open(struct packet_ring *ring, int interface, uint16_t frames)
{
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = rte_cpu_to_be_16(ETH_P_ALL),
		.sll_ifindex = interface,
	};
	const unsigned int place_bytes = weir_ports_room_bytes();
	const unsigned int places_per_block = BLOCK_BYTES_MAX / place_bytes;
	struct tpacket_req request = {
		.tp_block_size = places_per_block * place_bytes,
		.tp_frame_size = place_bytes,
		.tp_block_nr = (RTE_MAX(frames, 1) + places_per_block - 1) / places_per_block,
	};

	request.tp_frame_nr = request.tp_block_nr * places_per_block;
	ring->place_bytes = place_bytes;
	ring->frame_count = request.tp_frame_nr;
	ring->bytes = (size_t)ring->frame_count * place_bytes;
	ring->long_frame = malloc(LONG_FRAME_BYTES);
	if (ring->long_frame == NULL)
		return "find memory for";
	if (set_option(ring->fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) < 0)
		return "choose the ring format of";
	if (set_option(ring->fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
	    set_option(ring->fd, SOL_PACKET, PACKET_COPY_THRESH, 1) < 0 ||
	    set_option(ring->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
	    set_option(ring->fd, SOL_SOCKET, SO_RCVBUFFORCE, LONG_FRAMES_BYTES) < 0)
		return "set the options of";
	if (setsockopt(ring->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
		return "make the receive ring of";
	ring->frames = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			    ring->fd, 0);
	if (ring->frames == MAP_FAILED) {
		ring->frames = NULL;
		return "map the receive ring of";
	}
	if (bind(ring->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return "bind the socket of";
	return NULL;
}

void
packet_ring_close(struct packet_ring *ring)
{
	if (ring->frames != NULL)
		munmap(ring->frames, ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring->long_frame);
}

static inline struct tpacket2_hdr *
next_place(const struct packet_ring *ring)
{
	return (struct tpacket2_hdr *)(ring->frames + (size_t)ring->next_frame * ring->place_bytes);
}

/* The kernel took the outer tag off into the frame's header. */
static inline void
read_tag(struct packet_ring *ring, const struct tpacket2_hdr *header, uint32_t status)
{
	ring->tag_bytes = 0;
	if (likely((status & TP_STATUS_VLAN_VALID) == 0 && header->tp_vlan_tci == 0))
		return;
	ring->tag_bytes = sizeof(ring->tag);
	ring->tag[0] =
		rte_cpu_to_be_16((status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header->tp_vlan_tpid
									   : RTE_ETHER_TYPE_VLAN);
	ring->tag[1] = rte_cpu_to_be_16(header->tp_vlan_tci);
}

/* The frame that the kernel queued at the socket, since no place holds it; 0 bytes: there is none,
 * and it is counted why. An interface that went down leaves ENETDOWN, once, before the frames that
 * wait: each place must take its own, or all later ones get their predecessor's. */
static uint32_t
read_long_frame(struct packet_ring *ring, struct virtio_net_hdr *asked)
{
	struct iovec pieces[2] = {
		{.iov_base = asked, .iov_len = sizeof(*asked)},
		{.iov_base = ring->long_frame, .iov_len = LONG_FRAME_BYTES},
	};
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = RTE_DIM(pieces)};
	ssize_t read;

	do {
		read = recvmsg(ring->fd, &message, MSG_DONTWAIT);
	} while (read < 0 && (errno == EINTR || errno == ENETDOWN));
	if (read <= (ssize_t)sizeof(*asked)) {
		weir_count(&ring->unread, 1);
		return 0;
	}
	if ((message.msg_flags & MSG_TRUNC) != 0) {
		weir_count(&ring->too_long, 1);
		return 0;
	}
	return (uint32_t)read - sizeof(*asked);
}

/* Takes the frame in the ring's next place, if it can be; else counts why not. */
static __rte_noinline bool
take(struct packet_ring *ring, const struct tpacket2_hdr *header, uint32_t status)
{
	const uint8_t *frame = (const uint8_t *)header + header->tp_mac;
	uint32_t bytes = header->tp_snaplen;
	struct virtio_net_hdr asked;

	read_tag(ring, header, status);
	if (unlikely((status & TP_STATUS_COPY) != 0)) {
		frame = ring->long_frame;
		bytes = read_long_frame(ring, &asked);
		if (bytes == 0)
			return false;
	} else if (unlikely(header->tp_len > bytes)) {
		weir_count(&ring->no_room, 1);
		return false;
	} else {
		memcpy(&asked, frame - sizeof(asked), sizeof(asked));
	}
	if (unlikely(!weir_unfinished_begin(&ring->taken, frame, bytes, &asked))) {
		weir_count(&ring->unknown_offload, 1);
		return false;
	}
	if (unlikely(weir_unfinished_bytes(&ring->taken) + ring->tag_bytes > ring->room_bytes)) {
		weir_count(&ring->too_long, 1);
		return false;
	}
	return true;
}

static inline void
give_back(struct packet_ring *ring)
{
	__atomic_store_n(&next_place(ring)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	ring->next_frame = ring->next_frame + 1 == ring->frame_count ? 0 : ring->next_frame + 1;
	ring->is_taken = false;
}

/* A frame that nearly all are: it needs no more than to be copied. */
static inline bool
is_finished(const struct packet_ring *ring, const struct tpacket2_hdr *header, uint32_t status)
{
	const uint8_t *frame = (const uint8_t *)header + header->tp_mac;
	struct virtio_net_hdr asked;

	memcpy(&asked, frame - sizeof(asked), sizeof(asked));
	return (status & (TP_STATUS_COPY | TP_STATUS_VLAN_VALID)) == 0 &&
	       header->tp_vlan_tci == 0 && header->tp_len == header->tp_snaplen &&
	       header->tp_len <= ring->room_bytes && header->tp_len >= RTE_ETHER_HDR_LEN &&
	       (asked.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 &&
	       asked.gso_type == VIRTIO_NET_HDR_GSO_NONE;
}

static inline struct rte_mbuf *
copy(struct packet_ring *ring, const struct tpacket2_hdr *header)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(ring->mempool);
	uint32_t bytes = header->tp_snaplen;

	if (likely(packet != NULL)) {
		memcpy(rte_pktmbuf_mtod(packet, void *), (const uint8_t *)header + header->tp_mac,
		       bytes);
		packet->data_len = bytes;
		packet->pkt_len = bytes;
	}
	give_back(ring);
	return packet;
}

/* The next packet of the frame, its tag put back; NULL: no buffer, and it is passed over. */
static __rte_noinline struct rte_mbuf *
make_packet(struct packet_ring *ring)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(ring->mempool);
	uint8_t *to = NULL;

	if (likely(packet != NULL))
		to = (uint8_t *)rte_pktmbuf_append(packet, weir_unfinished_bytes(&ring->taken) +
								   ring->tag_bytes);
	weir_unfinished_write(&ring->taken, to != NULL ? to + ring->tag_bytes : NULL);
	if (unlikely(ring->tag_bytes > 0 && to != NULL)) {
		memmove(to, to + ring->tag_bytes, 2 * RTE_ETHER_ADDR_LEN);
		memcpy(to + 2 * RTE_ETHER_ADDR_LEN, ring->tag, sizeof(ring->tag));
	}
	if (ring->taken.is_done)
		give_back(ring);
	return packet;
}

uint16_t
packet_ring_receive(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct packet_ring *ring = state;
	uint16_t received = 0;
	uint64_t bytes = 0;

	while (received < count) {
		const struct tpacket2_hdr *header = next_place(ring);
		uint32_t status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
		struct rte_mbuf *packet;

		if ((status & TP_STATUS_USER) == 0)
			break;
		if (likely(is_finished(ring, header, status))) {
			packet = copy(ring, header);
		} else if (ring->is_taken || take(ring, header, status)) {
			ring->is_taken = true;
			packet = make_packet(ring);
		} else {
			give_back(ring);
			continue;
		}
		if (unlikely(packet == NULL)) {
			weir_count(&ring->stats.rx_nombuf, 1);
			continue;
		}
		bytes += packet->pkt_len;
		packets[received++] = packet;
	}
	if (received > 0) {
		weir_count(&ring->stats.ipackets, received);
		weir_count(&ring->stats.ibytes, bytes);
	}
	return received;
}

void
packet_ring_stats(struct packet_ring *ring, struct weir_port_stats *stats)
{
	struct tpacket_stats since_last;
	socklen_t size = sizeof(since_last);

	if (getsockopt(ring->fd, SOL_PACKET, PACKET_STATISTICS, &since_last, &size) == 0)
		ring->missed += since_last.tp_drops;
	stats->device.ipackets = weir_counted(&ring->stats.ipackets);
	stats->device.ibytes = weir_counted(&ring->stats.ibytes);
	stats->device.imissed = ring->missed + weir_counted(&ring->no_room);
	stats->device.rx_nombuf = weir_counted(&ring->stats.rx_nombuf);
	stats->rx_too_long = weir_counted(&ring->too_long);
	stats->rx_unread = weir_counted(&ring->unread);
	stats->rx_unfinished = weir_counted(&ring->unknown_offload);
}
