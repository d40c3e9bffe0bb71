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

static bool
checksums_are_right(const struct rte_ipv4_hdr *ip, const void *l4, uint16_t sum)
{
	return rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)) == 0xffff &&
	       (sum == 0 || rte_ipv4_udptcp_cksum_verify(ip, l4) == 0);
}

enum weir_segment_read
weir_segment_read(const struct rte_mbuf *packet, struct weir_segment *segment)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const struct rte_tcp_hdr *tcp;
	struct weir_headers headers;
	uint16_t header_bytes, sum = 1;
	const struct rte_ipv4_hdr *ip;

	if (packet->nb_segs != 1)
		return WEIR_SEGMENT_NOT_OURS;
	weir_headers_parse(packet, &headers);
	if (headers.network != WEIR_NETWORK_IPV4 || headers.l4_offset == 0 ||
	    (headers.flags & WEIR_HEADER_FRAGMENT) != 0)
		return WEIR_SEGMENT_NOT_OURS;
	ip = (const struct rte_ipv4_hdr *)(frame + headers.l3_offset);
	tcp = (const struct rte_tcp_hdr *)(frame + headers.l4_offset);
	segment->tuple = headers.tuple;
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
	if (!checksums_are_right(ip, tcp, sum))
		return WEIR_SEGMENT_BAD_CHECKSUM;
	segment->payload = frame + headers.payload_offset;
	segment->payload_bytes = headers.l3_bytes - header_bytes;
	return WEIR_SEGMENT_READ;
}

struct weir_link_header
weir_link_header(const struct rte_ether_addr *src_mac, const struct rte_ether_addr *dst_mac,
		 uint16_t vlan)
{
	static const uint8_t ipv4[] = {0x08, 0x00}, tag[] = {0x81, 0x00};
	struct weir_link_header link = {.length = RTE_ETHER_HDR_LEN};
	uint8_t *at = link.bytes + 2 * RTE_ETHER_ADDR_LEN;

	memcpy(link.bytes, dst_mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	memcpy(link.bytes + RTE_ETHER_ADDR_LEN, src_mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	if (vlan != 0) {
		memcpy(at, tag, sizeof(tag));
		at[2] = (uint8_t)(vlan >> 8);
		at[3] = (uint8_t)vlan;
		at += RTE_VLAN_HLEN;
		link.length += RTE_VLAN_HLEN;
	}
	memcpy(at, ipv4, sizeof(ipv4));
	return link;
}

void
weir_segment_write(struct rte_mbuf *packet, const struct weir_link_header *link,
		   const struct weir_segment *segment, const uint8_t *head, uint16_t head_bytes,
		   uint16_t mss)
{
	bool udp = segment->tuple.protocol == IPPROTO_UDP;
	uint16_t l4_bytes = udp ? sizeof(struct rte_udp_hdr)
				: sizeof(struct rte_tcp_hdr) + (mss != 0 ? MSS_OPTION_BYTES : 0);
	uint16_t ip_bytes = sizeof(struct rte_ipv4_hdr) + l4_bytes + segment->payload_bytes;
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + link->length);
	uint8_t *l4 = (uint8_t *)(ip + 1), *payload = l4 + l4_bytes;
	uint16_t length = link->length + ip_bytes;

	memcpy(frame, link->bytes, link->length);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(ip_bytes),
		.fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = TTL,
		.next_proto_id = segment->tuple.protocol,
		.src_addr = segment->tuple.src_ip,
		.dst_addr = segment->tuple.dst_ip,
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (head_bytes > 0)
		memcpy(payload, head, head_bytes);
	if (segment->payload_bytes > head_bytes)
		memcpy(payload + head_bytes, segment->payload, segment->payload_bytes - head_bytes);
	if (udp) {
		struct rte_udp_hdr *header = (struct rte_udp_hdr *)(void *)l4;

		*header = (struct rte_udp_hdr){
			.src_port = segment->tuple.src_port,
			.dst_port = segment->tuple.dst_port,
			.dgram_len = rte_cpu_to_be_16(l4_bytes + segment->payload_bytes),
		};
		header->dgram_cksum = rte_ipv4_udptcp_cksum(ip, header);
	} else {
		struct rte_tcp_hdr *header = (struct rte_tcp_hdr *)(void *)l4;

		*header = (struct rte_tcp_hdr){
			.src_port = segment->tuple.src_port,
			.dst_port = segment->tuple.dst_port,
			.sent_seq = rte_cpu_to_be_32(segment->sequence),
			.recv_ack = rte_cpu_to_be_32(segment->acknowledged),
			.data_off = (uint8_t)(l4_bytes / 4 << 4),
			.tcp_flags = segment->flags,
			.rx_win = rte_cpu_to_be_16(WINDOW),
		};
		if (mss != 0) {
			l4[sizeof(*header)] = MSS_OPTION_KIND;
			l4[sizeof(*header) + 1] = MSS_OPTION_BYTES;
			l4[sizeof(*header) + 2] = (uint8_t)(mss >> 8);
			l4[sizeof(*header) + 3] = (uint8_t)mss;
		}
		header->cksum = rte_ipv4_udptcp_cksum(ip, header);
	}
	if (length < FRAME_BYTES_MIN) {
		memset(frame + length, 0, FRAME_BYTES_MIN - length);
		length = FRAME_BYTES_MIN;
	}
	packet->data_len = length;
	packet->pkt_len = length;
}
