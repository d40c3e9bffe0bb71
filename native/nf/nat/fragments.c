/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments: the first one has ports and is translated by them, later ones by the mappings that it
 * had; those that come before it wait (RFC 4787, REQ-14; the memory is bounded, REQ-14a). */
#include "nat.h"

extern const struct weir_nf weir_nf_nat;

/* What is remembered of a first fragment: the numbers of the mappings of its source, in the high
 * half, and of its destination, each or NAT_NONE; or DROPPED in the high half, and why. */
#define DROPPED (NAT_NONE - 1)

static uint64_t
decision_of(uint32_t source, uint32_t destination)
{
	return (uint64_t)source << 32 | destination;
}

static uint32_t
number_of(const struct nat *nat, const struct nat_session *session)
{
	return session != NULL ? (uint32_t)(session - nat->sessions) : NAT_NONE;
}

void
nat_fragment_remember(struct nat *nat, const struct weir_batch *batch, uint16_t index,
		      const struct weir_action *action)
{
	const struct rte_mbuf *packet = batch->packet[index];
	const struct weir_headers *headers = &batch->headers[index];
	const struct weir_tuple *tuple = &headers->tuple;
	const struct nat_session *from = NULL, *to = NULL;
	bool forwards = action->verdict == WEIR_FORWARD;

	if (forwards && batch->direction == WEIR_OUTBOUND)
		from = nat_session_find(nat, nat->by_inside, tuple->src_ip, tuple->src_port,
					tuple->protocol);
	if (forwards && nat_is_external(nat, tuple->dst_ip))
		to = nat_session_find(nat, nat->by_external, tuple->dst_ip, tuple->dst_port,
				      tuple->protocol);
	weir_fragments_remember(nat->fragments, packet, headers, batch->now_tsc,
				forwards ? decision_of(number_of(nat, from), number_of(nat, to))
					 : decision_of(DROPPED, action->drop_reason));
}

static const struct nat_session *
mapping_at(const struct nat *nat, uint32_t number)
{
	return number != NAT_NONE && nat->lives[number].used ? &nat->sessions[number] : NULL;
}

/* A mapping that ended in between may have given its place to another: hence the look at the
 * addresses. */
void
nat_fragment_follow(const struct nat *nat, const struct weir_batch *batch, uint16_t index,
		    struct weir_action *action)
{
	const struct weir_tuple *tuple = &batch->headers[index].tuple;
	bool from_inside = batch->direction == WEIR_OUTBOUND;
	bool to_inside = !from_inside || nat_is_external(nat, tuple->dst_ip);
	const struct nat_session *from, *to;
	uint64_t decision;

	if (!weir_fragments_recall(nat->fragments, batch->packet[index], &batch->headers[index],
				   batch->now_tsc, &decision)) {
		weir_fragment_hold(action, NAT_DROP_FRAGMENTS_FULL);
		return;
	}
	if (decision >> 32 == DROPPED) {
		nat_drop(action, (enum nat_drop)decision);
		return;
	}
	from = mapping_at(nat, (uint32_t)(decision >> 32));
	to = mapping_at(nat, (uint32_t)decision);
	if ((from_inside && (from == NULL || from->inside.ip != tuple->src_ip)) ||
	    (to_inside && (to == NULL || to->external.ip != tuple->dst_ip))) {
		nat_drop(action, NAT_DROP_FRAGMENT_UNKNOWN);
		return;
	}
	action->once = true;
	if (from_inside) {
		action->set |= WEIR_SET_SRC_IP;
		action->src_ip = from->external.ip;
	}
	if (to_inside) {
		action->set |= WEIR_SET_DST_IP;
		action->dst_ip = to->inside.ip;
		action->has_egress = from_inside && nat->hairpin_output != 0;
		action->egress = nat->hairpin_output;
	} else {
		nat_hairpin_to_pair(nat, tuple->dst_ip, action);
	}
}

void
nat_take(void *state, const struct weir_batch *batch, uint16_t index,
	 const struct weir_action *action, struct weir_stage_ledger *ledger)
{
	const struct nat *nat = state;

	weir_held_fragments_take(nat->fragments, batch, index, action, ledger);
}

void
nat_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct nat *nat = state;

	weir_held_fragments_release(&weir_nf_nat, state, nat->fragments, batch,
				    NAT_DROP_FRAGMENT_TIMEOUT, ledger);
}
