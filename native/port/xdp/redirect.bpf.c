/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At an interface: what belongs to an entry is rewritten as the fast path would (fastpath.c) and
 * redirected; everything else goes up. Only frames of which the fast path would know the flow by
 * its tuple are looked at: untagged, IPv4 without options, whole, with a right header checksum;
 * UDP, or TCP without SYN, FIN and RST; to one station; with a time to live that lasts.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "shape.h"

#define IP 14
#define L4 34
#define TCP_BYTES 20
#define UDP_BYTES 8
#define TCP_EVENTS 0x07 /* FIN, SYN, RST */
#define UDP_CHECKSUM 6
#define TCP_CHECKSUM 16

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct weir_xdp_key);
	__type(value, __u32);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct weir_xdp_entry);
} entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WEIR_XDP_OUTPUTS);
	__type(key, __u32);
	__type(value, struct weir_xdp_total);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, WEIR_XDP_OUTPUTS);
	__type(key, __u32);
	__type(value, __u32);
} outputs SEC(".maps");

__u32 outputs_id; /* of the map above: known once it is there */

static __always_inline __u16
word_at(const __u8 *at)
{
	return *(const __u16 *)at;
}

/* As weir_checksum_fold() and weir_checksum_changed(). */
static __always_inline __u16
fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)((sum & 0xffff) + (sum >> 16));
}

static __always_inline __u16
changed(__u16 checksum, __u16 change)
{
	return (__u16)~fold((__u32)(__u16)~checksum + change);
}

static __always_inline void
rewrite(__u8 *frame, const struct weir_xdp_entry *entry)
{
	const int udp = frame[IP + 9] == IPPROTO_UDP;
	__u16 *field = (__u16 *)(frame + L4 + UDP_CHECKSUM);

	*(__u32 *)(frame + IP + 12) = entry->src_ip;
	*(__u32 *)(frame + IP + 16) = entry->dst_ip;
	*(__u16 *)(frame + L4) = entry->src_port;
	*(__u16 *)(frame + L4 + 2) = entry->dst_port;
	*(__u16 *)(frame + IP + 10) = changed(word_at(frame + IP + 10), entry->ip_change);
	if (udp) {
		if (*field != 0) {
			__u16 checksum = changed(*field, entry->l4_change);

			*field = checksum == 0 ? 0xffff : checksum;
		}
	}
}

/* weir_ttl_decrement(), of IPv4. */
static __always_inline void
decrement_ttl(__u8 *ip, __u8 by)
{
	__u32 sum = word_at(ip + 10) + (__u32)bpf_htons((__u16)(by << 8));

	ip[8] -= by;
	*(__u16 *)(ip + 10) = (__u16)(sum + (sum >= 0xffff));
}

/* Whether the fast path would know the packet by its tuple, which becomes `key`. */
static __always_inline int
may_be_known(const __u8 *frame, const __u8 *end, struct weir_xdp_key *key)
{
	const __u8 *ip = frame + IP;
	__u32 sum = 0, total_bytes, l4_bytes;

	if (frame + L4 + UDP_BYTES > end || word_at(frame + 12) != bpf_htons(ETH_P_IP) ||
	    (frame[0] & 1) != 0 || ip[0] != 0x45 || (word_at(ip + 6) & bpf_htons(0x3fff)) != 0)
		return 0;
	for (int i = 0; i < 20; i += 2)
		sum += word_at(ip + i);
	if (fold(sum) != 0xffff)
		return 0;
	total_bytes = bpf_ntohs(word_at(ip + 2));
	if (total_bytes > (__u32)(end - frame) - IP)
		return 0;
	if (ip[9] == IPPROTO_UDP) {
		l4_bytes = UDP_BYTES;
	} else if (ip[9] == IPPROTO_TCP) {
		if (frame + L4 + TCP_BYTES > end)
			return 0;
		l4_bytes = (frame[L4 + 12] >> 4) * 4;
		if (l4_bytes < TCP_BYTES || (frame[L4 + 13] & TCP_EVENTS) != 0)
			return 0;
	} else {
		return 0;
	}
	if (total_bytes < 20 + l4_bytes)
		return 0;
	key->src_ip = *(const __u32 *)(ip + 12);
	key->dst_ip = *(const __u32 *)(ip + 16);
	key->src_port = word_at(frame + L4);
	key->dst_port = word_at(frame + L4 + 2);
	key->protocol = ip[9];
	return 1;
}

static __always_inline int
is_same(const struct weir_xdp_key *one, const struct weir_xdp_key *other)
{
	return one->src_ip == other->src_ip && one->dst_ip == other->dst_ip &&
	       one->src_port == other->src_port && one->dst_port == other->dst_port &&
	       one->protocol == other->protocol;
}

/* What is done while the entry is held. */
static __always_inline int
follow(__u8 *frame, __u8 *end, const struct weir_xdp_key *key, struct weir_xdp_entry *entry)
{
	const __u64 bytes = end - frame;
	struct weir_xdp_total *total;
	__u32 output;

	if (*(volatile __u32 *)&entry->active == 0 || !is_same(&entry->key, key) ||
	    bytes > entry->frame_bytes_max)
		return XDP_PASS;
	if (frame + L4 + UDP_BYTES > end || frame[IP + 8] <= entry->ttl_decrement)
		return XDP_PASS;
	output = entry->output;
	total = bpf_map_lookup_elem(&totals, &output);
	if (total == NULL || bpf_map_lookup_elem(&outputs, &output) == NULL)
		return XDP_PASS;
	if ((entry->set & WEIR_XDP_SET_TUPLE) != 0) {
		/* Before anything is changed: what is cut off goes up as it came. */
		if (frame[IP + 9] == IPPROTO_TCP) {
			__u16 *field = (__u16 *)(frame + L4 + TCP_CHECKSUM);

			if ((__u8 *)(field + 1) > end)
				return XDP_PASS;
			*field = changed(*field, entry->l4_change);
		}
		rewrite(frame, entry);
	}
	if (entry->ttl_decrement != 0)
		decrement_ttl(frame + IP, entry->ttl_decrement);
	if ((entry->set & WEIR_XDP_SET_MAC) != 0)
		__builtin_memcpy(frame, entry->macs, sizeof(entry->macs));
	__sync_fetch_and_add(&entry->packets, 1);
	__sync_fetch_and_add(&entry->bytes, bytes);
	__sync_fetch_and_add(&total->packets, 1);
	__sync_fetch_and_add(&total->bytes, bytes);
	return (int)bpf_redirect_map(&outputs, output, 0);
}

SEC("xdp")
int
weir_redirect(struct xdp_md *context)
{
	__u8 *frame = (__u8 *)(long)context->data, *end = (__u8 *)(long)context->data_end;
	struct weir_xdp_key key = {};
	struct weir_xdp_entry *entry;
	__u32 *place;
	int verdict;

	if (!may_be_known(frame, end, &key))
		return XDP_PASS;
	place = bpf_map_lookup_elem(&places, &key);
	if (place == NULL)
		return XDP_PASS;
	entry = bpf_map_lookup_elem(&entries, place);
	if (entry == NULL)
		return XDP_PASS;
	/* The values of both are used: then they are atomic operations that order what is around
	 * them, on every architecture. */
	if (__sync_fetch_and_add(&entry->holders, 1) == 0xffffffff)
		return XDP_PASS;
	verdict = follow(frame, end, &key, entry);
	return __sync_fetch_and_add(&entry->holders, -1) != 0 ? verdict : XDP_ABORTED;
}

/* Arguments: device, program, target, error, kind and number of the map, index. */
SEC("raw_tp/xdp_redirect_err")
int
weir_redirect_failed(struct bpf_raw_tracepoint_args *context)
{
	struct weir_xdp_total *total;
	__u32 output = (__u32)context->args[6];

	if (outputs_id == 0 || (__u32)context->args[5] != outputs_id)
		return 0;
	total = bpf_map_lookup_elem(&totals, &output);
	if (total != NULL)
		__sync_fetch_and_add(&total->failed, 1);
	return 0;
}

char _license[] SEC("license") = "Apache-2.0";
