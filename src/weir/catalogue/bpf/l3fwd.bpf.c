/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * l3fwd: IPv4 and IPv6 by the kernel's routes and neighbours (bpf_fib_lookup() of bpf-helpers(7)).
 *
 * Forwards what needs no more than its next hop's MAC addresses and one less in its TTL. All else is left to
 * Linux, which then drops, answers or resolves: no route, no neighbour yet, TTL 1, options, a wrong checksum, a
 * packet longer than the MTU, or to the router itself.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>

#include "counts.h"

#define IPV4_FAMILY 2  /* AF_INET */
#define IPV6_FAMILY 10 /* AF_INET6 */
#define PLAIN_IHL 5
#define FLOWINFO bpf_htonl(0x0fffffff)

/* RFC 1071, of a header without options: 0xffff if its checksum is right. */
static __always_inline __u16 header_sum(const struct iphdr *ip)
{
	const __u16 *word = (const void *)ip;
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < PLAIN_IHL * 2; ++i)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)(sum + (sum >> 16));
}

/* RFC 1624 of a TTL that is one less. */
static __always_inline void count_down(struct iphdr *ip)
{
	__u32 check = ip->check;

	check += bpf_htons(0x0100);
	ip->check = (__u16)(check + (check >= 0xffff));
	--ip->ttl;
}

static __always_inline int routed(struct xdp_md *context)
{
	void *end = (void *)(long)context->data_end;
	struct ethhdr *ethernet = (void *)(long)context->data;
	struct iphdr *ip = (void *)(ethernet + 1);
	struct ipv6hdr *ip6 = (void *)(ethernet + 1);
	struct bpf_fib_lookup route = {.ifindex = context->ingress_ifindex};

	if ((void *)(ethernet + 1) > end || (ethernet->h_dest[0] & 1))
		return counted(LEFT_TO_LINUX, XDP_PASS);
	if (ethernet->h_proto == bpf_htons(ETH_P_IP)) {
		if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl != PLAIN_IHL || ip->ttl <= 1 ||
		    header_sum(ip) != 0xffff)
			return counted(LEFT_TO_LINUX, XDP_PASS);
		route.family = IPV4_FAMILY;
		route.tos = ip->tos;
		route.l4_protocol = ip->protocol;
		route.tot_len = bpf_ntohs(ip->tot_len);
		if (route.tot_len < sizeof *ip || (void *)ip + route.tot_len > end)
			return counted(LEFT_TO_LINUX, XDP_PASS);
		route.ipv4_src = ip->saddr;
		route.ipv4_dst = ip->daddr;
	} else if (ethernet->h_proto == bpf_htons(ETH_P_IPV6)) {
		if ((void *)(ip6 + 1) > end || ip6->version != 6 || ip6->hop_limit <= 1)
			return counted(LEFT_TO_LINUX, XDP_PASS);
		route.family = IPV6_FAMILY;
		route.flowinfo = *(__be32 *)ip6 & FLOWINFO;
		route.l4_protocol = ip6->nexthdr;
		route.tot_len = bpf_ntohs(ip6->payload_len) + sizeof *ip6;
		if ((void *)ip6 + route.tot_len > end)
			return counted(LEFT_TO_LINUX, XDP_PASS);
		__builtin_memcpy(route.ipv6_src, &ip6->saddr, sizeof route.ipv6_src);
		__builtin_memcpy(route.ipv6_dst, &ip6->daddr, sizeof route.ipv6_dst);
	} else {
		return counted(LEFT_TO_LINUX, XDP_PASS);
	}
	if (bpf_fib_lookup(context, &route, sizeof route, 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return counted(LEFT_TO_LINUX, XDP_PASS);
	if (ethernet->h_proto == bpf_htons(ETH_P_IP))
		count_down(ip);
	else
		--ip6->hop_limit;
	__builtin_memcpy(ethernet->h_dest, route.dmac, ETH_ALEN);
	__builtin_memcpy(ethernet->h_source, route.smac, ETH_ALEN);
	return counted(FORWARDED, bpf_redirect(route.ifindex, 0));
}

SEC("xdp_left") int left(struct xdp_md *context)
{
	return routed(context);
}

SEC("xdp_right") int right(struct xdp_md *context)
{
	return routed(context);
}

/* The kernel has bpf_fib_lookup() for programs under the GPL alone: it gets this one under that. */
char licence_name[] SEC("license") = "GPL";
