/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ICMP that a router sends: errors about a packet (RFC 792, 1812, 4443) and echo replies, made in
 * the packet's own buffer.
 */
#ifndef WEIR_PACKET_ICMP_MESSAGE_H
#define WEIR_PACKET_ICMP_MESSAGE_H

#include <stdbool.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "headers.h"
#include "ip_address.h"

/* What an error message says; types and codes are those of the packet's family. */
enum weir_icmp_cause {
	WEIR_ICMP_TIME_EXCEEDED,
	WEIR_ICMP_NO_ROUTE,
	WEIR_ICMP_HOST_UNREACHABLE,
	WEIR_ICMP_PORT_UNREACHABLE,
	WEIR_ICMP_TOO_BIG, /* fragmentation needed, with the MTU (RFC 1191); packet too big */
	/* Of IPv6 alone, with the place in the packet; RFC 8200, 4.4 and 4.2. */
	WEIR_ICMP_ROUTE_UNKNOWN,
	WEIR_ICMP_OPTION_UNKNOWN,
};

/* One segment, in a buffer of nobody else's: what may be written anew. */
bool weir_icmp_packet_is_plain(const struct rte_mbuf *packet);

/* Of an ICMPv6 message right behind its IPv6 header. */
bool weir_icmpv6_checksum_right(const struct rte_ipv6_hdr *ip);
void weir_icmpv6_checksum_set(struct rte_ipv6_hdr *ip);

/*
 * Whether an error may be sent about the packet (RFC 1812, 4.3.2.7; RFC 4443, 2.4 e): not about an
 * error or a redirect, a later fragment, a packet to a group or a broadcast (of IP or of the link),
 * or from no station; nor about ICMP whose type is not there to read.
 */
bool weir_icmp_error_may_be_sent(const struct rte_mbuf *packet, const struct weir_headers *headers);

/*
 * Makes the packet an error message from `source` to whom it was from, with as much of it as
 * RFC 1812, 4.3.2.3 (576 bytes in all) and RFC 4443, 2.4 c (1280) say. Its Ethernet header stays in
 * front. False, and nothing changed: the buffer has no room. `detail`: the MTU in bytes, or the
 * place, as the cause says.
 */
bool weir_icmp_error_make(struct rte_mbuf *packet, const struct weir_headers *headers,
			  enum weir_icmp_cause cause, uint32_t detail,
			  const struct weir_ip_address *source);

/* Whether it is a whole echo request with a right checksum, not a fragment, from one station to
 * another: no address of a group, or that belongs on no wire; behind no extension header that must
 * be known and is not. */
bool weir_icmp_is_echo_request(const struct rte_mbuf *packet, const struct weir_headers *headers);
/* Makes such a request its reply (RFC 792; RFC 4443, 4.2), without IPv6 extension headers; its
 * Ethernet header stays as it is. */
void weir_icmp_echo_reply(struct rte_mbuf *packet, const struct weir_headers *headers);

#endif
