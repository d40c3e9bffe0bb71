/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel interface by an AF_PACKET socket of Weir's own. DPDK has a driver for that, but it
 * leaves packets in its ring when the kernel's next queue is full, so that a trial's account does
 * not close, and each of its ports takes one of DPDK's 32.
 *
 * Receives from a ring that the kernel fills (TPACKET_V2, packet(7)), without system calls. Sends
 * with sendmmsg(), past the queueing discipline. Not from a ring: there the kernel lends the ring's
 * pages to the packet and gives the slot back before the last reader is done.
 */
#include "kind.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "packet/ledger.h"

#define BLOCK_BYTES_MAX 65536U
#define SEND_BUFFER_BYTES (16 << 20)
#define SEND_BURST 32

struct packet_socket {
	int fd;
	uint8_t *ring;
	size_t ring_bytes;
	unsigned int slot_bytes; /* a frame in the ring, with the kernel's header */
	unsigned int block_bytes;
	unsigned int frame_count;
	unsigned int next_frame;
	struct rte_mempool *mempool;
	struct rte_eth_stats stats; /* but for imissed: one writer, the polling core */
	uint64_t missed;	    /* reading the kernel's counter clears it */
};

/* A block is whole pages and whole slots: slots lie side by side in the mapped ring. */
static_assert((BLOCK_BYTES_MAX / WEIR_ROOM_BYTES * WEIR_ROOM_BYTES) % 4096 == 0 &&
		      (BLOCK_BYTES_MAX / WEIR_JUMBO_ROOM_BYTES * WEIR_JUMBO_ROOM_BYTES) % 4096 == 0,
	      "blocks are whole pages");

static inline struct tpacket2_hdr *
frame_at(const struct packet_socket *socket, unsigned int index)
{
	return (struct tpacket2_hdr *)(socket->ring + (size_t)index * socket->slot_bytes);
}

/* The kernel took the outer tag off into the frame's header. */
static inline bool
has_tag(const struct tpacket2_hdr *header, uint32_t status)
{
	return (status & TP_STATUS_VLAN_VALID) != 0 || header->tp_vlan_tci != 0;
}

static inline bool
copy_frame(const struct tpacket2_hdr *header, uint32_t status, struct rte_mbuf *packet)
{
	const uint8_t *data = (const uint8_t *)header + header->tp_mac;
	uint32_t length = header->tp_snaplen;
	uint32_t tag_bytes = has_tag(header, status) ? sizeof(struct rte_vlan_hdr) : 0;
	uint8_t *to;

	if (length < RTE_ETHER_HDR_LEN || length + tag_bytes > rte_pktmbuf_tailroom(packet))
		return false;
	to = (uint8_t *)rte_pktmbuf_append(packet, length + tag_bytes);
	if (tag_bytes == 0) {
		memcpy(to, data, length);
		return true;
	}
	uint16_t tag[2] = {
		rte_cpu_to_be_16((status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header->tp_vlan_tpid
									   : RTE_ETHER_TYPE_VLAN),
		rte_cpu_to_be_16(header->tp_vlan_tci),
	};

	memcpy(to, data, 2 * RTE_ETHER_ADDR_LEN);
	memcpy(to + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
	memcpy(to + 2 * RTE_ETHER_ADDR_LEN + sizeof(tag), data + 2 * RTE_ETHER_ADDR_LEN,
	       length - 2 * RTE_ETHER_ADDR_LEN);
	return true;
}

static uint16_t
receive(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct packet_socket *socket = state;
	uint16_t received = 0;
	uint64_t bytes = 0;

	while (received < count) {
		struct tpacket2_hdr *header = frame_at(socket, socket->next_frame);
		uint32_t status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
		struct rte_mbuf *packet;

		if ((status & TP_STATUS_USER) == 0)
			break;
		packet = rte_pktmbuf_alloc(socket->mempool);
		if (packet == NULL || !copy_frame(header, status, packet)) {
			weir_count(packet == NULL ? &socket->stats.rx_nombuf
						  : &socket->stats.ierrors,
				   1);
			rte_pktmbuf_free(packet);
		} else {
			bytes += packet->pkt_len;
			packets[received++] = packet;
		}
		__atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		socket->next_frame =
			socket->next_frame + 1 == socket->frame_count ? 0 : socket->next_frame + 1;
	}
	if (received > 0) {
		weir_count(&socket->stats.ipackets, received);
		weir_count(&socket->stats.ibytes, bytes);
	}
	return received;
}

/*
 * Hands over `count` messages. One that the next queue of the kernel dropped (ENOBUFS) counts as
 * taken: the interface counts it as tx_dropped. Returns how many were taken.
 */
static uint16_t
send_all(int fd, struct mmsghdr *messages, uint16_t count)
{
	uint16_t taken = 0;

	while (taken < count) {
		int sent = sendmmsg(fd, &messages[taken], count - taken, MSG_DONTWAIT);

		if (sent > 0)
			taken += sent;
		else if (errno == ENOBUFS)
			taken++;
		else if (errno != EINTR)
			break;
	}
	return taken;
}

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct packet_socket *socket = state;
	struct mmsghdr messages[SEND_BURST];
	struct iovec pieces[SEND_BURST];
	uint64_t bytes = 0;
	uint16_t taken;

	count = RTE_MIN(count, SEND_BURST);
	for (uint16_t i = 0; i < count; i++) {
		pieces[i] = (struct iovec){
			.iov_base = rte_pktmbuf_mtod(packets[i], void *),
			.iov_len = packets[i]->data_len,
		};
		messages[i] = (struct mmsghdr){
			.msg_hdr = {.msg_iov = &pieces[i], .msg_iovlen = 1},
		};
	}
	taken = send_all(socket->fd, messages, count);
	for (uint16_t i = 0; i < taken; i++)
		bytes += pieces[i].iov_len;
	rte_pktmbuf_free_bulk(packets, taken);
	weir_count(&socket->stats.opackets, taken);
	weir_count(&socket->stats.obytes, bytes);
	return taken;
}

static const struct weir_queue_driver driver = {.receive = receive, .transmit = transmit};

static int
set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

/* Options first, then the ring, then the interface: nothing arrives before all is ready. */
static const char *
set_up(struct packet_socket *socket, const struct weir_port_config *config)
{
	struct tpacket_req request = {
		.tp_block_size = socket->block_bytes,
		.tp_block_nr = socket->ring_bytes / socket->block_bytes,
		.tp_frame_size = socket->slot_bytes,
		.tp_frame_nr = socket->frame_count,
	};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = rte_cpu_to_be_16(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(config->interface),
	};

	if (address.sll_ifindex == 0)
		return "find the interface of";
	if (set_option(socket->fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) < 0)
		return "choose the ring format of";
	if (set_option(socket->fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1) < 0 ||
	    set_option(socket->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
	    set_option(socket->fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER_BYTES) < 0)
		return "set the options of";
	if (setsockopt(socket->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
		return "make the receive ring of";
	socket->ring = mmap(NULL, socket->ring_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, socket->fd, 0);
	if (socket->ring == MAP_FAILED) {
		socket->ring = NULL;
		return "map the receive ring of";
	}
	if (bind(socket->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return "bind the socket of";
	return NULL;
}

static void
free_socket(struct packet_socket *socket)
{
	if (socket->ring != NULL)
		munmap(socket->ring, socket->ring_bytes);
	if (socket->fd >= 0)
		close(socket->fd);
	free(socket);
}

/* The interface's own address. */
static void
read_mac(const struct packet_socket *socket, const char *interface, struct rte_ether_addr *mac)
{
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(socket->fd, SIOCGIFHWADDR, &request) == 0)
		memcpy(mac, request.ifr_hwaddr.sa_data, sizeof(*mac));
}

static int
open_socket(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	struct packet_socket *made = calloc(1, sizeof(*made));
	const unsigned int slot_bytes = weir_ports_room_bytes();
	const unsigned int frames_per_block = BLOCK_BYTES_MAX / slot_bytes;
	const char *failed;

	if (made == NULL)
		return weir_fail(error, "no_memory", config->name, NULL, NULL,
				 "no memory for a port");
	made->frame_count = RTE_MAX(config->rx_queue_size, 1);
	made->frame_count += frames_per_block - 1;
	made->frame_count -= made->frame_count % frames_per_block; /* whole blocks */
	made->slot_bytes = slot_bytes;
	made->block_bytes = frames_per_block * slot_bytes;
	made->ring_bytes = (size_t)made->frame_count * slot_bytes;
	made->mempool = weir_ports_mempool();
	made->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	failed = made->fd < 0 ? "open" : set_up(made, config);
	if (failed != NULL) {
		weir_fail(error, "port_failed", config->name, "a kernel interface that is there",
			  "AF_PACKET sockets need the right CAP_NET_RAW",
			  "cannot %s port on interface %s: %s", failed, config->interface,
			  strerror(errno));
		free_socket(made);
		return -1;
	}
	if (!port->has_mac)
		read_mac(made, config->interface, &port->mac);
	port->queue.kind = WEIR_QUEUE_DRIVER;
	port->queue.driver = &driver;
	port->queue.driver_state = made;
	snprintf(port->driver, sizeof(port->driver), "packet_socket");
	return 0;
}

static void
close_socket(struct weir_port *port)
{
	free_socket(port->queue.driver_state);
	port->queue.driver_state = NULL;
}

/* imissed: no room in the receive ring; rx_nombuf: no packet buffer. */
static void
socket_stats(const struct weir_port *port, struct rte_eth_stats *stats)
{
	struct packet_socket *socket = port->queue.driver_state;
	struct tpacket_stats since_last;
	socklen_t size = sizeof(since_last);

	if (getsockopt(socket->fd, SOL_PACKET, PACKET_STATISTICS, &since_last, &size) == 0)
		socket->missed += since_last.tp_drops;
	*stats = (struct rte_eth_stats){
		.ipackets = weir_counted(&socket->stats.ipackets),
		.ibytes = weir_counted(&socket->stats.ibytes),
		.opackets = weir_counted(&socket->stats.opackets),
		.obytes = weir_counted(&socket->stats.obytes),
		.imissed = socket->missed,
		.ierrors = weir_counted(&socket->stats.ierrors),
		.rx_nombuf = weir_counted(&socket->stats.rx_nombuf),
	};
}

const struct weir_port_kind weir_packet_socket_kinds[] = {
	{"packet_socket", WEIR_PORT_NEEDS_INTERFACE, .open = open_socket, .close = close_socket,
	 .stats = socket_stats},
	{0},
};
