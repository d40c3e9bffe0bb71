/* SPDX-License-Identifier: Apache-2.0 */
#include "offload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "engine/flow_cache.h"
#include "engine/outputs.h"
#include "port/kind.h"
#include "port/offloads.h"
#include "redirect.skel.h"
#include "shape.h"

static_assert(WEIR_XDP_OUTPUTS == WEIR_OUTPUTS_MAX, "one each");
static_assert(sizeof(struct weir_xdp_entry) % 8 == 0, "an array's elements lie side by side");

#define FCS_BYTES 4

struct xdp_offload {
	struct weir_offload offload; /* first */
	struct weir_redirect *program;
	int link_fd;
	struct bpf_link *failures;
	struct weir_xdp_entry *entries; /* mapped, as `totals` */
	struct weir_xdp_total *totals;
	size_t entries_bytes, totals_bytes;
	uint32_t free_count;
	uint32_t *free_places;
	struct weir_counter *taken; /* by place: what take_counts() gave */
	uint32_t output_count;
	uint32_t frame_bytes_max[WEIR_OUTPUTS_MAX];
};

static struct xdp_offload *
of(struct weir_offload *offload)
{
	return (struct xdp_offload *)offload;
}

static struct weir_xdp_key
key_of(const struct weir_flow_entry *entry)
{
	return (struct weir_xdp_key){.src_ip = entry->key.src_ip,
				     .dst_ip = entry->key.dst_ip,
				     .src_port = entry->key.src_port,
				     .dst_port = entry->key.dst_port,
				     .protocol = entry->key.protocol};
}

static void
fill(const struct xdp_offload *xdp, const struct weir_flow_entry *entry, unsigned int output,
     struct weir_xdp_entry *into)
{
	into->key = key_of(entry);
	into->src_ip = entry->src_ip;
	into->dst_ip = entry->dst_ip;
	into->src_port = entry->src_port;
	into->dst_port = entry->dst_port;
	into->ip_change = entry->ip_change;
	into->l4_change = entry->l4_change;
	memcpy(into->macs, &entry->dst_mac, sizeof(into->macs));
	into->set = ((entry->set & WEIR_SET_MAC) != 0 ? WEIR_XDP_SET_MAC : 0) |
		    ((entry->set & WEIR_SET_TUPLE) != 0 ? WEIR_XDP_SET_TUPLE : 0);
	into->ttl_decrement = entry->ttl_decrement;
	into->output = output;
	into->frame_bytes_max = xdp->frame_bytes_max[output];
}

static uint32_t
put(struct weir_offload *offload, const struct weir_flow_entry *entry,
    enum weir_offload_refusal *refusal)
{
	struct xdp_offload *xdp = of(offload);
	const unsigned int output = entry->egress == WEIR_FLOW_NO_EGRESS ? 0 : entry->egress;
	const struct weir_xdp_key key = key_of(entry);
	uint16_t vlan;
	uint32_t index;

	*refusal = WEIR_OFFLOAD_OUTPUT;
	memcpy(&vlan, &entry->key.zero[1], sizeof(vlan));
	if (output >= xdp->output_count)
		return WEIR_OFFLOAD_NONE;
	*refusal = WEIR_OFFLOAD_FAILED; /* the program looks at untagged frames alone */
	if (vlan != 0)
		return WEIR_OFFLOAD_NONE;
	*refusal = WEIR_OFFLOAD_FULL;
	if (xdp->free_count == 0)
		return WEIR_OFFLOAD_NONE;
	index = xdp->free_places[xdp->free_count - 1];
	fill(xdp, entry, output, &xdp->entries[index]);
	*refusal = WEIR_OFFLOAD_FAILED;
	if (bpf_map__update_elem(xdp->program->maps.places, &key, sizeof(key), &index,
				 sizeof(index), BPF_NOEXIST) != 0)
		return WEIR_OFFLOAD_NONE;
	xdp->free_count--;
	__atomic_store_n(&xdp->entries[index].active, 1, __ATOMIC_SEQ_CST);
	return index + 1;
}

/* A packet holds an entry for some hundred nanoseconds. */
static void
stop_using(struct weir_offload *offload, uint32_t place)
{
	struct weir_xdp_entry *entry = &of(offload)->entries[place - 1];

	__atomic_store_n(&entry->active, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&entry->holders, __ATOMIC_SEQ_CST) != 0)
		rte_pause();
}

/* A counter of the program's, whose type is as long as uint64_t and has another name. */
static uint64_t
now(const __u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
take_counts(struct weir_offload *offload, uint32_t place, uint64_t *packets, uint64_t *bytes)
{
	const struct weir_xdp_entry *entry = &of(offload)->entries[place - 1];
	struct weir_counter *taken = &of(offload)->taken[place - 1];
	const uint64_t packets_now = now(&entry->packets);
	const uint64_t bytes_now = now(&entry->bytes);

	*packets = packets_now - taken->packets;
	*bytes = bytes_now - taken->bytes;
	*taken = (struct weir_counter){packets_now, bytes_now};
}

static void
give_back(struct weir_offload *offload, uint32_t place)
{
	struct xdp_offload *xdp = of(offload);

	bpf_map__delete_elem(xdp->program->maps.places, &xdp->entries[place - 1].key,
			     sizeof(struct weir_xdp_key), 0);
	xdp->free_places[xdp->free_count++] = place - 1;
}

static void
totals(const struct weir_offload *offload, unsigned int output, uint64_t *packets, uint64_t *bytes,
       uint64_t *failed)
{
	const struct weir_xdp_total *total = &((const struct xdp_offload *)offload)->totals[output];

	*packets = now(&total->packets);
	*bytes = now(&total->bytes);
	*failed = now(&total->failed);
}

static void
close_offload(struct weir_offload *offload)
{
	struct xdp_offload *xdp = of(offload);

	if (xdp->link_fd >= 0)
		close(xdp->link_fd);
	bpf_link__destroy(xdp->failures);
	if (xdp->entries != NULL)
		munmap(xdp->entries, xdp->entries_bytes);
	if (xdp->totals != NULL)
		munmap(xdp->totals, xdp->totals_bytes);
	weir_redirect__destroy(xdp->program);
	free(xdp->free_places);
	free(xdp->taken);
	free(xdp);
}

static const struct weir_offload_kind kind = {.name = "xdp",
					      .put = put,
					      .revoke = stop_using,
					      .take_counts = take_counts,
					      .free_place = give_back,
					      .totals = totals,
					      .close = close_offload};

/* --- opening -------------------------------------------------------------------------------------
 */

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

/* Runs `run` in the port's network namespace. */
static int
in_namespace_of(const struct weir_port *port, const char *where,
		int (*run)(struct xdp_offload *xdp, const struct weir_port *port, const char *where,
			   unsigned int index, struct weir_error *error),
		struct xdp_offload *xdp, unsigned int index, struct weir_error *error)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = ioctl(port->flags_socket, SIOCGSKNS);
	int status = -1;

	if (home < 0 || there < 0 || setns(there, CLONE_NEWNET) < 0) {
		weir_fail(error, "port_failed", where, NULL, "entering a namespace needs root",
			  "cannot enter the network namespace of port %s: %s", port->name,
			  strerror(errno));
	} else {
		status = run(xdp, port, where, index, error);
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
add_output(struct xdp_offload *xdp, const struct weir_port *port, const char *where,
	   unsigned int index, struct weir_error *error)
{
	const uint32_t interface = if_nametoindex(port->interface);
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", port->interface);
	if (interface == 0 || ioctl(port->flags_socket, SIOCGIFMTU, &request) < 0 ||
	    bpf_map__update_elem(xdp->program->maps.outputs, &index, sizeof(index), &interface,
				 sizeof(interface), 0) != 0)
		return weir_fail(error, "port_failed", where, NULL, NULL,
				 "cannot redirect to interface %s: %s", port->interface,
				 strerror(errno));
	xdp->frame_bytes_max[index] = RTE_MIN(request.ifr_mtu + RTE_ETHER_HDR_LEN,
					      weir_ports_frame_bytes_max() - FCS_BYTES);
	return 0;
}

static int
attach(struct xdp_offload *xdp, const struct weir_port *port, const char *where, unsigned int index,
       struct weir_error *error)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_SKB_MODE);

	(void)index;
	if (weir_offloads_refuse_hidden(port->name, port->interface, error) < 0)
		return -1;
	xdp->link_fd = bpf_link_create(bpf_program__fd(xdp->program->progs.weir_redirect),
				       (int)if_nametoindex(port->interface), BPF_XDP, &options);
	if (xdp->link_fd >= 0)
		return 0;
	return weir_fail(error, "port_failed", where, "an interface without another XDP program",
			 "ip link set dev … xdpgeneric off", "cannot attach to interface %s: %s",
			 port->interface, strerror(errno));
}

static void *
map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool
load(struct xdp_offload *xdp, uint32_t flows)
{
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);

	xdp->program = weir_redirect__open();
	if (xdp->program == NULL ||
	    bpf_map__set_max_entries(xdp->program->maps.places, flows) != 0 ||
	    bpf_map__set_max_entries(xdp->program->maps.entries, flows) != 0 ||
	    weir_redirect__load(xdp->program) != 0 ||
	    bpf_obj_get_info_by_fd(bpf_map__fd(xdp->program->maps.outputs), &info, &info_bytes) !=
		    0)
		return false;
	xdp->program->bss->outputs_id = info.id;
	xdp->entries_bytes = flows * sizeof(struct weir_xdp_entry);
	xdp->totals_bytes = WEIR_XDP_OUTPUTS * sizeof(struct weir_xdp_total);
	xdp->entries = map_memory(xdp->program->maps.entries, xdp->entries_bytes);
	xdp->totals = map_memory(xdp->program->maps.totals, xdp->totals_bytes);
	xdp->failures = bpf_program__attach_raw_tracepoint(xdp->program->progs.weir_redirect_failed,
							   "xdp_redirect_err");
	return xdp->entries != NULL && xdp->totals != NULL && xdp->failures != NULL;
}

static struct xdp_offload *
create(const struct weir_xdp_config *config, struct weir_error *error)
{
	struct xdp_offload *xdp = calloc(1, sizeof(*xdp));

	if (xdp != NULL) {
		xdp->offload.kind = &kind;
		xdp->offload.packets_min = config->packets_min;
		xdp->link_fd = -1;
		xdp->output_count = config->out_count;
		xdp->free_places = calloc(config->flows, sizeof(*xdp->free_places));
		xdp->taken = calloc(config->flows, sizeof(*xdp->taken));
		if (xdp->free_places != NULL && xdp->taken != NULL) {
			for (uint32_t i = 0; i < config->flows; i++)
				xdp->free_places[i] = config->flows - 1 - i;
			xdp->free_count = config->flows;
			return xdp;
		}
		close_offload(&xdp->offload);
	}
	weir_fail(error, "no_memory", config->where, NULL, "ask for fewer flows",
		  "no memory for %u offloaded flows", config->flows);
	return NULL;
}

static int
silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

struct weir_offload *
weir_xdp_offload_open(const struct weir_xdp_config *config, struct weir_error *error)
{
	struct xdp_offload *xdp;
	int status = refuse_kind(config->in, config->where, error);

	for (unsigned int i = 0; status == 0 && i < config->out_count; i++)
		status = refuse_kind(config->out[i], config->where, error);
	xdp = status == 0 ? create(config, error) : NULL;
	if (xdp == NULL)
		return NULL;
	libbpf_set_print(silent); /* what fails is told by errno */
	if (!load(xdp, config->flows))
		status = weir_fail(error, "port_failed", config->where,
				   "Linux 5.12 or later, and the rights CAP_BPF and CAP_NET_ADMIN",
				   NULL, "the kernel does not take the XDP program: %s",
				   strerror(errno));
	for (unsigned int i = 0; status == 0 && i < config->out_count; i++)
		status = in_namespace_of(config->out[i], config->where, add_output, xdp, i, error);
	if (status == 0)
		status = in_namespace_of(config->in, config->where, attach, xdp, 0, error);
	if (status == 0)
		return &xdp->offload;
	close_offload(&xdp->offload);
	return NULL;
}
