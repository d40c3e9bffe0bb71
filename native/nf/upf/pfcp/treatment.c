/* SPDX-License-Identifier: Apache-2.0 */
#include "treatment.h"

#include "../upf.h"

/* One rule of a session: its FARs and QERs are few. */
static const struct pfcp_far *
far_of(const struct pfcp_rules *rules, uint32_t id)
{
	for (unsigned int i = 0; i < rules->far_count; i++) {
		if (rules->far[i].id == id)
			return &rules->far[i];
	}
	return NULL;
}

static const struct pfcp_qer *
qer_of(const struct pfcp_rules *rules, uint32_t id)
{
	for (unsigned int i = 0; i < rules->qer_count; i++) {
		if (rules->qer[i].id == id)
			return &rules->qer[i];
	}
	return NULL;
}

/* What the FAR's BAR says, if it names one. */
static bool
read_bar(const struct pfcp_rules *rules, const struct pfcp_far *far,
	 struct pfcp_treatment *treatment, struct pfcp_fault *fault)
{
	if (!far->has_bar)
		return true;
	for (unsigned int i = 0; i < rules->bar_count; i++) {
		if (rules->bar[i].id != far->bar_id)
			continue;
		treatment->kept_most = rules->bar[i].packets;
		return true;
	}
	return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_BAR_ID);
}

/* Its FAR, forwarding towards the other side, keeping what is to be sent there, or dropping. */
static bool
read_far(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, unsigned int way,
	 struct pfcp_treatment *treatment, struct pfcp_fault *fault)
{
	const struct pfcp_far *far = pdr->has_far ? far_of(rules, pdr->far_id) : NULL;

	if (far == NULL)
		return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_FAR_ID);
	if (far->has_outer_header && way == DOWNLINK) {
		if (far->teid == 0 || far->ip == 0)
			return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT,
					  PFCP_IE_OUTER_HEADER_CREATION);
		treatment->has_outer_header = true;
		treatment->gnb_ip = far->ip;
		treatment->gnb_teid = far->teid;
	}
	treatment->drops = far->action == PFCP_DROP;
	if (treatment->drops)
		return true;
	if (way == DOWNLINK && (far->action & ~PFCP_NOTIFY) == PFCP_BUFFER) {
		treatment->keeps = true;
		treatment->notifies = (far->action & PFCP_NOTIFY) != 0;
		return read_bar(rules, far, treatment, fault);
	}
	if (far->action != PFCP_FORWARD)
		return pfcp_refuses(fault, PFCP_IE_APPLY_ACTION);
	if (!far->has_destination || far->destination != (way == UPLINK ? PFCP_CORE : PFCP_ACCESS))
		return pfcp_refuses(fault, PFCP_IE_DESTINATION_INTERFACE);
	if (far->has_outer_header != (way == DOWNLINK))
		return far->has_outer_header ? pfcp_refuses(fault, PFCP_IE_OUTER_HEADER_CREATION)
					     : pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING,
							  PFCP_IE_OUTER_HEADER_CREATION);
	return true;
}

uint64_t
pfcp_rate_of(const struct pfcp_qer *qer, unsigned int way)
{
	return qer->has_mbr && qer->mbr_bps[way] <= UPF_MBR_MAX_BPS ? qer->mbr_bps[way] : 0;
}

static uint64_t
lower(uint64_t bps, uint64_t other_bps)
{
	return bps == 0 || (other_bps != 0 && other_bps < bps) ? other_bps : bps;
}

/* Several QERs of a rule all hold: one closed gate closes, and the lowest rate limits. `shared`:
 * the one whose rate is the session's; NULL: none is. */
static bool
read_qers(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, unsigned int way,
	  const struct pfcp_qer *shared, struct pfcp_treatment *treatment, struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < pdr->qer_count; i++) {
		const struct pfcp_qer *qer = qer_of(rules, pdr->qer_id[i]);

		if (qer == NULL)
			return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_QER_ID);
		treatment->is_closed |=
			qer->is_closed[way] || (qer->has_mbr && qer->mbr_bps[way] == 0);
		if (qer != shared)
			treatment->mbr_bps = lower(treatment->mbr_bps, pfcp_rate_of(qer, way));
		if (qer->has_qfi && way == DOWNLINK) {
			treatment->has_qfi = true;
			treatment->qfi = qer->qfi;
		}
	}
	return true;
}

bool
pfcp_treatment_read(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, unsigned int way,
		    const struct pfcp_qer *shared, struct pfcp_treatment *treatment,
		    struct pfcp_fault *fault)
{
	return read_far(rules, pdr, way, treatment, fault) &&
	       read_qers(rules, pdr, way, shared, treatment, fault);
}
