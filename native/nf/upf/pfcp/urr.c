/* SPDX-License-Identifier: Apache-2.0 */
/* Usage reporting rules: TS 29.244, tables 7.5.2.4-1, 7.5.4.4-1, 7.5.4.8-1 and 7.5.4.10-1. */
#include "rules.h"

static bool
read_urr_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_urr *)group)->id = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_method(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_method = true;
	urr->method = value.at[0] & 0x07;
	if ((urr->method & ~(PFCP_DURATION | PFCP_VOLUME)) != 0)
		return pfcp_refuses(fault, PFCP_IE_MEASUREMENT_METHOD);
	return urr->method != 0 ||
	       pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_MEASUREMENT_METHOD);
}

static bool
read_triggers(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;
	uint32_t octets = 0;

	for (size_t i = 0; i < 3; i++)
		octets = octets << 8 | (i < value.bytes ? value.at[i] : 0);
	urr->has_triggers = true;
	urr->triggers = octets;
	return (octets & ~(uint32_t)(PFCP_PERIODIC | PFCP_AT_VOLUME | PFCP_AT_TIME |
				     PFCP_AT_VOLUME_QUOTA | PFCP_AT_TIME_QUOTA)) == 0 ||
	       pfcp_refuses(fault, PFCP_IE_REPORTING_TRIGGERS);
}

static bool
read_period(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_period = true;
	urr->period_s = (uint32_t)pfcp_number(value.at, 4);
	return urr->period_s != 0 ||
	       pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_MEASUREMENT_PERIOD);
}

/* Clauses 8.2.13 and 8.2.50. */
static bool
read_volumes(struct pfcp_span value, enum pfcp_ie_type ie, uint64_t bytes[PFCP_VOLUMES],
	     struct pfcp_fault *fault)
{
	const uint8_t flags = value.at[0];
	size_t at = 1;

	if ((flags & ((1 << PFCP_VOLUMES) - 1)) == 0)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, ie);
	for (unsigned int i = 0; i < PFCP_VOLUMES; i++) {
		bytes[i] = UINT64_MAX;
		if ((flags & 1 << i) == 0)
			continue;
		if (value.bytes < at + 8)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, ie);
		bytes[i] = pfcp_number(value.at + at, 8);
		at += 8;
	}
	return true;
}

static bool
read_volume_threshold(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_volume = true;
	return read_volumes(value, PFCP_IE_VOLUME_THRESHOLD, urr->volume_threshold_bytes, fault);
}

static bool
read_volume_quota(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_volume_quota = true;
	urr->is_granted = true;
	return read_volumes(value, PFCP_IE_VOLUME_QUOTA, urr->volume_quota_bytes, fault);
}

static bool
read_time_quota(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	(void)fault;
	urr->has_time_quota = true;
	urr->is_granted = true;
	urr->time_quota_s = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_time_threshold(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_time = true;
	urr->time_threshold_s = (uint32_t)pfcp_number(value.at, 4);
	return urr->time_threshold_s != 0 ||
	       pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_TIME_THRESHOLD);
}

static bool
read_information(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_urr *urr = group;

	urr->has_information = true;
	urr->starts_at_once = (value.at[0] & PFCP_STARTS_AT_ONCE) != 0;
	return (value.at[0] & ~PFCP_STARTS_AT_ONCE) == 0 ||
	       pfcp_refuses(fault, PFCP_IE_MEASUREMENT_INFORMATION);
}

/* Elements that would do something else at a quota, or split what is measured. */
#define REFUSE(name, ie)                                                                           \
	static bool name(struct pfcp_span value, void *group, struct pfcp_fault *fault)            \
	{                                                                                          \
		(void)value;                                                                       \
		(void)group;                                                                       \
		return pfcp_refuses(fault, ie);                                                    \
	}

REFUSE(refuse_quota_action, PFCP_IE_FAR_ID)
REFUSE(refuse_quota_holding_time, PFCP_IE_QUOTA_HOLDING_TIME)
REFUSE(refuse_monitoring_time, PFCP_IE_MONITORING_TIME)
REFUSE(refuse_inactivity, PFCP_IE_INACTIVITY_DETECTION_TIME)

/* Creating needs the first three of these, updating the first alone, and removing has no other. */
#define URR_ROWS(creates)                                                                          \
	{                                                                                          \
		{PFCP_IE_URR_ID, 4, true, false, read_urr_id},                                     \
			{PFCP_IE_MEASUREMENT_METHOD, 1, creates, false, read_method},              \
			{PFCP_IE_REPORTING_TRIGGERS, 1, creates, false, read_triggers},            \
			{PFCP_IE_MEASUREMENT_PERIOD, 4, false, false, read_period},                \
			{PFCP_IE_VOLUME_THRESHOLD, 1, false, false, read_volume_threshold},        \
			{PFCP_IE_TIME_THRESHOLD, 4, false, false, read_time_threshold},            \
			{PFCP_IE_MEASUREMENT_INFORMATION, 1, false, false, read_information},      \
			{PFCP_IE_VOLUME_QUOTA, 1, false, false, read_volume_quota},                \
			{PFCP_IE_TIME_QUOTA, 4, false, false, read_time_quota},                    \
			{PFCP_IE_FAR_ID, 0, false, false, refuse_quota_action},                    \
			{PFCP_IE_QUOTA_HOLDING_TIME, 0, false, false, refuse_quota_holding_time},  \
			{PFCP_IE_MONITORING_TIME, 0, false, false, refuse_monitoring_time},        \
			{PFCP_IE_INACTIVITY_DETECTION_TIME, 0, false, false, refuse_inactivity},   \
	}

bool
pfcp_urr_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
	      struct pfcp_fault *fault)
{
	static const struct pfcp_row created[] = URR_ROWS(true), updated[] = URR_ROWS(false);
	struct pfcp_urr *urr = &rules->urr[rules->urr_count];

	if (rules->urr_count == PFCP_URRS_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_URR_ID);
	rules->urr_count++;
	/* One that is new has no quotas but these. */
	*urr = (struct pfcp_urr){.change = change, .is_granted = change == PFCP_CREATE};
	return pfcp_group_read(change == PFCP_CREATE ? created : updated,
			       pfcp_rows_of(change, PFCP_COUNT(created)), value, urr, fault);
}

bool
pfcp_queried_urr_read(struct pfcp_span value, uint32_t *id, struct pfcp_fault *fault)
{
	static const struct pfcp_row rows[] = {{PFCP_IE_URR_ID, 4, true, false, read_urr_id}};
	struct pfcp_urr urr = {0};

	if (!pfcp_group_read(rows, PFCP_COUNT(rows), value, &urr, fault))
		return false;
	*id = urr.id;
	return true;
}
