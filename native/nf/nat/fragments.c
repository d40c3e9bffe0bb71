/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments: the first one has ports and is translated by them, later ones by the mappings that it
 * had (RFC 4787, REQ-14; the memory is bounded, REQ-14a). */
#include "nat.h"

void
nat_fragment_remember(struct nat *nat, const struct weir_batch *batch, uint16_t index)
{
	const struct rte_mbuf *packet = batch->packet[index];
	const struct weir_headers *headers = &batch->headers[index];
	const struct weir_tuple *tuple = &headers->tuple;
	const struct nat_session *from = NULL, *to = NULL;

	if (batch->direction == WEIR_OUTBOUND)
		from = nat_session_find(nat, nat->by_inside, tuple->src_ip, tuple->src_port,
					tuple->protocol);
	if (nat_is_external(nat, tuple->dst_ip))
		to = nat_session_find(nat, nat->by_external, tuple->dst_ip, tuple->dst_port,
				      tuple->protocol);
	if (from != NULL)
		weir_fragments_remember(nat->sources, packet, headers, batch->now_tsc,
					from - nat->sessions);
	if (to != NULL)
		weir_fragments_remember(nat->destinations, packet, headers, batch->now_tsc,
					to - nat->sessions);
}

/* The mapping of one end of the first fragment of this later one, or NULL. */
static const struct nat_session *
recall(const struct nat *nat, const struct weir_fragments *end, const struct weir_batch *batch,
       uint16_t index)
{
	uint32_t number;

	if (!weir_fragments_recall(end, batch->packet[index], &batch->headers[index],
				   batch->now_tsc, &number) ||
	    !nat->lives[number].used)
		return NULL;
	return &nat->sessions[number];
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
	const struct nat_session *from = recall(nat, nat->sources, batch, index);
	const struct nat_session *to = recall(nat, nat->destinations, batch, index);

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
	}
}
