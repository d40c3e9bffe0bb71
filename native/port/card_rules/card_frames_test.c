/* SPDX-License-Identifier: Apache-2.0 */
/* What the test card does with a frame. */
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "port/card_rules/card_fixture_test.h"
#include "port/card_rules/card_parts_test.h"

static struct rte_ipv4_hdr *
ip_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static bool
is_like(const struct part *item, const void *seen, size_t bytes)
{
	const uint8_t *at = seen;

	for (size_t i = 0; i < bytes; i++) {
		if (((at[i] ^ item->spec[i]) & item->mask[i]) != 0)
			return false;
	}
	return true;
}

/* What the card has found right, of an untagged IPv4 packet. */
static struct rte_flow_item_integrity
integrity_of(struct rte_mbuf *packet)
{
	const uint16_t room = packet->data_len - RTE_ETHER_HDR_LEN;
	struct rte_flow_item_integrity found = {0};
	const struct rte_ipv4_hdr *ip = ip_of(packet);
	const void *l4 = (const uint8_t *)ip + rte_ipv4_hdr_len(ip);
	const uint16_t length = rte_be_to_cpu_16(ip->total_length);
	uint16_t l4_bytes;

	if (room < sizeof(*ip) || ip->version != 4 || rte_ipv4_hdr_len(ip) < sizeof(*ip) ||
	    length < rte_ipv4_hdr_len(ip) || length > room)
		return found;
	found.ipv4_csum_ok = rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)) == 0xffff;
	found.l3_ok = found.ipv4_csum_ok;
	l4_bytes = length - rte_ipv4_hdr_len(ip);
	if (ip->next_proto_id == IPPROTO_UDP) {
		const struct rte_udp_hdr *udp = l4;

		found.l4_ok = l4_bytes >= sizeof(*udp) &&
			      (udp->dgram_cksum == 0 || rte_ipv4_udptcp_cksum_verify(ip, l4) == 0);
	} else if (ip->next_proto_id == IPPROTO_TCP && l4_bytes >= sizeof(struct rte_tcp_hdr)) {
		const uint8_t header_bytes = (((const struct rte_tcp_hdr *)l4)->data_off >> 4) * 4;

		found.l4_ok = header_bytes >= sizeof(struct rte_tcp_hdr) &&
			      header_bytes <= l4_bytes && rte_ipv4_udptcp_cksum_verify(ip, l4) == 0;
	}
	return found;
}

static bool
ethernet_is_like(const struct part *item, const uint8_t *frame)
{
	struct rte_flow_item_eth seen = {0};

	memcpy(&seen, frame, RTE_ETHER_HDR_LEN);
	seen.has_vlan = seen.type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN) ||
			seen.type == rte_cpu_to_be_16(RTE_ETHER_TYPE_QINQ);
	return is_like(item, &seen, sizeof(seen));
}

static bool
item_is_like(const struct part *item, struct rte_mbuf *packet)
{
	const struct rte_flow_item_ethdev in = {.port_id = CARD_IN};
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	struct rte_flow_item_integrity integrity;
	const struct rte_ipv4_hdr *ip = ip_of(packet);
	const uint32_t room = packet->data_len - RTE_ETHER_HDR_LEN;
	const uint32_t l4 = rte_ipv4_hdr_len(ip);

	switch (item->type) {
	case RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT:
		return is_like(item, &in, sizeof(in));
	case RTE_FLOW_ITEM_TYPE_ETH:
		return ethernet_is_like(item, frame);
	case RTE_FLOW_ITEM_TYPE_IPV4:
		return room >= sizeof(*ip) && is_like(item, ip, sizeof(*ip));
	case RTE_FLOW_ITEM_TYPE_INTEGRITY:
		integrity = integrity_of(packet);
		return is_like(item, &integrity, sizeof(integrity));
	case RTE_FLOW_ITEM_TYPE_TCP:
		return ip->next_proto_id == IPPROTO_TCP &&
		       room >= l4 + sizeof(struct rte_tcp_hdr) &&
		       is_like(item, (const uint8_t *)ip + l4, sizeof(struct rte_tcp_hdr));
	default:
		return ip->next_proto_id == IPPROTO_UDP &&
		       room >= l4 + sizeof(struct rte_udp_hdr) &&
		       is_like(item, (const uint8_t *)ip + l4, sizeof(struct rte_udp_hdr));
	}
}

static void
make_checksums(struct rte_ipv4_hdr *ip, bool has_l4)
{
	uint8_t *l4 = (uint8_t *)ip + rte_ipv4_hdr_len(ip);

	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (ip->next_proto_id == IPPROTO_TCP) {
		((struct rte_tcp_hdr *)l4)->cksum = 0;
		((struct rte_tcp_hdr *)l4)->cksum = rte_ipv4_udptcp_cksum(ip, l4);
	} else if (has_l4) {
		((struct rte_udp_hdr *)l4)->dgram_cksum = 0;
		((struct rte_udp_hdr *)l4)->dgram_cksum = rte_ipv4_udptcp_cksum(ip, l4);
	}
}

static void
act(const struct rte_flow *rule, struct rte_mbuf *packet, unsigned int *output)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(packet, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = ip_of(packet);
	uint16_t *ports = (uint16_t *)((uint8_t *)ip + rte_ipv4_hdr_len(ip));
	/* Of UDP: 0 stays 0. */
	const bool has_l4 = ((struct rte_udp_hdr *)ports)->dgram_cksum != 0;

	for (unsigned int i = 0; i < rule->action_count; i++) {
		const struct part *action = &rule->actions[i];
		struct rte_flow_action_ethdev out;

		switch (action->type) {
		case RTE_FLOW_ACTION_TYPE_INDIRECT:
			rule->counter->hits++;
			rule->counter->bytes += packet->data_len;
			break;
		case RTE_FLOW_ACTION_TYPE_DEC_TTL:
			ip->time_to_live--;
			break;
		case RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC:
			memcpy(&ip->src_addr, action->spec, sizeof(ip->src_addr));
			break;
		case RTE_FLOW_ACTION_TYPE_SET_IPV4_DST:
			memcpy(&ip->dst_addr, action->spec, sizeof(ip->dst_addr));
			break;
		case RTE_FLOW_ACTION_TYPE_SET_TP_SRC:
			memcpy(&ports[0], action->spec, sizeof(ports[0]));
			break;
		case RTE_FLOW_ACTION_TYPE_SET_TP_DST:
			memcpy(&ports[1], action->spec, sizeof(ports[1]));
			break;
		case RTE_FLOW_ACTION_TYPE_SET_MAC_SRC:
			memcpy(&ethernet->src_addr, action->spec, RTE_ETHER_ADDR_LEN);
			break;
		case RTE_FLOW_ACTION_TYPE_SET_MAC_DST:
			memcpy(&ethernet->dst_addr, action->spec, RTE_ETHER_ADDR_LEN);
			break;
		default:
			memcpy(&out, action->spec, sizeof(out));
			*output = out.port_id - CARD_OUT;
		}
	}
	make_checksums(ip, has_l4);
}

bool
rule_card_run(struct rte_mbuf *packet, unsigned int *output)
{
	if (packet->data_len < RTE_ETHER_HDR_LEN)
		return false;
	for (const struct rte_flow *rule = rule_card_rules; rule != NULL; rule = rule->next) {
		unsigned int i = 0;

		while (i < rule->item_count && item_is_like(&rule->items[i], packet))
			i++;
		if (i < rule->item_count)
			continue;
		act(rule, packet, output);
		return true;
	}
	return false;
}
