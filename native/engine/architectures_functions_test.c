/* SPDX-License-Identifier: Apache-2.0 */
#include "architectures_fixture_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "packet/fragments.h"
#include "packet/icmp_error.h"

struct gate {
	bool open[FLOWS];
	uint32_t seen[2][FLOWS];
	struct weir_counter counters[FLOWS];
	struct weir_fragments *fragments;
};

enum { CLOSED, SEVENTH };
static const struct weir_drop_reason gate_reasons[] = {{"closed", "Nothing went out before."},
						       {"seventh", "It is a seventh packet."}};

static int
gate_init(void *state, const char *where, struct weir_error *error)
{
	struct gate *gate = state;

	(void)where;
	(void)error;
	gate->fragments = weir_fragments_create(1 << 14, 0, 0);
	return gate->fragments != NULL ? 0 : -1;
}

static void
gate_fini(void *state)
{
	weir_fragments_free(((struct gate *)state)->fragments);
}

static uint32_t
flow_of(struct gate *gate, const struct weir_batch *batch, uint16_t index)
{
	const struct weir_headers *headers = &batch->headers[index];
	const struct rte_mbuf *packet = batch->packet[index];
	struct weir_icmp_error about;
	uint64_t flow;

	if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0)
		return weir_fragments_recall(gate->fragments, packet, headers, batch->now_tsc,
					     &flow)
			       ? (uint32_t)flow
			       : 0;
	if (weir_icmp_error_parse(packet, headers, &about))
		return (ntohs(about.tuple.src_port) - 1001) % FLOWS;
	flow = batch->direction == WEIR_OUTBOUND ? headers->tuple.src_port
						 : headers->tuple.dst_port;
	flow = (ntohs((uint16_t)flow) - 1000) % FLOWS;
	if ((headers->flags & WEIR_HEADER_FRAGMENT) != 0)
		weir_fragments_remember(gate->fragments, packet, headers, batch->now_tsc, flow);
	return (uint32_t)flow;
}

static void
gate_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct gate *gate = state;

	for (uint16_t i = 0; i < batch->count; i++) {
		struct weir_action *action = &actions[i];
		uint32_t flow = flow_of(gate, batch, i);
		uint32_t seen = ++gate->seen[batch->direction][flow];

		action->once = true;
		action->counters[0] = &gate->counters[flow];
		if (batch->direction == WEIR_OUTBOUND)
			gate->open[flow] = true;
		if (!gate->open[flow] || seen % 7 == 0) {
			action->verdict = WEIR_DROP;
			action->drop_reason = gate->open[flow] ? SEVENTH : CLOSED;
			continue;
		}
		action->set = WEIR_SET_MAC;
		action->dst_mac = (struct rte_ether_addr){{2, 0, 0, 0, seen >> 8, seen}};
		action->src_mac = (struct rte_ether_addr){{2, 0, 0, 1, 0, flow}};
	}
}

const struct weir_nf gate_nf = {
	.name = "gate",
	.returns = true,
	.state_size = sizeof(struct gate),
	.drop_reasons = gate_reasons,
	.drop_reason_count = RTE_DIM(gate_reasons),
	.init = gate_init,
	.fini = gate_fini,
	.decide = gate_decide,
};

static const struct weir_drop_reason shift_reasons[] = {{"expired", "Its time to live is over."}};

static void
shift_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	(void)state;
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct weir_action *action = &actions[i];

		if (headers->network != WEIR_NETWORK_IPV4)
			continue;
		if (headers->ttl <= 1) {
			action->verdict = WEIR_DROP;
			action->once = true;
			continue;
		}
		action->ttl_decrement = 1;
		if (batch->direction == WEIR_OUTBOUND) {
			action->set = WEIR_SET_SRC_IP | WEIR_SET_SRC_PORT;
			action->src_ip = htonl(ntohl(headers->tuple.src_ip) + 1);
			action->src_port = htons(ntohs(headers->tuple.src_port) + 1);
		} else {
			action->set = WEIR_SET_DST_IP | WEIR_SET_DST_PORT;
			action->dst_ip = htonl(ntohl(headers->tuple.dst_ip) - 1);
			action->dst_port = htons(ntohs(headers->tuple.dst_port) - 1);
		}
		if (headers->tuple.protocol == IPPROTO_ICMP)
			action->set &= WEIR_SET_SRC_IP | WEIR_SET_DST_IP;
	}
}

static uint32_t
shift_steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
	    enum weir_direction direction)
{
	(void)state;
	(void)packet;
	return direction == WEIR_OUTBOUND ? ntohs(headers->tuple.src_port)
					  : ntohs(headers->tuple.dst_port) - 1;
}

const struct weir_nf shift_nf = {
	.name = "shift",
	.returns = true,
	.drop_reasons = shift_reasons,
	.drop_reason_count = RTE_DIM(shift_reasons),
	.decide = shift_decide,
	.steer = shift_steer,
};
