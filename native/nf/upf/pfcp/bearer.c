/* SPDX-License-Identifier: Apache-2.0 */
#include "bearer.h"

#include <string.h>

#include "detection.h"
#include "treatment.h"

static bool
names(const struct pfcp_pdr *pdr, uint32_t qer_id)
{
	for (unsigned int i = 0; i < pdr->qer_count; i++) {
		if (pdr->qer_id[i] == qer_id)
			return true;
	}
	return false;
}

/* Where what the rule passes is counted. */
static bool
read_usage(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
	   uint32_t usage[UPF_USAGES_OF_RULE_MAX], struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < pdr->urr_count; i++) {
		unsigned int at = 0;

		while (at < rules->urr_count && rules->urr[at].id != pdr->urr_id[i])
			at++;
		if (at == rules->urr_count)
			return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_URR_ID);
		usage[i] = rules->urr[at].meter.slot;
	}
	return true;
}

/* What it reports at is there. */
static bool
check_urr(const struct pfcp_urr *urr, struct pfcp_fault *fault)
{
	if ((urr->triggers & PFCP_PERIODIC) != 0 && !urr->has_period)
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_MEASUREMENT_PERIOD);
	if ((urr->triggers & PFCP_AT_VOLUME) != 0 &&
	    !(urr->has_volume && (urr->method & PFCP_VOLUME) != 0))
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_VOLUME_THRESHOLD);
	if ((urr->triggers & PFCP_AT_TIME) != 0 &&
	    !(urr->has_time && (urr->method & PFCP_DURATION) != 0))
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_TIME_THRESHOLD);
	if ((urr->triggers & PFCP_AT_VOLUME_QUOTA) != 0 && !urr->has_volume_quota)
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_VOLUME_QUOTA);
	if ((urr->triggers & PFCP_AT_TIME_QUOTA) != 0 && !urr->has_time_quota)
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_TIME_QUOTA);
	if (urr->has_volume_quota && (urr->method & PFCP_VOLUME) == 0)
		return pfcp_refuses(fault, PFCP_IE_VOLUME_QUOTA);
	if (urr->has_time_quota && (urr->method & PFCP_DURATION) == 0)
		return pfcp_refuses(fault, PFCP_IE_TIME_QUOTA);
	return true;
}

/* The QER whose rate several rules of that direction have together, as a session's AMBR; NULL:
 * there is none. False: there are two. */
static bool
find_shared(const struct pfcp_rules *rules, unsigned int way, const struct pfcp_qer **shared,
	    struct pfcp_fault *fault)
{
	*shared = NULL;
	for (unsigned int i = 0; i < rules->qer_count; i++) {
		const struct pfcp_qer *qer = &rules->qer[i];
		unsigned int named = 0;

		for (unsigned int j = 0; j < rules->pdr_count; j++)
			named += pfcp_way_of(&rules->pdr[j]) == way &&
				 names(&rules->pdr[j], qer->id);
		if (named < 2 || pfcp_rate_of(qer, way) == 0)
			continue;
		if (*shared != NULL)
			return pfcp_refuses(fault, PFCP_IE_QER_ID);
		*shared = qer;
	}
	return true;
}

/* The only rule of its direction, for all packets. */
static void
write_session(const struct pfcp_treatment *treatment, unsigned int way, struct upf_change *session)
{
	session->action[way] = treatment->drops	  ? UPF_ACTION_DROP
			       : treatment->keeps ? UPF_ACTION_BUFFER
						  : UPF_ACTION_FORWARD;
	if (treatment->keeps) {
		session->notifies = treatment->notifies;
		session->kept_most = treatment->kept_most;
	}
	session->gate[way] = treatment->is_closed ? UPF_GATE_CLOSED : UPF_GATE_OPEN;
	session->mbr_bps[way] = treatment->mbr_bps;
	if (treatment->has_outer_header) {
		session->given |= UPF_GIVEN_GNB | UPF_GIVEN_GNB_TEID;
		session->gnb_ip = treatment->gnb_ip;
		session->gnb_teid = treatment->gnb_teid;
	}
	if (treatment->has_qfi) {
		session->given |= UPF_GIVEN_QFI;
		session->qfi = treatment->qfi;
	}
}

/* One of several, or one with filters. */
static bool
write_rule(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
	   const struct pfcp_treatment *treatment, const struct pfcp_qer *shared,
	   struct pfcp_meaning *wanted, struct pfcp_fault *fault)
{
	struct upf_rule_wanted *rule = &wanted->rule[wanted->session.rule_count++];

	rule->id = pdr->id;
	rule->direction = (uint8_t)pfcp_way_of(pdr);
	rule->drops = treatment->drops;
	rule->keeps = treatment->keeps;
	rule->notifies = treatment->notifies;
	rule->kept_most = treatment->kept_most;
	rule->is_closed = treatment->is_closed;
	rule->of_session = shared != NULL && names(pdr, shared->id);
	rule->has_qfi_given = treatment->has_qfi;
	rule->qfi = treatment->qfi;
	rule->gnb_ip = treatment->gnb_ip;
	rule->gnb_teid = treatment->gnb_teid;
	rule->mbr_bps = treatment->mbr_bps;
	return read_usage(rules, pdr, rule->usage, fault) &&
	       pfcp_pdr_match(rules, pdr, &rule->match, fault);
}

/* The place of each rule in the order in which they are asked: those of one precedence as they
 * came. */
static void
order(const struct pfcp_rules *rules, unsigned int places[PFCP_RULES_MAX])
{
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		unsigned int at = i;

		for (; at > 0 && rules->pdr[places[at - 1]].precedence > rules->pdr[i].precedence;
		     at--)
			places[at] = places[at - 1];
		places[at] = i;
	}
}

/* What all rules of a direction together mean. */
static bool
read_way(const struct pfcp_rules *rules, unsigned int way, const unsigned int places[],
	 struct pfcp_meaning *wanted, struct pfcp_fault *fault)
{
	const struct pfcp_qer *shared;
	unsigned int count = 0;
	bool filtered = false;

	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		const bool is_of_way = pfcp_way_of(&rules->pdr[i]) == way;

		count += is_of_way;
		filtered |= is_of_way &&
			    (rules->pdr[i].urr_count > 0 ||
			     pfcp_pdr_is_for_some(rules, &rules->pdr[i], &wanted->session.ue));
	}
	filtered |= count > 1;
	if (!find_shared(rules, way, &shared, fault))
		return false;
	if (filtered) {
		wanted->session.action[way] = UPF_ACTION_BY_RULES;
		wanted->session.mbr_bps[way] = shared != NULL ? pfcp_rate_of(shared, way) : 0;
	}
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		const struct pfcp_pdr *pdr = &rules->pdr[places[i]];
		struct pfcp_treatment treatment = {0};

		if (pfcp_way_of(pdr) != way)
			continue;
		if (!pfcp_treatment_read(rules, pdr, way, shared, &treatment, fault))
			return false;
		if (!filtered)
			write_session(&treatment, way, &wanted->session);
		else if (!write_rule(rules, pdr, &treatment, shared, wanted, fault))
			return false;
	}
	return true;
}

bool
pfcp_rules_mean(const struct pfcp_rules *rules, uint32_t teid, struct pfcp_meaning *wanted,
		struct pfcp_fault *fault)
{
	unsigned int places[PFCP_RULES_MAX];

	/* Holes too: what is meant is compared. */
	memset(wanted, 0, sizeof(*wanted));
	wanted->session.given = UPF_GIVEN_UE;
	for (unsigned int way = UPLINK; way <= DOWNLINK; way++) {
		wanted->session.given |= (UPF_GIVEN_ACTION | UPF_GIVEN_GATE | UPF_GIVEN_MBR) << way;
		wanted->session.action[way] = UPF_ACTION_DROP; /* a way without a rule */
	}
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		if (!pfcp_pdr_check(&rules->pdr[i], teid, &wanted->session.ue, fault))
			return false;
	}
	for (unsigned int i = 0; i < rules->urr_count; i++) {
		if (!check_urr(&rules->urr[i], fault))
			return false;
	}
	order(rules, places);
	for (unsigned int way = UPLINK; way <= DOWNLINK; way++) {
		if (!read_way(rules, way, places, wanted, fault))
			return false;
	}
	if (wanted->session.rule_count > 0)
		wanted->session.given |= UPF_GIVEN_RULES;
	return upf_ue_is_named(&wanted->session.ue) ||
	       pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_UE_IP_ADDRESS);
}

/* Whether the FAR of that downlink rule is to send an end marker. `rule` NULL: of the only one. */
static bool
ends_tunnel(const struct pfcp_rules *rules, const struct pfcp_rules *changes,
	    const struct upf_rule_wanted *rule)
{
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		const struct pfcp_pdr *pdr = &rules->pdr[i];

		if (pfcp_way_of(pdr) != DOWNLINK || (rule != NULL && pdr->id != rule->id))
			continue;
		for (unsigned int j = 0; j < changes->far_count; j++) {
			if (changes->far[j].ends_tunnel && changes->far[j].id == pdr->far_id)
				return true;
		}
	}
	return false;
}

static const struct upf_rule_wanted *
rule_before(const struct pfcp_meaning *had, const struct upf_rule_wanted *rule)
{
	for (unsigned int i = 0; i < had->session.rule_count; i++) {
		if (had->rule[i].id == rule->id && had->rule[i].direction == rule->direction)
			return &had->rule[i];
	}
	return NULL;
}

static bool
is_one_tunnel(const struct upf_rule_wanted *one, const struct upf_rule_wanted *other)
{
	return one->gnb_ip == other->gnb_ip && one->gnb_teid == other->gnb_teid;
}

/* A rule before it has said so of the tunnel already. */
static bool
is_told(const struct pfcp_meaning *had, const struct pfcp_meaning *wanted, unsigned int before,
	const struct upf_rule_wanted *tunnel)
{
	for (unsigned int i = 0; i < before; i++) {
		if (wanted->rule[i].ends_tunnel &&
		    is_one_tunnel(rule_before(had, &wanted->rule[i]), tunnel))
			return true;
	}
	return false;
}

void
pfcp_mark_ends(const struct pfcp_rules *rules, const struct pfcp_rules *changes,
	       const struct pfcp_meaning *had, struct pfcp_meaning *wanted)
{
	if (wanted->session.action[DOWNLINK] != UPF_ACTION_BY_RULES)
		wanted->session.end_marker = ends_tunnel(rules, changes, NULL);
	for (unsigned int i = 0; i < wanted->session.rule_count; i++) {
		struct upf_rule_wanted *rule = &wanted->rule[i];
		const struct upf_rule_wanted *before = rule_before(had, rule);

		rule->ends_tunnel = before != NULL && rule->direction == DOWNLINK &&
				    !is_one_tunnel(before, rule) &&
				    ends_tunnel(rules, changes, rule) &&
				    !is_told(had, wanted, i, before);
	}
}

static bool
rules_differ(const struct pfcp_meaning *had, const struct pfcp_meaning *wanted)
{
	const unsigned int count = wanted->session.rule_count;

	return had->session.rule_count != count ||
	       memcmp(had->rule, wanted->rule, count * sizeof(wanted->rule[0])) != 0;
}

static uint64_t
qfi_of(const struct upf_change *session, uint8_t default_qfi)
{
	return upf_gives(session, UPF_GIVEN_QFI) ? session->qfi : default_qfi;
}

struct upf_change
pfcp_difference(const struct pfcp_meaning *had_meaning, const struct pfcp_meaning *wanted_meaning,
		uint8_t default_qfi)
{
	const struct upf_change *had = &had_meaning->session, *wanted = &wanted_meaning->session;
	struct upf_change change = *wanted;

	change.rules = wanted_meaning->rule;
	change.quotas = wanted_meaning->quota;
	change.given &= ~(uint32_t)UPF_GIVEN_RULES;
	if (rules_differ(had_meaning, wanted_meaning))
		change.given |= UPF_GIVEN_RULES;
	if (had->gnb_ip == wanted->gnb_ip && had->gnb_teid == wanted->gnb_teid)
		change.given &= ~(uint32_t)(UPF_GIVEN_GNB | UPF_GIVEN_GNB_TEID);
	change.given |= UPF_GIVEN_QFI;
	change.qfi = qfi_of(wanted, default_qfi);
	if (change.qfi == qfi_of(had, default_qfi))
		change.given &= ~(uint32_t)UPF_GIVEN_QFI;
	for (unsigned int way = UPLINK; way <= DOWNLINK; way++) {
		if (had->action[way] == wanted->action[way] && had->notifies == wanted->notifies &&
		    had->kept_most == wanted->kept_most)
			change.given &= ~(uint32_t)(UPF_GIVEN_ACTION << way);
		if (had->gate[way] == wanted->gate[way])
			change.given &= ~(uint32_t)(UPF_GIVEN_GATE << way);
		/* A rate that stays keeps its account of what has passed. */
		if (had->mbr_bps[way] == wanted->mbr_bps[way])
			change.given &= ~(uint32_t)(UPF_GIVEN_MBR << way);
	}
	return change;
}
