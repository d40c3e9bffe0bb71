/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel interface by AF_PACKET sockets of Weir's own. DPDK has a driver for that, but it
 * leaves packets in its ring when the kernel's next queue is full, so that a trial's account does
 * not close, cuts long frames, and each of its ports takes one of DPDK's 32.
 *
 * Receives from a ring that the kernel fills (packet_ring.c). Sends by a socket of its own with
 * sendmmsg(), past the queueing discipline. Not from a ring: there the kernel lends the ring's
 * pages to the packet and gives the slot back before the last reader is done.
 */
#include "packet_socket.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kind.h"
#include "packet/ledger.h"

#define SEND_BUFFER_BYTES (16 << 20)
#define SEND_BURST 32

/* Counts a frame that the kernel refused with errno; false: for want of room, so that it stays the
 * caller's. What the next queue of the kernel dropped (ENOBUFS) the interface counts as tx_dropped.
 */
static bool
count_refused(struct packet_socket *socket, int error)
{
	switch (error) {
	case EAGAIN:
	case ENOMEM:
		return false;
	case ENOBUFS:
		socket->dropped_known++;
		break;
	case EMSGSIZE:
		weir_count(&socket->tx_too_long, 1);
		break;
	case ENETDOWN:
	case ENXIO:
		weir_count(&socket->tx_down, 1);
		break;
	default:
		weir_count(&socket->stats.oerrors, 1);
	}
	return true;
}

/* Whether the message behind those that a call took was dropped: such a call does not say why it
 * ended, and the message would be sent, and counted by the interface, a second time. Rare: where
 * the next queue becomes full.
 */
static bool
was_dropped(struct packet_socket *socket)
{
	uint64_t now = weir_dropped_read(&socket->dropped);
	bool dropped = now > socket->dropped_known;

	if (dropped)
		socket->dropped_known = now; /* of others, too: it is asked for once each */
	return dropped;
}

/* Hands over `count` messages; those that were refused for good have no bytes then. Returns how
 * many were taken. */
static uint16_t
send_all(struct packet_socket *socket, struct mmsghdr *messages, uint16_t count)
{
	uint16_t taken = 0;

	while (taken < count) {
		int sent = sendmmsg(socket->send_fd, &messages[taken], count - taken, MSG_DONTWAIT);

		if (sent > 0) {
			taken += sent;
			if (taken < count && was_dropped(socket))
				messages[taken++].msg_len = 0;
		} else if (errno != EINTR) {
			if (!count_refused(socket, errno))
				break;
			messages[taken++].msg_len = 0;
		}
	}
	return taken;
}

static uint16_t
transmit(void *state, struct rte_mbuf **packets, uint16_t count)
{
	struct packet_socket *socket = state;
	struct mmsghdr messages[SEND_BURST];
	struct iovec pieces[SEND_BURST];
	uint64_t bytes = 0, sent = 0;
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
	taken = send_all(socket, messages, count);
	for (uint16_t i = 0; i < taken; i++) {
		sent += messages[i].msg_len > 0;
		bytes += messages[i].msg_len;
	}
	rte_pktmbuf_free_bulk(packets, taken);
	weir_count(&socket->stats.opackets, sent);
	weir_count(&socket->stats.obytes, bytes);
	return taken;
}

static const struct weir_queue_driver driver = {
	.receive = packet_ring_receive, .transmit = transmit, .copies = true};

/* The socket that sends receives nothing: it is of no protocol. */
static const char *
set_up_sending(struct packet_socket *socket, int interface)
{
	const int bypass = 1, buffer_bytes = SEND_BUFFER_BYTES;
	const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = interface};

	if (setsockopt(socket->send_fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass)) <
		    0 ||
	    setsockopt(socket->send_fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes,
		       sizeof(buffer_bytes)) < 0)
		return "set the options of";
	if (bind(socket->send_fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return "bind the socket of";
	return NULL;
}

static const char *
set_up(struct packet_socket *made, const struct weir_port_config *config)
{
	int interface = (int)if_nametoindex(config->interface);
	const char *failed;

	made->send_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	made->ring.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (made->send_fd < 0 || made->ring.fd < 0)
		return "open";
	if (interface == 0)
		return "find the interface of";
	weir_dropped_open(&made->dropped, config->interface);
	made->dropped_known = weir_dropped_read(&made->dropped);
	failed = set_up_sending(made, interface);
	return failed != NULL ? failed
			      : packet_ring_open(&made->ring, interface, config->rx_queue_size);
}

static void
free_socket(struct packet_socket *socket)
{
	packet_ring_close(&socket->ring);
	if (socket->send_fd >= 0)
		close(socket->send_fd);
	weir_dropped_close(&socket->dropped);
	free(socket);
}

/* The interface's own address. */
static void
read_mac(const struct packet_socket *socket, const char *interface, struct rte_ether_addr *mac)
{
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(socket->send_fd, SIOCGIFHWADDR, &request) == 0)
		memcpy(mac, request.ifr_hwaddr.sa_data, sizeof(*mac));
}

static int
open_socket(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	struct packet_socket *made = calloc(1, sizeof(*made));
	const char *failed;

	if (made == NULL)
		return weir_fail(error, "no_memory", config->name, NULL, NULL,
				 "no memory for a port");
	made->send_fd = -1;
	made->dropped.fd = -1;
	made->ring.fd = -1;
	made->ring.mempool = weir_ports_mempool();
	made->ring.room_bytes =
		rte_pktmbuf_data_room_size(made->ring.mempool) - RTE_PKTMBUF_HEADROOM;
	failed = set_up(made, config);
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

static void
socket_stats(const struct weir_port *port, struct weir_port_stats *stats)
{
	struct packet_socket *socket = port->queue.driver_state;

	*stats = (struct weir_port_stats){
		.device = {.opackets = weir_counted(&socket->stats.opackets),
			   .obytes = weir_counted(&socket->stats.obytes),
			   .oerrors = weir_counted(&socket->stats.oerrors)},
		.tx_too_long = weir_counted(&socket->tx_too_long),
		.tx_down = weir_counted(&socket->tx_down),
	};
	packet_ring_stats(&socket->ring, stats);
}

const struct weir_port_kind weir_packet_socket_kinds[] = {
	{"packet_socket", WEIR_PORT_NEEDS_INTERFACE, .open = open_socket, .close = close_socket,
	 .stats = socket_stats},
	{0},
};
