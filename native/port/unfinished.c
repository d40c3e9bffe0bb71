/* SPDX-License-Identifier: Apache-2.0 */
#include "unfinished.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "packet/checksum.h"
#include "packet/headers.h"

/* Of SCTP, which alone has its checksum there: CRC32c (RFC 9260, 6.8), no sum. */
#define SCTP_CHECKSUM_OFFSET 8

/* Where the L4 header begins, and its protocol; 0: not known. Options that no segment need differ
 * in are passed over. */
static uint32_t
l4_offset_of(const struct weir_unfinished *unfinished, uint8_t *protocol)
{
	const uint8_t *frame = unfinished->frame;
	uint32_t offset = unfinished->l3_offset;

	if (!unfinished->is_ipv6) {
		if (offset + sizeof(struct rte_ipv4_hdr) > unfinished->length ||
		    (frame[offset] & 0xf) < 5)
			return 0;
		*protocol = frame[offset + offsetof(struct rte_ipv4_hdr, next_proto_id)];
		return offset + (frame[offset] & 0xf) * 4;
	}
	if (offset + sizeof(struct rte_ipv6_hdr) > unfinished->length)
		return 0;
	*protocol = frame[offset + offsetof(struct rte_ipv6_hdr, proto)];
	offset += sizeof(struct rte_ipv6_hdr);
	while ((*protocol == IPPROTO_HOPOPTS || *protocol == IPPROTO_DSTOPTS) &&
	       offset + 8 <= unfinished->length) {
		*protocol = frame[offset];
		offset += 8 * (1 + frame[offset + 1]);
	}
	return offset;
}

/* A frame that is to be cut: where its headers are. */
static bool
begin_segments(struct weir_unfinished *unfinished, const struct virtio_net_hdr *asked)
{
	uint8_t type = asked->gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
	bool is_udp = type == VIRTIO_NET_HDR_GSO_UDP_L4;
	uint32_t header_bytes;
	uint16_t ethertype, vlan;

	if ((!is_udp && type != VIRTIO_NET_HDR_GSO_TCPV4 && type != VIRTIO_NET_HDR_GSO_TCPV6) ||
	    asked->gso_size == 0 || unfinished->has_checksum)
		return false;
	unfinished->l3_offset = weir_l3_offset(unfinished->frame, unfinished->length, &vlan);
	if (unfinished->l3_offset == 0)
		return false;
	ethertype = weir_ethertype_before(unfinished->frame, unfinished->l3_offset);
	unfinished->is_ipv6 = ethertype == RTE_ETHER_TYPE_IPV6;
	if (!unfinished->is_ipv6 && ethertype != RTE_ETHER_TYPE_IPV4)
		return false;
	/* Elsewhere: in a tunnel. */
	if (l4_offset_of(unfinished, &unfinished->protocol) != unfinished->l4_offset ||
	    unfinished->protocol != (is_udp ? IPPROTO_UDP : IPPROTO_TCP))
		return false;
	header_bytes = sizeof(struct rte_udp_hdr);
	if (!is_udp) {
		if (unfinished->l4_offset + sizeof(struct rte_tcp_hdr) > unfinished->length)
			return false;
		header_bytes = (unfinished->frame[unfinished->l4_offset + 12] >> 4) * 4U;
		if (header_bytes < sizeof(struct rte_tcp_hdr))
			return false;
	}
	header_bytes += unfinished->l4_offset;
	/* Above 65,535: behind IPv6 options of nearly a whole packet. */
	if (header_bytes > UINT16_MAX || header_bytes >= unfinished->length ||
	    unfinished->l4_offset + unfinished->checksum_offset + 2U > header_bytes)
		return false;
	unfinished->header_bytes = header_bytes;
	unfinished->payload_at = header_bytes;
	unfinished->segment_bytes = asked->gso_size;
	return true;
}

bool
weir_unfinished_begin(struct weir_unfinished *unfinished, const uint8_t *frame, uint32_t length,
		      const struct virtio_net_hdr *asked)
{
	*unfinished = (struct weir_unfinished){
		.frame = frame,
		.length = length,
		.l4_offset = asked->csum_start,
		.checksum_offset = asked->csum_offset,
		.has_checksum = (asked->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0,
	};
	if (length < RTE_ETHER_HDR_LEN)
		return false;
	if (!unfinished->has_checksum &&
	    (uint32_t)asked->csum_start + asked->csum_offset +
			    (asked->csum_offset == SCTP_CHECKSUM_OFFSET ? 4 : 2) >
		    length)
		return false;
	return asked->gso_type == VIRTIO_NET_HDR_GSO_NONE || begin_segments(unfinished, asked);
}

static uint32_t
crc32c(const uint8_t *at, uint32_t bytes)
{
	uint32_t crc = UINT32_MAX;
	uint64_t words;

	for (; bytes >= sizeof(words); at += sizeof(words), bytes -= sizeof(words)) {
		memcpy(&words, at, sizeof(words)); /* frames are not aligned */
		crc = rte_hash_crc_8byte(words, crc);
	}
	for (; bytes > 0; at++, bytes--)
		crc = rte_hash_crc_1byte(*at, crc);
	return ~crc;
}

/* As the kernel does: the field holds the sum over the pseudo header, and 0 would mean none. */
static void
fill_in(uint8_t *l4, uint32_t bytes, uint16_t offset)
{
	uint16_t checksum;

	if (offset == SCTP_CHECKSUM_OFFSET) {
		uint32_t crc;

		memset(l4 + offset, 0, sizeof(crc));
		crc = rte_cpu_to_le_32(crc32c(l4, bytes));
		memcpy(l4 + offset, &crc, sizeof(crc));
		return;
	}
	checksum = (uint16_t)~rte_raw_cksum(l4, bytes);
	if (checksum == 0)
		checksum = UINT16_MAX;
	memcpy(l4 + offset, &checksum, sizeof(checksum));
}

/* The IP header of a segment. Returns the sum over the addresses, for the pseudo header. */
static uint16_t
write_ip(const struct weir_unfinished *unfinished, uint8_t *ip, uint16_t l3_bytes)
{
	struct rte_ipv4_hdr *ipv4 = (struct rte_ipv4_hdr *)ip;
	struct rte_ipv6_hdr *ipv6 = (struct rte_ipv6_hdr *)ip;

	if (unfinished->is_ipv6) {
		ipv6->payload_len = rte_cpu_to_be_16(l3_bytes - sizeof(*ipv6));
		return rte_raw_cksum(ipv6->src_addr, 2 * sizeof(ipv6->src_addr));
	}
	ipv4->total_length = rte_cpu_to_be_16(l3_bytes);
	ipv4->packet_id = rte_cpu_to_be_16(rte_be_to_cpu_16(ipv4->packet_id) + unfinished->segment);
	ipv4->hdr_checksum = 0;
	ipv4->hdr_checksum = (uint16_t)~rte_raw_cksum(ipv4, (ip[0] & 0xf) * 4);
	return rte_raw_cksum(&ipv4->src_addr, 2 * sizeof(ipv4->src_addr));
}

/* FIN and PSH are the last segment's, CWR the first one's (RFC 3168, 6.1.2). */
static void
write_tcp(const struct weir_unfinished *unfinished, struct rte_tcp_hdr *tcp, bool is_last)
{
	uint32_t sent = unfinished->payload_at - unfinished->header_bytes;

	tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + sent);
	if (!is_last)
		tcp->tcp_flags &= (uint8_t) ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	if (unfinished->segment > 0)
		tcp->tcp_flags &= (uint8_t)~RTE_TCP_CWR_FLAG;
}

static void
write_segment(const struct weir_unfinished *unfinished, uint8_t *to, uint32_t bytes)
{
	uint32_t payload_bytes = bytes - unfinished->header_bytes;
	uint32_t l4_bytes = bytes - unfinished->l4_offset;
	uint8_t *l4 = to + unfinished->l4_offset;
	uint32_t pseudo;
	uint16_t checksum;

	memcpy(to, unfinished->frame, unfinished->header_bytes);
	memcpy(to + unfinished->header_bytes, unfinished->frame + unfinished->payload_at,
	       payload_bytes);
	pseudo = write_ip(unfinished, to + unfinished->l3_offset, bytes - unfinished->l3_offset);
	pseudo += rte_cpu_to_be_16(unfinished->protocol);
	pseudo += rte_cpu_to_be_16((uint16_t)l4_bytes);
	checksum = weir_checksum_fold(pseudo);
	if (unfinished->protocol == IPPROTO_TCP)
		write_tcp(unfinished, (struct rte_tcp_hdr *)l4,
			  unfinished->payload_at + payload_bytes == unfinished->length);
	else
		((struct rte_udp_hdr *)l4)->dgram_len = rte_cpu_to_be_16((uint16_t)l4_bytes);
	memcpy(l4 + unfinished->checksum_offset, &checksum, sizeof(checksum));
	fill_in(l4, l4_bytes, unfinished->checksum_offset);
}

void
weir_unfinished_write(struct weir_unfinished *unfinished, uint8_t *to)
{
	uint32_t bytes = weir_unfinished_bytes(unfinished);

	if (unfinished->segment_bytes == 0) {
		if (to != NULL) {
			memcpy(to, unfinished->frame, bytes);
			if (!unfinished->has_checksum)
				fill_in(to + unfinished->l4_offset, bytes - unfinished->l4_offset,
					unfinished->checksum_offset);
		}
		unfinished->is_done = true;
		return;
	}
	if (to != NULL)
		write_segment(unfinished, to, bytes);
	unfinished->payload_at += bytes - unfinished->header_bytes;
	unfinished->segment++;
	unfinished->is_done = unfinished->payload_at >= unfinished->length;
}
