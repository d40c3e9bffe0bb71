/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a session that has several in a direction (TS 29.244, clause 5.2.1): which packets each
 * is for, and what becomes of them. */
#ifndef WEIR_NF_UPF_RULE_H
#define WEIR_NF_UPF_RULE_H

#include "filter.h"
#include "session.h"

/* Of a session, both directions together. */
#define UPF_RULES_OF_SESSION_MAX 16
#define UPF_FILTERS_MAX 4
#define UPF_USAGES_OF_RULE_MAX 4

/* Which packets: in that QoS flow, if one is given, and of one of the filters, if there are any. */
struct upf_rule_match {
	uint8_t qfi; /* in which they come; WEIR_GTPU_NO_QFI: any */
	uint8_t filter_count;
	struct upf_filter filter[UPF_FILTERS_MAX];
};

struct upf_rule {
	struct upf_flow flow;
	struct weir_gtpu_tunnel tunnel; /* of what enters one */
	uint32_t next;			/* the one that is asked if this does not fit; 0: none */
	uint16_t id;
	uint32_t usage[UPF_USAGES_OF_RULE_MAX]; /* which count what it passes; the first 0 ends them
						 */
	struct upf_rule_match match;
} __rte_cache_aligned;
static_assert(sizeof(struct upf_rule) == 320, "as the option says");

/* What several rules have passed together, each way: bytes of IP packets. It only grows. */
struct upf_usage {
	struct weir_counter passed[2]; /* by direction */
};

/* What a rule is to be. */
struct upf_rule_wanted {
	uint16_t id;	   /* its own in that direction: a rule that stays keeps its counts */
	uint8_t direction; /* enum weir_direction */
	bool drops, is_closed;
	bool of_session;    /* the session's maximum bit rate in that direction holds for it too */
	bool has_qfi_given; /* `qfi`, and not the option's */
	uint8_t qfi;	    /* that what enters its tunnel carries */
	uint32_t gnb_ip;    /* network byte order */
	uint32_t gnb_teid;
	uint32_t usage[UPF_USAGES_OF_RULE_MAX];
	uint64_t mbr_bps; /* its own; 0: none */
	struct upf_rule_match match;
};

#endif
