/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a packet's headers are and what network functions ask of them, read once for all stages of
 * a chain: Ethernet, up to two VLAN tags, IPv4 (RFC 791) or IPv6 (RFC 8200) with extension headers,
 * TCP, UDP or ICMP.
 */
#ifndef WEIR_PACKET_HEADERS_H
#define WEIR_PACKET_HEADERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <netinet/in.h>

#include <rte_icmp.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

/* RFC 4443, section 4. */
#define WEIR_ICMPV6_ECHO_REQUEST 128
#define WEIR_ICMPV6_ECHO_REPLY 129

/* Segments with one of these change the state of a connection. */
#define WEIR_TCP_EVENTS (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG)

enum weir_network {
	WEIR_NETWORK_OTHER, /* neither IPv4 nor IPv6: ARP, LLDP, a frame cut in its Ethernet header
			     */
	WEIR_NETWORK_IPV4,
	WEIR_NETWORK_IPV6,
	WEIR_NETWORK_MALFORMED, /* says IP, but lengths or versions contradict each other */
};

enum weir_header_flag {
	WEIR_HEADER_FRAGMENT = 1 << 0,	     /* any fragment but an atomic one (RFC 6946) */
	WEIR_HEADER_LATER_FRAGMENT = 1 << 1, /* not the first: no ports in it */
	WEIR_HEADER_L4_CUT = 1 << 2,	     /* the L4 header is not all there, or a later fragment
					      * begins in it, or it is behind more IPv6 extension
					      * headers than are walked: ports are 0 */
	WEIR_HEADER_OPTIONS = 1 << 3,	     /* IPv4 options or IPv6 extension headers */
	WEIR_HEADER_GROUP = 1 << 4,	     /* to a group MAC address: multicast or broadcast */
	WEIR_HEADER_BAD_CHECKSUM = 1 << 5,   /* of the IPv4 header */
};

/*
 * The five-tuple of an IPv4 packet, in network byte order; a key to hash and compare as bytes. For
 * ICMP and ICMPv6 echo both ports are the identifier; for other ICMP, and without an L4 header, 0.
 * For IPv6 addresses are 0: read them in the packet.
 */
struct weir_tuple {
	uint32_t src_ip;
	uint32_t dst_ip;
	uint16_t src_port;
	uint16_t dst_port;
	uint8_t protocol;
	uint8_t zero[3];
};
static_assert(sizeof(struct weir_tuple) == 16, "a key without holes");

struct weir_headers {
	struct weir_tuple tuple;
	uint8_t network; /* enum weir_network */
	uint8_t flags;	 /* enum weir_header_flag */
	uint8_t tcp_flags;
	uint8_t ttl;		 /* IPv4's time to live, IPv6's hop limit */
	uint16_t l3_offset;	 /* from the start of the frame; 0 if there is no IP header */
	uint16_t l4_offset;	 /* 0: no L4 header of known kind, or not all of it there */
	uint16_t payload_offset; /* behind the L4 header; 0 with l4_offset */
	uint16_t l3_bytes; /* IP's own length, header included: padding of the frame is not of it */
	uint16_t vlan;	   /* identifier of the outermost tag; 0: none */
	uint16_t zero;
};
static_assert(sizeof(struct weir_headers) == 32, "two packets' headers a cache line");

/* Whether that type of ICMP or ICMPv6 is an echo request or reply, which have identifiers. */
static inline bool
weir_icmp_is_echo(uint8_t protocol, uint8_t type)
{
	if (protocol == IPPROTO_ICMP)
		return type == RTE_IP_ICMP_ECHO_REQUEST || type == RTE_IP_ICMP_ECHO_REPLY;
	return type == WEIR_ICMPV6_ECHO_REQUEST || type == WEIR_ICMPV6_ECHO_REPLY;
}

/* Walks the extension headers of an IPv6 packet from `*offset` on, where one of kind `*next` is, up
 * to what the packet carries, and sets `flags` (enum weir_header_flag) by them. False: one is cut
 * within `length`, or there are more than are walked. */
bool weir_ipv6_skip_extensions(const uint8_t *data, uint32_t length, uint32_t *offset,
			       uint8_t *next, uint8_t *flags);

/* Where the payload of the Ethernet frame begins, behind up to two VLAN tags; 0: the frame is cut
 * in front of it. `vlan`: the identifier of the outermost tag; 0: none. */
uint32_t weir_l3_offset(const uint8_t *frame, uint32_t length, uint16_t *vlan);

/* The type in front of what begins there, in host byte order. */
static inline uint16_t
weir_ethertype_before(const uint8_t *frame, uint32_t l3_offset)
{
	return (uint16_t)(frame[l3_offset - 2] << 8 | frame[l3_offset - 1]);
}

/* Reads the first segment of `packet`; what lies beyond it counts as cut. Never writes, never reads
 * outside. */
void weir_headers_parse(const struct rte_mbuf *packet, struct weir_headers *headers);

/* The same for `count` packets, whose frames may still be in memory. */
void weir_headers_parse_all(struct rte_mbuf *const *packets, struct weir_headers *headers,
			    unsigned int count);

#endif
