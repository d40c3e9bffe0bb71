/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of captured frames in place of others: a prefix for a prefix of the same length. */
#ifndef WEIR_TRAFFIC_ADDRESS_MAP_H
#define WEIR_TRAFFIC_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#define WEIR_ADDRESS_MAPS_MAX 16

/* Addresses in network byte order, IPv4 in the first 4 bytes, without host bits. */
struct weir_address_map {
	uint8_t ip_version; /* 4 or 6 */
	uint8_t length;	    /* of both prefixes, in bits */
	uint8_t from[16], to[16];
};

/*
 * Rewrites source and destination of IPv4 and IPv6, and the addresses of ARP, by the first map that
 * has them; what follows the prefix stays. Checksums of IPv4, UDP, TCP and ICMPv6 follow
 * incrementally (RFC 1624), so that a wrong one stays as wrong as it was. Addresses within
 * payloads, the frames that ICMP errors quote among them, stay. At most two VLAN tags.
 */
void weir_address_maps_apply(const struct weir_address_map *maps, unsigned int count,
			     uint8_t *frame, size_t length);

#endif
