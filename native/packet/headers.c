/* SPDX-License-Identifier: Apache-2.0 */
#include "headers.h"

#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_prefetch.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vect.h>

#define VLAN_TAGS_MAX 2
#define EXTENSIONS_MAX 8
#define FRAGMENT_OFFSET_MASK 0x1fff
#define MORE_FRAGMENTS 0x2000

/* The frame's bytes in the first segment. */
struct view {
	const uint8_t *data;
	uint32_t length;
};

static inline bool
has(struct view view, uint32_t offset, uint32_t bytes)
{
	return offset + bytes <= view.length;
}

static inline uint16_t
word_at(struct view view, uint32_t offset)
{
	uint16_t word;

	memcpy(&word, view.data + offset, sizeof(word));
	return word;
}

/* Ports and flags of the L4 header at `offset`, if all of it lies within `end`. */
static inline void
parse_l4(struct view view, uint32_t offset, uint32_t end, struct weir_headers *headers)
{
	uint32_t header_bytes;

	view.length = end;
	switch (headers->tuple.protocol) {
	case IPPROTO_TCP:
		if (!has(view, offset, sizeof(struct rte_tcp_hdr)))
			goto cut;
		header_bytes = (view.data[offset + 12] >> 4) * 4;
		if (header_bytes < sizeof(struct rte_tcp_hdr) || !has(view, offset, header_bytes))
			goto cut;
		headers->tcp_flags = view.data[offset + 13];
		break;
	case IPPROTO_UDP:
		header_bytes = sizeof(struct rte_udp_hdr);
		if (!has(view, offset, header_bytes))
			goto cut;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		header_bytes = sizeof(struct rte_icmp_hdr);
		if (!has(view, offset, header_bytes))
			goto cut;
		headers->l4_offset = offset;
		headers->payload_offset = offset + header_bytes;
		if (weir_icmp_is_echo(headers->tuple.protocol, view.data[offset])) {
			headers->tuple.src_port = word_at(view, offset + 4);
			headers->tuple.dst_port = headers->tuple.src_port;
		}
		return;
	default:
		return;
	}
	memcpy(&headers->tuple.src_port, view.data + offset, 4);
	headers->l4_offset = offset;
	headers->payload_offset = offset + header_bytes;
	return;
cut:
	headers->flags |= WEIR_HEADER_L4_CUT;
}

/*
 * RFC 1071 over a header of so many 32-bit words. One's complement arithmetic is arithmetic modulo
 * 0xffff; that the sum is 0 there, and not for want of anything but zeros, is what is asked: a
 * header's version is not 0.
 */
static inline bool
checksum_is_right(const uint8_t *ip, const unsigned int words)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, ip + 4 * i, sizeof(word));
		sum += word;
	}
	return sum % 0xffff == 0;
}

/* A TCP fragment eight bytes behind the start would overwrite the flags of the first one's header,
 * which is why nobody may tell it from a header cut in two (RFC 1858, section 4; RFC 3128). */
static void
later_fragment(uint16_t offset_words, struct weir_headers *headers)
{
	headers->flags |= WEIR_HEADER_LATER_FRAGMENT;
	if (offset_words == 1 && headers->tuple.protocol == IPPROTO_TCP)
		headers->flags |= WEIR_HEADER_L4_CUT;
}

static inline void
parse_ipv4(struct view view, uint32_t offset, struct weir_headers *headers)
{
	const struct rte_ipv4_hdr *ip = (const void *)(view.data + offset);
	uint32_t header_bytes, total_bytes;
	uint16_t fragment;

	headers->network = WEIR_NETWORK_MALFORMED;
	if (!has(view, offset, sizeof(*ip)) || (ip->version_ihl >> 4) != 4)
		return;
	header_bytes = (ip->version_ihl & 0xf) * 4;
	total_bytes = rte_be_to_cpu_16(ip->total_length);
	if (header_bytes < sizeof(*ip) || total_bytes < header_bytes ||
	    !has(view, offset, total_bytes))
		return;
	headers->network = WEIR_NETWORK_IPV4;
	headers->ttl = ip->time_to_live;
	headers->l3_bytes = total_bytes;
	headers->tuple.src_ip = ip->src_addr;
	headers->tuple.dst_ip = ip->dst_addr;
	headers->tuple.protocol = ip->next_proto_id;
	if (unlikely(header_bytes > sizeof(*ip)))
		headers->flags |= WEIR_HEADER_OPTIONS;
	/* Apart, so that the number of words is known where it nearly always is the same. */
	if (unlikely(!(header_bytes == sizeof(*ip)
			       ? checksum_is_right(view.data + offset, 5)
			       : checksum_is_right(view.data + offset, header_bytes / 4))))
		headers->flags |= WEIR_HEADER_BAD_CHECKSUM;
	fragment = rte_be_to_cpu_16(ip->fragment_offset);
	if ((fragment & (FRAGMENT_OFFSET_MASK | MORE_FRAGMENTS)) != 0)
		headers->flags |= WEIR_HEADER_FRAGMENT;
	if ((fragment & FRAGMENT_OFFSET_MASK) != 0)
		later_fragment(fragment & FRAGMENT_OFFSET_MASK, headers);
	else
		parse_l4(view, offset + header_bytes, offset + total_bytes, headers);
}

static inline bool
is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT;
}

/* Behind the header of a later fragment there are none, whatever that names: it is the first one's
 * (RFC 8200, 4.5). */
bool
weir_ipv6_skip_extensions(const uint8_t *data, uint32_t length, uint32_t *offset, uint8_t *next,
			  uint8_t *flags)
{
	const struct view view = {.data = data, .length = length};

	for (unsigned int i = 0; is_extension(*next); i++) {
		uint32_t bytes = 8;

		*flags |= WEIR_HEADER_OPTIONS;
		if (i == EXTENSIONS_MAX || !has(view, *offset, bytes))
			return false;
		if (*next == IPPROTO_FRAGMENT) {
			uint16_t fragment = rte_be_to_cpu_16(word_at(view, *offset + 2));

			if ((fragment & 0xfff9) != 0)
				*flags |= WEIR_HEADER_FRAGMENT;
			if ((fragment & 0xfff8) != 0)
				*flags |= WEIR_HEADER_LATER_FRAGMENT;
		} else {
			bytes = 8 * (1 + view.data[*offset + 1]);
			if (!has(view, *offset, bytes))
				return false;
		}
		*next = view.data[*offset];
		*offset += bytes;
		if ((*flags & WEIR_HEADER_LATER_FRAGMENT) != 0)
			return true;
	}
	return true;
}

static void
parse_ipv6(struct view view, uint32_t offset, struct weir_headers *headers)
{
	const struct rte_ipv6_hdr *ip = (const void *)(view.data + offset);
	uint32_t l4 = offset + sizeof(*ip);
	uint32_t end;

	headers->network = WEIR_NETWORK_MALFORMED;
	if (!has(view, offset, sizeof(*ip)) || (view.data[offset] >> 4) != 6)
		return;
	end = l4 + rte_be_to_cpu_16(ip->payload_len);
	if (end > view.length)
		return;
	headers->network = WEIR_NETWORK_IPV6;
	headers->ttl = ip->hop_limits;
	headers->l3_bytes = end - offset;
	headers->tuple.protocol = ip->proto;
	view.length = end;
	if (!weir_ipv6_skip_extensions(view.data, end, &l4, &headers->tuple.protocol,
				       &headers->flags))
		headers->flags |= WEIR_HEADER_L4_CUT; /* a router forwards it (RFC 7045, 2.1) */
	else if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) == 0)
		parse_l4(view, l4, end, headers);
}

uint32_t
weir_l3_offset(const uint8_t *frame, uint32_t length, uint16_t *vlan)
{
	const struct view view = {.data = frame, .length = length};
	uint32_t offset = RTE_ETHER_HDR_LEN;

	*vlan = 0;
	if (!has(view, 0, RTE_ETHER_HDR_LEN))
		return 0;
	for (unsigned int i = 0; i < VLAN_TAGS_MAX; i++) {
		uint16_t type = weir_ethertype_before(frame, offset);

		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
		offset += sizeof(struct rte_vlan_hdr);
		if (!has(view, offset, 0))
			return 0;
		if (i == 0)
			*vlan = rte_be_to_cpu_16(word_at(view, offset - 4)) & 0xfff;
	}
	return offset;
}

/* Any frame. */
static void
parse_any(struct view view, struct weir_headers *headers)
{
	uint32_t offset;
	uint16_t type;

	memset(headers, 0, sizeof(*headers));
	offset = weir_l3_offset(view.data, view.length, &headers->vlan);
	if (view.length >= RTE_ETHER_HDR_LEN && unlikely((view.data[0] & 1) != 0))
		headers->flags |= WEIR_HEADER_GROUP;
	if (offset == 0)
		return;
	type = weir_ethertype_before(view.data, offset);
	if (type == RTE_ETHER_TYPE_IPV4)
		parse_ipv4(view, offset, headers);
	else if (type == RTE_ETHER_TYPE_IPV6)
		parse_ipv6(view, offset, headers);
	if (headers->network == WEIR_NETWORK_IPV4 || headers->network == WEIR_NETWORK_IPV6)
		headers->l3_offset = offset;
}

/*
 * The frame that nearly all are, straight through: to one station, untagged, IPv4 without options
 * in one piece, its checksum right, TCP or UDP with its header whole. False: it is another one, and
 * nothing was read of it. Gives what parse_any() does.
 */
static inline bool
parse_plain(struct view view, struct weir_headers *headers)
{
	const uint8_t *ip = view.data + RTE_ETHER_HDR_LEN;
	enum { l4 = RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) };
	/* Bytes from TTL to ports, and where the five-tuple wants them; 0x80: zero. */
	const __m128i to_tuple = _mm_setr_epi8(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1,
					       (char)0x80, (char)0x80, (char)0x80);
	static const struct weir_headers udp = {
		.network = WEIR_NETWORK_IPV4,
		.l3_offset = RTE_ETHER_HDR_LEN,
		.l4_offset = l4,
		.payload_offset = l4 + sizeof(struct rte_udp_hdr),
	};
	uint32_t type_and_version, total_bytes, l4_bytes = sizeof(struct rte_udp_hdr);
	bool tcp;

	if (!has(view, l4, l4_bytes))
		return false;
	tcp = ip[9] == IPPROTO_TCP;
	memcpy(&type_and_version, ip - 2, sizeof(type_and_version));
	total_bytes = rte_be_to_cpu_16(word_at(view, RTE_ETHER_HDR_LEN + 2));
	if ((type_and_version & rte_cpu_to_be_32(0xffffff00)) != rte_cpu_to_be_32(0x08004500) ||
	    (word_at(view, RTE_ETHER_HDR_LEN + 6) &
	     rte_cpu_to_be_16(FRAGMENT_OFFSET_MASK | MORE_FRAGMENTS)) != 0 ||
	    (view.data[0] & RTE_ETHER_GROUP_ADDR) != 0 ||
	    RTE_ETHER_HDR_LEN + total_bytes > view.length || !checksum_is_right(ip, 5))
		return false;
	if (tcp) {
		if (!has(view, l4, sizeof(struct rte_tcp_hdr)))
			return false;
		l4_bytes = (view.data[l4 + 12] >> 4) * 4;
		if (l4_bytes < sizeof(struct rte_tcp_hdr))
			return false;
	} else if (ip[9] != IPPROTO_UDP) {
		return false;
	}
	if (total_bytes < sizeof(struct rte_ipv4_hdr) + l4_bytes)
		return false;
	*headers = udp;
	_mm_storeu_si128((__m128i *)&headers->tuple,
			 _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(ip + 8)), to_tuple));
	headers->ttl = ip[8];
	headers->l3_bytes = total_bytes;
	if (tcp) {
		headers->tcp_flags = view.data[l4 + 13];
		headers->payload_offset = l4 + l4_bytes;
	}
	return true;
}

static inline void
parse(const struct rte_mbuf *packet, struct weir_headers *headers)
{
	const struct view view = {
		.data = rte_pktmbuf_mtod(packet, const uint8_t *),
		.length = packet->data_len,
	};

	if (unlikely(!parse_plain(view, headers)))
		parse_any(view, headers);
}

void
weir_headers_parse(const struct rte_mbuf *packet, struct weir_headers *headers)
{
	parse(packet, headers);
}

void
weir_headers_parse_all(struct rte_mbuf *const *packets, struct weir_headers *headers,
		       unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(packets[i], const void *));
	for (unsigned int i = 0; i < count; i++)
		parse(packets[i], &headers[i]);
}
