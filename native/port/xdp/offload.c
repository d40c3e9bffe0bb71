/* SPDX-License-Identifier: Apache-2.0 */
#include "offload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "port/kind.h"
#include "port/offloads.h"
#include "program.h"

#define FCS_BYTES 4

static int
refuse_kind(const struct weir_port *port, const char *where, struct weir_error *error)
{
	if (port != NULL && strcmp(port->driver, "packet_socket") == 0)
		return 0;
	return weir_fail(error, "bad_argument", where, "ports of kind packet_socket, in and out",
			 "leave the offload out, or take a technology that has such ports",
			 "%s is no kernel interface that a packet can be redirected from or to: "
			 "vhost-user, memif, rings and DPDK's drivers are seen by weir-dp alone",
			 port != NULL ? port->name : "a ring");
}

typedef int (*visit_fn)(struct weir_offload *offload, const struct weir_port *port,
			const char *where, struct weir_error *error);

/* Runs `visit` in the port's network namespace. */
static int
in_namespace_of(const struct weir_port *port, const char *where, visit_fn visit,
		struct weir_offload *offload, struct weir_error *error)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = ioctl(port->flags_socket, SIOCGSKNS);
	int status = -1;

	if (home < 0 || there < 0 || setns(there, CLONE_NEWNET) < 0) {
		weir_fail(error, "port_failed", where, NULL, "entering a namespace needs root",
			  "cannot enter the network namespace of port %s: %s", port->name,
			  strerror(errno));
	} else {
		status = visit(offload, port, where, error);
		if (setns(home, CLONE_NEWNET) < 0)
			status = weir_fail(error, "port_failed", where, NULL, NULL,
					   "cannot come back to the home namespace: %s",
					   strerror(errno));
	}
	if (there >= 0)
		close(there);
	if (home >= 0)
		close(home);
	return status;
}

static int
add_output(struct weir_offload *offload, const struct weir_port *port, const char *where,
	   struct weir_error *error)
{
	const uint32_t interface = if_nametoindex(port->interface);
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", port->interface);
	if (interface != 0 && ioctl(port->flags_socket, SIOCGIFMTU, &request) == 0 &&
	    weir_xdp_program_add_output(offload, interface,
					RTE_MIN(request.ifr_mtu + RTE_ETHER_HDR_LEN,
						weir_ports_frame_bytes_max() - FCS_BYTES)) == 0)
		return 0;
	return weir_fail(error, "port_failed", where, NULL, NULL,
			 "cannot redirect to interface %s: %s", port->interface, strerror(errno));
}

static int
attach(struct weir_offload *offload, const struct weir_port *port, const char *where,
       struct weir_error *error)
{
	char fix[sizeof(error->fix)];

	if (weir_offloads_refuse_hidden(port->name, port->interface, error) < 0)
		return -1;
	if (weir_xdp_program_attach(offload, if_nametoindex(port->interface)) == 0)
		return 0;
	snprintf(fix, sizeof(fix), "ip link set dev %s xdpgeneric off", port->interface);
	return weir_fail(error, "port_failed", where, "an interface without another XDP program",
			 fix, "cannot attach to interface %s: %s", port->interface,
			 strerror(errno));
}

struct weir_offload *
weir_xdp_offload_open(const struct weir_xdp_config *config, struct weir_error *error)
{
	const char *where = config->where;
	struct weir_offload *offload;
	int status = refuse_kind(config->in, where, error);

	for (unsigned int i = 0; status == 0 && i < config->out_count; i++)
		status = refuse_kind(config->out[i], where, error);
	if (status < 0)
		return NULL;
	offload = weir_xdp_program_load(config->flows, config->packets_min);
	if (offload == NULL) {
		weir_fail(error, "port_failed", where,
			  "Linux 5.12 or later, the rights CAP_BPF and CAP_NET_ADMIN, and memory "
			  "for the entries",
			  NULL, "the kernel does not take the XDP program with %u entries: %s",
			  config->flows, strerror(errno));
		return NULL;
	}
	for (unsigned int i = 0; status == 0 && i < config->out_count; i++)
		status = in_namespace_of(config->out[i], where, add_output, offload, error);
	if (status == 0)
		status = in_namespace_of(config->in, where, attach, offload, error);
	if (status == 0)
		return offload;
	weir_xdp_program_close(offload);
	return NULL;
}
