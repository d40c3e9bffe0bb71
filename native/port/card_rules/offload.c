/* SPDX-License-Identifier: Apache-2.0 */
#include "offload.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_log.h>
#include <rte_spinlock.h>

#include "engine/flow_cache.h"
#include "engine/outputs.h"
#include "port/offload_places.h"
#include "rule.h"

/*
 * The rules of one entry, and what counts their packets. It is an action of its own, so that it can
 * be read when its rules are gone and nothing is counted any more: a counter that belongs to a rule
 * goes with it, and with what it counted last.
 */
struct card_place {
	struct rte_flow *rules[WEIR_CARD_RULES_MAX]; /* NULL: not there */
	struct rte_flow_action_handle *counter;	     /* NULL: the place is free */
	struct weir_counter seen;		     /* of it, up to now */
	struct weir_counter pending;		     /* of those, not taken yet by take_counts() */
	uint8_t output;
};

struct card_offload {
	struct weir_offload offload; /* first */
	uint16_t in;
	uint16_t proxy; /* rules are asked for there */
	unsigned int out_count;
	uint16_t out[WEIR_OUTPUTS_MAX];
	struct card_offload *next;
	uint32_t flows;
	struct weir_offload_places free_places;
	struct card_place *places;
	struct weir_counter seen[WEIR_OUTPUTS_MAX]; /* of all places, and of those that were */
};

/*
 * One for all: paths of several chains may have one card, whose rules and counters are then of one
 * port of DPDK, drivers need not take requests from two threads, and totals() is of another thread.
 */
static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
static struct card_offload *cards; /* that are open */

static struct card_offload *
of(struct weir_offload *offload)
{
	return (struct card_offload *)offload;
}

static struct rte_flow_action_handle *
new_counter(const struct card_offload *card)
{
	static const struct rte_flow_indir_action_conf conf = {.transfer = 1};
	static const struct rte_flow_action_count count = {0};
	static const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_COUNT,
						      .conf = &count};
	struct rte_flow_error error;

	return rte_flow_action_handle_create(card->proxy, &conf, &action, &error);
}

static bool
has_count(const struct card_offload *card, const struct rte_flow_action_handle *counter,
	  struct rte_flow_query_count *now)
{
	struct rte_flow_error error;

	*now = (struct rte_flow_query_count){0};
	return rte_flow_action_handle_query(card->proxy, counter, now, &error) == 0 &&
	       now->hits_set;
}

/* As many as the driver takes, in order; of more than one the others go up. */
static unsigned int
add_rules(const struct card_offload *card, const struct weir_flow_entry *entry, unsigned int count,
	  struct card_place *place)
{
	struct rte_flow_error error;
	struct weir_card_rule rule;
	unsigned int added = 0;

	for (unsigned int i = 0; i < count; i++) {
		weir_card_rule_fill(&rule, entry, i, card->in, card->out[place->output],
				    place->counter);
		place->rules[i] = rte_flow_create(card->proxy, &rule.attr, rule.pattern,
						  rule.actions, &error);
		added += place->rules[i] != NULL;
	}
	return added;
}

static uint32_t
put(struct weir_offload *offload, const struct weir_flow_entry *entry,
    enum weir_offload_refusal *refusal)
{
	struct card_offload *card = of(offload);
	const unsigned int count = weir_card_rules_of(entry);
	struct rte_flow_error error;
	struct rte_flow_query_count now;
	struct card_place *place;
	unsigned int output;
	uint32_t index;

	if (!weir_offload_places_find(&card->free_places, entry, card->out_count, &output, &index,
				      refusal))
		return WEIR_OFFLOAD_NONE;
	*refusal = WEIR_OFFLOAD_FAILED;
	place = &card->places[index];
	rte_spinlock_lock(&lock);
	*place = (struct card_place){.output = output};
	place->counter = count > 0 ? new_counter(card) : NULL;
	/* What is not counted is not to be forwarded there. */
	if (place->counter != NULL &&
	    (!has_count(card, place->counter, &now) || add_rules(card, entry, count, place) == 0)) {
		rte_flow_action_handle_destroy(card->proxy, place->counter, &error);
		place->counter = NULL;
	}
	rte_spinlock_unlock(&lock);
	if (place->counter == NULL)
		return WEIR_OFFLOAD_NONE;
	weir_offload_places_take(&card->free_places);
	return index + 1;
}

/* Where a rule does not go all of its port's do: flows whose entries are there go on in software.
 */
static void
flush(const struct card_offload *card)
{
	struct rte_flow_error error;

	if (rte_flow_flush(card->proxy, &error) != 0)
		RTE_LOG(ERR, USER1, "the card of port %u keeps rules that were revoked: %s\n",
			card->proxy, error.message != NULL ? error.message : "no reason is given");
	for (struct card_offload *one = cards; one != NULL; one = one->next) {
		for (uint32_t i = 0; one->proxy == card->proxy && i < one->flows; i++)
			memset(one->places[i].rules, 0, sizeof(one->places[i].rules));
	}
}

static void
revoke(struct weir_offload *offload, uint32_t number)
{
	struct card_offload *card = of(offload);
	struct card_place *place = &card->places[number - 1];
	struct rte_flow_error error;

	rte_spinlock_lock(&lock);
	for (unsigned int i = 0; i < WEIR_CARD_RULES_MAX; i++) {
		struct rte_flow *rule = place->rules[i];

		place->rules[i] = NULL;
		if (rule != NULL && rte_flow_destroy(card->proxy, rule, &error) != 0)
			flush(card);
	}
	rte_spinlock_unlock(&lock);
}

/* What was counted since the last time; nothing where the driver does not say now. */
static void
look(struct card_offload *card, struct card_place *place)
{
	struct weir_counter *seen = &card->seen[place->output];
	struct rte_flow_query_count now;
	uint64_t packets, bytes;

	if (!has_count(card, place->counter, &now))
		return;
	packets = now.hits - place->seen.packets;
	bytes = now.bytes_set ? now.bytes - place->seen.bytes : 0;
	place->seen.packets += packets;
	place->seen.bytes += bytes;
	place->pending.packets += packets;
	place->pending.bytes += bytes;
	seen->packets += packets;
	seen->bytes += bytes;
}

static void
take_counts(struct weir_offload *offload, uint32_t number, uint64_t *packets, uint64_t *bytes)
{
	struct card_place *place = &of(offload)->places[number - 1];

	rte_spinlock_lock(&lock);
	look(of(offload), place);
	*packets = place->pending.packets;
	*bytes = place->pending.bytes;
	place->pending = (struct weir_counter){0};
	rte_spinlock_unlock(&lock);
}

static void
free_place(struct weir_offload *offload, uint32_t number)
{
	struct card_offload *card = of(offload);
	struct card_place *place = &card->places[number - 1];
	struct rte_flow_error error;

	rte_spinlock_lock(&lock);
	rte_flow_action_handle_destroy(card->proxy, place->counter, &error);
	place->counter = NULL;
	rte_spinlock_unlock(&lock);
	weir_offload_places_give(&card->free_places, number - 1);
}

static void
totals(const struct weir_offload *offload, unsigned int output, uint64_t *packets, uint64_t *bytes,
       uint64_t *failed)
{
	struct card_offload *card = of((struct weir_offload *)(uintptr_t)offload);

	/* One by one: the chain's thread is not to wait for all of them. */
	for (uint32_t i = 0; i < card->flows; i++) {
		struct card_place *place = &card->places[i];

		rte_spinlock_lock(&lock);
		if (place->counter != NULL && place->output == output)
			look(card, place);
		rte_spinlock_unlock(&lock);
	}
	rte_spinlock_lock(&lock);
	*packets = card->seen[output].packets;
	*bytes = card->seen[output].bytes;
	rte_spinlock_unlock(&lock);
	*failed = 0; /* what a card loses on its way is in its port's counters */
}

static void
close_card(struct weir_offload *offload)
{
	struct card_offload *card = of(offload);
	struct card_offload **at = &cards;

	for (uint32_t i = 0; card->places != NULL && i < card->flows; i++) {
		if (card->places[i].counter == NULL)
			continue;
		revoke(offload, i + 1);
		free_place(offload, i + 1);
	}
	rte_spinlock_lock(&lock);
	while (*at != NULL && *at != card)
		at = &(*at)->next;
	if (*at != NULL)
		*at = card->next;
	rte_spinlock_unlock(&lock);
	free(card->places);
	weir_offload_places_free(&card->free_places);
	free(card);
}

static const struct weir_offload_kind kind = {.name = "rte_flow",
					      .put = put,
					      .revoke = revoke,
					      .take_counts = take_counts,
					      .free_place = free_place,
					      .totals = totals,
					      .close = close_card};

static int
refuse_driver(uint16_t port, const char *where, struct weir_error *error)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port, &info) != 0)
		info.driver_name = "its driver";
	return weir_fail(error, "bad_argument", where, "ports of a network card with rte_flow",
			 "leave the offload out", "%s takes no rules (rte_flow)", info.driver_name);
}

/* By which port rules are asked for: -1 where there is none, or where its driver has no rte_flow at
 * all. Of a rule it is asked when there is one. */
static int
pick_proxy(const struct weir_card_config *config, uint16_t *proxy, struct weir_error *error)
{
	struct rte_flow_error why = {0};
	struct weir_card_rule rule;
	const struct weir_flow_entry entry = {.key.protocol = IPPROTO_UDP};
	int status = rte_flow_pick_transfer_proxy(config->in, proxy, &why);

	if (status != 0 && status != -ENOSYS)
		return weir_fail(error, "bad_argument", config->where,
				 "a port that may tell the card's switch what to do",
				 "leave the offload out",
				 "no port of its card takes rules for port %u: %s", config->in,
				 why.message != NULL ? why.message : rte_strerror(-status));
	if (status == 0) {
		weir_card_rule_fill(&rule, &entry, 0, config->in, config->out[0], NULL);
		/* Without its counter, which there is none of yet. */
		status =
			rte_flow_validate(*proxy, &rule.attr, rule.pattern, rule.actions + 1, &why);
	}
	return status == -ENOSYS ? refuse_driver(config->in, config->where, error) : 0;
}

static int
refuse_mtu(const struct weir_card_config *config, struct weir_error *error)
{
	uint16_t in, out;

	for (unsigned int i = 0; i < config->out_count; i++) {
		if (rte_eth_dev_get_mtu(config->in, &in) != 0 ||
		    rte_eth_dev_get_mtu(config->out[i], &out) != 0 || out >= in)
			continue;
		return weir_fail(error, "bad_argument", config->where,
				 "ports out with an MTU that is not below that of the port in",
				 NULL, "a rule asks for no length, and %u is less than %u", out,
				 in);
	}
	return 0;
}

struct weir_offload *
weir_card_offload_open(const struct weir_card_config *config, struct weir_error *error)
{
	struct card_offload *card;
	uint16_t proxy;

	if (pick_proxy(config, &proxy, error) < 0 || refuse_mtu(config, error) < 0)
		return NULL;
	card = calloc(1, sizeof(*card));
	if (card != NULL)
		card->places = calloc(config->flows, sizeof(*card->places));
	if (card == NULL || card->places == NULL ||
	    !weir_offload_places_make(&card->free_places, config->flows)) {
		if (card != NULL)
			close_card(&card->offload);
		weir_fail(error, "no_memory", config->where, NULL, NULL, "no memory for %u entries",
			  config->flows);
		return NULL;
	}
	card->offload.kind = &kind;
	card->offload.packets_min = config->packets_min;
	card->in = config->in;
	card->out_count = config->out_count;
	memcpy(card->out, config->out, config->out_count * sizeof(*card->out));
	card->proxy = proxy;
	card->flows = config->flows;
	rte_spinlock_lock(&lock);
	card->next = cards;
	cards = card;
	rte_spinlock_unlock(&lock);
	return &card->offload;
}
