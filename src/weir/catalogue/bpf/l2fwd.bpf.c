/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * l2fwd: each frame leaves by the other interface, with both MAC addresses exchanged (SWAP), or with those of
 * its next hop: LEFT_SRC and LEFT_DST of what came in at the left, RIGHT_SRC and RIGHT_DST of the other way.
 */
#include <linux/if_ether.h>

#include "counts.h"

#if SWAP
#define LEFT_SRC 0
#define LEFT_DST 0
#define RIGHT_SRC 0
#define RIGHT_DST 0
#endif

static __always_inline int forwarded(struct xdp_md *context, const __u8 *src, const __u8 *dst, __u32 out)
{
	struct ethhdr *ethernet = (void *)(long)context->data;
	__u8 before[ETH_ALEN];

	if ((void *)(ethernet + 1) > (void *)(long)context->data_end)
		return counted(LEFT_TO_LINUX, XDP_PASS);
	if (SWAP) {
		__builtin_memcpy(before, ethernet->h_source, ETH_ALEN);
		__builtin_memcpy(ethernet->h_source, ethernet->h_dest, ETH_ALEN);
		__builtin_memcpy(ethernet->h_dest, before, ETH_ALEN);
	} else {
		__builtin_memcpy(ethernet->h_source, src, ETH_ALEN);
		__builtin_memcpy(ethernet->h_dest, dst, ETH_ALEN);
	}
	return counted(FORWARDED, bpf_redirect(out, 0));
}

SEC("xdp_left") int left(struct xdp_md *context)
{
	const __u8 src[ETH_ALEN] = {LEFT_SRC}, dst[ETH_ALEN] = {LEFT_DST};

	return forwarded(context, src, dst, RIGHT_INDEX);
}

SEC("xdp_right") int right(struct xdp_md *context)
{
	const __u8 src[ETH_ALEN] = {RIGHT_SRC}, dst[ETH_ALEN] = {RIGHT_DST};

	return forwarded(context, src, dst, LEFT_INDEX);
}

char licence_name[] SEC("license") = "Apache-2.0";
