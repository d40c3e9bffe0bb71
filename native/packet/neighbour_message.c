/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbour_message.h"

#include <stddef.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_ip.h>

#include "icmp_message.h"

#define FRAME_BYTES_MIN 60
#define HOP_LIMIT 255
#define ROUTER_SOLICITATION 133
#define SOLICITATION 135
#define ADVERTISEMENT 136
#define REDIRECT 137
#define OPTION_SOURCE_MAC 1
#define OPTION_TARGET_MAC 2

enum { FLAG_ROUTER = 0x80, FLAG_SOLICITED = 0x40, FLAG_OVERRIDE = 0x20 };

/* RFC 4861, 4.3 and 4.4. */
struct discovery {
	uint8_t type;
	uint8_t code;
	uint16_t checksum;
	uint8_t flags;
	uint8_t reserved[3];
	uint8_t target[16];
};
static_assert(sizeof(struct discovery) == 24, "as on the wire");

/* The option of an Ethernet address (RFC 2464, 6). */
struct mac_option {
	uint8_t type;
	uint8_t units; /* of 8 bytes */
	struct rte_ether_addr mac;
};
static_assert(sizeof(struct mac_option) == 8, "as on the wire");

static enum weir_neighbour_kind
parse_arp(const struct rte_mbuf *packet, uint32_t offset, struct weir_neighbour_message *message)
{
	const struct rte_arp_hdr *arp =
		rte_pktmbuf_mtod_offset(packet, const struct rte_arp_hdr *, offset);
	uint16_t operation;

	if (offset + sizeof(*arp) > packet->data_len ||
	    arp->arp_hardware != rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) ||
	    arp->arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
	    arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != 4)
		return WEIR_NEIGHBOUR_INVALID;
	operation = rte_be_to_cpu_16(arp->arp_opcode);
	message->mac = arp->arp_data.arp_sha;
	message->sender = weir_ip_address(&arp->arp_data.arp_sip, false);
	message->target = weir_ip_address(&arp->arp_data.arp_tip, false);
	message->solicited = message->override = true;
	if (!rte_is_valid_assigned_ether_addr(&message->mac))
		return WEIR_NEIGHBOUR_INVALID;
	if (operation == RTE_ARP_OP_REQUEST)
		return WEIR_NEIGHBOUR_SOLICITATION;
	return operation == RTE_ARP_OP_REPLY ? WEIR_NEIGHBOUR_ADVERTISEMENT
					     : WEIR_NEIGHBOUR_INVALID;
}

/* All options are whole; the address of that type, if there is one. RFC 4861, 4.6 and 7.1. */
static bool
read_options(const uint8_t *options, uint32_t bytes, uint8_t type, struct rte_ether_addr *mac)
{
	while (bytes > 0) {
		uint32_t length;

		if (bytes < 2)
			return false;
		length = 8 * options[1];
		if (length == 0 || length > bytes)
			return false;
		if (options[0] == type && length == sizeof(struct mac_option))
			memcpy(mac, options + offsetof(struct mac_option, mac), sizeof(*mac));
		options += length;
		bytes -= length;
	}
	return rte_is_zero_ether_addr(mac) || rte_is_valid_assigned_ether_addr(mac);
}

static enum weir_neighbour_kind
parse_discovery(const struct rte_mbuf *packet, const struct weir_headers *headers,
		struct weir_neighbour_message *message)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const struct rte_ipv6_hdr *ip = (const void *)(frame + headers->l3_offset);
	uint32_t bytes = headers->l3_bytes - sizeof(*ip);
	struct discovery discovery;
	bool to_group = ip->dst_addr[0] == 0xff, solicits, from_none;

	if (bytes < 4 || (frame[headers->l4_offset]) < ROUTER_SOLICITATION ||
	    frame[headers->l4_offset] > REDIRECT)
		return WEIR_NEIGHBOUR_NONE;
	if (ip->hop_limits != HOP_LIMIT || frame[headers->l4_offset + 1] != 0 ||
	    !weir_icmpv6_checksum_right(ip))
		return WEIR_NEIGHBOUR_INVALID;
	solicits = frame[headers->l4_offset] == SOLICITATION;
	if (!solicits && frame[headers->l4_offset] != ADVERTISEMENT)
		return WEIR_NEIGHBOUR_UNKNOWN;
	if (bytes < sizeof(discovery))
		return WEIR_NEIGHBOUR_INVALID;
	memcpy(&discovery, frame + headers->l4_offset, sizeof(discovery));
	message->target = weir_ip_address(discovery.target, true);
	message->sender = solicits ? weir_ip_address(ip->src_addr, true) : message->target;
	message->solicited = (discovery.flags & FLAG_SOLICITED) != 0;
	message->override = (discovery.flags & FLAG_OVERRIDE) != 0;
	if (discovery.target[0] == 0xff || ip->src_addr[0] == 0xff ||
	    !read_options(frame + headers->l4_offset + sizeof(discovery), bytes - sizeof(discovery),
			  solicits ? OPTION_SOURCE_MAC : OPTION_TARGET_MAC, &message->mac))
		return WEIR_NEIGHBOUR_INVALID;
	from_none = weir_ip_address_is_none(&message->sender);
	if (solicits && from_none && (!to_group || !rte_is_zero_ether_addr(&message->mac)))
		return WEIR_NEIGHBOUR_INVALID;
	if (!solicits && to_group && message->solicited)
		return WEIR_NEIGHBOUR_INVALID;
	return solicits ? WEIR_NEIGHBOUR_SOLICITATION : WEIR_NEIGHBOUR_ADVERTISEMENT;
}

enum weir_neighbour_kind
weir_neighbour_message_parse(const struct rte_mbuf *packet, const struct weir_headers *headers,
			     struct weir_neighbour_message *message)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t offset;
	uint16_t vlan;

	memset(message, 0, sizeof(*message));
	if (headers->network == WEIR_NETWORK_IPV6) {
		message->l3_offset = headers->l3_offset;
		/* Behind extension headers it is none: RFC 6980, and nobody sends such. */
		if (headers->tuple.protocol != IPPROTO_ICMPV6 ||
		    headers->l4_offset != headers->l3_offset + sizeof(struct rte_ipv6_hdr))
			return WEIR_NEIGHBOUR_NONE;
		return parse_discovery(packet, headers, message);
	}
	if (headers->network != WEIR_NETWORK_OTHER)
		return WEIR_NEIGHBOUR_NONE;
	offset = weir_l3_offset(frame, packet->data_len, &vlan);
	if (offset == 0 || weir_ethertype_before(frame, offset) != RTE_ETHER_TYPE_ARP)
		return WEIR_NEIGHBOUR_NONE;
	message->l3_offset = (uint16_t)offset;
	return parse_arp(packet, offset, message);
}

/* Frames of that length, padding 0; NULL: the buffer has no room. */
static uint8_t *
resize(struct rte_mbuf *packet, uint32_t bytes)
{
	uint32_t whole = RTE_MAX(bytes, (uint32_t)FRAME_BYTES_MIN);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);

	if (!weir_icmp_packet_is_plain(packet) || packet->data_off + whole > packet->buf_len)
		return NULL;
	packet->data_len = (uint16_t)whole;
	packet->pkt_len = whole;
	memset(frame + bytes, 0, whole - bytes);
	return frame;
}

static void
put_arp(uint8_t *at, uint16_t operation, const struct rte_ether_addr *mac,
	const struct weir_ip_address *source, const struct rte_ether_addr *to_mac,
	const struct weir_ip_address *to)
{
	struct rte_arp_hdr arp = {
		.arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER),
		.arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = 4,
		.arp_opcode = rte_cpu_to_be_16(operation),
		.arp_data = {.arp_sha = *mac, .arp_tha = *to_mac},
	};

	memcpy(&arp.arp_data.arp_sip, source->bytes, 4);
	memcpy(&arp.arp_data.arp_tip, to->bytes, 4);
	memcpy(at, &arp, sizeof(arp));
}

#define DISCOVERY_BYTES                                                                            \
	(sizeof(struct rte_ipv6_hdr) + sizeof(struct discovery) + sizeof(struct mac_option))

static void
put_discovery(uint8_t *at, uint8_t type, uint8_t flags, const uint8_t *source, const uint8_t *to,
	      const uint8_t *target, const struct rte_ether_addr *mac)
{
	struct discovery discovery = {.type = type, .flags = flags};
	const struct mac_option option = {
		.type = type == SOLICITATION ? OPTION_SOURCE_MAC : OPTION_TARGET_MAC,
		.units = 1,
		.mac = *mac,
	};
	struct rte_ipv6_hdr ip = {
		.vtc_flow = rte_cpu_to_be_32(6U << 28),
		.payload_len = rte_cpu_to_be_16(sizeof(discovery) + sizeof(option)),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = HOP_LIMIT,
	};

	memcpy(ip.src_addr, source, sizeof(ip.src_addr));
	memcpy(ip.dst_addr, to, sizeof(ip.dst_addr));
	memcpy(discovery.target, target, sizeof(discovery.target));
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), &discovery, sizeof(discovery));
	memcpy(at + sizeof(ip) + sizeof(discovery), &option, sizeof(option));
	weir_icmpv6_checksum_set((struct rte_ipv6_hdr *)at);
}

bool
weir_neighbour_answer(struct rte_mbuf *packet, const struct weir_neighbour_message *message,
		      const struct rte_ether_addr *mac)
{
	static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
	static const struct rte_ether_addr all_nodes_mac = {{0x33, 0x33, 0, 0, 0, 1}};
	const bool ipv6 = message->target.ipv6;
	const bool from_none = weir_ip_address_is_none(&message->sender);
	uint8_t *frame = resize(
		packet, message->l3_offset + (ipv6 ? DISCOVERY_BYTES : sizeof(struct rte_arp_hdr)));
	struct rte_ether_addr to;

	if (frame == NULL)
		return false;
	/* Of ND a source without the option, to one station: the frame says who sent it. */
	memcpy(&to, frame + RTE_ETHER_ADDR_LEN, sizeof(to));
	if (!rte_is_zero_ether_addr(&message->mac))
		to = message->mac;
	if (!ipv6) {
		put_arp(frame + message->l3_offset, RTE_ARP_OP_REPLY, mac, &message->target,
			&message->mac, &message->sender);
	} else {
		if (from_none)
			to = all_nodes_mac;
		put_discovery(frame + message->l3_offset, ADVERTISEMENT,
			      FLAG_ROUTER | FLAG_OVERRIDE | (from_none ? 0 : FLAG_SOLICITED),
			      message->target.bytes, from_none ? all_nodes : message->sender.bytes,
			      message->target.bytes, mac);
	}
	memcpy(frame, &to, sizeof(to));
	memcpy(frame + RTE_ETHER_ADDR_LEN, mac, sizeof(*mac));
	return true;
}

bool
weir_neighbour_solicit(struct rte_mbuf *packet, const struct weir_ip_address *target,
		       const struct weir_ip_address *source, const struct rte_ether_addr *mac,
		       const struct rte_ether_addr *at)
{
	static const struct rte_ether_addr none;
	uint8_t *frame =
		resize(packet, RTE_ETHER_HDR_LEN + (target->ipv6 ? DISCOVERY_BYTES
								 : sizeof(struct rte_arp_hdr)));
	struct rte_ether_hdr ether = {.src_addr = *mac};
	/* RFC 4291, 2.7.1; RFC 2464, 7. */
	uint8_t group[16] = {0xff, 0x02, [11] = 1, [12] = 0xff};

	if (frame == NULL)
		return false;
	memcpy(group + 13, target->bytes + 13, 3);
	if (at != NULL)
		ether.dst_addr = *at;
	else if (!target->ipv6)
		memset(&ether.dst_addr, 0xff, sizeof(ether.dst_addr));
	else
		ether.dst_addr = (struct rte_ether_addr){
			{0x33, 0x33, group[12], group[13], group[14], group[15]}};
	if (target->ipv6) {
		ether.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6);
		put_discovery(frame + sizeof(ether), SOLICITATION, 0, source->bytes,
			      at != NULL ? target->bytes : group, target->bytes, mac);
	} else {
		ether.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP);
		put_arp(frame + sizeof(ether), RTE_ARP_OP_REQUEST, mac, source,
			at != NULL ? at : &none, target);
	}
	memcpy(frame, &ether, sizeof(ether));
	return true;
}
