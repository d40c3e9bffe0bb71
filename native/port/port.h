/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: DPDK devices, in-memory pairs and packet sockets. Control thread only, except receive and
 * transmit. */
#ifndef WEIR_PORT_PORT_H
#define WEIR_PORT_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "engine/error.h"
#include "engine/queue.h"

struct weir_device_clock;
struct weir_port_kind;

#define WEIR_PORTS_MAX 160
#define WEIR_PORT_NAME_MAX 64

/* By which clock arrivals are timed: always the time-stamp counter; the device's stamps where it
 * has some, and a clock that can be read; or these or nothing, which `configure` sees to. */
enum weir_timestamps { WEIR_TIMESTAMPS_COUNTER, WEIR_TIMESTAMPS_AUTO, WEIR_TIMESTAMPS_HARDWARE };

/* What a port shall be. Strings are borrowed for the call. */
struct weir_port_config {
	const char *name;
	const char *kind;      /* "null", "memory", "packet_socket", … ; NULL: by devargs */
	const char *devargs;   /* "net_virtio_user0,path=…" */
	const char *interface; /* kernel interface, for the kinds that need one */
	const char *netns;     /* path of the network namespace that holds it, or NULL */
	const char *mac;       /* NULL: the driver's; a port with one takes part in `announce` */
	const char *peer;      /* of an in-memory port: the other end */
	uint16_t rx_queue_size;
	uint16_t tx_queue_size;
	bool virtual_wire;
	enum weir_timestamps timestamps;
};

/* What a port counted since it was opened. */
struct weir_port_stats {
	struct rte_eth_stats device; /* oerrors: packets that it took and lost */
	uint64_t rx_too_long;	     /* longer than a packet buffer; or perhaps cut by the driver */
	uint64_t rx_unread;	/* announced by the kernel, and not handed over when asked for */
	uint64_t rx_unfinished; /* left to the network card in a way that is not done here */
	uint64_t tx_too_long;	/* longer than the interface's MTU allows */
	uint64_t tx_down;	/* the interface was down, or gone */
};

struct weir_port {
	const struct weir_port_kind *kind;
	char name[WEIR_PORT_NAME_MAX];
	char device[64]; /* DPDK's name, for removal */
	char driver[32];
	char peer[WEIR_PORT_NAME_MAX]; /* of an in-memory port: the other end */
	uint16_t id;		       /* in this table; not DPDK's, which queue.ethdev_id is */
	struct weir_queue queue;
	struct rte_ether_addr mac;
	bool has_mac;
	bool has_area; /* an area reads it or writes to it: its queues are that area's thread's */
	bool virtual_wire;
	bool vdev; /* removed by rte_eal_hotplug_remove */
	/* Of a driver that hands over frames that are not whole: those, and what counts them. */
	uint64_t rx_too_long, rx_unfinished;
	const struct rte_eth_rxtx_callback *watch; /* NULL: a driver that does not */
	int flags_socket; /* in the interface's namespace; -1: no kernel interface */
	char interface[16];
	enum weir_timestamps timestamps;
	struct weir_device_clock *clock; /* of the stamps on what it receives; NULL: none */
	char no_clock[96];		 /* why there is none where one was asked for */
};

struct weir_port *weir_port_find(const char *name);
struct weir_port *weir_port_at(unsigned int index);
unsigned int weir_port_count(void);

/* True once the interface or the peer of the port has gone. */
bool weir_port_gone(const struct weir_port *port);

/* The largest frame without a VLAN tag that is no jumbo frame; with FCS. */
#define WEIR_STANDARD_FRAME_BYTES 1518
/* Room for data in a packet buffer, and in a slot of a kernel's receive ring. */
#define WEIR_ROOM_BYTES 2048
#define WEIR_JUMBO_ROOM_BYTES 10240

/* The mempool that all ports receive into; made by the first weir_ports_memory() call. A frame of
 * `frame_bytes_max`, with FCS, and a VLAN tag fit one buffer: no port makes segments. */
int weir_ports_memory(unsigned int mbufs, uint16_t frame_bytes_max, struct weir_error *error);
struct rte_mempool *weir_ports_mempool(void);
/* As weir_ports_memory() was told; before that, a standard frame. */
uint16_t weir_ports_frame_bytes_max(void);
/* Room for it: WEIR_ROOM_BYTES or WEIR_JUMBO_ROOM_BYTES. */
unsigned int weir_ports_room_bytes(void);

/* With the packets that wait in it: they go back to their pool, which outlives a configuration. */
void weir_packet_ring_free(struct rte_ring *ring);

/* --- for the files of this folder --------------------------------------------------------------
 */

/* A cleared entry at the end of the table, its id set to its index, or NULL with `error`: name
 * taken, table full. `where`: the place of the name in the request. */
struct weir_port *weir_port_room(const char *name, const char *where,
				 const struct weir_port_kind *kind, struct weir_error *error);
/* Keeps the entry that weir_port_room() gave. */
void weir_port_keep(void);
/* The entry kept last, which is in the table no more; NULL: there is none. */
struct weir_port *weir_port_take_last(void);
void weir_ports_memory_free(void);

#endif
