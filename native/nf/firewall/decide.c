/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides on a batch in passes, so that the memory's latencies overlap: all keys, all sessions, all
 * rules that are needed. Then packet by packet, in their order, since one may begin or end the
 * session of the next. Those of IPv6 are asked about there, one by one.
 */
#include "firewall.h"

#include <string.h>

struct passing {
	struct firewall *firewall;
	const struct weir_batch *batch;
	uint32_t now;
	bool changed; /* perhaps a session began or ended: what was found before may not hold */
	struct weir_tuple keys[WEIR_BURST];
	bool reversed[WEIR_BURST]; /* the packet against its key */
	uint32_t numbers[WEIR_BURST];
	/* Rules are asked for the packet, or for its session, which older rules permitted. */
	bool is_asked[WEIR_BURST];
	bool permits[WEIR_BURST];
};

static inline bool
same_key(const struct weir_tuple *left, const struct weir_tuple *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

static inline bool
key_of(const struct rte_mbuf *packet, const struct weir_headers *headers,
       const struct weir_tuple *tuple, struct weir_tuple *key)
{
	const uint8_t *l4 = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l4_offset);

	return firewall_key(tuple, firewall_is_echo_reply(tuple, l4), key);
}

static inline bool
is_first_tcp(const struct firewall *firewall, uint8_t tcp_flags)
{
	if (!firewall->syn_first)
		return (tcp_flags & RTE_TCP_RST_FLAG) == 0;
	return (tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG |
			     RTE_TCP_FIN_FLAG)) == RTE_TCP_SYN_FLAG;
}

/* Whether a session may begin with this packet, if rules permit it. */
static inline bool
may_begin(const struct passing *passing, uint16_t i)
{
	const struct weir_headers *headers = &passing->batch->headers[i];

	if (headers->tuple.protocol == IPPROTO_TCP)
		return is_first_tcp(passing->firewall, headers->tcp_flags);
	if (firewall_packet_is_icmp(headers)) {
		const uint8_t type = *rte_pktmbuf_mtod_offset(passing->batch->packet[i],
							      const uint8_t *, headers->l4_offset);

		return type == RTE_IP_ICMP_ECHO_REQUEST || type == WEIR_ICMPV6_ECHO_REQUEST;
	}
	return true;
}

static inline struct session *
found(const struct passing *passing, uint16_t i)
{
	uint32_t number = passing->numbers[i];

	return number != WEIR_FLOW_NONE ? &passing->firewall->sessions[number] : NULL;
}

/* Asks the rules for all packets without a session and for all sessions that older rules
 * permitted. */
static void
ask_rules(struct passing *passing, const uint16_t *packets, unsigned int count)
{
	struct weir_tuple tuples[WEIR_BURST];
	bool permits[WEIR_BURST];
	uint16_t asked[WEIR_BURST];
	unsigned int asked_count = 0;

	for (unsigned int n = 0; n < count; n++) {
		uint16_t i = packets[n];
		const struct session *session = found(passing, i);

		passing->is_asked[i] = false;
		if (session == NULL && may_begin(passing, i))
			tuples[asked_count] = weir_classifier_packet_tuple(
				passing->batch->packet[i], &passing->batch->headers[i]);
		else if (session != NULL && session->generation != passing->firewall->generation)
			tuples[asked_count] = firewall_session_tuple(session);
		else
			continue;
		asked[asked_count++] = i;
	}
	if (asked_count == 0)
		return;
	firewall_sessions_prefetch(passing->firewall, asked_count);
	weir_rule_set_permits(passing->firewall->rules, tuples, permits, asked_count);
	for (unsigned int n = 0; n < asked_count; n++) {
		passing->is_asked[asked[n]] = true;
		passing->permits[asked[n]] = permits[n];
	}
}

static void
end(struct passing *passing, struct session *session, uint16_t i)
{
	firewall_session_end(passing->firewall, session, passing->batch->cache);
	passing->changed = true;
	passing->is_asked[i] = false; /* what was asked was about the session */
}

/* The packet's session as it is now; one that rules refuse since they were changed ends here, and
 * one that is over where a new connection begins. */
static struct session *
current_session(struct passing *passing, uint16_t i)
{
	const struct weir_headers *headers = &passing->batch->headers[i];
	struct session *session = found(passing, i);

	if (unlikely(passing->changed) &&
	    (session == NULL || (session->flags & SESSION_USED) == 0 ||
	     !same_key(&session->key, &passing->keys[i]))) {
		if (session != NULL)
			passing->is_asked[i] = false; /* that was about the session */
		session = firewall_session_find(passing->firewall, &passing->keys[i]);
	}
	if (session == NULL)
		return NULL;
	if (unlikely(session->generation != passing->firewall->generation)) {
		if (!passing->permits[i] || firewall_is_flushed(passing->firewall, session)) {
			end(passing, session, i);
			return NULL;
		}
		session->generation = passing->firewall->generation;
	}
	if (unlikely((headers->tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG)) ==
		     RTE_TCP_SYN_FLAG) &&
	    ((session->flags & SESSION_CLOSED) == SESSION_CLOSED ||
	     (session->flags & SESSION_RESET) != 0)) {
		end(passing, session, i);
		return NULL;
	}
	return session;
}

/* Later fragments are dropped for the same reason, whatever rules without ports say. */
static void
refuse(struct passing *passing, uint16_t i, enum firewall_drop reason, struct weir_action *action)
{
	const struct weir_headers *headers = &passing->batch->headers[i];

	weir_action_drop_once(action, reason);
	if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0))
		weir_fragments_remember(passing->firewall->fragments, passing->batch->packet[i],
					headers, passing->batch->now_tsc,
					firewall_fragment_dropped(reason));
}

/* NULL: no room. The key of IPv6 was not known before there was a session of these addresses. */
static struct session *
begin_permitted(struct passing *passing, uint16_t i)
{
	struct firewall *firewall = passing->firewall;
	const struct rte_mbuf *packet = passing->batch->packet[i];
	const struct weir_headers *headers = &passing->batch->headers[i];
	struct session *session;
	struct weir_tuple tuple;

	if (unlikely(headers->network == WEIR_NETWORK_IPV6)) {
		if (!firewall_hold_addresses(firewall, packet, headers, &tuple))
			return NULL;
		passing->reversed[i] = key_of(packet, headers, &tuple, &passing->keys[i]);
	}
	session = firewall_session_begin(firewall, &passing->keys[i], passing->reversed[i],
					 passing->now);
	if (session == NULL)
		firewall_let_addresses_go(firewall, &passing->keys[i]);
	return session;
}

/* Begins a session, or drops. */
static struct session *
begin(struct passing *passing, uint16_t i, struct weir_action *action)
{
	struct firewall *firewall = passing->firewall;
	const struct weir_headers *headers = &passing->batch->headers[i];
	struct session *session;

	if (!may_begin(passing, i)) {
		refuse(passing, i, FIREWALL_DROP_NO_SESSION, action);
		return NULL;
	}
	if (unlikely(!passing->is_asked[i]))
		passing->permits[i] =
			firewall_permits(firewall, passing->batch->packet[i], headers);
	if (!passing->permits[i]) {
		refuse(passing, i, FIREWALL_DROP_DENIED, action);
		return NULL;
	}
	session = begin_permitted(passing, i);
	if (session == NULL) {
		refuse(passing, i, FIREWALL_DROP_TABLE_FULL, action);
		return NULL;
	}
	passing->changed = true;
	/* Taken up in its middle: there will be no SYN that says so. */
	if (headers->tuple.protocol == IPPROTO_TCP && (headers->tcp_flags & RTE_TCP_SYN_FLAG) == 0)
		session->flags |= SESSION_ESTABLISHED;
	return session;
}

static inline void
follow(struct passing *passing, uint16_t i, struct session *session, struct weir_action *action)
{
	const struct weir_headers *headers = &passing->batch->headers[i];

	action->counters[0] = &session->counter;
	action->invalidation = &session->invalidation;
	/* The fast path does not tell requests from replies, and has no IPv6. */
	if (unlikely(headers->tuple.protocol == IPPROTO_ICMP ||
		     headers->network == WEIR_NETWORK_IPV6))
		action->once = true;
	if (unlikely((headers->tcp_flags & WEIR_TCP_EVENTS) != 0)) {
		bool from_beginner =
			passing->reversed[i] == ((session->flags & SESSION_REVERSED) != 0);

		/* A RST looks at how many went before it. */
		weir_flow_cache_flush_for(passing->batch->cache, &session->invalidation);
		firewall_session_follow_tcp(session, from_beginner, headers->tcp_flags,
					    passing->now);
		action->once = true;
	}
	if (unlikely((headers->flags & WEIR_HEADER_FRAGMENT) != 0)) {
		weir_fragments_remember(passing->firewall->fragments, passing->batch->packet[i],
					headers, passing->batch->now_tsc,
					(uint32_t)(session - passing->firewall->sessions));
		action->once = true;
	}
}

/* What the passes find out of IPv4 before the first packet is decided on. */
static void
look_up_ipv6(struct passing *passing, uint16_t i)
{
	struct firewall *firewall = passing->firewall;
	const struct rte_mbuf *packet = passing->batch->packet[i];
	const struct weir_headers *headers = &passing->batch->headers[i];
	const struct weir_tuple tuple = firewall_tuple(firewall, packet, headers);
	const struct session *session;

	passing->reversed[i] = key_of(packet, headers, &tuple, &passing->keys[i]);
	session = firewall_session_find(firewall, &passing->keys[i]);
	passing->numbers[i] =
		session != NULL ? (uint32_t)(session - firewall->sessions) : WEIR_FLOW_NONE;
	passing->is_asked[i] = session != NULL && session->generation != firewall->generation;
	if (passing->is_asked[i])
		passing->permits[i] =
			firewall_session_permitted(firewall, session, firewall->rules);
}

void
firewall_decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct passing passing;
	const void *keys[WEIR_BURST];
	uint32_t numbers[WEIR_BURST];
	uint16_t packets[WEIR_BURST];
	bool is_rare[WEIR_BURST];
	unsigned int count = 0;

	passing.firewall = state;
	passing.batch = batch;
	passing.now = weir_session_time(batch->now_tsc);
	passing.changed = false;
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];

		is_rare[i] = firewall_is_rare(passing.firewall, batch->packet[i], headers);
		if (unlikely(is_rare[i] || headers->network == WEIR_NETWORK_IPV6))
			continue;
		passing.reversed[i] =
			key_of(batch->packet[i], headers, &headers->tuple, &passing.keys[i]);
		keys[count] = &passing.keys[i];
		packets[count++] = i;
	}
	if (likely(count > 0))
		weir_flow_table_find(passing.firewall->table, keys, numbers, count);
	for (unsigned int n = 0; n < count; n++)
		passing.numbers[packets[n]] = numbers[n];
	ask_rules(&passing, packets, count);
	for (uint16_t i = 0; i < batch->count; i++) {
		struct session *session;

		if (unlikely(is_rare[i])) {
			firewall_decide_rare(passing.firewall, batch, i, &actions[i]);
			passing.changed = true;
			continue;
		}
		if (unlikely(batch->headers[i].network == WEIR_NETWORK_IPV6))
			look_up_ipv6(&passing, i);
		session = current_session(&passing, i);
		if (unlikely(session == NULL))
			session = begin(&passing, i, &actions[i]);
		if (likely(session != NULL))
			follow(&passing, i, session, &actions[i]);
	}
}
