/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that a control plane function sets up, changes and deletes (TS 29.244, clause 6.3). */
#include <stdlib.h>
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

/* The function has no room for its rules, or they do not fit what is there. */
static bool
fails_to_apply(const struct pfcp_agent *agent, const struct upf_change *change, uint16_t ie,
	       struct pfcp_fault *fault)
{
	const struct upf *upf = agent->upf;

	if ((change->given & UPF_GIVEN_RULES) != 0 &&
	    upf->rules_used + change->rule_count > upf->rules_max)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_CREATE_PDR);
	return pfcp_fails(fault, PFCP_RULE_FAILURE, ie);
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
	struct pfcp_rules rules = {0};
	struct pfcp_meaning wanted;
	struct upf_change change;
	uint32_t place;

	if (!pfcp_rules_change(&rules, &request->rules, fault) ||
	    !pfcp_rules_mean(&rules, 0, &wanted, fault))
		return false;
	made.ue_ip = wanted.session.ue_ip;
	made.kept = pfcp_rules_keep(&rules);
	if (made.kept == NULL)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	if (!pfcp_place_choose(agent, made.ue_ip, &place)) {
		free(made.kept);
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	}
	made.teid = pfcp_teid_choose(agent, place, made.ue_ip);
	made.up_seid = pfcp_seid_choose(agent, place);
	change = wanted.session;
	change.rules = wanted.rule;
	change.given |= UPF_GIVEN_TEID;
	change.teid = made.teid;
	if (!apply(agent, UPF_ADD, &change)) {
		pfcp_place_give_back(agent, place);
		free(made.kept);
		return fails_to_apply(agent, &change, PFCP_IE_UE_IP_ADDRESS, fault);
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
	struct pfcp_meaning had, wanted;
	struct pfcp_kept *kept;
	struct pfcp_rules rules;
	struct upf_change change;

	pfcp_rules_restore(session->kept, &rules);
	/* They meant something when they came. */
	if (!pfcp_rules_mean(&rules, session->teid, &had, fault) ||
	    !pfcp_rules_change(&rules, &request->rules, fault) ||
	    !pfcp_rules_mean(&rules, session->teid, &wanted, fault))
		return false;
	if (wanted.session.ue_ip != session->ue_ip)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	kept = pfcp_rules_keep(&rules);
	if (kept == NULL)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	change = pfcp_difference(&had, &wanted);
	if (change.given != UPF_GIVEN_UE && !apply(agent, UPF_MODIFY, &change)) {
		free(kept);
		return fails_to_apply(agent, &change, 0, fault);
	}
	free(session->kept);
	session->kept = kept;
	if (request->cp_seid != 0)
		session->cp_seid = request->cp_seid;
	agent->counts.modified++;
	return true;
}

/* One that a command removed before is gone as well. */
void
pfcp_session_delete(struct pfcp_agent *agent, struct pfcp_session *session)
{
	const struct upf_change change = {.given = UPF_GIVEN_UE, .ue_ip = session->ue_ip};

	apply(agent, UPF_REMOVE, &change);
	agent->counts.deleted++;
	free(session->kept);
	memset(session, 0, sizeof(*session));
	pfcp_place_give_back(agent, place_of(agent, session));
}
