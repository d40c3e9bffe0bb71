/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that a control plane function sets up, changes and deletes (TS 29.244, clause 6.3). */
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "treatment.h"

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

bool
pfcp_session_stands(const struct pfcp_agent *agent, const struct pfcp_session *session)
{
	return agent->upf->sessions[place_of(agent, session)].teid == session->teid;
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

/* Rules that are as the request says, those of usage with a slot each, and what they mean. False:
 * `fault`, and slots that were given are to be taken back. */
static bool
change_rules(struct pfcp_agent *agent, const struct pfcp_request *request, uint32_t teid,
	     struct pfcp_rules *rules, struct pfcp_meaning *wanted, struct pfcp_fault *fault)
{
	if (!pfcp_rules_change(rules, &request->rules, fault) ||
	    !pfcp_meters_begin(&agent->slots, &agent->way, rules->urr, rules->urr_count, fault) ||
	    !pfcp_rules_mean(rules, teid, wanted, fault))
		return false;
	wanted->session.quota_count =
		pfcp_meters_grant(&agent->way, rules->urr, rules->urr_count, wanted->quota);
	if (wanted->session.quota_count > 0)
		wanted->session.given |= UPF_GIVEN_QUOTAS;
	return true;
}

/* Prefixes of one length, and each session at one worker. */
static bool
can_serve(const struct upf *upf, const struct upf_ue *ue)
{
	return ue->prefix_bits == 0 || (ue->prefix_bits == upf->prefix_bits &&
					upf_steer_prefix(upf, &ue->prefix) % upf->workers ==
						upf_steer_ue(upf, ue) % upf->workers);
}

/* A session that is not there yet; false: `made` has nothing to be given back. */
static bool
make(struct pfcp_agent *agent, const struct pfcp_rules *rules, const struct pfcp_meaning *wanted,
     struct pfcp_session *made, uint32_t *place, struct pfcp_fault *fault)
{
	struct upf_change change = wanted->session;

	made->ue = change.ue;
	if (!can_serve(agent->upf, &made->ue))
		return pfcp_refuses(fault, PFCP_IE_UE_IP_ADDRESS);
	made->kept = pfcp_rules_keep(rules);
	if (made->kept == NULL)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	if (!pfcp_place_choose(agent, &made->ue, place)) {
		free(made->kept);
		if (upf_session_place_of_ue(agent->upf, &made->ue) != WEIR_FLOW_NONE)
			return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_UE_IP_ADDRESS);
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	}
	made->teid = pfcp_teid_choose(agent, *place, &made->ue);
	made->up_seid = pfcp_seid_choose(agent, *place);
	change.rules = wanted->rule;
	change.quotas = wanted->quota;
	change.given |= UPF_GIVEN_TEID;
	change.teid = made->teid;
	if (apply(agent, UPF_ADD, &change))
		return true;
	pfcp_place_give_back(agent, *place);
	free(made->kept);
	return fails_to_apply(agent, &change, PFCP_IE_UE_IP_ADDRESS, fault);
}

/* Of packets that wait for the session, by whichever of its rules. */
static bool
notifies(const struct pfcp_meaning *meaning)
{
	bool any = meaning->session.notifies;

	for (unsigned int i = 0; i < meaning->session.rule_count; i++)
		any |= meaning->rule[i].notifies;
	return any;
}

bool
pfcp_session_establish(struct pfcp_agent *agent, uint8_t association,
		       const struct pfcp_request *request, struct pfcp_session **session,
		       struct pfcp_fault *fault)
{
	struct pfcp_session made = {
		.cp_seid = request->cp_seid, .association = association, .cp_ip = request->cp_ip};
	struct pfcp_rules rules = {0};
	struct pfcp_meaning wanted;
	uint32_t place;

	if (made.cp_ip == 0)
		made.cp_ip = agent->associations[association].ip;
	if (!change_rules(agent, request, 0, &rules, &wanted, fault) ||
	    !make(agent, &rules, &wanted, &made, &place, fault)) {
		pfcp_meters_end(&agent->slots, rules.urr, rules.urr_count, NULL, 0);
		return false;
	}
	*session = &agent->sessions[place];
	**session = made;
	pfcp_reports_follow(agent, place, rules.urr_count > 0);
	pfcp_reports_expect(agent, *session, notifies(&wanted));
	agent->counts.established++;
	return true;
}

/* The request says again that somebody is to be told. */
static bool
asks_for_notice(const struct pfcp_rules *rules)
{
	for (unsigned int i = 0; i < rules->far_count; i++) {
		const struct pfcp_far *far = &rules->far[i];

		if (far->change != PFCP_REMOVE && far->has_action &&
		    (far->action & PFCP_NOTIFY) != 0)
			return true;
	}
	return false;
}

/* Rules that a session had and has no more report for the last time, and those that are queried
 * now. */
static void
report_usage(struct pfcp_agent *agent, struct pfcp_kept *had, struct pfcp_kept *has,
	     const struct pfcp_request *request)
{
	unsigned int had_count, count;
	struct pfcp_urr *before = pfcp_kept_urrs(had, &had_count);
	struct pfcp_urr *urr = pfcp_kept_urrs(has, &count);

	for (unsigned int i = 0; i < had_count; i++) {
		if (!pfcp_is_among(&before[i], urr, count))
			pfcp_meter_reports(&agent->way, &before[i], PFCP_TERMINATION, &agent->told);
	}
	for (unsigned int i = 0; i < count; i++) {
		bool queried = request->queries_all;

		for (unsigned int j = 0; j < request->query_count; j++)
			queried |= request->queried[j] == urr[i].id;
		if (queried && pfcp_is_among(&urr[i], before, had_count))
			pfcp_meter_reports(&agent->way, &urr[i], PFCP_IMMEDIATE, &agent->told);
	}
	pfcp_meters_end(&agent->slots, before, had_count, urr, count);
}

/* `rules` are what the session is to have, `kept` likewise. */
static bool
modify(struct pfcp_agent *agent, struct pfcp_session *session, const struct upf_change *change,
       const struct pfcp_rules *rules, const struct pfcp_request *request, struct pfcp_fault *fault)
{
	struct pfcp_kept *kept = pfcp_rules_keep(rules);

	if (kept == NULL)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	if (change->given != UPF_GIVEN_UE && !apply(agent, UPF_MODIFY, change)) {
		free(kept);
		return fails_to_apply(agent, change, 0, fault);
	}
	report_usage(agent, session->kept, kept, request);
	free(session->kept);
	session->kept = kept;
	return true;
}

bool
pfcp_session_modify(struct pfcp_agent *agent, struct pfcp_session *session,
		    const struct pfcp_request *request, struct pfcp_fault *fault)
{
	struct pfcp_meaning had, wanted;
	struct pfcp_rules rules;
	struct upf_change change;
	bool done;

	if (!pfcp_session_stands(agent, session))
		return pfcp_fails(fault, PFCP_SESSION_NOT_FOUND, 0);
	pfcp_rules_restore(session->kept, &rules);
	/* They meant something when they came. */
	done = pfcp_rules_mean(&rules, session->teid, &had, fault) &&
	       change_rules(agent, request, session->teid, &rules, &wanted, fault);
	if (done && !upf_ue_is(&wanted.session.ue, &session->ue))
		done = pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	if (done) {
		change = pfcp_difference(&had, &wanted, (uint8_t)agent->upf->qfi);
		pfcp_mark_ends(&rules, &request->rules, &had, &wanted);
		if (wanted.session.end_marker && (change.given & UPF_GIVEN_GNB_TEID) != 0) {
			change.given |= UPF_GIVEN_END_MARKER;
			change.end_marker = true;
		}
		if (asks_for_notice(&request->rules))
			change.given |= wanted.session.given &
					(UPF_GIVEN_ACTION << DOWNLINK | UPF_GIVEN_RULES);
		if (request->drops_buffered)
			change.given |= UPF_GIVEN_END_OF_KEPT;
		done = modify(agent, session, &change, &rules, request, fault);
	}
	if (!done) {
		unsigned int count;
		const struct pfcp_urr *urr = pfcp_kept_urrs(session->kept, &count);

		pfcp_meters_end(&agent->slots, rules.urr, rules.urr_count, urr, count);
		return false;
	}
	if (request->cp_seid != 0)
		session->cp_seid = request->cp_seid;
	if (request->cp_ip != 0)
		session->cp_ip = request->cp_ip;
	pfcp_reports_follow(agent, place_of(agent, session), rules.urr_count > 0);
	pfcp_reports_expect(agent, session, notifies(&wanted));
	agent->counts.modified++;
	return true;
}

void
pfcp_session_exhaust(struct pfcp_agent *agent, const struct pfcp_session *session, uint32_t slot)
{
	const struct upf_quota quota = {.usage = slot, .is_limited = true, .is_exhausted = true};
	const struct upf_change change = {.given = UPF_GIVEN_UE | UPF_GIVEN_QUOTAS,
					  .ue = session->ue,
					  .quotas = &quota,
					  .quota_count = 1};

	if (pfcp_session_stands(agent, session))
		apply(agent, UPF_MODIFY, &change);
}

void
pfcp_session_drop_buffered(struct pfcp_agent *agent, const struct pfcp_session *session)
{
	const struct upf_change change = {.given = UPF_GIVEN_UE | UPF_GIVEN_END_OF_KEPT,
					  .ue = session->ue};

	if (pfcp_session_stands(agent, session))
		apply(agent, UPF_MODIFY, &change);
}

/* One that a command removed before is gone as well. */
void
pfcp_session_delete(struct pfcp_agent *agent, struct pfcp_session *session)
{
	const struct upf_change change = {.given = UPF_GIVEN_UE, .ue = session->ue};
	unsigned int count;
	struct pfcp_urr *urr = pfcp_kept_urrs(session->kept, &count);

	if (pfcp_session_stands(agent, session) && apply(agent, UPF_REMOVE, &change))
		agent->places.removed++;
	agent->counts.deleted++;
	agent->told.count = 0;
	for (unsigned int i = 0; i < count; i++)
		pfcp_meter_reports(&agent->way, &urr[i], PFCP_TERMINATION, &agent->told);
	pfcp_meters_end(&agent->slots, urr, count, NULL, 0);
	pfcp_reports_follow(agent, place_of(agent, session), false);
	pfcp_reports_expect(agent, session, false);
	free(session->kept);
	memset(session, 0, sizeof(*session));
	pfcp_place_give_back(agent, place_of(agent, session));
}
