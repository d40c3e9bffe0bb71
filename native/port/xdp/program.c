/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "engine/flow_cache.h"
#include "engine/outputs.h"
#include "port/offload_places.h"
#include "redirect.skel.h"
#include "shape.h"

static_assert(WEIR_XDP_OUTPUTS == WEIR_OUTPUTS_MAX, "one each");
static_assert(sizeof(struct weir_xdp_entry) % 8 == 0, "an array's elements lie side by side");

struct xdp_offload {
	struct weir_offload offload; /* first */
	struct weir_redirect *program;
	int link_fd;
	struct bpf_link *failures;
	struct weir_xdp_entry *entries; /* mapped, as `totals` */
	struct weir_xdp_total *totals;
	size_t entries_bytes, totals_bytes;
	struct weir_offload_places places;
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
	const struct weir_xdp_key key = key_of(entry);
	unsigned int output;
	uint32_t index;

	if (!weir_offload_places_find(&xdp->places, entry, xdp->output_count, &output, &index,
				      refusal))
		return WEIR_OFFLOAD_NONE;
	fill(xdp, entry, output, &xdp->entries[index]);
	*refusal = WEIR_OFFLOAD_FAILED;
	if (bpf_map__update_elem(xdp->program->maps.places, &key, sizeof(key), &index,
				 sizeof(index), BPF_NOEXIST) != 0)
		return WEIR_OFFLOAD_NONE;
	weir_offload_places_take(&xdp->places);
	__atomic_store_n(&xdp->entries[index].active, 1, __ATOMIC_SEQ_CST);
	return index + 1;
}

/* A packet holds an entry for some hundred nanoseconds. */
static void
revoke_entry(struct weir_offload *offload, uint32_t place)
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
free_place(struct weir_offload *offload, uint32_t place)
{
	struct xdp_offload *xdp = of(offload);

	bpf_map__delete_elem(xdp->program->maps.places, &xdp->entries[place - 1].key,
			     sizeof(struct weir_xdp_key), 0);
	weir_offload_places_give(&xdp->places, place - 1);
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

void
weir_xdp_program_close(struct weir_offload *offload)
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
	weir_offload_places_free(&xdp->places);
	free(xdp->taken);
	free(xdp);
}

static const struct weir_offload_kind kind = {.name = "xdp",
					      .put = put,
					      .revoke = revoke_entry,
					      .take_counts = take_counts,
					      .free_place = free_place,
					      .totals = totals,
					      .close = weir_xdp_program_close};

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

static int
silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

struct weir_offload *
weir_xdp_program_load(uint32_t flows, uint32_t packets_min)
{
	struct xdp_offload *xdp = calloc(1, sizeof(*xdp));

	if (xdp == NULL)
		return NULL;
	libbpf_set_print(silent); /* what fails is told by errno */
	xdp->link_fd = -1;
	xdp->offload.kind = &kind;
	xdp->offload.packets_min = packets_min;
	xdp->taken = calloc(flows, sizeof(*xdp->taken));
	if (weir_offload_places_make(&xdp->places, flows) && xdp->taken != NULL && load(xdp, flows))
		return &xdp->offload;
	const int why = errno;

	weir_xdp_program_close(&xdp->offload);
	errno = why;
	return NULL;
}

int
weir_xdp_program_add_output(struct weir_offload *offload, uint32_t interface,
			    uint32_t frame_bytes_max)
{
	struct xdp_offload *xdp = of(offload);
	const uint32_t index = xdp->output_count;

	if (bpf_map__update_elem(xdp->program->maps.outputs, &index, sizeof(index), &interface,
				 sizeof(interface), 0) != 0)
		return -1;
	xdp->frame_bytes_max[xdp->output_count++] = frame_bytes_max;
	return 0;
}

int
weir_xdp_program_fd(const struct weir_offload *offload)
{
	return bpf_program__fd(((const struct xdp_offload *)offload)->program->progs.weir_redirect);
}

int
weir_xdp_program_attach(struct weir_offload *offload, uint32_t interface)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_SKB_MODE);
	struct xdp_offload *xdp = of(offload);

	xdp->link_fd =
		bpf_link_create(weir_xdp_program_fd(offload), (int)interface, BPF_XDP, &options);
	return xdp->link_fd >= 0 ? 0 : -1;
}
