/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding action rules, buffering action rules and QoS enforcement rules. */
#include "rules.h"

#include <string.h>

/* Forwarding action rules: tables 7.5.2.3-1, 7.5.4.3-1 and 7.5.4.7-1. */

static bool
read_far_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_far *)group)->id = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_action(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_far *far = group;

	(void)fault;
	far->has_action = true;
	far->action = value.at[0];
	return true;
}

static bool
read_destination(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_far *far = group;

	(void)fault;
	far->has_destination = true;
	far->destination = value.at[0] & 0x0f;
	return true;
}

/* Clause 8.2.56. */
static bool
read_outer_header(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_far *far = group;

	if (value.at[0] != PFCP_GTPU_UDP_IPV4)
		return pfcp_refuses(fault, PFCP_IE_OUTER_HEADER_CREATION);
	if (value.bytes < 10)
		return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_OUTER_HEADER_CREATION);
	far->has_outer_header = true;
	far->outer_header = value.at[0];
	far->teid = (uint32_t)pfcp_number(value.at + 2, 4);
	memcpy(&far->ip, value.at + 6, sizeof(far->ip));
	return true;
}

static bool
read_far_flags(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_far *)group)->ends_tunnel = (value.at[0] & PFCP_SENDS_END_MARKER) != 0;
	return true;
}

static bool
read_parameters(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	static const struct pfcp_row rows[] = {
		{PFCP_IE_DESTINATION_INTERFACE, 1, true, false, read_destination},
		{PFCP_IE_OUTER_HEADER_CREATION, 2, false, false, read_outer_header},
	};

	return pfcp_group_read(rows, PFCP_COUNT(rows), value, group, fault);
}

static bool
read_updated_parameters(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	static const struct pfcp_row rows[] = {
		{PFCP_IE_DESTINATION_INTERFACE, 1, false, false, read_destination},
		{PFCP_IE_OUTER_HEADER_CREATION, 2, false, false, read_outer_header},
		{PFCP_IE_SMREQ_FLAGS, 1, false, false, read_far_flags},
	};

	return pfcp_group_read(rows, PFCP_COUNT(rows), value, group, fault);
}

static bool
read_far_bar_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_far *far = group;

	(void)fault;
	far->has_bar = true;
	far->bar_id = value.at[0];
	return true;
}

bool
pfcp_far_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
	      struct pfcp_fault *fault)
{
	static const struct pfcp_row created[] = {
		{PFCP_IE_FAR_ID, 4, true, false, read_far_id},
		{PFCP_IE_APPLY_ACTION, 1, true, false, read_action},
		{PFCP_IE_FORWARDING_PARAMETERS, 0, false, false, read_parameters},
		{PFCP_IE_BAR_ID, 1, false, false, read_far_bar_id},
	};
	static const struct pfcp_row updated[] = {
		{PFCP_IE_FAR_ID, 4, true, false, read_far_id},
		{PFCP_IE_APPLY_ACTION, 1, false, false, read_action},
		{PFCP_IE_UPDATE_FORWARDING_PARAMETERS, 0, false, false, read_updated_parameters},
		{PFCP_IE_BAR_ID, 1, false, false, read_far_bar_id},
	};
	struct pfcp_far *far = &rules->far[rules->far_count];

	if (rules->far_count == PFCP_RULES_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	rules->far_count++;
	*far = (struct pfcp_far){.change = change};
	return pfcp_group_read(change == PFCP_CREATE ? created : updated,
			       pfcp_rows_of(change, PFCP_COUNT(created)), value, far, fault);
}

/* Buffering action rules: tables 7.5.2.6-1, 7.5.4.11-1 and 7.5.4.12-1. */

static bool
read_bar_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_bar *)group)->id = value.at[0];
	return true;
}

static bool
read_packets(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_bar *bar = group;

	(void)fault;
	bar->has_packets = true;
	bar->packets = value.at[0];
	return true;
}

bool
pfcp_bar_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
	      struct pfcp_fault *fault)
{
	static const struct pfcp_row rows[] = {
		{PFCP_IE_BAR_ID, 1, true, false, read_bar_id},
		{PFCP_IE_SUGGESTED_PACKETS, 1, false, false, read_packets},
	};
	struct pfcp_bar *bar = &rules->bar[rules->bar_count];

	if (rules->bar_count == PFCP_BARS_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	rules->bar_count++;
	*bar = (struct pfcp_bar){.change = change};
	return pfcp_group_read(rows, pfcp_rows_of(change, PFCP_COUNT(rows)), value, bar, fault);
}

/* QoS enforcement rules: tables 7.5.2.5-1, 7.5.4.5-1 and 7.5.4.9-1. */

static bool
read_qer_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_qer *)group)->id = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

/* Clause 8.2.7: 0 is open, 1 closed, and others are as closed. */
static bool
read_gate(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_qer *qer = group;

	(void)fault;
	qer->has_gate = true;
	qer->is_closed[0] = (value.at[0] >> 2 & 3) != 0;
	qer->is_closed[1] = (value.at[0] & 3) != 0;
	return true;
}

/* Clause 8.2.8: kilobits a second. */
static bool
read_mbr(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_qer *qer = group;

	(void)fault;
	qer->has_mbr = true;
	qer->mbr_bps[0] = 1000 * pfcp_number(value.at, 5);
	qer->mbr_bps[1] = 1000 * pfcp_number(value.at + 5, 5);
	return true;
}

static bool
read_qfi(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_qer *qer = group;

	(void)fault;
	qer->has_qfi = true;
	qer->qfi = value.at[0] & 0x3f;
	return true;
}

#define QER_ROWS(creates)                                                                          \
	{                                                                                          \
		{PFCP_IE_QER_ID, 4, true, false, read_qer_id},                                     \
			{PFCP_IE_GATE_STATUS, 1, creates, false, read_gate},                       \
			{PFCP_IE_MBR, 10, false, false, read_mbr},                                 \
			{PFCP_IE_QFI, 1, false, false, read_qfi},                                  \
	}

bool
pfcp_qer_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
	      struct pfcp_fault *fault)
{
	static const struct pfcp_row created[] = QER_ROWS(true), updated[] = QER_ROWS(false);
	struct pfcp_qer *qer = &rules->qer[rules->qer_count];

	if (rules->qer_count == PFCP_RULES_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	rules->qer_count++;
	*qer = (struct pfcp_qer){.change = change};
	return pfcp_group_read(change == PFCP_CREATE ? created : updated,
			       pfcp_rows_of(change, PFCP_COUNT(created)), value, qer, fault);
}
