/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that a control plane function sets up, changes and deletes (TS 29.244, clause 6.3). */
#include <string.h>

#include "state.h"

static uint32_t
place_of(const struct pfcp_agent *agent, const struct pfcp_session *session)
{
	return (uint32_t)(session - agent->sessions);
}

/* One change of the function's sessions. */
static bool
apply(struct pfcp_agent *agent, enum upf_change_kind kind, const struct upf_change *change)
{
	agent->changes.kind = kind;
	agent->changes.count = 1;
	agent->changes.change[0] = *change;
	return agent->way.change(agent->way.of, &agent->changes);
}

struct pfcp_session *
pfcp_session_of(struct pfcp_agent *agent, uint8_t association, uint64_t seid)
{
	const uint32_t place = pfcp_place_of_seid(seid);
	struct pfcp_session *session;

	if (seid == 0 || place >= agent->upf->capacity)
		return NULL;
	session = &agent->sessions[place];
	return session->up_seid == seid && session->association == association ? session : NULL;
}

bool
pfcp_session_establish(struct pfcp_agent *agent, uint8_t association,
		       const struct pfcp_request *request, struct pfcp_session **session,
		       struct pfcp_fault *fault)
{
	struct pfcp_session made = {.cp_seid = request->cp_seid, .association = association};
	struct upf_change change;
	uint32_t place;

	if (!pfcp_rules_change(&made.rules, &request->rules, fault) ||
	    !pfcp_rules_mean(&made.rules, 0, &made.is, fault))
		return false;
	if (!pfcp_place_choose(agent, made.is.ue_ip, &place))
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	made.teid = pfcp_teid_choose(agent, place, made.is.ue_ip);
	made.up_seid = pfcp_seid_choose(agent, place);
	change = made.is;
	change.given |= UPF_GIVEN_TEID;
	change.teid = made.teid;
	if (!apply(agent, UPF_ADD, &change)) {
		pfcp_place_give_back(agent, place);
		return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_UE_IP_ADDRESS);
	}
	*session = &agent->sessions[place];
	**session = made;
	agent->counts.established++;
	return true;
}

bool
pfcp_session_modify(struct pfcp_agent *agent, struct pfcp_session *session,
		    const struct pfcp_request *request, struct pfcp_fault *fault)
{
	struct pfcp_session changed = *session;
	struct upf_change change;

	if (!pfcp_rules_change(&changed.rules, &request->rules, fault) ||
	    !pfcp_rules_mean(&changed.rules, session->teid, &changed.is, fault))
		return false;
	if (changed.is.ue_ip != session->is.ue_ip)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	change = pfcp_difference(&session->is, &changed.is);
	if (change.given != UPF_GIVEN_UE && !apply(agent, UPF_MODIFY, &change))
		return pfcp_fails(fault, PFCP_RULE_FAILURE, 0);
	if (request->cp_seid != 0)
		changed.cp_seid = request->cp_seid;
	*session = changed;
	agent->counts.modified++;
	return true;
}

/* One that a command removed before is gone as well. */
void
pfcp_session_delete(struct pfcp_agent *agent, struct pfcp_session *session)
{
	const struct upf_change change = {.given = UPF_GIVEN_UE, .ue_ip = session->is.ue_ip};

	apply(agent, UPF_REMOVE, &change);
	agent->counts.deleted++;
	memset(session, 0, sizeof(*session));
	pfcp_place_give_back(agent, place_of(agent, session));
}
