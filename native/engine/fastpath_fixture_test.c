/* SPDX-License-Identifier: Apache-2.0 */
#include "fastpath_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_tcp.h>

#include "testing/packet.h"

/* --- three functions -----------------------------------------------------------------------------
 */

enum { REFUSED };
static const struct weir_drop_reason mapper_reasons[] = {{"refused", "The session is refused."}};

static void
map(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct mapper *mapper = state;

	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];
		struct session *session =
			&mapper->sessions[ntohs(headers->tuple.src_port) % SESSIONS];

		actions[i].counters[0] = &session->counter;
		actions[i].invalidation = &session->invalidation;
		if (session->refused) {
			actions[i].verdict = WEIR_DROP;
			actions[i].drop_reason = REFUSED;
			continue;
		}
		/* RST changes the session's port, as if it were another one from then on. */
		if ((headers->tcp_flags & RTE_TCP_RST_FLAG) != 0) {
			weir_flow_cache_forget(batch->cache, &session->invalidation);
			session->src_port++;
			actions[i].once = true;
		}
		actions[i].set = WEIR_SET_SRC_IP | WEIR_SET_SRC_PORT;
		actions[i].src_ip = session->src_ip;
		actions[i].src_port = session->src_port;
	}
}

/* Refuses destination ports; counts what it lets through twice: by port and in all. */
struct rules {
	bool denied[SESSIONS];
	struct weir_counter ports[SESSIONS];
	struct weir_counter all;
};

static const struct weir_drop_reason rules_reasons[] = {{"denied", "A rule denies it."}};

static void
judge(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct rules *rules = state;

	for (uint16_t i = 0; i < batch->count; i++) {
		unsigned int port = ntohs(batch->headers[i].tuple.dst_port) % SESSIONS;

		actions[i].counters[0] = &rules->ports[port];
		actions[i].counters[1] = &rules->all;
		if (rules->denied[port])
			actions[i].verdict = WEIR_DROP;
	}
}

/* Drops every third packet of a flow that it meters; one less to live, and a next hop. */
struct hop {
	struct weir_effect effect;
	uint64_t packets;
};

enum { EXPIRED, METERED };
static const struct weir_drop_reason hop_reasons[] = {{"expired", "Its time to live is over."},
						      {"metered", "The meter says no."}};

static bool
meter(struct weir_effect *effect, const struct rte_mbuf *packet, uint64_t now_tsc)
{
	(void)packet;
	(void)now_tsc;
	return ++((struct hop *)effect)->packets % 3 != 0;
}

static void
forward(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct hop *hop = state;

	hop->effect = (struct weir_effect){.run = meter, .drop_reason = METERED};
	for (uint16_t i = 0; i < batch->count; i++) {
		if (batch->headers[i].ttl <= 1) {
			actions[i].verdict = WEIR_DROP;
			actions[i].drop_reason = EXPIRED;
			actions[i].once = true;
			continue;
		}
		actions[i].ttl_decrement = 1;
		actions[i].set = WEIR_SET_MAC;
		memset(&actions[i].dst_mac, 0x22, 6);
		memset(&actions[i].src_mac, 0x33, 6);
		actions[i].egress = batch->headers[i].tuple.dst_ip >> 24 & 1;
		actions[i].has_egress = true;
		if (batch->headers[i].tuple.dst_port == htons(3))
			actions[i].effect = &hop->effect;
	}
}

static const struct weir_nf functions[] = {
	{.name = "mapper",
	 .state_size = sizeof(struct mapper),
	 .drop_reasons = mapper_reasons,
	 .drop_reason_count = 1,
	 .decide = map},
	{.name = "rules",
	 .state_size = sizeof(struct rules),
	 .drop_reasons = rules_reasons,
	 .drop_reason_count = 1,
	 .decide = judge},
	{.name = "hop",
	 .state_size = sizeof(struct hop),
	 .drop_reasons = hop_reasons,
	 .drop_reason_count = 2,
	 .decide = forward},
};

struct weir_chain *
weir_fastpath_chain(uint32_t flows)
{
	struct weir_chain *chain = weir_chain_create("test", 0, true);
	struct weir_error error;

	assert_non_null(chain);
	chain->path_count = 1;
	chain->paths[0].stage_count = RTE_DIM(functions);
	for (unsigned int i = 0; i < RTE_DIM(functions); i++) {
		struct weir_stage *stage = &chain->paths[0].stages[i];

		stage->nf = &functions[i];
		stage->state = weir_nf_create(stage->nf, NULL, 0, "test", &error);
		assert_non_null(stage->state);
	}
	assert_int_equal(weir_chain_complete(chain, flows, &error), 0);
	return chain;
}

static void *
state_of(struct weir_chain *chain, unsigned int stage)
{
	return chain->paths[0].stages[stage].state;
}

/* --- packets and changes -------------------------------------------------------------------------
 */

struct rte_mbuf *
weir_fastpath_packet(unsigned int event_every)
{
	struct weir_test_ipv4 what = {
		.protocol = rand() % 3 == 0 ? IPPROTO_TCP : IPPROTO_UDP,
		.src_port = 1 + rand() % 40,
		.dst_port = 1 + rand() % 5,
		.src = rand() % 2 == 0 ? "10.0.0.1" : "10.0.0.2",
		.dst = rand() % 2 == 0 ? "198.51.100.1" : "198.51.100.2",
		.ttl = rand() % 8 == 0 ? 1 + rand() % 2 : 64,
		.payload = "payload",
		.payload_bytes = rand() % 8,
		.tagged = rand() % 16 == 0,
		.no_udp_checksum = rand() % 16 == 0,
		.more_fragments = rand() % 32 == 0,
		.fragment_offset_bytes = rand() % 32 == 0 ? 8 : 0,
		.option_bytes = rand() % 32 == 0 ? 4 : 0,
	};

	if (rand() % event_every == 0)
		what.tcp_flags = rand() % 2 == 0 ? RTE_TCP_RST_FLAG : RTE_TCP_SYN_FLAG;
	if (rand() % 32 == 0)
		what.protocol = IPPROTO_ICMP;
	return weir_test_ipv4_packet(&what);
}

static bool
has_port(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	(void)direction;
	return ntohs(tuple->dst_port) % SESSIONS == *(unsigned int *)argument;
}

static void
change(struct weir_chain *chain, unsigned int kind, unsigned int which)
{
	struct mapper *mapper = state_of(chain, 0);
	struct rules *rules = state_of(chain, 1);
	struct session *session = &mapper->sessions[which];

	switch (kind) {
	case 0:
		weir_flow_cache_forget(chain->flows, &session->invalidation);
		session->src_ip = htonl(0xc0000200 + rand() % 4);
		session->src_port = htons(5000 + rand() % 4);
		break;
	case 1:
		weir_flow_cache_forget(chain->flows, &session->invalidation);
		session->refused = !session->refused;
		break;
	default:
		rules->denied[which] = !rules->denied[which];
		weir_flow_cache_forget_if(chain->flows, rules, has_port, &which);
		break;
	}
}

void
weir_fastpath_change(struct weir_chain *const chains[2])
{
	unsigned int kind = rand() % 3, which = rand() % SESSIONS, seed = rand();

	for (unsigned int i = 0; i < 2; i++) {
		srand(seed);
		change(chains[i], kind, which);
	}
}

void
weir_fastpath_assert_same_counts(struct weir_chain *const chains[2])
{
	weir_flow_cache_flush(chains[1]->flows);
	for (unsigned int i = 0; i < RTE_DIM(functions); i++) {
		for (unsigned int j = 0; j < functions[i].drop_reason_count; j++)
			assert_int_equal(chains[0]->paths[0].stages[i].ledger.drops[j],
					 chains[1]->paths[0].stages[i].ledger.drops[j]);
	}
	const struct rules *plain = state_of(chains[0], 1), *fast = state_of(chains[1], 1);

	assert_memory_equal(plain->ports, fast->ports, sizeof(plain->ports));
	assert_memory_equal(&plain->all, &fast->all, sizeof(plain->all));
	for (unsigned int i = 0; i < SESSIONS; i++) {
		const struct mapper *mapped = state_of(chains[0], 0),
				    *cached = state_of(chains[1], 0);

		assert_memory_equal(&mapped->sessions[i].counter, &cached->sessions[i].counter,
				    sizeof(struct weir_counter));
	}
}
