/* SPDX-License-Identifier: Apache-2.0 */
#include "port/card_rules/card_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ethdev.h>

#include "port/card_rules/card_parts_test.h"

struct rule_card rule_card;
struct rte_flow *rule_card_rules;
static unsigned int asked;

void
new_rule_card(void)
{
	assert_null(rule_card_rules);
	assert_int_equal(rule_card.counters, 0);
	rule_card = (struct rule_card){.rules_max = UINT32_MAX, .mtu_out = 1500};
	asked = 0;
}

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
	rule->next = rule_card_rules;
	rule_card_rules = rule;
	rule_card.rules++;
	rule_card.created++;
	return rule;
}

static void
destroy(struct rte_flow *rule)
{
	struct rte_flow **at = &rule_card_rules;

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
	while (rule_card_rules != NULL)
		destroy(rule_card_rules);
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
	for (const struct rte_flow *rule = rule_card_rules; rule != NULL; rule = rule->next)
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
