/* SPDX-License-Identifier: Apache-2.0 */
#include "rule.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>

/* Of a time to live: what its highest bits are. */
static const struct {
	uint8_t bits, mask;
} ttl_blocks[WEIR_CARD_RULES_MAX] = {{0x80, 0x80}, {0x40, 0xc0}, {0x20, 0xe0}};

/* Untagged, of IPv4, to nobody's group. */
static const struct rte_flow_item_eth ethernet_mask = {
	.dst.addr_bytes = {1}, .type = 0xffff, .has_vlan = 1};
static const struct rte_flow_item_ethdev ethdev_mask = {.port_id = UINT16_MAX};
/* Begins or ends a session, so that a function has to see it. */
static const struct rte_flow_item_tcp tcp_mask = {
	.hdr = {.src_port = 0xffff,
		.dst_port = 0xffff,
		.tcp_flags = RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG}};
static const struct rte_flow_item_udp udp_mask = {.hdr = {.src_port = 0xffff, .dst_port = 0xffff}};

unsigned int
weir_card_rules_of(const struct weir_flow_entry *entry)
{
	const bool known = entry->key.protocol == IPPROTO_TCP || entry->key.protocol == IPPROTO_UDP;

	return known && entry->ttl_decrement <= WEIR_CARD_TTL_DECREMENTS_MAX ? WEIR_CARD_RULES_MAX
									     : 0;
}

static void
fill_pattern(struct weir_card_rule *rule, const struct weir_flow_entry *entry, unsigned int number,
	     uint16_t in)
{
	struct rte_flow_item *item = rule->pattern;

	rule->in.port_id = in;
	*item++ = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT,
					 .spec = &rule->in,
					 .mask = &ethdev_mask};
	/* Its checksums would be made right, and no longer told of. */
	rule->integrity.l3_ok = rule->integrity.ipv4_csum_ok = rule->integrity.l4_ok = 1;
	*item++ = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_INTEGRITY,
					 .spec = &rule->integrity,
					 .mask = &rule->integrity};
	rule->ethernet.type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	*item++ = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &rule->ethernet, .mask = &ethernet_mask};
	/* Without options, and no fragment. */
	rule->ip.hdr = (struct rte_ipv4_hdr){.version_ihl = RTE_IPV4_VHL_DEF,
					     .next_proto_id = entry->key.protocol,
					     .src_addr = entry->key.src_ip,
					     .dst_addr = entry->key.dst_ip};
	rule->ip_mask.hdr =
		(struct rte_ipv4_hdr){.version_ihl = 0xff,
				      .fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG |
									  RTE_IPV4_HDR_OFFSET_MASK),
				      .next_proto_id = 0xff,
				      .src_addr = UINT32_MAX,
				      .dst_addr = UINT32_MAX};
	rule->ip.hdr.time_to_live = ttl_blocks[number].bits;
	rule->ip_mask.hdr.time_to_live = ttl_blocks[number].mask;
	*item++ = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &rule->ip, .mask = &rule->ip_mask};
	if (entry->key.protocol == IPPROTO_TCP) {
		rule->tcp.hdr.src_port = entry->key.src_port;
		rule->tcp.hdr.dst_port = entry->key.dst_port;
		*item++ = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_TCP, .spec = &rule->tcp, .mask = &tcp_mask};
	} else {
		rule->udp.hdr.src_port = entry->key.src_port;
		rule->udp.hdr.dst_port = entry->key.dst_port;
		*item++ = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &rule->udp, .mask = &udp_mask};
	}
	*item = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_END};
}

static struct rte_flow_action *
add(struct rte_flow_action *at, enum rte_flow_action_type type, const void *conf)
{
	*at = (struct rte_flow_action){.type = type, .conf = conf};
	return at + 1;
}

/* Only what leaves otherwise than it came: each is work for the card. */
static struct rte_flow_action *
add_rewrites(struct weir_card_rule *rule, const struct weir_flow_entry *entry,
	     struct rte_flow_action *at)
{
	if ((entry->set & WEIR_SET_TUPLE) != 0) {
		rule->src_ip.ipv4_addr = entry->src_ip;
		rule->dst_ip.ipv4_addr = entry->dst_ip;
		rule->src_port.port = entry->src_port;
		rule->dst_port.port = entry->dst_port;
		if (entry->src_ip != entry->key.src_ip)
			at = add(at, RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC, &rule->src_ip);
		if (entry->dst_ip != entry->key.dst_ip)
			at = add(at, RTE_FLOW_ACTION_TYPE_SET_IPV4_DST, &rule->dst_ip);
		if (entry->src_port != entry->key.src_port)
			at = add(at, RTE_FLOW_ACTION_TYPE_SET_TP_SRC, &rule->src_port);
		if (entry->dst_port != entry->key.dst_port)
			at = add(at, RTE_FLOW_ACTION_TYPE_SET_TP_DST, &rule->dst_port);
	}
	for (unsigned int i = 0; i < entry->ttl_decrement; i++)
		at = add(at, RTE_FLOW_ACTION_TYPE_DEC_TTL, NULL);
	if ((entry->set & WEIR_SET_MAC) != 0) {
		memcpy(rule->src_mac.mac_addr, &entry->src_mac, sizeof(rule->src_mac.mac_addr));
		memcpy(rule->dst_mac.mac_addr, &entry->dst_mac, sizeof(rule->dst_mac.mac_addr));
		at = add(at, RTE_FLOW_ACTION_TYPE_SET_MAC_SRC, &rule->src_mac);
		at = add(at, RTE_FLOW_ACTION_TYPE_SET_MAC_DST, &rule->dst_mac);
	}
	return at;
}

void
weir_card_rule_fill(struct weir_card_rule *rule, const struct weir_flow_entry *entry,
		    unsigned int number, uint16_t in, uint16_t out,
		    struct rte_flow_action_handle *counter)
{
	struct rte_flow_action *at = rule->actions;

	memset(rule, 0, sizeof(*rule));
	rule->attr.transfer = 1;
	fill_pattern(rule, entry, number, in);
	at = add(at, RTE_FLOW_ACTION_TYPE_INDIRECT, counter);
	at = add_rewrites(rule, entry, at);
	rule->out.port_id = out;
	at = add(at, RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT, &rule->out);
	add(at, RTE_FLOW_ACTION_TYPE_END, NULL);
}
