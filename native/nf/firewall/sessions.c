/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: their slots, their TCP states, and their end. */
#include "firewall.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

/* Sessions looked at in one tick, at least; all of them are within so many ticks (4 s). */
#define SWEEP_MIN 64
#define SWEEP_TICKS 4096

int
firewall_sessions_init(struct firewall *firewall)
{
	firewall->sessions =
		rte_zmalloc("firewall sessions", firewall->session_count * sizeof(struct session),
			    RTE_CACHE_LINE_SIZE);
	firewall->free_slots =
		rte_malloc("firewall slots", firewall->session_count * sizeof(uint32_t), 0);
	if (firewall->sessions == NULL || firewall->free_slots == NULL)
		return -1;
	firewall->table = weir_flow_table_create(
		firewall->session_count, &firewall->sessions[0].key, sizeof(struct session));
	return firewall->table != NULL ? 0 : -1;
}

void
firewall_sessions_fini(struct firewall *firewall)
{
	weir_flow_table_free(firewall->table);
	rte_free(firewall->free_slots);
	rte_free(firewall->sessions);
}

static uint32_t
take_slot(struct firewall *firewall)
{
	if (firewall->free_count > 0)
		return firewall->free_slots[--firewall->free_count];
	if (firewall->session_high < firewall->session_count)
		return firewall->session_high++;
	return WEIR_FLOW_NONE;
}

static void
give_slot(struct firewall *firewall, uint32_t slot)
{
	firewall->sessions[slot].flags = 0;
	firewall->free_slots[firewall->free_count++] = slot;
}

void
firewall_sessions_prefetch(const struct firewall *firewall, unsigned int count)
{
	count = RTE_MIN(count, firewall->free_count);
	for (unsigned int i = 1; i <= count; i++)
		rte_prefetch0(&firewall->sessions[firewall->free_slots[firewall->free_count - i]]);
}

struct session *
firewall_session_begin(struct firewall *firewall, const struct weir_tuple *key, bool reversed,
		       uint32_t now)
{
	uint32_t slot = take_slot(firewall);
	struct session *session;

	if (slot == WEIR_FLOW_NONE)
		return NULL;
	session = &firewall->sessions[slot];
	*session = (struct session){
		.key = *key,
		.active_at = now,
		.generation = firewall->generation,
		.flags = SESSION_USED | (reversed ? SESSION_REVERSED : 0),
	};
	if (!weir_flow_table_put(firewall->table, slot)) {
		give_slot(firewall, slot);
		return NULL;
	}
	weir_count(&firewall->sessions_used, 1);
	return session;
}

void
firewall_session_end(struct firewall *firewall, struct session *session,
		     struct weir_flow_cache *cache)
{
	uint32_t slot = (uint32_t)(session - firewall->sessions);

	weir_flow_cache_forget(cache, &session->invalidation);
	weir_flow_table_take(firewall->table, slot);
	firewall_let_addresses_go(firewall, &session->key);
	give_slot(firewall, slot);
	weir_count(&firewall->sessions_used, -1);
}

struct session *
firewall_session_find(const struct firewall *firewall, const struct weir_tuple *key)
{
	const void *keys[1] = {key};
	uint32_t number;

	weir_flow_table_find(firewall->table, keys, &number, 1);
	return number != WEIR_FLOW_NONE ? &firewall->sessions[number] : NULL;
}

struct weir_tuple
firewall_session_tuple(const struct session *session)
{
	struct weir_tuple tuple = session->key;

	if ((session->flags & SESSION_REVERSED) != 0) {
		tuple.src_ip = session->key.dst_ip;
		tuple.dst_ip = session->key.src_ip;
		tuple.src_port = session->key.dst_port;
		tuple.dst_port = session->key.src_port;
	}
	if (session->key.zero[0] == SESSION_KEY_IPV6)
		tuple.src_ip = tuple.dst_ip = 0;
	tuple = weir_classifier_flow_tuple(&tuple);
	if (firewall_is_icmp(&session->key)) {
		tuple.src_port = 0;
		tuple.dst_port =
			rte_cpu_to_be_16(tuple.protocol == IPPROTO_ICMP ? RTE_IP_ICMP_ECHO_REQUEST
									: WEIR_ICMPV6_ECHO_REQUEST);
	}
	return tuple;
}

bool
firewall_session_permitted(const struct firewall *firewall, const struct session *session,
			   const struct weir_rule_set *rules)
{
	bool permits;

	if (session->key.zero[0] == SESSION_KEY_IPV6) {
		const struct weir_ipv6_tuple tuple = firewall_session_ipv6_tuple(firewall, session);

		permits = weir_rule_set_permits_ipv6(rules, &tuple);
	} else {
		const struct weir_tuple tuple = firewall_session_tuple(session);

		weir_rule_set_permits(rules, &tuple, &permits, 1);
	}
	return permits;
}

bool
firewall_session_holds(struct firewall *firewall, struct session *session,
		       struct weir_flow_cache *cache)
{
	bool permits;

	if (session->generation == firewall->generation)
		return true;
	permits = !firewall_is_flushed(firewall, session) &&
		  firewall_session_permitted(firewall, session, firewall->rules);
	if (permits)
		session->generation = firewall->generation;
	else
		firewall_session_end(firewall, session, cache);
	return permits;
}

void
firewall_session_follow_tcp(struct session *session, bool from_beginner, uint8_t tcp_flags,
			    uint32_t now)
{
	if ((session->flags & SESSION_CLOSED) == SESSION_CLOSED)
		return;
	if ((tcp_flags & RTE_TCP_RST_FLAG) != 0) {
		session->flags |= SESSION_RESET;
		/* This segment is counted after it is decided on, and is no sign of life. */
		session->seen_packets = (uint32_t)session->counter.packets + 1;
		session->active_at = now;
		return;
	}
	if ((tcp_flags & RTE_TCP_SYN_FLAG) != 0 && !from_beginner)
		session->flags |= SESSION_ESTABLISHED;
	if ((tcp_flags & RTE_TCP_FIN_FLAG) != 0) {
		session->flags |= from_beginner ? SESSION_FIN_BEGINNER : SESSION_FIN_ANSWERER;
		session->active_at = now;
	}
}

static uint32_t
timeout_of(const struct firewall *firewall, const struct session *session)
{
	switch (session->key.protocol) {
	case IPPROTO_TCP:
		return (session->flags & (SESSION_ESTABLISHED | SESSION_CLOSED | SESSION_RESET)) ==
				       SESSION_ESTABLISHED
			       ? firewall->timeouts.tcp_established
			       : firewall->timeouts.tcp_transitory;
	case IPPROTO_UDP:
		return firewall->timeouts.udp;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return firewall->timeouts.icmp;
	default:
		return firewall->other_timeout;
	}
}

/* What the fast path counted since the last check is noticed now. */
static bool
is_over(const struct firewall *firewall, struct session *session, uint32_t now)
{
	uint32_t packets = (uint32_t)session->counter.packets;
	bool closed = (session->flags & SESSION_CLOSED) == SESSION_CLOSED;

	if (firewall_is_flushed(firewall, session))
		return true;
	/* A connection that both sides closed lives for its last segments, not for all that may
	 * still come. */
	if (packets != session->seen_packets && !closed) {
		session->seen_packets = packets;
		session->active_at = now;
		/* Segments after a RST: it was not of this connection (RFC 7857, section 2.2). */
		session->flags &= ~(uint32_t)SESSION_RESET;
		return false;
	}
	return now - session->active_at > timeout_of(firewall, session);
}

/* Sessions that older rules permitted, to be classified together. */
struct stale {
	unsigned int count;
	struct session *sessions[WEIR_CLASSIFIER_BULK];
};

static void
judge(struct firewall *firewall, struct stale *stale, struct weir_flow_cache *cache)
{
	struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
	bool permits[WEIR_CLASSIFIER_BULK];

	if (stale->count == 0)
		return;
	for (unsigned int i = 0; i < stale->count; i++)
		tuples[i] = firewall_session_tuple(stale->sessions[i]);
	weir_rule_set_permits(firewall->rules, tuples, permits, stale->count);
	for (unsigned int i = 0; i < stale->count; i++) {
		if (permits[i])
			stale->sessions[i]->generation = firewall->generation;
		else
			firewall_session_end(firewall, stale->sessions[i], cache);
	}
	stale->count = 0;
}

void
firewall_tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	struct firewall *firewall = state;
	uint32_t now = weir_session_time(now_tsc);
	uint32_t left = RTE_MAX(SWEEP_MIN, firewall->session_count / SWEEP_TICKS);
	struct stale stale = {0};

	left = RTE_MIN(left, firewall->session_high);
	while (left-- > 0) {
		struct session *session = &firewall->sessions[firewall->sweep];

		if (++firewall->sweep >= firewall->session_high)
			firewall->sweep = 0;
		if ((session->flags & SESSION_USED) == 0)
			continue;
		if (is_over(firewall, session, now)) {
			firewall_session_end(firewall, session, cache);
		} else if (session->key.zero[0] == SESSION_KEY_IPV6) {
			firewall_session_holds(firewall, session, cache);
		} else if (session->generation != firewall->generation) {
			stale.sessions[stale.count++] = session;
			if (stale.count == WEIR_CLASSIFIER_BULK)
				judge(firewall, &stale, cache);
		}
	}
	judge(firewall, &stale, cache);
}

bool
firewall_is_refused(const struct weir_tuple *tuple, enum weir_direction direction, void *judging)
{
	const struct firewall_judging *judged = judging;
	struct weir_tuple key, asked;
	const struct session *session;
	bool permits, may_refuse;

	(void)direction;
	firewall_key(tuple, false, &key); /* neither ICMP nor IPv6 is in a fast path */
	session = firewall_session_find(judged->firewall, &key);
	asked = session != NULL ? firewall_session_tuple(session)
				: weir_classifier_flow_tuple(tuple);
	if (judged->change != NULL &&
	    !(weir_rule_change_concerns(judged->change, &asked, &may_refuse) && may_refuse))
		return false;
	weir_rule_set_permits(judged->rules, &asked, &permits, 1);
	return !permits;
}
