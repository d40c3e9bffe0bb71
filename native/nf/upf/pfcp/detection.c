/* SPDX-License-Identifier: Apache-2.0 */
#include "detection.h"

#include "treatment.h"

unsigned int
pfcp_way_of(const struct pfcp_pdr *pdr)
{
	return pdr->source_interface == PFCP_ACCESS ? UPLINK : DOWNLINK;
}

static bool
has_prefix_of(const struct upf_ue *one, const struct upf_ue *other)
{
	return one->prefix_bits == other->prefix_bits &&
	       upf_prefix_is(&one->prefix, &other->prefix);
}

static bool
read_ue(const struct pfcp_pdr *pdr, unsigned int way, struct upf_ue *ue, struct pfcp_fault *fault)
{
	if (!pdr->has_ue)
		return way == UPLINK ||
		       pfcp_fails(fault, PFCP_CONDITIONAL_IE_MISSING, PFCP_IE_UE_IP_ADDRESS);
	/* One address and one prefix a session, in whichever of its rules. */
	if (!upf_ue_is_named(&pdr->ue) || pdr->ue_is_destination != (way == DOWNLINK) ||
	    (pdr->ue.ip != 0 && ue->ip != 0 && ue->ip != pdr->ue.ip) ||
	    (pdr->ue.prefix_bits != 0 && ue->prefix_bits != 0 && !has_prefix_of(ue, &pdr->ue)))
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	if (pdr->ue.ip != 0)
		ue->ip = pdr->ue.ip;
	if (pdr->ue.prefix_bits != 0) {
		ue->prefix = pdr->ue.prefix;
		ue->prefix_bits = pdr->ue.prefix_bits;
	}
	return true;
}

/* Of which versions of IP a UE's packets are. */
static uint8_t
families_of(const struct upf_ue *ue)
{
	return (ue->ip != 0 ? UPF_IPV4 : 0) | (ue->prefix_bits != 0 ? UPF_IPV6 : 0);
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
pfcp_pdr_check(const struct pfcp_pdr *pdr, uint32_t teid, struct upf_ue *ue,
	       struct pfcp_fault *fault)
{
	const unsigned int way = pfcp_way_of(pdr);

	if (pdr->source_interface > PFCP_CORE)
		return pfcp_refuses(fault, PFCP_IE_SOURCE_INTERFACE);
	return (way != UPLINK || check_tunnel(pdr, teid, fault)) && read_ue(pdr, way, ue, fault);
}

bool
pfcp_pdr_is_for_some(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
		     const struct upf_ue *ue)
{
	for (unsigned int i = 0; i < rules->filter_count; i++) {
		if (rules->filter[i].pdr_id == pdr->id)
			return true;
	}
	return pdr->has_ue && families_of(&pdr->ue) != families_of(ue);
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

bool
pfcp_pdr_match(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
	       struct upf_rule_match *match, struct pfcp_fault *fault)
{
	match->families = pdr->has_ue ? families_of(&pdr->ue) : UPF_ANY_FAMILY;
	match->qfi = pdr->has_qfi ? pdr->qfi : WEIR_GTPU_NO_QFI;
	if (pdr->has_qfi && pfcp_way_of(pdr) == DOWNLINK) /* there it comes in no QoS flow */
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
