/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports that nobody asked for (TS 29.244, clause 7.5.8): whose time has come, and which are sent
 * again until they are answered (clause 6.4). What is measured while there is no room for more
 * reports is in a later one.
 */
#ifndef WEIR_NF_UPF_PFCP_REPORTS_H
#define WEIR_NF_UPF_PFCP_REPORTS_H

#include "replies.h"

struct pfcp_agent;

#define PFCP_REPORTS_MAX 256 /* that are not answered yet */
#define PFCP_REPORT_AGAIN_MS 3000
#define PFCP_REPORT_TRIES 3

/* A Session Report Request. */
struct pfcp_report {
	uint8_t tries; /* 0: none is here */
	uint32_t sequence, to_ip;
	uint64_t again_ms;
	struct pfcp_writer message;
};

/* Reports on their way, and places of sessions with usage reporting rules, which are looked at one
 * after the other. */
struct pfcp_reports {
	struct pfcp_report *report;
	uint32_t sequence;
	uint32_t *metered;
	uint32_t metered_count, next;
	/* Of the present turn. */
	uint64_t turn_ms;
	uint32_t left;		/* sessions */
	unsigned int next_sent; /* reports */
};

bool pfcp_reports_init(struct pfcp_reports *reports, uint32_t capacity);
void pfcp_reports_fini(struct pfcp_reports *reports);

/* The session at that place has usage reporting rules, or none any more. */
void pfcp_reports_follow(struct pfcp_agent *agent, uint32_t place, bool has_rules);
/* Those to that peer are of no use any more. */
void pfcp_reports_forget(struct pfcp_reports *reports, uint32_t to_ip);
/* What came is a response to a report. */
void pfcp_reports_answered(struct pfcp_agent *agent, struct pfcp_peer from,
			   const struct pfcp_header *header);

#endif
