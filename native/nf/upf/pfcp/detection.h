/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets a packet detection rule is for: of which UE, in which tunnel, by which filters. */
#ifndef WEIR_NF_UPF_PFCP_DETECTION_H
#define WEIR_NF_UPF_PFCP_DETECTION_H

#include "rules.h"

/* UPLINK or DOWNLINK. */
unsigned int pfcp_way_of(const struct pfcp_pdr *pdr);
/* Whether it is of one UE's tunnel: adds what it says of `ue` to what others said. `teid`: of this
 * end, or 0. False: `fault`. */
bool pfcp_pdr_check(const struct pfcp_pdr *pdr, uint32_t teid, struct upf_ue *ue,
		    struct pfcp_fault *fault);
/* Whether packets have to be looked at: it is not for all that the UE may have. */
bool pfcp_pdr_is_for_some(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
			  const struct upf_ue *ue);
/* Fills a match that is zero. False: `fault`. */
bool pfcp_pdr_match(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
		    struct upf_rule_match *match, struct pfcp_fault *fault);

#endif
