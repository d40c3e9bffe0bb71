/* SPDX-License-Identifier: Apache-2.0 */
#include "port.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "core/handover.h"
#include "packet_socket.h"
#include "room.h"

static struct rte_mempool *mempool;

/* Frames of 1522 bytes and a driver's headroom fit one buffer: no port makes segments. */
#define MBUF_DATA_BYTES (RTE_PKTMBUF_HEADROOM + 2048)
#define MEMPOOL_CACHE 256

/*
 * As rte_pktmbuf_pool_create() makes it, which without hugepages puts each buffer at the beginning
 * of a page of 4 KiB: all headers then want the same few lines of the first level of cache. No
 * device needs that there: its addresses are ours.
 */
static struct rte_mempool *
packed_pool(const char *name, unsigned int mbufs)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = MBUF_DATA_BYTES,
						   .mbuf_priv_size = WEIR_PRIVATE_BYTES};
	struct rte_mempool *pool;

	pool = rte_mempool_create_empty(
		name, mbufs, sizeof(struct rte_mbuf) + WEIR_PRIVATE_BYTES + MBUF_DATA_BYTES,
		MEMPOOL_CACHE, sizeof(private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

int
weir_ports_memory(unsigned int mbufs, struct weir_error *error)
{
	if (mempool != NULL)
		return 0;
	if (rte_eal_has_hugepages())
		mempool =
			rte_pktmbuf_pool_create("weir-ports", mbufs, MEMPOOL_CACHE,
						WEIR_PRIVATE_BYTES, MBUF_DATA_BYTES, SOCKET_ID_ANY);
	else
		mempool = packed_pool("weir-ports", mbufs);
	if (mempool == NULL)
		return weir_fail(error, "no_memory", "mbufs", NULL,
				 "reserve more hugepages, or ask for fewer or shorter queues",
				 "no memory for %u packet buffers: %s", mbufs,
				 rte_strerror(rte_errno));
	return 0;
}

struct rte_mempool *
weir_ports_mempool(void)
{
	return mempool;
}

void
weir_ports_memory_free(void)
{
	rte_mempool_free(mempool);
	mempool = NULL;
}

/* The device name and arguments that DPDK's vdev bus wants. */
struct device {
	const char *bus;
	char name[64];
	char arguments[512];
};

static int
device_of_kind(const struct weir_port_config *config, unsigned int index, struct device *device,
	       struct weir_error *error)
{
	const char *kind = config->kind;

	device->bus = "vdev";
	device->arguments[0] = '\0';
	if (strcmp(kind, "null") == 0) {
		snprintf(device->name, sizeof(device->name), "net_null_%u", index);
		return 0;
	}
	if (config->interface == NULL)
		return weir_fail(error, "bad_argument", config->name, "`interface`", NULL,
				 "a port of kind %s needs the name of an interface", kind);
	if (strcmp(kind, "physical") == 0) {
		device->bus = "pci";
		snprintf(device->name, sizeof(device->name), "%s", config->interface);
		return 0;
	}
	snprintf(device->name, sizeof(device->name), "net_%s_%u", kind, index);
	if (strcmp(kind, "af_packet") == 0)
		snprintf(device->arguments, sizeof(device->arguments),
			 "iface=%s,qpairs=1,blocksz=4096,framesz=2048,framecnt=%u,qdisc_bypass=1",
			 config->interface, config->rx_queue_size);
	else if (strcmp(kind, "af_xdp") == 0)
		snprintf(device->arguments, sizeof(device->arguments),
			 "iface=%s,queue_count=1,force_copy=1", config->interface);
	else if (strcmp(kind, "tap") == 0)
		snprintf(device->arguments, sizeof(device->arguments), "iface=%s",
			 config->interface);
	else
		return weir_fail(
			error, "bad_argument", config->name,
			"null, memory, packet_socket, af_packet, af_xdp, tap or physical; others "
			"by `devargs`",
			NULL, "unknown kind of port '%s'", kind);
	return 0;
}

static int
device_of(const struct weir_port_config *config, unsigned int index, struct device *device,
	  struct weir_error *error)
{
	const char *comma;

	if (config->kind != NULL)
		return device_of_kind(config, index, device, error);
	comma = strchrnul(config->devargs, ',');
	device->bus =
		strchr(config->devargs, ':') != NULL && strncmp(config->devargs, "net_", 4) != 0
			? "pci"
			: "vdev";
	snprintf(device->name, sizeof(device->name), "%.*s", (int)(comma - config->devargs),
		 config->devargs);
	snprintf(device->arguments, sizeof(device->arguments), "%s",
		 *comma == ',' ? comma + 1 : "");
	return 0;
}

/* Enters the network namespace of that path; -1 with errno. */
static int
enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return -1;
	status = setns(fd, CLONE_NEWNET);
	close(fd);
	return status;
}

/* Probes the device in the current namespace: its sockets stay there. */
static int
probe(const struct weir_port_config *config, const struct device *device, struct weir_port *port,
      struct weir_error *error)
{
	if (rte_eal_hotplug_add(device->bus, device->name, device->arguments) < 0)
		return weir_fail(error, "port_failed", config->name, NULL,
				 "weir-dp's log has the driver's own words",
				 "DPDK cannot open %s with '%s': %s", device->name,
				 device->arguments, rte_strerror(rte_errno));
	snprintf(port->device, sizeof(port->device), "%s", device->name);
	port->vdev = strcmp(device->bus, "vdev") == 0;
	return 0;
}

static int
start(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	const struct rte_eth_conf plain = {0};
	struct rte_eth_dev_info info;
	uint16_t rx = config->rx_queue_size;
	uint16_t tx = config->tx_queue_size;
	const char *step = "configure";
	int status = rte_eth_dev_info_get(port->queue.ethdev_id, &info);

	if (status == 0)
		status = rte_eth_dev_configure(port->queue.ethdev_id, 1, 1, &plain);
	if (status == 0) {
		step = "set the queue sizes of";
		status = rte_eth_dev_adjust_nb_rx_tx_desc(port->queue.ethdev_id, &rx, &tx);
	}
	if (status == 0) {
		step = "set up the receive queue of";
		status = rte_eth_rx_queue_setup(port->queue.ethdev_id, 0, rx, SOCKET_ID_ANY, NULL,
						mempool);
	}
	if (status == 0) {
		step = "set up the transmit queue of";
		status = rte_eth_tx_queue_setup(port->queue.ethdev_id, 0, tx, SOCKET_ID_ANY, NULL);
	}
	if (status == 0) {
		step = "start";
		status = rte_eth_dev_start(port->queue.ethdev_id);
	}
	if (status != 0)
		return weir_fail(error, "port_failed", config->name, NULL, NULL,
				 "cannot %s port %s: %s", step, port->device,
				 rte_strerror(-status));
	rte_eth_promiscuous_enable(
		port->queue.ethdev_id); /* not every driver has it, nor needs it */
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	return 0;
}

/* Probes and starts: some drivers look their interface up by name at the start too. */
static int
open_ethdev(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	struct device device;

	if (device_of(config, port->id, &device, error) < 0 ||
	    probe(config, &device, port, error) < 0)
		return -1;
	port->queue.kind = WEIR_QUEUE_ETHDEV;
	if (rte_eth_dev_get_port_by_name(device.name, &port->queue.ethdev_id) != 0) {
		weir_fail(error, "port_failed", config->name, "a network device", NULL,
			  "%s opened, but it is no Ethernet port", device.name);
		rte_eal_hotplug_remove(device.bus, device.name);
		return -1;
	}
	if (start(config, port, error) < 0) {
		rte_eal_hotplug_remove(device.bus, device.name);
		return -1;
	}
	if (!port->has_mac)
		rte_eth_macaddr_get(port->queue.ethdev_id, &port->mac);
	return 0;
}

/* Opens the port in the current namespace. */
static int
open_here(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	int status;

	if (config->interface != NULL && if_nametoindex(config->interface) != 0) {
		snprintf(port->interface, sizeof(port->interface), "%s", config->interface);
		port->flags_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	port->virtual_wire = config->virtual_wire;
	if (config->kind != NULL && strcmp(config->kind, "packet_socket") == 0)
		status = weir_packet_socket_open(config, port, error);
	else
		status = open_ethdev(config, port, error);
	if (status == 0)
		weir_port_keep(port);
	else if (port->flags_socket >= 0)
		close(port->flags_socket);
	return status;
}

static int
open_in_netns(const struct weir_port_config *config, struct weir_port *port,
	      struct weir_error *error)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int status;

	if (home < 0 || enter(config->netns) < 0) {
		status = weir_fail(
			error, "port_failed", config->name, "the path of a network namespace",
			"make the namespace first; entering it needs root",
			"cannot enter network namespace %s: %s", config->netns, strerror(errno));
	} else {
		status = open_here(config, port, error);
		if (setns(home, CLONE_NEWNET) < 0)
			status = weir_fail(error, "port_failed", config->name, NULL, NULL,
					   "cannot come back to the home namespace: %s",
					   strerror(errno));
	}
	close(home);
	return status;
}

int
weir_port_open(const struct weir_port_config *config, struct weir_error *error)
{
	struct weir_port *port = weir_port_room(config->name, error);

	if (port == NULL)
		return -1;
	if (config->mac != NULL) {
		if (rte_ether_unformat_addr(config->mac, &port->mac) != 0)
			return weir_fail(error, "bad_argument", config->name,
					 "an address such as 02:00:00:00:00:01", NULL,
					 "'%s' is not a MAC address", config->mac);
		port->has_mac = true;
	}
	if (config->netns != NULL)
		return open_in_netns(config, port, error);
	return open_here(config, port, error);
}
