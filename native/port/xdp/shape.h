/* SPDX-License-Identifier: Apache-2.0 */
/* What the program at the interface (redirect.bpf.c) and weir-dp (program.c) share: memory that
 * both have mapped. Both are little endian or both big; numbers of packets are in network order. */
#ifndef WEIR_PORT_XDP_SHAPE_H
#define WEIR_PORT_XDP_SHAPE_H

#include <linux/types.h>

#define WEIR_XDP_OUTPUTS 16
#define WEIR_XDP_SET_MAC 1
#define WEIR_XDP_SET_TUPLE 2

struct weir_xdp_key {
	__u32 src_ip, dst_ip;
	__u16 src_port, dst_port;
	__u8 protocol;
	__u8 zero[3];
};

/*
 * One flow. A packet takes hold of the entry (`holders`), and only then looks whether it is
 * `active` and its own; weir-dp takes `active` away, and then waits until nobody holds it. So no
 * packet is treated by an entry that was revoked, and what it counted is all there.
 */
struct weir_xdp_entry {
	struct weir_xdp_key key;
	__u32 active, holders;
	__u64 packets, bytes; /* L2 without FCS; of this place since it was made: they only grow */
	__u32 src_ip, dst_ip; /* that leave, as the ports */
	__u16 src_port, dst_port;
	__u16 ip_change, l4_change; /* what the rewrites add to ~checksum (RFC 1624) */
	__u8 macs[12];		    /* destination, source */
	__u8 set, ttl_decrement, output, zero;
	__u32 frame_bytes_max; /* that the output's interface takes */
	__u32 zero2;
};

/* By output of the path. */
struct weir_xdp_total {
	__u64 packets, bytes;
	__u64 failed; /* of these, refused by the output's interface: down, gone, or a smaller MTU
		       */
};

#endif
