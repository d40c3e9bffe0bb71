/* SPDX-License-Identifier: Apache-2.0 */
#include "segment.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define FRAME_BYTES_MIN 60 /* without FCS */
#define TTL 64
#define MSS_OPTION_KIND 2
#define MSS_OPTION_BYTES 4
#define WINDOW 65535

uint8_t weir_pattern[WEIR_PATTERN_PERIOD + WEIR_PATTERN_AHEAD];

void
weir_pattern_make(void)
{
	uint64_t x = 1;

	for (unsigned int i = 0; i < sizeof(weir_pattern); i++) {
		if (i < WEIR_PATTERN_PERIOD)
			weir_pattern[i] =
				(uint8_t)(x = x * 6364136223846793005ull + 1442695040888963407ull,
					  x >> 56);
		else
			weir_pattern[i] = weir_pattern[i - WEIR_PATTERN_PERIOD];
	}
}

/* An IPv6 header whose pseudo header (RFC 8200, 8.1) is that of the packet: what extension headers
 * stand for is not of it. */
static struct rte_ipv6_hdr
without_extensions(const struct rte_ipv6_hdr *ip, const struct weir_headers *headers)
{
	struct rte_ipv6_hdr plain = *ip;

	plain.proto = headers->tuple.protocol;
	plain.payload_len = rte_cpu_to_be_16(
		(uint16_t)(headers->l3_offset + headers->l3_bytes - headers->l4_offset));
	return plain;
}

/* `sum`: UDP's field, else not 0. Only over IPv4 may a datagram have none. */
static bool
checksums_are_right(const uint8_t *frame, const struct weir_headers *headers, uint16_t sum)
{
	const void *l4 = frame + headers->l4_offset;

	if (headers->network == WEIR_NETWORK_IPV6) {
		const struct rte_ipv6_hdr ip =
			without_extensions((const void *)(frame + headers->l3_offset), headers);

		return sum != 0 && rte_ipv6_udptcp_cksum_verify(&ip, l4) == 0;
	}
	return (headers->flags & WEIR_HEADER_BAD_CHECKSUM) == 0 &&
	       (sum == 0 ||
		rte_ipv4_udptcp_cksum_verify((const void *)(frame + headers->l3_offset), l4) == 0);
}

static void
read_ipv6_addresses(const struct rte_ipv6_hdr *ip, struct weir_segment *segment)
{
	segment->addresses = ip->src_addr;
	memcpy(&segment->tuple.src_ip, ip->src_addr + WEIR_PREFIX_BYTES, sizeof(uint32_t));
	memcpy(&segment->tuple.dst_ip, ip->dst_addr + WEIR_PREFIX_BYTES, sizeof(uint32_t));
}

enum weir_segment_read
weir_segment_read(const struct rte_mbuf *packet, struct weir_segment *segment)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const struct rte_tcp_hdr *tcp;
	struct weir_headers headers;
	uint16_t header_bytes, sum = 1;

	if (packet->nb_segs != 1)
		return WEIR_SEGMENT_NOT_OURS;
	weir_headers_parse(packet, &headers);
	if ((headers.network != WEIR_NETWORK_IPV4 && headers.network != WEIR_NETWORK_IPV6) ||
	    headers.l4_offset == 0 || (headers.flags & WEIR_HEADER_FRAGMENT) != 0)
		return WEIR_SEGMENT_NOT_OURS;
	tcp = (const struct rte_tcp_hdr *)(frame + headers.l4_offset);
	segment->tuple = headers.tuple;
	segment->addresses = NULL;
	if (headers.tuple.protocol == IPPROTO_TCP) {
		segment->flags = headers.tcp_flags;
		segment->sequence = rte_be_to_cpu_32(tcp->sent_seq);
		segment->acknowledged = rte_be_to_cpu_32(tcp->recv_ack);
	} else if (headers.tuple.protocol == IPPROTO_UDP) {
		sum = ((const struct rte_udp_hdr *)(const void *)tcp)->dgram_cksum;
	} else {
		return WEIR_SEGMENT_NOT_OURS;
	}
	header_bytes = headers.payload_offset - headers.l3_offset;
	if (headers.payload_offset == 0 || headers.l3_bytes < header_bytes)
		return WEIR_SEGMENT_NOT_OURS;
	if (!checksums_are_right(frame, &headers, sum))
		return WEIR_SEGMENT_BAD_CHECKSUM;
	if (headers.network == WEIR_NETWORK_IPV6)
		read_ipv6_addresses((const void *)(frame + headers.l3_offset), segment);
	segment->payload = frame + headers.payload_offset;
	segment->payload_bytes = headers.l3_bytes - header_bytes;
	return WEIR_SEGMENT_READ;
}

struct weir_link_header
weir_link_header(const struct rte_ether_addr *src_mac, const struct rte_ether_addr *dst_mac,
		 uint16_t vlan)
{
	static const uint8_t tag[] = {0x81, 0x00};
	struct weir_link_header link = {.length = RTE_ETHER_HDR_LEN};
	uint8_t *at = link.bytes + 2 * RTE_ETHER_ADDR_LEN;

	memcpy(link.bytes, dst_mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	memcpy(link.bytes + RTE_ETHER_ADDR_LEN, src_mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	if (vlan != 0) {
		memcpy(at, tag, sizeof(tag));
		at[2] = (uint8_t)(vlan >> 8);
		at[3] = (uint8_t)vlan;
		link.length += RTE_VLAN_HLEN;
	}
	return link;
}

/* In front of `bytes` of what it carries; gives where these begin. */
static uint8_t *
put_ipv4(uint8_t *at, const struct weir_segment *segment, uint16_t bytes)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)at;

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + bytes)),
		.fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = TTL,
		.next_proto_id = segment->tuple.protocol,
		.src_addr = segment->tuple.src_ip,
		.dst_addr = segment->tuple.dst_ip,
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	return (uint8_t *)(ip + 1);
}

static uint8_t *
put_ipv6(uint8_t *at, const struct weir_segment *segment, const struct weir_prefix_pair *prefixes,
	 uint16_t bytes)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)at;

	ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(bytes);
	ip->proto = segment->tuple.protocol;
	ip->hop_limits = TTL;
	memcpy(ip->src_addr, prefixes->own, WEIR_PREFIX_BYTES);
	memcpy(ip->src_addr + WEIR_PREFIX_BYTES, &segment->tuple.src_ip, sizeof(uint32_t));
	memcpy(ip->dst_addr, prefixes->peer, WEIR_PREFIX_BYTES);
	memcpy(ip->dst_addr + WEIR_PREFIX_BYTES, &segment->tuple.dst_ip, sizeof(uint32_t));
	return (uint8_t *)(ip + 1);
}

static uint16_t
transport_checksum(const uint8_t *ip, const void *l4, bool ipv6)
{
	return ipv6 ? rte_ipv6_udptcp_cksum((const void *)ip, l4)
		    : rte_ipv4_udptcp_cksum((const void *)ip, l4);
}

static void
put_udp(uint8_t *at, const struct weir_segment *segment, const uint8_t *ip, bool ipv6)
{
	struct rte_udp_hdr *header = (struct rte_udp_hdr *)(void *)at;

	*header = (struct rte_udp_hdr){
		.src_port = segment->tuple.src_port,
		.dst_port = segment->tuple.dst_port,
		.dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(*header) + segment->payload_bytes)),
	};
	header->dgram_cksum = transport_checksum(ip, header, ipv6);
}

static void
put_tcp(uint8_t *at, uint16_t bytes, const struct weir_segment *segment, uint16_t mss,
	const uint8_t *ip, bool ipv6)
{
	struct rte_tcp_hdr *header = (struct rte_tcp_hdr *)(void *)at;

	*header = (struct rte_tcp_hdr){
		.src_port = segment->tuple.src_port,
		.dst_port = segment->tuple.dst_port,
		.sent_seq = rte_cpu_to_be_32(segment->sequence),
		.recv_ack = rte_cpu_to_be_32(segment->acknowledged),
		.data_off = (uint8_t)(bytes / 4 << 4),
		.tcp_flags = segment->flags,
		.rx_win = rte_cpu_to_be_16(WINDOW),
	};
	if (mss != 0) {
		at[sizeof(*header)] = MSS_OPTION_KIND;
		at[sizeof(*header) + 1] = MSS_OPTION_BYTES;
		at[sizeof(*header) + 2] = (uint8_t)(mss >> 8);
		at[sizeof(*header) + 3] = (uint8_t)mss;
	}
	header->cksum = transport_checksum(ip, header, ipv6);
}

void
weir_segment_write(struct rte_mbuf *packet, const struct weir_link_header *link,
		   const struct weir_segment *segment, const struct weir_prefix_pair *prefixes,
		   const uint8_t *head, uint16_t head_bytes, uint16_t mss)
{
	bool udp = segment->tuple.protocol == IPPROTO_UDP, ipv6 = prefixes != NULL;
	uint16_t l4_bytes = udp ? sizeof(struct rte_udp_hdr)
				: sizeof(struct rte_tcp_hdr) + (mss != 0 ? MSS_OPTION_BYTES : 0);
	uint16_t carried = l4_bytes + segment->payload_bytes, length;
	rte_be16_t type = rte_cpu_to_be_16(ipv6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *), *ip = frame + link->length, *l4;
	uint8_t *payload;

	memcpy(frame, link->bytes, link->length);
	memcpy(ip - sizeof(type), &type, sizeof(type));
	l4 = ipv6 ? put_ipv6(ip, segment, prefixes, carried) : put_ipv4(ip, segment, carried);
	payload = l4 + l4_bytes;
	length = (uint16_t)(payload - frame) + segment->payload_bytes;
	if (head_bytes > 0)
		memcpy(payload, head, head_bytes);
	if (segment->payload_bytes > head_bytes)
		memcpy(payload + head_bytes, segment->payload, segment->payload_bytes - head_bytes);
	if (udp)
		put_udp(l4, segment, ip, ipv6);
	else
		put_tcp(l4, l4_bytes, segment, mss, ip, ipv6);
	if (length < FRAME_BYTES_MIN) {
		memset(frame + length, 0, FRAME_BYTES_MIN - length);
		length = FRAME_BYTES_MIN;
	}
	packet->data_len = length;
	packet->pkt_len = length;
}
