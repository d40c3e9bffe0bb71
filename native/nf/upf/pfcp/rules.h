/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a session (TS 29.244, clauses 7.5.2 to 7.5.4): which packets are meant (PDR), what
 * becomes of them (FAR), at which rate, in which QoS flow and whether at all (QER), what of them is
 * measured and reported (URR), and how many wait (BAR). */
#ifndef WEIR_NF_UPF_PFCP_RULES_H
#define WEIR_NF_UPF_PFCP_RULES_H

#include "../rule.h"
#include "read.h"

/* Of each kind, in a message and in a session. */
#define PFCP_RULES_MAX UPF_RULES_OF_SESSION_MAX
#define PFCP_FILTERS_MAX 16 /* of all packet detection rules together */
#define PFCP_QERS_OF_PDR_MAX 2
#define PFCP_URRS_MAX 8
#define PFCP_BARS_MAX 1 /* clause 7.5.2.6 */
#define PFCP_URRS_OF_PDR_MAX UPF_USAGES_OF_RULE_MAX

enum pfcp_rule_change { PFCP_CREATE, PFCP_UPDATE, PFCP_REMOVE };

/* Clause 8.2.3. Addresses in network byte order. */
struct pfcp_f_teid {
	bool given, chooses, has_choose_id;
	uint8_t choose_id;
	uint32_t teid, ip;
};

/* A service data flow filter of a packet detection rule: clause 8.2.5. */
struct pfcp_sdf {
	uint16_t pdr_id;
	bool is_described; /* else it is the one of that id elsewhere in the session */
	bool has_id;
	uint32_t id;
	struct upf_filter filter;
};

/* What a change of a packet detection rule gives. */
struct pfcp_pdr {
	enum pfcp_rule_change change;
	uint16_t id;
	bool has_pdi, has_ue, ue_is_destination, has_far, removes_outer_header;
	bool has_precedence, has_qfi;
	uint8_t qfi;		  /* of what comes */
	uint8_t source_interface; /* enum pfcp_interface, or another */
	uint8_t outer_header_removal;
	uint8_t qer_count;   /* 0: none is given */
	uint32_t precedence; /* the least is asked first: clause 8.2.11 */
	struct pfcp_f_teid f_teid;
	struct upf_ue ue;
	struct pfcp_span pdi; /* points into the message; of no use later */
	uint32_t far_id;
	uint32_t qer_id[PFCP_QERS_OF_PDR_MAX];
	uint8_t urr_count; /* 0: none is given */
	uint32_t urr_id[PFCP_URRS_OF_PDR_MAX];
};

/* A forwarding action rule. */
struct pfcp_far {
	enum pfcp_rule_change change;
	uint32_t id;
	bool has_action, has_destination, has_outer_header, has_bar;
	bool ends_tunnel;    /* of a change alone: the tunnel that it had is told */
	uint8_t action;	     /* bits of enum pfcp_action, and others */
	uint8_t destination; /* enum pfcp_interface, or another */
	uint8_t outer_header;
	uint8_t bar_id;
	uint32_t teid, ip; /* of PFCP_GTPU_UDP_IPV4; `ip` in network byte order */
};

/* A buffering action rule. */
struct pfcp_bar {
	enum pfcp_rule_change change;
	uint8_t id;
	bool has_packets;
	uint8_t packets; /* that may wait */
};

/* A QoS enforcement rule; [0] is uplink, [1] downlink. */
struct pfcp_qer {
	enum pfcp_rule_change change;
	uint32_t id;
	bool has_gate, has_mbr, has_qfi;
	bool is_closed[2];
	uint64_t mbr_bps[2];
	uint8_t qfi;
};

/* Where the usage of a usage reporting rule is counted, and what of it is in no report yet. */
struct pfcp_meter {
	uint32_t slot;		    /* of the function's usages; 0: none yet */
	uint32_t sequence;	    /* of the next report */
	uint64_t reported_bytes[2]; /* by direction: what the slot had counted at the last one */
	/* Since 1900: when the last report was, or the rule came; the period began; time that is
	 * counted began, 0: it has not. */
	uint64_t began_ms, period_began_ms, time_began_ms;
	uint64_t quota_began_ms; /* time of the quota, likewise */
	uint32_t used_up;	 /* which of its quotas are: bits of enum pfcp_trigger */
	bool quota_told;	 /* that it is used up; whoever asked knows */
};

/* A usage reporting rule. */
struct pfcp_urr {
	enum pfcp_rule_change change;
	uint32_t id;
	bool has_method, has_triggers, has_period, has_volume, has_time, has_information;
	bool has_volume_quota, has_time_quota;
	bool is_granted;     /* by this change: its quotas, or that it has none */
	bool starts_at_once; /* time counts before the first packet, too */
	uint8_t method;	     /* bits of enum pfcp_method */
	uint32_t triggers;   /* bits of enum pfcp_trigger */
	uint32_t period_s, time_threshold_s;
	uint32_t time_quota_s;
	uint64_t volume_threshold_bytes[PFCP_VOLUMES]; /* UINT64_MAX: none */
	uint64_t volume_quota_bytes[PFCP_VOLUMES];     /* likewise */
	struct pfcp_meter meter;
};

struct pfcp_rules {
	unsigned int pdr_count, far_count, qer_count, filter_count, urr_count, bar_count;
	struct pfcp_pdr pdr[PFCP_RULES_MAX];
	struct pfcp_far far[PFCP_RULES_MAX];
	struct pfcp_qer qer[PFCP_RULES_MAX];
	struct pfcp_sdf filter[PFCP_FILTERS_MAX];
	struct pfcp_urr urr[PFCP_URRS_MAX];
	struct pfcp_bar bar[PFCP_BARS_MAX];
};

/* How many of the rows of a rule hold: of one that is removed its number, the first row, alone. */
static inline unsigned int
pfcp_rows_of(enum pfcp_rule_change change, unsigned int row_count)
{
	return change == PFCP_REMOVE ? 1 : row_count;
}

/* The rule of one element of a session request. `value`: that of the element. */
bool pfcp_pdr_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
		   struct pfcp_fault *fault);
bool pfcp_far_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
		   struct pfcp_fault *fault);
bool pfcp_qer_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
		   struct pfcp_fault *fault);
bool pfcp_urr_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
		   struct pfcp_fault *fault);
bool pfcp_bar_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
		   struct pfcp_fault *fault);
/* The number in the element of a rule that is queried. */
bool pfcp_queried_urr_read(struct pfcp_span value, uint32_t *id, struct pfcp_fault *fault);

#endif
