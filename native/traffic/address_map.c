/* SPDX-License-Identifier: Apache-2.0 */
#include "address_map.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>

#include "packet/checksum.h"

#define IPV6_HEADERS_MAX 8 /* behind each other; real packets have one or two */

/* A frame in which addresses are being changed. */
struct rewriting {
	const struct weir_address_map *maps;
	unsigned int count;
	uint8_t *frame;
	size_t length;
	uint32_t change; /* of sums that cover the addresses (RFC 1624) */
};

static uint16_t
read16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool
has(const struct weir_address_map *map, const uint8_t *address)
{
	unsigned int bytes = map->length / 8, bits = map->length % 8;

	if (memcmp(map->from, address, bytes) != 0)
		return false;
	return bits == 0 || ((map->from[bytes] ^ address[bytes]) & (0xff00 >> bits) & 0xff) == 0;
}

static void
put_prefix(const struct weir_address_map *map, uint8_t *address)
{
	unsigned int bytes = map->length / 8, bits = map->length % 8;

	memcpy(address, map->to, bytes);
	if (bits != 0)
		address[bytes] = map->to[bytes] | (address[bytes] & (0xff >> bits));
}

static void
map_address(struct rewriting *rewriting, uint8_t ip_version, size_t at)
{
	uint8_t *address = rewriting->frame + at, before[16];
	unsigned int bytes = ip_version == 4 ? 4 : 16;

	for (unsigned int i = 0; i < rewriting->count; i++) {
		const struct weir_address_map *map = &rewriting->maps[i];

		if (map->ip_version != ip_version || !has(map, address))
			continue;
		memcpy(before, address, bytes);
		put_prefix(map, address);
		for (unsigned int word = 0; word < bytes; word += 2)
			rewriting->change += weir_checksum_change16(read16(before + word),
								    read16(address + word));
		return;
	}
}

static void
change_checksum(struct rewriting *rewriting, size_t at)
{
	uint16_t checksum;

	if (at + sizeof(checksum) > rewriting->length)
		return;
	checksum = weir_checksum_changed(read16(rewriting->frame + at), rewriting->change);
	memcpy(rewriting->frame + at, &checksum, sizeof(checksum));
}

/* UDP without a checksum stays without, and a sum of 0 is sent as all ones (RFC 768). */
static void
change_udp_checksum(struct rewriting *rewriting, size_t at)
{
	static const uint16_t ones = 0xffff;

	if (at + sizeof(ones) > rewriting->length || read16(rewriting->frame + at) == 0)
		return;
	change_checksum(rewriting, at);
	if (read16(rewriting->frame + at) == 0)
		memcpy(rewriting->frame + at, &ones, sizeof(ones));
}

static void
change_transport(struct rewriting *rewriting, uint8_t protocol, size_t at)
{
	if (protocol == IPPROTO_TCP)
		change_checksum(rewriting, at + 16);
	else if (protocol == IPPROTO_UDP)
		change_udp_checksum(rewriting, at + 6);
	else if (protocol == IPPROTO_ICMPV6)
		change_checksum(rewriting, at + 2);
}

static void
rewrite_ipv4(struct rewriting *rewriting, size_t at)
{
	const uint8_t *header = rewriting->frame + at;
	size_t header_bytes;

	if (at + 20 > rewriting->length || header[0] >> 4 != 4)
		return;
	header_bytes = (header[0] & 0x0f) * 4UL;
	map_address(rewriting, 4, at + 12);
	map_address(rewriting, 4, at + 16);
	change_checksum(rewriting, at + 10);
	/* Later fragments have no header of a transport. */
	if (header_bytes >= 20 && (ntohs(read16(header + 6)) & 0x1fff) == 0 &&
	    header[9] != IPPROTO_ICMPV6)
		change_transport(rewriting, header[9], at + header_bytes);
}

static void
rewrite_ipv6(struct rewriting *rewriting, size_t at)
{
	const uint8_t *frame = rewriting->frame;
	uint8_t next;

	if (at + 40 > rewriting->length || frame[at] >> 4 != 6)
		return;
	map_address(rewriting, 6, at + 8);
	map_address(rewriting, 6, at + 24);
	next = frame[at + 6];
	at += 40;
	for (unsigned int i = 0; i < IPV6_HEADERS_MAX; i++) {
		bool fragment = next == IPPROTO_FRAGMENT;

		if (!fragment && next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING &&
		    next != IPPROTO_DSTOPTS)
			break;
		if (at + 8 > rewriting->length ||
		    (fragment && (ntohs(read16(frame + at + 2)) & 0xfff8) != 0))
			return;
		next = frame[at];
		at += fragment ? 8 : (frame[at + 1] + 1UL) * 8;
	}
	change_transport(rewriting, next, at);
}

static void
rewrite_arp(struct rewriting *rewriting, size_t at)
{
	static const uint8_t ethernet_ipv4[] = {0, 1, 0x08, 0x00, 6, 4};

	if (at + 28 > rewriting->length ||
	    memcmp(rewriting->frame + at, ethernet_ipv4, sizeof(ethernet_ipv4)) != 0)
		return;
	map_address(rewriting, 4, at + 14);
	map_address(rewriting, 4, at + 24);
}

void
weir_address_maps_apply(const struct weir_address_map *maps, unsigned int count, uint8_t *frame,
			size_t length)
{
	struct rewriting rewriting = {
		.maps = maps, .count = count, .frame = frame, .length = length};
	size_t at = 12;
	uint16_t type = 0;

	for (unsigned int tags = 0; tags <= 2 && at + 2 <= length; tags++) {
		type = ntohs(read16(frame + at));
		at += 2;
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
		at += 2;
	}
	if (type == RTE_ETHER_TYPE_IPV4)
		rewrite_ipv4(&rewriting, at);
	else if (type == RTE_ETHER_TYPE_IPV6)
		rewrite_ipv6(&rewriting, at);
	else if (type == RTE_ETHER_TYPE_ARP)
		rewrite_arp(&rewriting, at);
}
