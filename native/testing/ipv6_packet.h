/* SPDX-License-Identifier: Apache-2.0 */
/* IPv6 packets for tests, as packet.h has them of IPv4. */
#ifndef WEIR_TESTING_IPV6_PACKET_H
#define WEIR_TESTING_IPV6_PACKET_H

#include "packet.h"

/* What is 0 or NULL gets a plain value. Ports and lengths in host byte order. Checksums of TCP and
 * UDP are 0, of ICMPv6 too: filters do not look at them. */
struct weir_test_ipv6 {
	const char *src, *dst;	     /* "2001:db8::1", "2001:db8:1::1" */
	uint8_t protocol;	     /* UDP */
	uint16_t src_port, dst_port; /* 1024, 80; for ICMPv6: src_port is the identifier */
	uint8_t hop_limit;	     /* 64 */
	uint8_t tcp_flags;	     /* ACK */
	uint8_t icmp_type;	     /* 128, echo request */
	const void *payload;	     /* behind the L4 header */
	uint16_t payload_bytes;
	uint8_t options_bytes; /* of a destination options header, a multiple of 8 */
	uint32_t identification;
	uint16_t fragment_offset_bytes; /* a later fragment has no L4 header: payload only */
	bool more_fragments;
};

/* Writes the frame; returns its length. IPv6 begins behind 14 bytes. */
size_t weir_test_ipv6_frame(const struct weir_test_ipv6 *what, uint8_t *frame);
struct rte_mbuf *weir_test_ipv6_packet(const struct weir_test_ipv6 *what);

#endif
