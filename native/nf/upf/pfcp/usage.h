/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured for usage reporting rules (TS 29.244, clause 5.2.2), and what reports say of it.
 */
#ifndef WEIR_NF_UPF_PFCP_USAGE_H
#define WEIR_NF_UPF_PFCP_USAGE_H

#include "rules.h"
#include "way.h"
#include "write.h"

/* Slots of the function's usages that no rule has. */
struct pfcp_slots {
	uint32_t *slot;
	uint32_t count;
};

/* One usage report: tables 7.5.5.2-1, 7.5.7.2-1 and 7.5.8.3-1. */
struct pfcp_usage {
	uint32_t urr_id, sequence;
	uint32_t triggers;	 /* bits of enum pfcp_trigger */
	uint8_t method;		 /* bits of enum pfcp_method: what follows is there */
	uint32_t start_s, end_s; /* since 1900 */
	uint64_t volume_bytes[PFCP_VOLUMES];
	uint32_t duration_s;
};

/* Those of one message. */
struct pfcp_usages {
	unsigned int count;
	struct pfcp_usage usage[PFCP_URRS_MAX];
};

bool pfcp_slots_init(struct pfcp_slots *slots, uint64_t count);

/* Gives each rule that has no slot one, and measures from now on. False: there are too few, and
 * those that were given stay: see pfcp_meters_end(). */
bool pfcp_meters_begin(struct pfcp_slots *slots, const struct pfcp_way *way, struct pfcp_urr *urr,
		       unsigned int count, struct pfcp_fault *fault);
/* Takes the slots of those rules back that are not among `others`. */
void pfcp_meters_end(struct pfcp_slots *slots, const struct pfcp_urr *urr, unsigned int count,
		     const struct pfcp_urr *others, unsigned int other_count);
/* Whether the rule has its slot among these. */
bool pfcp_is_among(const struct pfcp_urr *urr, const struct pfcp_urr *others, unsigned int count);

/* Quotas that a change granted, and that rules which are new have none but these: as the function
 * takes them. They count from now on. How many there are. */
unsigned int pfcp_meters_grant(const struct pfcp_way *way, struct pfcp_urr *urr, unsigned int count,
			       struct upf_quota quotas[PFCP_URRS_MAX]);

/* Which of its triggers are met, and whether a quota is used up; 0: none is. */
uint32_t pfcp_meter_looks(const struct pfcp_way *way, struct pfcp_urr *urr);
/* What was measured since the last report; the next one begins here. */
void pfcp_meter_reports(const struct pfcp_way *way, struct pfcp_urr *urr, uint32_t triggers,
			struct pfcp_usages *usages);
void pfcp_put_usages(struct pfcp_writer *writer, enum pfcp_ie_type ie,
		     const struct pfcp_usages *usages);

#endif
