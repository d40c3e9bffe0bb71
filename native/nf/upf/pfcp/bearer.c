/* SPDX-License-Identifier: Apache-2.0 */
#include "bearer.h"

#include <string.h>

#include "treatment.h"

static bool
read_ue(const struct pfcp_pdr *pdr, unsigned int way, struct upf_change *wanted,
	struct pfcp_fault *fault)
{
	if (!pdr->has_ue_ip)
		return way == UPLINK ||
		       pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_UE_IP_ADDRESS);
	if (pdr->ue_ip == 0 || pdr->ue_is_destination != (way == DOWNLINK) ||
	    (wanted->ue_ip != 0 && wanted->ue_ip != pdr->ue_ip))
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	wanted->ue_ip = pdr->ue_ip;
	return true;
}

/* Of uplink: the tunnel that it is about ends here. */
static bool
check_tunnel(const struct pfcp_pdr *pdr, uint32_t teid, struct pfcp_fault *fault)
{
	if (!pdr->f_teid.given)
		return pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_F_TEID);
	if (!pdr->f_teid.chooses && (teid == 0 || pdr->f_teid.teid != teid))
		return pfcp_fails(fault, PFCP_INVALID_F_TEID_ALLOCATION, PFCP_IE_F_TEID);
	if (!pdr->removes_outer_header || (pdr->outer_header_removal != PFCP_REMOVE_GTPU_UDP_IPV4 &&
					   pdr->outer_header_removal != PFCP_REMOVE_GTPU_UDP_IP))
		return pfcp_refuses(fault, PFCP_IE_OUTER_HEADER_REMOVAL);
	return true;
}

static unsigned int
way_of(const struct pfcp_pdr *pdr)
{
	return pdr->source_interface == PFCP_ACCESS ? UPLINK : DOWNLINK;
}

static bool
has_filters(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr)
{
	for (unsigned int i = 0; i < rules->filter_count; i++) {
		if (rules->filter[i].pdr_id == pdr->id)
			return true;
	}
	return false;
}

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
			named += way_of(&rules->pdr[j]) == way && names(&rules->pdr[j], qer->id);
		if (named < 2 || pfcp_rate_of(qer, way) == 0)
			continue;
		if (*shared != NULL)
			return pfcp_refuses(fault, PFCP_IE_QER_ID);
		*shared = qer;
	}
	return true;
}

/* A filter that says only its id is as the one of the session that is described and has it. */
static const struct upf_filter *
filter_of(const struct pfcp_rules *rules, const struct pfcp_sdf *sdf)
{
	if (sdf->is_described)
		return &sdf->filter;
	for (unsigned int i = 0; i < rules->filter_count; i++) {
		const struct pfcp_sdf *other = &rules->filter[i];

		if (other->is_described && other->has_id && other->id == sdf->id)
			return &other->filter;
	}
	return NULL;
}

static bool
read_match(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, struct upf_rule_match *match,
	   struct pfcp_fault *fault)
{
	match->qfi = pdr->has_qfi ? pdr->qfi : WEIR_GTPU_NO_QFI;
	if (pdr->has_qfi && way_of(pdr) == DOWNLINK) /* there it comes in no QoS flow */
		return pfcp_refuses(fault, PFCP_IE_QFI);
	for (unsigned int i = 0; i < rules->filter_count; i++) {
		const struct upf_filter *filter;

		if (rules->filter[i].pdr_id != pdr->id)
			continue;
		if (match->filter_count == UPF_FILTERS_MAX)
			return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_SDF_FILTER);
		filter = filter_of(rules, &rules->filter[i]);
		if (filter == NULL)
			return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_SDF_FILTER);
		match->filter[match->filter_count++] = *filter;
	}
	return true;
}

/* The only rule of its direction, for all packets. */
static void
write_session(const struct pfcp_treatment *treatment, unsigned int way, struct upf_change *session)
{
	session->action[way] = treatment->drops ? UPF_ACTION_DROP : UPF_ACTION_FORWARD;
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
	rule->direction = (uint8_t)way_of(pdr);
	rule->drops = treatment->drops;
	rule->is_closed = treatment->is_closed;
	rule->of_session = shared != NULL && names(pdr, shared->id);
	rule->has_qfi_given = treatment->has_qfi;
	rule->qfi = treatment->qfi;
	rule->gnb_ip = treatment->gnb_ip;
	rule->gnb_teid = treatment->gnb_teid;
	rule->mbr_bps = treatment->mbr_bps;
	return read_usage(rules, pdr, rule->usage, fault) &&
	       read_match(rules, pdr, &rule->match, fault);
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

static bool
check_pdr(const struct pfcp_pdr *pdr, uint32_t teid, struct upf_change *session,
	  struct pfcp_fault *fault)
{
	if (pdr->source_interface > PFCP_CORE)
		return pfcp_refuses(fault, PFCP_IE_SOURCE_INTERFACE);
	return (way_of(pdr) != UPLINK || check_tunnel(pdr, teid, fault)) &&
	       read_ue(pdr, way_of(pdr), session, fault);
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
		const bool is_of_way = way_of(&rules->pdr[i]) == way;

		count += is_of_way;
		filtered |= is_of_way &&
			    (has_filters(rules, &rules->pdr[i]) || rules->pdr[i].urr_count > 0);
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

		if (way_of(pdr) != way)
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
		if (!check_pdr(&rules->pdr[i], teid, &wanted->session, fault))
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
	return wanted->session.ue_ip != 0 ||
	       pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_UE_IP_ADDRESS);
}

static bool
rules_differ(const struct pfcp_meaning *had, const struct pfcp_meaning *wanted)
{
	const unsigned int count = wanted->session.rule_count;

	return had->session.rule_count != count ||
	       memcmp(had->rule, wanted->rule, count * sizeof(wanted->rule[0])) != 0;
}

struct upf_change
pfcp_difference(const struct pfcp_meaning *had_meaning, const struct pfcp_meaning *wanted_meaning)
{
	const struct upf_change *had = &had_meaning->session, *wanted = &wanted_meaning->session;
	struct upf_change change = *wanted;

	change.rules = wanted_meaning->rule;
	change.given &= ~(uint32_t)UPF_GIVEN_RULES;
	if (rules_differ(had_meaning, wanted_meaning))
		change.given |= UPF_GIVEN_RULES;
	if (had->gnb_ip == wanted->gnb_ip && had->gnb_teid == wanted->gnb_teid)
		change.given &= ~(uint32_t)(UPF_GIVEN_GNB | UPF_GIVEN_GNB_TEID);
	if ((had->given & UPF_GIVEN_QFI) != 0 && had->qfi == wanted->qfi)
		change.given &= ~(uint32_t)UPF_GIVEN_QFI;
	for (unsigned int way = UPLINK; way <= DOWNLINK; way++) {
		if (had->action[way] == wanted->action[way])
			change.given &= ~(uint32_t)(UPF_GIVEN_ACTION << way);
		if (had->gate[way] == wanted->gate[way])
			change.given &= ~(uint32_t)(UPF_GIVEN_GATE << way);
		/* A rate that stays keeps its account of what has passed. */
		if (had->mbr_bps[way] == wanted->mbr_bps[way])
			change.given &= ~(uint32_t)(UPF_GIVEN_MBR << way);
	}
	return change;
}
