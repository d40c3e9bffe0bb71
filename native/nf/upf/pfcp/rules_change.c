/* SPDX-License-Identifier: Apache-2.0 */
/* What a request makes of the rules that a session has (TS 29.244, clause 7.5.4). */
#include <string.h>

#include "bearer.h"

static void
update_pdr(struct pfcp_pdr *pdr, const struct pfcp_pdr *by)
{
	if (by->has_precedence)
		pdr->precedence = by->precedence;
	if (by->has_pdi) {
		pdr->has_qfi = by->has_qfi;
		pdr->qfi = by->qfi;
		pdr->source_interface = by->source_interface;
		pdr->f_teid = by->f_teid;
		pdr->has_ue = by->has_ue;
		pdr->ue_is_destination = by->ue_is_destination;
		pdr->ue = by->ue;
	}
	if (by->removes_outer_header) {
		pdr->removes_outer_header = true;
		pdr->outer_header_removal = by->outer_header_removal;
	}
	if (by->has_far) {
		pdr->has_far = true;
		pdr->far_id = by->far_id;
	}
	if (by->qer_count > 0) {
		pdr->qer_count = by->qer_count;
		memcpy(pdr->qer_id, by->qer_id, sizeof(pdr->qer_id));
	}
	if (by->urr_count > 0) {
		pdr->urr_count = by->urr_count;
		memcpy(pdr->urr_id, by->urr_id, sizeof(pdr->urr_id));
	}
}

static void
update_far(struct pfcp_far *far, const struct pfcp_far *by)
{
	if (by->has_action) {
		far->has_action = true;
		far->action = by->action;
	}
	if (by->has_destination) {
		far->has_destination = true;
		far->destination = by->destination;
	}
	if (by->has_outer_header) {
		far->has_outer_header = true;
		far->outer_header = by->outer_header;
		far->teid = by->teid;
		far->ip = by->ip;
	}
	if (by->has_bar) {
		far->has_bar = true;
		far->bar_id = by->bar_id;
	}
}

static void
update_bar(struct pfcp_bar *bar, const struct pfcp_bar *by)
{
	if (by->has_packets) {
		bar->has_packets = true;
		bar->packets = by->packets;
	}
}

static void
update_qer(struct pfcp_qer *qer, const struct pfcp_qer *by)
{
	for (unsigned int way = 0; way < 2; way++) {
		if (by->has_gate)
			qer->is_closed[way] = by->is_closed[way];
		if (by->has_mbr)
			qer->mbr_bps[way] = by->mbr_bps[way];
	}
	qer->has_mbr |= by->has_mbr;
	if (by->has_qfi) {
		qer->has_qfi = true;
		qer->qfi = by->qfi;
	}
}

/* What is measured stays. */
static void
update_urr(struct pfcp_urr *urr, const struct pfcp_urr *by)
{
	if (by->has_method)
		urr->method = by->method;
	if (by->has_triggers)
		urr->triggers = by->triggers;
	if (by->has_period) {
		urr->has_period = true;
		urr->period_s = by->period_s;
	}
	if (by->has_volume) {
		urr->has_volume = true;
		memcpy(urr->volume_threshold_bytes, by->volume_threshold_bytes,
		       sizeof(urr->volume_threshold_bytes));
	}
	if (by->has_time) {
		urr->has_time = true;
		urr->time_threshold_s = by->time_threshold_s;
	}
	if (by->has_volume_quota) {
		urr->has_volume_quota = true;
		memcpy(urr->volume_quota_bytes, by->volume_quota_bytes,
		       sizeof(urr->volume_quota_bytes));
	}
	if (by->has_time_quota) {
		urr->has_time_quota = true;
		urr->time_quota_s = by->time_quota_s;
	}
	urr->is_granted |= by->is_granted;
	if (by->has_information)
		urr->starts_at_once = by->starts_at_once;
}

/* One change of a kind of rules: a new one has an id that none has, another one's is there. */
#define DEFINE_CHANGE(kind, ie, most)                                                              \
	static bool change_##kind(struct pfcp_rules *rules, const struct pfcp_##kind *by,          \
				  struct pfcp_fault *fault)                                        \
	{                                                                                          \
		unsigned int at = 0;                                                               \
                                                                                                   \
		while (at < rules->kind##_count && rules->kind[at].id != by->id)                   \
			at++;                                                                      \
		if ((at == rules->kind##_count) != (by->change == PFCP_CREATE))                    \
			return pfcp_fails(fault, PFCP_RULE_FAILURE, ie);                           \
		if (at == (most))                                                                  \
			return pfcp_fails(fault, PFCP_NO_RESOURCES, ie);                           \
		switch (by->change) {                                                              \
		case PFCP_CREATE:                                                                  \
			rules->kind[rules->kind##_count++] = *by;                                  \
			break;                                                                     \
		case PFCP_UPDATE:                                                                  \
			update_##kind(&rules->kind[at], by);                                       \
			break;                                                                     \
		case PFCP_REMOVE:                                                                  \
			/* Those that stay, as they came. */                                       \
			rules->kind##_count--;                                                     \
			memmove(&rules->kind[at], &rules->kind[at + 1],                            \
				(rules->kind##_count - at) * sizeof(rules->kind[0]));              \
			break;                                                                     \
		}                                                                                  \
		return true;                                                                       \
	}

DEFINE_CHANGE(pdr, PFCP_IE_PDR_ID, PFCP_RULES_MAX)
DEFINE_CHANGE(far, PFCP_IE_FAR_ID, PFCP_RULES_MAX)
DEFINE_CHANGE(qer, PFCP_IE_QER_ID, PFCP_RULES_MAX)
DEFINE_CHANGE(urr, PFCP_IE_URR_ID, PFCP_URRS_MAX)
DEFINE_CHANGE(bar, PFCP_IE_BAR_ID, PFCP_BARS_MAX)

/* The filters of a rule whose detection information is new, or which goes, go. */
static void
remove_filters(struct pfcp_rules *rules, uint16_t pdr_id)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < rules->filter_count; i++) {
		if (rules->filter[i].pdr_id != pdr_id)
			rules->filter[kept++] = rules->filter[i];
	}
	rules->filter_count = kept;
}

static bool
add_filters(struct pfcp_rules *rules, const struct pfcp_rules *changes, struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < changes->filter_count; i++) {
		if (rules->filter_count == PFCP_FILTERS_MAX)
			return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_SDF_FILTER);
		rules->filter[rules->filter_count++] = changes->filter[i];
	}
	return true;
}

bool
pfcp_rules_change(struct pfcp_rules *rules, const struct pfcp_rules *changes,
		  struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < changes->pdr_count; i++) {
		if (!change_pdr(rules, &changes->pdr[i], fault))
			return false;
		if (changes->pdr[i].has_pdi || changes->pdr[i].change == PFCP_REMOVE)
			remove_filters(rules, changes->pdr[i].id);
	}
	if (!add_filters(rules, changes, fault))
		return false;
	for (unsigned int i = 0; i < changes->far_count; i++) {
		if (!change_far(rules, &changes->far[i], fault))
			return false;
	}
	for (unsigned int i = 0; i < changes->qer_count; i++) {
		if (!change_qer(rules, &changes->qer[i], fault))
			return false;
	}
	for (unsigned int i = 0; i < changes->urr_count; i++) {
		if (!change_urr(rules, &changes->urr[i], fault))
			return false;
	}
	for (unsigned int i = 0; i < changes->bar_count; i++) {
		if (!change_bar(rules, &changes->bar[i], fault))
			return false;
	}
	return true;
}
