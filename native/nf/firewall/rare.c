/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that begin no session: later fragments, ICMP that is not echo, and what is no IPv4. */
#include "firewall.h"

#include "packet/icmp_error.h"
#include "toolkit/option_rows.h"

/* By the rules alone: no session is begun. */
static void
decide_by_rules(const struct firewall *firewall, const struct weir_headers *headers,
		struct weir_action *action)
{
	const struct weir_tuple tuple = weir_classifier_tuple(headers);
	bool permits;

	weir_rule_set_permits(firewall->rules, &tuple, &permits, 1);
	if (!permits)
		weir_action_drop_once(action, FIREWALL_DROP_DENIED);
}

static inline bool
is_between(const struct session *session, const struct weir_tuple *tuple)
{
	return session->key.protocol == tuple->protocol &&
	       ((session->key.src_ip == tuple->src_ip && session->key.dst_ip == tuple->dst_ip) ||
		(session->key.src_ip == tuple->dst_ip && session->key.dst_ip == tuple->src_ip));
}

/* As the first fragment, with its session while that lasts. */
static void
decide_on_fragment(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
		   struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	struct session *session;
	uint64_t number;

	if (!weir_fragments_recall(firewall->fragments, batch->packet[i], headers, batch->now_tsc,
				   &number)) {
		decide_by_rules(firewall, headers, action);
		return;
	}
	if (number >= firewall->session_count) {
		weir_action_drop_once(action, firewall_fragment_dropped((uint32_t)number));
		return;
	}
	session = &firewall->sessions[number];
	if ((session->flags & SESSION_USED) == 0 || !is_between(session, &headers->tuple) ||
	    !firewall_session_holds(firewall, session, batch->cache))
		weir_action_drop_once(action, FIREWALL_DROP_NO_SESSION);
	else
		action->counters[0] = &session->counter;
}

/* An error about a packet of a session, sent to who sent that packet, passes as its answers do (RFC
 * 5927 says what it can be abused for); it does not keep the session alive. */
static void
decide_on_icmp(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
	       struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	struct session *session = NULL;
	struct weir_icmp_error about;
	struct weir_tuple key;

	if (weir_icmp_error_parse(batch->packet[i], headers, &about) &&
	    about.tuple.src_ip == headers->tuple.dst_ip) {
		const uint8_t *l4 =
			rte_pktmbuf_mtod_offset(batch->packet[i], const uint8_t *, about.l4_offset);

		firewall_key(&about.tuple, firewall_is_echo_reply(&about.tuple, l4), &key);
		session = firewall_session_find(firewall, &key);
	}
	if (session == NULL || !firewall_session_holds(firewall, session, batch->cache))
		decide_by_rules(firewall, headers, action);
}

void
firewall_decide_rare(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
		     struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];

	action->once = true;
	if (headers->network == WEIR_NETWORK_MALFORMED) {
		weir_action_drop_once(action, FIREWALL_DROP_MALFORMED);
	} else if (headers->network != WEIR_NETWORK_IPV4) {
		if (!weir_not_ipv4_forwards(&firewall->not_ipv4, batch->packet[i], headers))
			weir_action_drop_once(action, FIREWALL_DROP_NOT_IPV4);
	} else if ((headers->flags & WEIR_HEADER_L4_CUT) != 0) {
		weir_action_drop_once(action, FIREWALL_DROP_TRUNCATED);
	} else if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0) {
		decide_on_fragment(firewall, batch, i, action);
	} else {
		decide_on_icmp(firewall, batch, i, action);
	}
}
