/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of sessions as the worker writes them down: between two batches, and what was checked. */
#include "changes.h"

#include <rte_prefetch.h>

static void
set_held(struct upf_flow *flow, uint8_t by, bool is)
{
	flow->held_by = is ? flow->held_by | by : flow->held_by & (uint8_t)~by;
}

static void
set_action(struct upf *upf, const struct upf_change *change, unsigned int way,
	   struct upf_session *session)
{
	const bool out_of_tunnel = way == upf->out_of_way;
	const unsigned int action = change->action[way];
	struct upf_flow *flow = upf_session_flow(session, out_of_tunnel);

	set_held(flow, UPF_HELD_BY_ACTION, action == UPF_ACTION_DROP);
	set_held(flow, UPF_HELD_BY_RULES, action == UPF_ACTION_BY_RULES);
	if (out_of_tunnel)
		return;
	upf_flow_keep(upf, flow, session->queue, action == UPF_ACTION_BUFFER);
	set_held(flow, UPF_NOTIFIES, action == UPF_ACTION_BUFFER && change->notifies);
	flow->kept_most =
		change->kept_most != 0 ? change->kept_most : (uint16_t)upf->buffer_packets;
}

static void
end_kept_of(struct upf *upf, struct upf_flow *flow, uint32_t *queue)
{
	if (upf_buffer_end(&upf->buffer, queue)) /* nothing has to wait behind it any more */
		set_held(flow, UPF_HELD_BY_BUFFER, false);
}

/* All that waits for the session. */
static void
end_kept(struct upf *upf, struct upf_session *session)
{
	end_kept_of(upf, &session->into, &session->queue);
	for (uint32_t at = session->rules[false]; at != 0; at = upf->rules[at].next)
		end_kept_of(upf, &upf->rules[at].flow, &upf->rules[at].queue);
}

/* Behind the last packet that was sent there, which an earlier batch had. */
static void
end_tunnel(struct upf *upf, const struct upf_change *change, const struct upf_session *session)
{
	const struct weir_gtpu_tunnel *had = &session->tunnel;
	const bool moves = had->teid != rte_cpu_to_be_32((uint32_t)change->gnb_teid) ||
			   (upf_gives(change, UPF_GIVEN_GNB) && had->to_ip != change->gnb_ip);

	if (had->teid != 0 && moves && upf_serves(upf, session))
		upf_end_tunnel(upf, had);
}

/* What the change says of a session that is there. */
static void
write_given(struct upf *upf, const struct upf_change *change, struct upf_session *session)
{
	if (upf_gives(change, UPF_GIVEN_QUOTAS))
		upf_quotas_set(upf, change->quotas, change->quota_count);
	if (upf_gives(change, UPF_GIVEN_END_OF_KEPT))
		end_kept(upf, session);
	if (upf_gives(change, UPF_GIVEN_END_MARKER) && change->end_marker)
		end_tunnel(upf, change, session);
	if (upf_gives(change, UPF_GIVEN_GNB_TEID)) {
		session->tunnel.teid = rte_cpu_to_be_32((uint32_t)change->gnb_teid);
		if (upf_gives(change, UPF_GIVEN_GNB))
			weir_gtpu_lead(&session->tunnel, &upf->outer, change->gnb_ip);
	}
	if (upf_gives(change, UPF_GIVEN_QFI))
		session->tunnel.qfi = (uint8_t)change->qfi;
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		struct upf_flow *flow = upf_session_flow(session, way == upf->out_of_way);

		if (upf_gives(change, UPF_GIVEN_ACTION << way))
			set_action(upf, change, way, session);
		if (upf_gives(change, UPF_GIVEN_GATE << way))
			set_held(flow, UPF_HELD_BY_GATE, change->gate[way] == UPF_GATE_CLOSED);
		if (upf_gives(change, UPF_GIVEN_MBR << way))
			upf_flow_set_mbr(flow, change->mbr_bps[way]);
	}
	if (upf_gives(change, UPF_GIVEN_RULES))
		upf_rules_replace(upf, session, change->rules, change->rule_count);
}

static void
add(struct upf *upf, const struct upf_change *change)
{
	struct upf_session *session = &upf->sessions[change->place];

	weir_gtpu_lead(&session->tunnel, &upf->outer, upf->peer_ip);
	session->tunnel.qfi = (uint8_t)upf->qfi;
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++)
		upf_flow_set_mbr(upf_session_flow(session, way == upf->out_of_way),
				 upf->mbr_bps[way]);
	set_held(&session->into, UPF_HELD_BY_ACTION, !upf_forwards_down(change));
	write_given(upf, change, session);
	upf_session_begin(upf, change->place, &change->ue, (uint32_t)change->teid);
	upf->changed.added++;
}

void
upf_changes_apply(struct upf *upf, const struct upf_changes *changes)
{
	/* Their memory comes together, and not one after the other. */
	for (unsigned int i = 0; i < changes->count; i++) {
		rte_prefetch0(&upf->sessions[changes->change[i].place]);
		rte_prefetch0(&upf->sessions[changes->change[i].place].ue);
	}
	for (unsigned int i = 0; i < changes->count; i++) {
		const struct upf_change *change = &changes->change[i];

		switch (changes->kind) {
		case UPF_ADD:
			add(upf, change);
			break;
		case UPF_MODIFY:
			write_given(upf, change, &upf->sessions[change->place]);
			upf->changed.modified++;
			break;
		case UPF_REMOVE:
			upf_session_end(upf, change->place);
			upf->changed.removed++;
			break;
		}
	}
}
