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

#include "packet_socket.h"
#include "room.h"
#include "stamping.h"
#include "vhost_thread.h"

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

/* Openings of a device whose client may go again meanwhile. */
#define OPENINGS_MAX 3

/* The socket at which the device will wait for its client; false: it waits for none. */
static bool
waits_at(const struct device *device, char *path, size_t size)
{
	const char *begin = strstr(device->arguments, "path=");

	if (begin == NULL || strstr(device->arguments, "server=1") == NULL)
		return false;
	begin += strlen("path=");
	snprintf(path, size, "%.*s", (int)strcspn(begin, ","), begin);
	return true;
}

/* A client that connects and closes at once, as a switch does that sets up its port anew, makes the
 * driver give up, and leave its socket. The next time it comes to stay. */
static int
open_device(const struct device *device)
{
	char path[sizeof(device->arguments)];
	bool waits = waits_at(device, path, sizeof(path));

	for (int opening = 1;; opening++) {
		bool ours = waits && access(path, F_OK) < 0;

		if (rte_eal_hotplug_add(device->bus, device->name, device->arguments) == 0)
			return 0;
		if (ours)
			unlink(path);
		if (!ours || opening == OPENINGS_MAX)
			return -1;
	}
}

/* Probes the device in the current namespace: its sockets stay there. */
static int
probe(const struct weir_port_config *config, const struct device *device, struct weir_port *port,
      struct weir_error *error)
{
	if (open_device(device) < 0)
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
	const char *step = "ask";
	int status = rte_eth_dev_info_get(id, &info);

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
	if (strcmp(port->driver, "net_vhost") == 0)
		weir_vhost_wake();
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
