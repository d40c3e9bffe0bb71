/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions on packets: finds the flow, inspects it, applies its verdict. */
#include <netinet/in.h>
#include <rte_tcp.h>

#include "toolkit/option_rows.h"
#include "dpi.h"

static_assert(DPI_DROP_FLOW_RULE + DPI_KIND_CONTENT == DPI_DROP_CONTENT_RULE &&
		      DPI_DROP_FLOW_RULE + DPI_KIND_APPLICATION == DPI_DROP_APPLICATION_RULE,
	      "kinds of rules and their drop reasons have one order");

static void
note_tcp(struct dpi_flow *flow, uint8_t tcp_flags, enum weir_direction direction)
{
	if ((tcp_flags & RTE_TCP_FIN_FLAG) != 0)
		flow->flags |=
			direction == WEIR_OUTBOUND ? DPI_FLOW_FIN_OUTBOUND : DPI_FLOW_FIN_INBOUND;
	if ((tcp_flags & RTE_TCP_RST_FLAG) != 0)
		flow->flags |= DPI_FLOW_RESET;
}

/* The flow has its verdict: what that means for one packet. */
static inline void
follow(struct dpi *dpi, struct dpi_flow *flow, struct weir_action *action)
{
	action->counters[0] = &dpi->charges.places[flow->charge].counter;
	action->counters[1] = &flow->counter;
	action->invalidation = &flow->invalidation;
	if (unlikely((flow->flags & DPI_FLOW_DROPPED) != 0)) {
		action->verdict = WEIR_DROP;
		action->drop_reason = DPI_DROP_FLOW_RULE + flow->rule_kind;
	}
}

/* The verdict is open: this packet passes, and is charged when it comes. */
static void
pass_open(struct dpi_flow *flow, const struct rte_mbuf *packet, struct weir_action *action)
{
	flow->open.packets++;
	flow->open.bytes += packet->pkt_len;
	action->once = true;
}

/* Whether the packet has anything to inspect. */
static inline bool
has_content(const struct weir_headers *headers)
{
	return (headers->tuple.protocol != IPPROTO_TCP && headers->tuple.protocol != IPPROTO_UDP) ||
	       dpi_payload_bytes(headers) > 0;
}

/* A packet of a flow without a verdict. */
static void
inspect(struct dpi *dpi, const struct weir_batch *batch, uint16_t index, struct dpi_flow *flow,
	struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	uint32_t now = weir_session_time(batch->now_tsc);
	bool known = (flow->flags & DPI_FLOW_RULED) != 0 ||
		     (dpi->rules->content == NULL && !dpi->inspections.recognise);

	flow->active_at = now;
	if (!known && has_content(headers)) {
		if (flow->inspection == DPI_INSPECTION_NONE)
			flow->inspection = dpi_inspection_begin(&dpi->inspections);
		if (flow->inspection == DPI_INSPECTION_NONE) {
			weir_action_drop_once(action, DPI_DROP_INSPECTIONS_FULL);
			return;
		}
		dpi->inspections.places[flow->inspection].active_at = now;
		known = dpi_inspect(&dpi->inspections, flow->inspection, &dpi->matching,
				    batch->packet[index], headers, batch->direction,
				    batch->now_tsc / (dpi->tsc_hz / 1000));
	}
	if (!known)
		pass_open(flow, batch->packet[index], action);
	else if (!dpi_verdict(dpi, flow, now))
		weir_action_drop_once(action, DPI_DROP_CHARGES_FULL);
	else
		follow(dpi, flow, action);
}

static inline bool
has_key(const struct weir_headers *headers)
{
	return headers->network == WEIR_NETWORK_IPV4 &&
	       (headers->flags & (WEIR_HEADER_LATER_FRAGMENT | WEIR_HEADER_L4_CUT)) == 0;
}

/* What is remembered of a first fragment: the number of its flow, or, where that has no verdict,
 * this and why the fragment was dropped. */
#define DROPPED (1UL << 32)

static void
remember(const struct dpi *dpi, const struct weir_batch *batch, uint16_t index, uint64_t number)
{
	weir_fragments_remember(dpi->fragments, batch->packet[index], &batch->headers[index],
				batch->now_tsc, number);
}

/* A later fragment gets the verdict of its first one's flow; its payload is not inspected. */
static void
decide_later_fragment(struct dpi *dpi, const struct weir_batch *batch, uint16_t index,
		      struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];
	struct weir_tuple key = dpi_key_of(headers, batch->direction);
	struct dpi_flow *flow;
	uint64_t number;

	if (!weir_fragments_recall(dpi->fragments, batch->packet[index], headers, batch->now_tsc,
				   &number)) {
		weir_fragment_hold(action, DPI_DROP_FRAGMENTS_FULL);
		return;
	}
	if (number >= DROPPED) {
		weir_action_drop_once(action, (uint8_t)(number - DROPPED));
		return;
	}
	flow = &dpi->flows[number];
	if (flow->key.zero[1] != DPI_KEY_IN_USE || flow->key.src_ip != key.src_ip ||
	    flow->key.dst_ip != key.dst_ip || flow->key.protocol != key.protocol) {
		weir_action_drop_once(
			action, DPI_DROP_FRAGMENT_UNKNOWN); /* the flow has ended in between */
		return;
	}
	if ((flow->flags & DPI_FLOW_DECIDED) != 0)
		follow(dpi, flow, action);
	else
		pass_open(flow, batch->packet[index], action);
	action->once = true;
}

/* Whatever has no flow of its own. */
static void
decide_rare(struct dpi *dpi, const struct weir_batch *batch, uint16_t index,
	    struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];

	switch (headers->network) {
	case WEIR_NETWORK_MALFORMED:
		weir_action_drop_once(action, DPI_DROP_MALFORMED);
		return;
	case WEIR_NETWORK_IPV6:
		if (dpi->ipv6 == WEIR_UNKNOWN_IPV6_DROP)
			weir_action_drop_once(action, DPI_DROP_IPV6);
		return;
	case WEIR_NETWORK_IPV4:
		if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0)
			decide_later_fragment(dpi, batch, index, action);
		else
			weir_action_drop_once(action, DPI_DROP_MALFORMED);
		return;
	default: /* ARP and the like: subscribers need it */
		return;
	}
}

/* The flows of a batch, all looked up together, and the L3/L4 rules of those that are not there. */
struct look_up {
	unsigned int count;
	unsigned int new_count;
	uint16_t place[WEIR_BURST]; /* in the batch */
	struct weir_tuple keys[WEIR_BURST];
	uint32_t found[WEIR_BURST];
	uint32_t rules[WEIR_BURST]; /* of those not found */
};

static inline void
look_up(const struct dpi *dpi, const struct weir_batch *batch, struct look_up *look_up)
{
	const void *keys[WEIR_BURST];
	struct weir_tuple tuples[WEIR_BURST];

	look_up->count = 0;
	look_up->new_count = 0;
	for (uint16_t i = 0; i < batch->count; i++) {
		if (!has_key(&batch->headers[i]))
			continue;
		look_up->keys[look_up->count] = dpi_key_of(&batch->headers[i], batch->direction);
		keys[look_up->count] = &look_up->keys[look_up->count];
		look_up->place[look_up->count++] = i;
	}
	weir_flow_table_find(dpi->index, keys, look_up->found, look_up->count);
	for (unsigned int i = 0; i < look_up->count; i++) {
		if (look_up->found[i] == WEIR_FLOW_NONE)
			tuples[look_up->new_count++] = look_up->keys[i];
	}
	if (look_up->new_count > 0)
		dpi_rules_classify(dpi->rules, tuples, look_up->rules, look_up->new_count);
}

static uint32_t
classify_one(const struct dpi *dpi, const struct weir_tuple *key)
{
	uint32_t rule;

	dpi_rules_classify(dpi->rules, key, &rule, 1);
	return rule;
}

/* The flow for this packet: a new one if the packet begins another connection, reviewed if rules
 * have changed. */
static struct dpi_flow *
flow_of(struct dpi *dpi, const struct weir_batch *batch, uint16_t index,
	const struct weir_tuple *key, struct dpi_flow *flow, const uint32_t *rule)
{
	const struct weir_headers *headers = &batch->headers[index];
	const uint8_t opens = headers->tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG);
	uint32_t now = weir_session_time(batch->now_tsc);

	if (flow != NULL && opens == RTE_TCP_SYN_FLAG && dpi_flow_is_closed(flow)) {
		dpi_flow_end(dpi, flow, batch->cache);
		flow = NULL;
	}
	if (flow == NULL)
		return dpi_flow_begin(dpi, key, rule != NULL ? *rule : classify_one(dpi, key), now);
	if ((flow->flags & DPI_FLOW_DECIDED) == 0 && flow->epoch != dpi->matching.epoch)
		dpi_verdict_review(dpi, flow, classify_one(dpi, key), now, batch->cache);
	return flow;
}

/* A packet with its key. `flow`: what was found under it before the batch. */
static void
decide_one(struct dpi *dpi, const struct weir_batch *batch, uint16_t index,
	   const struct weir_tuple *key, struct dpi_flow *flow, const uint32_t *rule,
	   struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[index];

	/* A packet before it in this batch may have begun the flow, or ended it. */
	if (unlikely(flow == NULL || memcmp(&flow->key, key, sizeof(*key)) != 0))
		flow = dpi_flow_find(dpi, key);
	flow = flow_of(dpi, batch, index, key, flow, rule);
	if (unlikely(flow == NULL)) {
		weir_action_drop_once(action, DPI_DROP_FLOWS_FULL);
		if ((headers->flags & WEIR_HEADER_FRAGMENT) != 0)
			remember(dpi, batch, index, DROPPED + DPI_DROP_FLOWS_FULL);
		return;
	}
	if (likely((flow->flags & DPI_FLOW_DECIDED) != 0))
		follow(dpi, flow, action);
	else
		inspect(dpi, batch, index, flow, action);
	if (unlikely((headers->tcp_flags & WEIR_TCP_EVENTS) != 0)) {
		note_tcp(flow, headers->tcp_flags, batch->direction);
		action->once = true;
	}
	if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0)) {
		bool decided = (flow->flags & DPI_FLOW_DECIDED) != 0;

		remember(dpi, batch, index,
			 decided || action->verdict == WEIR_FORWARD
				 ? (uint64_t)(flow - dpi->flows)
				 : DROPPED + action->drop_reason);
		action->once = true;
	}
}

void
dpi_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct dpi *dpi = state;
	struct look_up known;
	unsigned int next = 0, next_new = 0;

	look_up(dpi, batch, &known);
	for (uint16_t i = 0; i < batch->count; i++) {
		struct dpi_flow *flow = NULL;
		const uint32_t *rule = NULL;

		if (unlikely(next == known.count || known.place[next] != i)) {
			decide_rare(dpi, batch, i, &actions[i]);
			continue;
		}
		if (likely(known.found[next] != WEIR_FLOW_NONE))
			flow = &dpi->flows[known.found[next]];
		else
			rule = &known.rules[next_new++];
		decide_one(dpi, batch, i, &known.keys[next++], flow, rule, &actions[i]);
	}
}
