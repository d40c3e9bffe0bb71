/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What became of packets: a map "counts" of one interface's program, packets by `enum count`. */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* As weir.fabric.function.xdp names them. */
enum count { FORWARDED, LEFT_TO_LINUX, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline int counted(__u32 count, int action)
{
	__u64 *packets = bpf_map_lookup_elem(&counts, &count);

	if (packets)
		++*packets;
	return action;
}
