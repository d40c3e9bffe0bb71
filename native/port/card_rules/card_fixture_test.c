/* SPDX-License-Identifier: Apache-2.0 */
#include "port/card_rules/card_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define PARTS_MAX 20
#define PART_BYTES 64

struct part {
	int type;
	uint8_t spec[PART_BYTES], mask[PART_BYTES];
};

/* DPDK leaves both to drivers. */
struct rte_flow {
	struct rte_flow *next;
	unsigned int item_count, action_count;
	struct part items[PARTS_MAX], actions[PARTS_MAX];
	struct rte_flow_action_handle *counter;
};

struct rte_flow_action_handle {
	uint64_t hits, bytes;
};

struct rule_card rule_card;
static struct rte_flow *rules;
static unsigned int asked;

void
new_rule_card(void)
{
	assert_null(rules);
	assert_int_equal(rule_card.counters, 0);
	rule_card = (struct rule_card){.rules_max = UINT32_MAX, .mtu_out = 1500};
	asked = 0;
}

/* --- what a driver does ------------------------------------------------------------------------
 */

static size_t
item_bytes(enum rte_flow_item_type type)
{
	switch (type) {
	case RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT:
		return sizeof(struct rte_flow_item_ethdev);
	case RTE_FLOW_ITEM_TYPE_INTEGRITY:
		return sizeof(struct rte_flow_item_integrity);
	case RTE_FLOW_ITEM_TYPE_ETH:
		return sizeof(struct rte_flow_item_eth);
	case RTE_FLOW_ITEM_TYPE_IPV4:
		return sizeof(struct rte_flow_item_ipv4);
	case RTE_FLOW_ITEM_TYPE_TCP:
		return sizeof(struct rte_flow_item_tcp);
	case RTE_FLOW_ITEM_TYPE_UDP:
		return sizeof(struct rte_flow_item_udp);
	default:
		fail_msg("item %d is not known", type);
		return 0;
	}
}

static size_t
action_bytes(enum rte_flow_action_type type)
{
	switch (type) {
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
	case RTE_FLOW_ACTION_TYPE_DEC_TTL:
		return 0;
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_DST:
		return sizeof(struct rte_flow_action_set_ipv4);
	case RTE_FLOW_ACTION_TYPE_SET_TP_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_TP_DST:
		return sizeof(struct rte_flow_action_set_tp);
	case RTE_FLOW_ACTION_TYPE_SET_MAC_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_MAC_DST:
		return sizeof(struct rte_flow_action_set_mac);
	case RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT:
		return sizeof(struct rte_flow_action_ethdev);
	default:
		fail_msg("action %d is not known", type);
		return 0;
	}
}

static struct rte_flow *
copied(const struct rte_flow_item *item, const struct rte_flow_action *action)
{
	struct rte_flow *rule = calloc(1, sizeof(*rule));

	assert_non_null(rule);
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		struct part *part = &rule->items[rule->item_count++];

		part->type = item->type;
		memcpy(part->spec, item->spec, item_bytes(item->type));
		memcpy(part->mask, item->mask, item_bytes(item->type));
	}
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		struct part *part = &rule->actions[rule->action_count++];

		part->type = action->type;
		if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			rule->counter = (struct rte_flow_action_handle *)(uintptr_t)action->conf;
		else if (action->conf != NULL)
			memcpy(part->spec, action->conf, action_bytes(action->type));
	}
	return rule;
}

int __real_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attr,
			     const struct rte_flow_item pattern[],
			     const struct rte_flow_action actions[], struct rte_flow_error *error);
int __wrap_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attr,
			     const struct rte_flow_item pattern[],
			     const struct rte_flow_action actions[], struct rte_flow_error *error);
struct rte_flow *__real_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
					const struct rte_flow_item pattern[],
					const struct rte_flow_action actions[],
					struct rte_flow_error *error);
struct rte_flow *__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
					const struct rte_flow_item pattern[],
					const struct rte_flow_action actions[],
					struct rte_flow_error *error);
int __wrap_rte_flow_destroy(uint16_t port, struct rte_flow *rule, struct rte_flow_error *error);
int __wrap_rte_flow_flush(uint16_t port, struct rte_flow_error *error);
struct rte_flow_action_handle *
__real_rte_flow_action_handle_create(uint16_t port, const struct rte_flow_indir_action_conf *conf,
				     const struct rte_flow_action *action,
				     struct rte_flow_error *error);
struct rte_flow_action_handle *
__wrap_rte_flow_action_handle_create(uint16_t port, const struct rte_flow_indir_action_conf *conf,
				     const struct rte_flow_action *action,
				     struct rte_flow_error *error);
int __wrap_rte_flow_action_handle_destroy(uint16_t port, struct rte_flow_action_handle *handle,
					  struct rte_flow_error *error);
int __wrap_rte_flow_action_handle_query(uint16_t port, const struct rte_flow_action_handle *handle,
					void *data, struct rte_flow_error *error);
int __real_rte_flow_pick_transfer_proxy(uint16_t port, uint16_t *proxy,
					struct rte_flow_error *error);
int __wrap_rte_flow_pick_transfer_proxy(uint16_t port, uint16_t *proxy,
					struct rte_flow_error *error);
int __real_rte_eth_dev_get_mtu(uint16_t port, uint16_t *mtu);
int __wrap_rte_eth_dev_get_mtu(uint16_t port, uint16_t *mtu);

int
__wrap_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attr,
			 const struct rte_flow_item pattern[],
			 const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	if (port != CARD_PROXY)
		return __real_rte_flow_validate(port, attr, pattern, actions, error);
	/* A driver would look behind a handle that is none. */
	for (unsigned int i = 0; actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++)
		assert_false(actions[i].type == RTE_FLOW_ACTION_TYPE_INDIRECT &&
			     actions[i].conf == NULL);
	return 0;
}

struct rte_flow *
__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error)
{
	struct rte_flow *rule;

	if (port != CARD_PROXY)
		return __real_rte_flow_create(port, attr, pattern, actions, error);
	assert_true(attr->transfer);
	memset(error, 0, sizeof(*error));
	if (++asked == rule_card.refuses_number || rule_card.rules >= rule_card.rules_max)
		return NULL;
	rule = copied(pattern, actions);
	rule->next = rules;
	rules = rule;
	rule_card.rules++;
	rule_card.created++;
	return rule;
}

static void
destroy(struct rte_flow *rule)
{
	struct rte_flow **at = &rules;

	while (*at != rule) {
		assert_non_null(*at); /* one that has gone */
		at = &(*at)->next;
	}
	*at = rule->next;
	free(rule);
	rule_card.rules--;
	rule_card.destroyed++;
}

int
__wrap_rte_flow_destroy(uint16_t port, struct rte_flow *rule, struct rte_flow_error *error)
{
	assert_int_equal(port, CARD_PROXY);
	memset(error, 0, sizeof(*error));
	if (rule_card.keeps)
		return -EIO;
	destroy(rule);
	return 0;
}

int
__wrap_rte_flow_flush(uint16_t port, struct rte_flow_error *error)
{
	assert_int_equal(port, CARD_PROXY);
	memset(error, 0, sizeof(*error));
	while (rules != NULL)
		destroy(rules);
	return 0;
}

struct rte_flow_action_handle *
__wrap_rte_flow_action_handle_create(uint16_t port, const struct rte_flow_indir_action_conf *conf,
				     const struct rte_flow_action *action,
				     struct rte_flow_error *error)
{
	struct rte_flow_action_handle *handle;

	if (port != CARD_PROXY)
		return __real_rte_flow_action_handle_create(port, conf, action, error);
	handle = calloc(1, sizeof(*handle));
	assert_true(conf->transfer);
	assert_int_equal(action->type, RTE_FLOW_ACTION_TYPE_COUNT);
	assert_non_null(handle);
	memset(error, 0, sizeof(*error));
	rule_card.counters++;
	return handle;
}

int
__wrap_rte_flow_action_handle_destroy(uint16_t port, struct rte_flow_action_handle *handle,
				      struct rte_flow_error *error)
{
	assert_int_equal(port, CARD_PROXY);
	memset(error, 0, sizeof(*error));
	for (const struct rte_flow *rule = rules; rule != NULL; rule = rule->next)
		assert_ptr_not_equal(rule->counter, handle); /* in use */
	free(handle);
	rule_card.counters--;
	return 0;
}

int
__wrap_rte_flow_action_handle_query(uint16_t port, const struct rte_flow_action_handle *handle,
				    void *data, struct rte_flow_error *error)
{
	struct rte_flow_query_count *count = data;

	assert_int_equal(port, CARD_PROXY);
	memset(error, 0, sizeof(*error));
	if (rule_card.counts_nothing)
		return -EIO;
	count->hits_set = count->bytes_set = 1;
	count->hits = handle->hits;
	count->bytes = handle->bytes;
	return 0;
}

int
__wrap_rte_flow_pick_transfer_proxy(uint16_t port, uint16_t *proxy, struct rte_flow_error *error)
{
	if (port != CARD_IN)
		return __real_rte_flow_pick_transfer_proxy(port, proxy, error);
	if (rule_card.has_no_proxy)
		return -EPERM;
	*proxy = CARD_PROXY;
	return 0;
}

int
__wrap_rte_eth_dev_get_mtu(uint16_t port, uint16_t *mtu)
{
	if (port < CARD_IN)
		return __real_rte_eth_dev_get_mtu(port, mtu);
	*mtu = port == CARD_IN ? 1500 : rule_card.mtu_out;
	return 0;
}

/* --- what a card does --------------------------------------------------------------------------
 */

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
	for (const struct rte_flow *rule = rules; rule != NULL; rule = rule->next) {
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
