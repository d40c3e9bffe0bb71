/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the packets of one packet detection rule, by its FAR and its QERs. */
#ifndef WEIR_NF_UPF_PFCP_TREATMENT_H
#define WEIR_NF_UPF_PFCP_TREATMENT_H

#include "engine/nf.h"
#include "rules.h"

#define UPLINK WEIR_OUTBOUND
#define DOWNLINK WEIR_INBOUND

struct pfcp_treatment {
	bool drops, is_closed, has_outer_header, has_qfi;
	bool keeps, notifies; /* of downlink: packets wait, and the first one is told */
	uint8_t kept_most;    /* by its BAR; 0: none says */
	uint8_t qfi;
	uint32_t gnb_ip; /* network byte order */
	uint32_t gnb_teid;
	uint64_t mbr_bps; /* 0: none */
};

/* The rate of that direction; 0: none, or one above the greatest that is held to. */
uint64_t pfcp_rate_of(const struct pfcp_qer *qer, unsigned int way);

/* Fills a treatment that is zero. `shared`: the QER whose rate is the session's, not the rule's;
 * NULL: none is. False: `fault`. */
bool pfcp_treatment_read(const struct pfcp_rules *rules, const struct pfcp_pdr *pdr,
			 unsigned int way, const struct pfcp_qer *shared,
			 struct pfcp_treatment *treatment, struct pfcp_fault *fault);

#endif
