/* SPDX-License-Identifier: Apache-2.0 */
#include "gtpu.h"

#include <stddef.h>

#define VERSION_AND_TYPE_MASK 0xf0
#define ANY_OPTION 0x07
#define HAS_SEQUENCE 0x02
#define COMPREHENSION_REQUIRED 0x80 /* of the endpoint; figure 5.2.1-2 */

/* Walks the extension headers from `offset` on, the first of `type`. Returns where the payload
 * begins; 0: they do not end within `bytes`. */
static uint32_t
walk_extensions(const uint8_t *at, uint32_t bytes, uint32_t offset, uint8_t type,
		struct weir_gtpu *gtpu)
{
	while (type != 0) {
		uint32_t length;

		if (offset + 4 > bytes)
			return 0;
		length = 4u * at[offset];
		if (length == 0 || offset + length > bytes)
			return 0;
		if (type == WEIR_GTPU_PDU_SESSION_CONTAINER)
			gtpu->qfi = at[offset + 2] & WEIR_GTPU_QFI_MAX;
		else if ((type & COMPREHENSION_REQUIRED) != 0 && gtpu->not_comprehended == 0)
			gtpu->not_comprehended = type;
		type = at[offset + length - 1];
		offset += length;
	}
	return offset;
}

bool
weir_gtpu_parse(const uint8_t *at, uint32_t bytes, struct weir_gtpu *gtpu)
{
	const struct rte_gtp_hdr *header = (const void *)at;
	const struct rte_gtp_hdr_ext_word *option = (const void *)(header + 1);
	uint32_t offset = sizeof(*header), end;

	*gtpu = (struct weir_gtpu){.qfi = WEIR_GTPU_NO_QFI};
	if (bytes < offset ||
	    (header->gtp_hdr_info & VERSION_AND_TYPE_MASK) != WEIR_GTPU_VERSION_AND_TYPE)
		return false;
	end = offset + rte_be_to_cpu_16(header->plen);
	if (end > bytes)
		return false;
	gtpu->message = header->msg_type;
	gtpu->teid = rte_be_to_cpu_32(header->teid);
	if ((header->gtp_hdr_info & ANY_OPTION) != 0) {
		offset += sizeof(*option);
		if (offset > end)
			return false;
		if ((header->gtp_hdr_info & HAS_SEQUENCE) != 0)
			gtpu->sequence = rte_be_to_cpu_16(option->sqn);
		if ((header->gtp_hdr_info & WEIR_GTPU_HAS_EXTENSION) != 0)
			offset = walk_extensions(at, end, offset, option->next_ext, gtpu);
	}
	gtpu->payload_offset = (uint16_t)offset;
	gtpu->payload_bytes = (uint16_t)(end - offset);
	return offset != 0;
}

/* IPv4, UDP and GTP-U in front of `behind` bytes. */
static struct weir_gtpu_outer
outer_of(uint32_t from_ip, uint32_t to_ip, uint16_t behind)
{
	const uint16_t udp_bytes = sizeof(struct rte_udp_hdr) + sizeof(struct rte_gtp_hdr) + behind;
	struct weir_gtpu_outer outer = {
		.ip = {.version_ihl = RTE_IPV4_VHL_DEF,
		       .total_length = rte_cpu_to_be_16(sizeof(struct rte_ipv4_hdr) + udp_bytes),
		       .fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		       .time_to_live = 64,
		       .next_proto_id = IPPROTO_UDP,
		       .src_addr = from_ip,
		       .dst_addr = to_ip},
		.udp = {.src_port = RTE_BE16(WEIR_GTPU_PORT),
			.dst_port = RTE_BE16(WEIR_GTPU_PORT),
			.dgram_len = rte_cpu_to_be_16(udp_bytes)},
		.gtp = {.gtp_hdr_info = WEIR_GTPU_VERSION_AND_TYPE,
			.plen = rte_cpu_to_be_16(behind)},
	};

	outer.ip.hdr_checksum = rte_ipv4_cksum(&outer.ip);
	return outer;
}

struct weir_gtpu_prepared
weir_gtpu_prepare(const struct weir_gtpu_end *end)
{
	struct weir_gtpu_prepared prepared = {
		.outer = outer_of(end->ip, 0, 0),
		.bytes = WEIR_GTPU_OUTER_PLAIN_BYTES,
	};
	struct weir_gtpu_outer *outer = &prepared.outer;

	outer->gtp.msg_type = WEIR_GTPU_G_PDU;
	if (end->container) {
		prepared.bytes = sizeof(*outer);
		outer->gtp.gtp_hdr_info |= WEIR_GTPU_HAS_EXTENSION;
		outer->option.next_ext = WEIR_GTPU_PDU_SESSION_CONTAINER;
		outer->container.ext_hdr_len = 1;
		outer->container.type = end->container_type;
	}
	outer->ip.total_length = 0;
	outer->ip.hdr_checksum = 0;
	prepared.ip_sum = rte_raw_cksum(&outer->ip, sizeof(outer->ip));
	return prepared;
}

void
weir_gtpu_write_signal(const struct weir_gtpu_signal *signal, uint8_t *at)
{
	const uint16_t to_elements =
		WEIR_GTPU_OUTER_PLAIN_BYTES + sizeof(struct rte_gtp_hdr_ext_word);
	struct weir_gtpu_outer outer =
		outer_of(signal->from_ip, signal->to_ip,
			 sizeof(struct rte_gtp_hdr_ext_word) + signal->element_bytes);

	outer.udp.dst_port = signal->to_port;
	outer.gtp.gtp_hdr_info |= HAS_SEQUENCE;
	outer.gtp.msg_type = signal->message;
	outer.option.sqn = rte_cpu_to_be_16(signal->sequence);
	memcpy(at, &outer, to_elements);
	memcpy(at + to_elements, signal->elements, signal->element_bytes);
}

/* Without a sequence number, as it has none of the messages that must (section 5.1). */
void
weir_gtpu_write_end_marker(uint32_t from_ip, const struct weir_gtpu_tunnel *tunnel, uint8_t *at)
{
	struct weir_gtpu_outer outer = outer_of(from_ip, tunnel->to_ip, 0);

	outer.gtp.msg_type = WEIR_GTPU_END_MARKER;
	outer.gtp.teid = tunnel->teid;
	memcpy(at, &outer, WEIR_GTPU_OUTER_PLAIN_BYTES);
}
