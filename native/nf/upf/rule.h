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

/* Which packets: of these versions of IP, in that QoS flow, if one is given, and of one of the
 * filters, if there are any. */
struct upf_rule_match {
	uint8_t qfi; /* in which they come; WEIR_GTPU_NO_QFI: any */
	uint8_t filter_count;
	uint8_t families; /* bits UPF_IPV4 and UPF_IPV6: of which they are */
	uint8_t zero;
	struct upf_filter filter[UPF_FILTERS_MAX];
};

struct upf_rule {
	struct upf_flow flow;
	struct weir_gtpu_tunnel tunnel; /* of what enters one */
	uint32_t next;			/* the one that is asked if this does not fit; 0: none */
	uint32_t queue;			/* of packets that wait; 0: none do */
	uint16_t id;
	uint32_t usage[UPF_USAGES_OF_RULE_MAX]; /* which count what it passes; the first 0 ends them
						 */
	struct upf_rule_match match;
} __rte_cache_aligned;
static_assert(sizeof(struct upf_rule) == 448, "as the documentation says");

/* Volumes of usage: both ways together, and each way. */
enum upf_volume { UPF_TOTAL, UPF_UPLINK, UPF_DOWNLINK, UPF_VOLUMES };

/* What several rules have passed together, each way: bytes of IP packets. It only grows; where one
 * of them would be above its limit, nothing passes any more until there are other limits. */
struct upf_usage {
	struct weir_counter passed[2]; /* by direction */
	uint64_t limit_bytes[UPF_VOLUMES];
	bool is_limited, is_exhausted;
};
static_assert(sizeof(struct upf_usage) == 64, "as the documentation says");

/* What may pass from now on. */
struct upf_quota {
	uint32_t usage;
	bool is_limited, is_exhausted;
	uint64_t bytes[UPF_VOLUMES]; /* UINT64_MAX: none */
};

/* What a rule is to be. */
struct upf_rule_wanted {
	uint16_t id;	   /* its own in that direction: a rule that stays keeps its counts */
	uint8_t direction; /* enum weir_direction */
	bool drops, is_closed;
	bool ends_tunnel;     /* if that becomes another one, the old one is told */
	bool keeps, notifies; /* its packets wait, and the first one is told */
	bool of_session;    /* the session's maximum bit rate in that direction holds for it too */
	bool has_qfi_given; /* `qfi`, and not the option's */
	uint16_t kept_most;
	uint8_t qfi;	 /* that what enters its tunnel carries */
	uint32_t gnb_ip; /* network byte order */
	uint32_t gnb_teid;
	uint32_t usage[UPF_USAGES_OF_RULE_MAX];
	uint64_t mbr_bps; /* its own; 0: none */
	struct upf_rule_match match;
};

#endif
