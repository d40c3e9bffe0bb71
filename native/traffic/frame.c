/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <arpa/inet.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "checksum.h"
#include "stamp.h"

static_assert(14 + 4 + 40 + 20 + sizeof(struct weir_stamp) <= WEIR_HEAD_BYTES,
	      "the head holds every template");

static uint16_t
l2_bytes(const struct weir_template *template)
{
	return RTE_ETHER_HDR_LEN + (template->tagged ? 4 : 0);
}

static uint16_t
l3_bytes(const struct weir_template *template)
{
	return template->ip_version == 4 ? sizeof(struct rte_ipv4_hdr)
					 : sizeof(struct rte_ipv6_hdr);
}

static uint16_t
l4_bytes(const struct weir_template *template)
{
	return template->tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
}

uint16_t
weir_frame_minimum(const struct weir_template *template)
{
	uint16_t bytes = l2_bytes(template) + l3_bytes(template) + l4_bytes(template) +
			 sizeof(struct weir_stamp) + RTE_ETHER_CRC_LEN;

	return RTE_MAX(bytes, RTE_ETHER_MIN_LEN);
}

struct weir_offsets
weir_frame_offsets(const struct weir_template *template)
{
	uint16_t l3 = l2_bytes(template);
	uint16_t l4 = l3 + l3_bytes(template);
	bool v4 = template->ip_version == 4;

	return (struct weir_offsets){
		.ip_checksum = v4 ? l3 + offsetof(struct rte_ipv4_hdr, hdr_checksum) : 0,
		.addresses = l3 + (v4 ? offsetof(struct rte_ipv4_hdr, src_addr)
				      : offsetof(struct rte_ipv6_hdr, src_addr)),
		.address_bytes = v4 ? 4 : 16,
		.ports = l4,
		.l4_checksum = l4 + (template->tcp ? offsetof(struct rte_tcp_hdr, cksum)
						   : offsetof(struct rte_udp_hdr, dgram_cksum)),
		.stamp = l4 + l4_bytes(template),
	};
}

static void
put_ipv4(const struct weir_template *template, uint16_t total, uint8_t *at)
{
	struct rte_ipv4_hdr header = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = htons(total),
		.fragment_offset = htons(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = 64,
		.next_proto_id = template->tcp ? IPPROTO_TCP : IPPROTO_UDP,
	};

	memcpy(&header.src_addr, template->src_ip, 4);
	memcpy(&header.dst_addr, template->dst_ip, 4);
	memcpy(at, &header, sizeof(header));
}

static void
put_ipv6(const struct weir_template *template, uint16_t payload, uint8_t *at)
{
	struct rte_ipv6_hdr header = {
		.vtc_flow = htonl(6u << 28),
		.payload_len = htons(payload),
		.proto = template->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.hop_limits = 64,
	};

	memcpy(&header.src_addr, template->src_ip, 16);
	memcpy(&header.dst_addr, template->dst_ip, 16);
	memcpy(at, &header, sizeof(header));
}

static void
put_l4(const struct weir_template *template, uint16_t length, uint8_t *at)
{
	struct rte_udp_hdr udp = {
		.src_port = htons(template->src_port),
		.dst_port = htons(template->dst_port),
		.dgram_len = htons(length),
	};
	/* An acknowledgement of an established connection with the stamp as its data. */
	struct rte_tcp_hdr tcp = {
		.src_port = htons(template->src_port),
		.dst_port = htons(template->dst_port),
		.sent_seq = htonl(1),
		.recv_ack = htonl(1),
		.data_off = 5 << 4,
		.tcp_flags = RTE_TCP_ACK_FLAG,
		.rx_win = htons(65535),
	};

	if (template->tcp)
		memcpy(at, &tcp, sizeof(tcp));
	else
		memcpy(at, &udp, sizeof(udp));
}

void
weir_frame_build(const struct weir_template *template, uint16_t frame_bytes,
		 struct weir_frame *frame)
{
	uint16_t l2 = l2_bytes(template);
	uint16_t l3 = l3_bytes(template);
	uint16_t l4_length = frame_bytes - RTE_ETHER_CRC_LEN - l2 - l3;
	uint16_t type =
		htons(template->ip_version == 4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
	uint16_t tag[2] = {htons(RTE_ETHER_TYPE_VLAN), htons(template->vlan)};

	memset(frame, 0, sizeof(*frame));
	frame->length = frame_bytes - RTE_ETHER_CRC_LEN;
	memcpy(frame->head, &template->dst_mac, RTE_ETHER_ADDR_LEN);
	memcpy(frame->head + RTE_ETHER_ADDR_LEN, &template->src_mac, RTE_ETHER_ADDR_LEN);
	if (template->tagged)
		memcpy(frame->head + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
	memcpy(frame->head + l2 - sizeof(type), &type, sizeof(type));
	if (template->ip_version == 4)
		put_ipv4(template, l3 + l4_length, frame->head + l2);
	else
		put_ipv6(template, l4_length, frame->head + l2);
	put_l4(template, l4_length, frame->head + l2 + l3);
	frame->ip_length_word = htons(l3 + l4_length);
	/* The length stands in the pseudo header, and with UDP in the header again. */
	frame->l4_length_sum = weir_sum_fold((uint64_t)htons(l4_length) * (template->tcp ? 1 : 2));
}
