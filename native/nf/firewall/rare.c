/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that begin no session: later fragments, ICMP that is not echo, and what rules do not
 * decide on. */
#include "firewall.h"

#include <string.h>

#include <rte_ip.h>

#include "packet/icmp_error.h"
#include "toolkit/option_rows.h"

/* By the rules alone: no session is begun. */
static void
decide_by_rules(const struct firewall *firewall, const struct rte_mbuf *packet,
		const struct weir_headers *headers, struct weir_action *action)
{
	if (!firewall_permits(firewall, packet, headers))
		weir_action_drop_once(action, FIREWALL_DROP_DENIED);
}

static inline bool
is_between(const struct session *session, const struct weir_tuple *tuple)
{
	return session->key.protocol == tuple->protocol && session->key.zero[0] == tuple->zero[0] &&
	       ((session->key.src_ip == tuple->src_ip && session->key.dst_ip == tuple->dst_ip) ||
		(session->key.src_ip == tuple->dst_ip && session->key.dst_ip == tuple->src_ip));
}

/* As the first fragment, with its session while that lasts. */
static void
decide_on_fragment(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
		   struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	struct weir_tuple tuple;
	struct session *session;
	uint64_t number;

	if (!weir_fragments_recall(firewall->fragments, batch->packet[i], headers, batch->now_tsc,
				   &number)) {
		weir_fragment_hold(action, FIREWALL_DROP_FRAGMENTS_FULL);
		return;
	}
	if (number == FIREWALL_FRAGMENT_PERMITTED)
		return;
	if (number > FIREWALL_FRAGMENT_PERMITTED) {
		weir_action_drop_once(action, firewall_fragment_dropped((uint32_t)number));
		return;
	}
	session = &firewall->sessions[number];
	tuple = firewall_tuple(firewall, batch->packet[i], headers);
	if ((session->flags & SESSION_USED) == 0 || !is_between(session, &tuple) ||
	    !firewall_session_holds(firewall, session, batch->cache))
		weir_action_drop_once(action, FIREWALL_DROP_NO_SESSION);
	else
		action->counters[0] = &session->counter;
}

/* The session that the packet inside an error is of, if the error is sent to who sent that. */
static struct session *
session_inside(const struct firewall *firewall, const struct rte_mbuf *packet,
	       const struct weir_headers *headers)
{
	struct weir_icmp_error about;
	struct weir_tuple key;
	const uint8_t *l4;

	if (!weir_icmp_error_parse(packet, headers, &about) ||
	    about.tuple.src_ip != headers->tuple.dst_ip)
		return NULL;
	l4 = rte_pktmbuf_mtod_offset(packet, const uint8_t *, about.l4_offset);
	firewall_key(&about.tuple, firewall_is_echo_reply(&about.tuple, l4), &key);
	return firewall_session_find(firewall, &key);
}

static struct session *
session_inside_ipv6(const struct firewall *firewall, const struct rte_mbuf *packet,
		    const struct weir_headers *headers)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, const struct rte_ipv6_hdr *, headers->l3_offset);
	struct weir_icmpv6_error about;
	struct weir_tuple tuple, key;

	if (!weir_icmpv6_error_parse(packet, headers, &about) ||
	    memcmp(about.src_ip, ip->dst_addr, sizeof(about.src_ip)) != 0)
		return NULL;
	tuple = firewall_ipv6_tuple(firewall, about.src_ip, about.dst_ip, &about.tuple);
	firewall_key(&tuple, firewall_is_echo_reply(&tuple, &about.type), &key);
	return firewall_session_find(firewall, &key);
}

/* An error about a packet of a session, sent to who sent that packet, passes as its answers do (RFC
 * 5927 says what it can be abused for); it does not keep the session alive. */
static void
decide_on_icmp(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
	       struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	struct session *session = headers->network == WEIR_NETWORK_IPV6
					  ? session_inside_ipv6(firewall, batch->packet[i], headers)
					  : session_inside(firewall, batch->packet[i], headers);

	if (session == NULL || !firewall_session_holds(firewall, session, batch->cache))
		decide_by_rules(firewall, batch->packet[i], headers, action);
}

/* For later fragments of a first one that has no session: a cut header, ICMP that is no echo. */
static void
remember(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
	 const struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	bool passes = action->verdict == WEIR_FORWARD;

	if ((headers->flags & (WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT)) ==
	    WEIR_HEADER_FRAGMENT)
		weir_fragments_remember(firewall->fragments, batch->packet[i], headers,
					batch->now_tsc,
					passes ? FIREWALL_FRAGMENT_PERMITTED
					       : firewall_fragment_dropped(action->drop_reason));
}

void
firewall_decide_rare(struct firewall *firewall, const struct weir_batch *batch, uint16_t i,
		     struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	enum weir_ruled ruled = WEIR_RULED;

	action->once = true;
	if (headers->network == WEIR_NETWORK_MALFORMED) {
		weir_action_drop_once(action, FIREWALL_DROP_MALFORMED);
		return;
	}
	if (headers->network != WEIR_NETWORK_IPV4)
		ruled = weir_ruled_frame(&firewall->frames, batch->packet[i], headers);
	if (ruled == WEIR_UNRULED_FORWARD)
		return;
	if (ruled == WEIR_UNRULED_DROP) {
		weir_action_drop_once(action, FIREWALL_DROP_NOT_IPV4);
	} else if ((headers->flags & WEIR_HEADER_L4_CUT) != 0) {
		weir_action_drop_once(action, FIREWALL_DROP_TRUNCATED);
	} else if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) != 0) {
		decide_on_fragment(firewall, batch, i, action);
	} else {
		decide_on_icmp(firewall, batch, i, action);
	}
	remember(firewall, batch, i, action);
}
