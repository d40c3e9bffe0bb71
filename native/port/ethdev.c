/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that are devices of DPDK. */
#include "ethdev.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>

#include "kind.h"
#include "left_sockets.h"
#include "offloads.h"
#include "packet/ledger.h"
#include "stamping.h"
#include "vhost_thread.h"
#include "visitor.h"
#include "watch.h"

static void
null_device(const struct weir_port_config *config, unsigned int index, struct weir_device *device)
{
	(void)config;
	*device = (struct weir_device){.bus = "vdev"};
	snprintf(device->name, sizeof(device->name), "net_null_%u", index);
}

/* What the kernel puts before a frame in a place of the ring of DPDK's driver. */
#define AF_PACKET_HEAD_BYTES (TPACKET_ALIGN(TPACKET2_HDRLEN + 16) - RTE_ETHER_HDR_LEN)

static void
af_packet_device(const struct weir_port_config *config, unsigned int index,
		 struct weir_device *device)
{
	*device = (struct weir_device){.bus = "vdev"};
	snprintf(device->name, sizeof(device->name), "net_af_packet_%u", index);
	snprintf(device->arguments, sizeof(device->arguments),
		 "iface=%s,qpairs=1,blocksz=%u,framesz=%u,framecnt=%u,qdisc_bypass=1",
		 config->interface, 2 * weir_ports_room_bytes(), weir_ports_room_bytes(),
		 config->rx_queue_size);
}

static void
af_xdp_device(const struct weir_port_config *config, unsigned int index, struct weir_device *device)
{
	*device = (struct weir_device){.bus = "vdev"};
	snprintf(device->name, sizeof(device->name), "net_af_xdp_%u", index);
	snprintf(device->arguments, sizeof(device->arguments),
		 "iface=%s,queue_count=1,force_copy=1", config->interface);
}

static void
tap_device(const struct weir_port_config *config, unsigned int index, struct weir_device *device)
{
	*device = (struct weir_device){.bus = "vdev"};
	snprintf(device->name, sizeof(device->name), "net_tap_%u", index);
	snprintf(device->arguments, sizeof(device->arguments), "iface=%s", config->interface);
}

static void
physical_device(const struct weir_port_config *config, unsigned int index,
		struct weir_device *device)
{
	(void)index;
	*device = (struct weir_device){.bus = "pci"};
	snprintf(device->name, sizeof(device->name), "%s", config->interface);
}

static void
devargs_device(const struct weir_port_config *config, unsigned int index,
	       struct weir_device *device)
{
	const char *devargs = config->devargs, *comma = strchrnul(devargs, ',');
	bool pci = strchr(devargs, ':') != NULL && strncmp(devargs, "net_", 4) != 0;

	(void)index;
	*device = (struct weir_device){.bus = pci ? "pci" : "vdev"};
	snprintf(device->name, sizeof(device->name), "%.*s", (int)(comma - devargs), devargs);
	snprintf(device->arguments, sizeof(device->arguments), "%s",
		 *comma == ',' ? comma + 1 : "");
}

/* Openings of a device whose client may go again meanwhile. */
#define OPENINGS_MAX 3
/* Switches try each second. */
#define CLIENT_PATIENCE_MS 30000u

/* The socket at which the device will wait for its client; false: it waits for none. */
static bool
waits_at(const struct weir_device *device, char *path, size_t size)
{
	const char *begin = strstr(device->arguments, "path=");

	if (begin == NULL || strstr(device->arguments, "server=1") == NULL)
		return false;
	begin += strlen("path=");
	snprintf(path, size, "%.*s", (int)strcspn(begin, ","), begin);
	return true;
}

/* The driver's own opening, which waits for a client as long as others do. -ETIMEDOUT: none came.
 */
static int
open_visited(const struct weir_device *device, const char *path)
{
	struct weir_visitor visitor;
	int begun = weir_visitor_begin(&visitor, path, CLIENT_PATIENCE_MS), opened;

	if (begun < 0) {
		rte_errno = -begun;
		return begun;
	}
	opened = rte_eal_hotplug_add(device->bus, device->name, device->arguments);
	return weir_visitor_end(&visitor) && opened != 0 ? -ETIMEDOUT : opened;
}

/* A client that connects and disconnects at once (a switch that reconfigures its port) makes the
 * driver fail and leave its sockets behind, open ones too; the next attempt succeeds. A negative
 * number, of which -ETIMEDOUT says that no client came. */
static int
open_device(const struct weir_device *device, const char *path)
{
	for (int opening = 1;; opening++) {
		bool ours = path[0] != '\0' && access(path, F_OK) < 0;
		int opened =
			ours ? open_visited(device, path)
			     : rte_eal_hotplug_add(device->bus, device->name, device->arguments);

		if (opened == 0)
			return 0;
		if (ours) { /* in this order: who is hung up on must not come back to it */
			unlink(path);
			weir_close_left_sockets(path);
		}
		if (!ours || opening == OPENINGS_MAX || opened == -ETIMEDOUT)
			return opened < 0 ? opened : -1;
	}
}

/* Probes the device in the current namespace: its sockets stay there. */
static int
probe(const struct weir_port_config *config, const struct weir_device *device,
      struct weir_port *port, struct weir_error *error)
{
	char path[sizeof(device->arguments)] = "";
	int opened;

	if (!waits_at(device, path, sizeof(path)))
		path[0] = '\0';
	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return weir_fail(error, "port_failed", config->name,
				 "a socket's path shorter than 108 bytes",
				 "a shorter run directory (WEIR_RUN_DIR), or path",
				 "no socket can have the path %s", path);
	opened = open_device(device, path);
	if (opened == -ETIMEDOUT && path[0] != '\0')
		return weir_fail(error, "port_failed", config->name, NULL,
				 "look into the log of the switch that should",
				 "nobody connected to %s in %u s", path, CLIENT_PATIENCE_MS / 1000);
	if (opened < 0)
		return weir_fail(error, "port_failed", config->name, NULL,
				 "weir-dp's log has the driver's own words",
				 "DPDK cannot open %s with '%s': %s", device->name,
				 device->arguments, rte_strerror(rte_errno));
	snprintf(port->device, sizeof(port->device), "%s", device->name);
	port->vdev = strcmp(device->bus, "vdev") == 0;
	return 0;
}

/* As an ethdev comes up, from its configuration to its start. 0, or a negative errno of `*step`. */
static int
bring_up(const struct weir_port_config *config, uint16_t id, const struct rte_eth_conf *conf,
	 const char **step)
{
	uint16_t rx = config->rx_queue_size;
	uint16_t tx = config->tx_queue_size;
	int status;

	*step = "configure";
	status = rte_eth_dev_configure(id, 1, 1, conf);
	if (status == 0) {
		*step = "set the queue sizes of";
		status = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
	}
	if (status == 0) {
		*step = "set up the receive queue of";
		status = rte_eth_rx_queue_setup(id, 0, rx, SOCKET_ID_ANY, NULL,
						weir_ports_mempool());
	}
	if (status == 0) {
		*step = "set up the transmit queue of";
		status = rte_eth_tx_queue_setup(id, 0, tx, SOCKET_ID_ANY, NULL);
	}
	if (status == 0) {
		*step = "start";
		status = rte_eth_dev_start(id);
	}
	return status;
}

static int
start(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	const uint16_t id = port->queue.ethdev_id;
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	const uint16_t frame_bytes_max = weir_ports_frame_bytes_max();
	const char *step = "ask";
	int status = rte_eth_dev_info_get(id, &info);

	/* DPDK refuses what the device does not have. A driver with places of its own is not asked:
	 * they are made for these frames, though it names Ethernet's standard length. */
	if (frame_bytes_max > WEIR_STANDARD_FRAME_BYTES && port->kind->cut_head_bytes == 0)
		conf.rxmode.mtu = frame_bytes_max - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
	if (status == 0 && config->timestamps != WEIR_TIMESTAMPS_COUNTER)
		weir_stamping_ask(&info, port, &conf);
	if (status == 0)
		status = bring_up(config, id, &conf, &step);
	if (status == 0 && conf.rxmode.offloads != 0 && !weir_stamping_begin(port)) {
		conf.rxmode.offloads = 0;
		status = rte_eth_dev_stop(id);
		if (status == 0)
			status = bring_up(config, id, &conf, &step);
	}
	if (status != 0)
		return weir_fail(error, "port_failed", config->name, NULL, NULL,
				 "cannot %s port %s: %s", step, port->device,
				 rte_strerror(-status));
	rte_eth_promiscuous_enable(id); /* not every driver has it, nor needs it */
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	return 0;
}

/* Probes and starts: some drivers look their interface up by name at the start too. */
static int
open_ethdev(const struct weir_port_config *config, struct weir_port *port, struct weir_error *error)
{
	struct weir_device device;

	port->kind->device(config, port->id, &device);
	if (probe(config, &device, port, error) < 0)
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
	/* The kernel switches some offloads off for AF_XDP, so it is asked now. */
	if ((port->kind->finishes_nothing && weir_offloads_refuse(config, error) < 0) ||
	    weir_watch_begin(port, error) < 0) {
		weir_ethdev_close(port);
		return -1;
	}
	if (strcmp(port->driver, "net_vhost") == 0)
		weir_vhost_wake();
	if (!port->has_mac)
		rte_eth_macaddr_get(port->queue.ethdev_id, &port->mac);
	return 0;
}

void
weir_ethdev_close(struct weir_port *port)
{
	weir_stamping_end(port, "");
	rte_eth_dev_stop(port->queue.ethdev_id);
	weir_watch_end(port);
	rte_eal_hotplug_remove(port->vdev ? "vdev" : "pci", port->device);
}

/*
 * Some drivers count in `oerrors` packets that their transmit function did not take; these stayed
 * with the area that sent them, whose tx_refused or tx_queue_full they are.
 */
void
weir_ethdev_stats(const struct weir_port *port, struct weir_port_stats *stats)
{
	static const char *const counting_refusals[] = {"net_af_xdp", "net_tap", "net_vhost"};

	memset(stats, 0, sizeof(*stats));
	rte_eth_stats_get(port->queue.ethdev_id, &stats->device);
	stats->rx_too_long = weir_counted(&port->rx_too_long);
	stats->rx_unfinished = weir_counted(&port->rx_unfinished);
	for (unsigned int i = 0; i < RTE_DIM(counting_refusals); i++) {
		if (strcmp(port->driver, counting_refusals[i]) == 0)
			stats->device.oerrors = 0;
	}
}

#define ETHDEV .open = open_ethdev, .close = weir_ethdev_close, .stats = weir_ethdev_stats

const struct weir_port_kind weir_ethdev_kinds[] = {
	{"null", WEIR_PORT_NEEDS_NOTHING, ETHDEV, .device = null_device},
	{"af_packet", WEIR_PORT_NEEDS_INTERFACE, ETHDEV, .device = af_packet_device,
	 .cut_head_bytes = AF_PACKET_HEAD_BYTES, .finishes_nothing = true},
	{"af_xdp", WEIR_PORT_NEEDS_INTERFACE, ETHDEV, .device = af_xdp_device,
	 .finishes_nothing = true},
	{"tap", WEIR_PORT_NEEDS_INTERFACE, ETHDEV, .device = tap_device},
	{"physical", WEIR_PORT_NEEDS_INTERFACE, ETHDEV, .device = physical_device},
	{0},
};

const struct weir_port_kind weir_devargs_kind = {ETHDEV, .device = devargs_device};
