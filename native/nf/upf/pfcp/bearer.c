/* SPDX-License-Identifier: Apache-2.0 */
#include "bearer.h"

#define UPLINK WEIR_OUTBOUND
#define DOWNLINK WEIR_INBOUND

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

/* Its FAR, forwarding towards `destination`, or dropping. */
static bool
read_far(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, unsigned int way,
	 struct upf_change *wanted, struct pfcp_fault *fault)
{
	const struct pfcp_far *far = pdr->has_far ? far_of(rules, pdr->far_id) : NULL;

	if (far == NULL)
		return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_FAR_ID);
	if (far->has_outer_header && way == DOWNLINK) {
		if (far->teid == 0 || far->ip == 0)
			return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT,
					  PFCP_IE_OUTER_HEADER_CREATION);
		wanted->given |= UPF_GIVEN_GNB | UPF_GIVEN_GNB_TEID;
		wanted->gnb_ip = far->ip;
		wanted->gnb_teid = far->teid;
	}
	if (far->action == PFCP_DROP)
		return true;
	if (far->action != PFCP_FORWARD)
		return pfcp_refuses(fault, PFCP_IE_APPLY_ACTION);
	if (!far->has_destination || far->destination != (way == UPLINK ? PFCP_CORE : PFCP_ACCESS))
		return pfcp_refuses(fault, PFCP_IE_DESTINATION_INTERFACE);
	if (far->has_outer_header != (way == DOWNLINK))
		return far->has_outer_header ? pfcp_refuses(fault, PFCP_IE_OUTER_HEADER_CREATION)
					     : pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING,
							  PFCP_IE_OUTER_HEADER_CREATION);
	wanted->action[way] = UPF_ACTION_FORWARD;
	return true;
}

/* Several QERs of a rule all hold: one closed gate closes, and the lowest rate limits. */
static bool
read_qers(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr, unsigned int way,
	  struct upf_change *wanted, struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < pdr->qer_count; i++) {
		const struct pfcp_qer *qer = qer_of(rules, pdr->qer_id[i]);

		if (qer == NULL)
			return pfcp_fails(fault, PFCP_RULE_FAILURE, PFCP_IE_QER_ID);
		if (qer->is_closed[way] || (qer->has_mbr && qer->mbr_bps[way] == 0))
			wanted->gate[way] = UPF_GATE_CLOSED;
		/* What is above the greatest rate that is held to holds nothing back. */
		if (qer->has_mbr && qer->mbr_bps[way] != 0 &&
		    qer->mbr_bps[way] <= UPF_MBR_MAX_BPS &&
		    (wanted->mbr_bps[way] == 0 || qer->mbr_bps[way] < wanted->mbr_bps[way]))
			wanted->mbr_bps[way] = qer->mbr_bps[way];
		if (qer->has_qfi && way == DOWNLINK) {
			wanted->given |= UPF_GIVEN_QFI;
			wanted->qfi = qer->qfi;
		}
	}
	return true;
}

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

bool
pfcp_rules_mean(const struct pfcp_rules *rules, uint32_t teid, struct upf_change *wanted,
		struct pfcp_fault *fault)
{
	bool has[2] = {false};

	*wanted = (struct upf_change){
		.given = UPF_GIVEN_UE,
		.action = {UPF_ACTION_DROP, UPF_ACTION_DROP}, /* a way without a rule */
	};
	for (unsigned int way = UPLINK; way <= DOWNLINK; way++)
		wanted->given |= (UPF_GIVEN_ACTION | UPF_GIVEN_GATE | UPF_GIVEN_MBR) << way;
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		const struct pfcp_pdr *pdr = &rules->pdr[i];
		const unsigned int way = pdr->source_interface == PFCP_ACCESS ? UPLINK : DOWNLINK;

		if (pdr->source_interface > PFCP_CORE || has[way])
			return pfcp_refuses(fault, PFCP_IE_SOURCE_INTERFACE);
		has[way] = true;
		if ((way == UPLINK && !check_tunnel(pdr, teid, fault)) ||
		    !read_ue(pdr, way, wanted, fault) ||
		    !read_far(rules, pdr, way, wanted, fault) ||
		    !read_qers(rules, pdr, way, wanted, fault))
			return false;
	}
	return wanted->ue_ip != 0 ||
	       pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_UE_IP_ADDRESS);
}

struct upf_change
pfcp_difference(const struct upf_change *had, const struct upf_change *wanted)
{
	struct upf_change change = *wanted;

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
