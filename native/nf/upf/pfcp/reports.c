/* SPDX-License-Identifier: Apache-2.0 */
/* Session Report Requests: what is measured is sent when its time has come. */
#include <stdlib.h>

#include <rte_byteorder.h>

#include "state.h"

#define TURN_MS 10
#define QUOTAS ((uint32_t)(PFCP_AT_VOLUME_QUOTA | PFCP_AT_TIME_QUOTA))
#define SESSIONS_A_TURN 2048 /* so that commands are not kept waiting */

bool
pfcp_reports_init(struct pfcp_reports *reports, uint32_t capacity)
{
	reports->report = calloc(PFCP_REPORTS_MAX, sizeof(reports->report[0]));
	reports->metered = calloc(capacity, sizeof(reports->metered[0]));
	return reports->report != NULL && reports->metered != NULL;
}

void
pfcp_reports_fini(struct pfcp_reports *reports)
{
	free(reports->report);
	free(reports->metered);
}

void
pfcp_reports_follow(struct pfcp_agent *agent, uint32_t place, bool has_rules)
{
	struct pfcp_reports *reports = &agent->reports;
	struct pfcp_session *session = &agent->sessions[place];
	uint32_t last;

	if (has_rules == session->is_metered)
		return;
	session->is_metered = has_rules;
	if (has_rules) {
		session->metered_at = reports->metered_count;
		reports->metered[reports->metered_count++] = place;
		return;
	}
	last = reports->metered[--reports->metered_count];
	reports->metered[session->metered_at] = last;
	agent->sessions[last].metered_at = session->metered_at;
}

void
pfcp_reports_expect(struct pfcp_agent *agent, struct pfcp_session *session, bool notifies)
{
	agent->reports.notifying += (uint32_t)notifies - (uint32_t)session->notifies;
	if (!session->notifies)
		session->notifies_since = upf_changes_made(agent->upf);
	session->notifies = notifies;
}

static void
end_report(struct pfcp_reports *reports, struct pfcp_report *report)
{
	report->tries = 0;
	reports->under_way--;
	reports->under_way_of[report->association]--;
}

void
pfcp_reports_forget(struct pfcp_reports *reports, uint8_t association)
{
	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++) {
		if (reports->report[i].tries > 0 && reports->report[i].association == association)
			end_report(reports, &reports->report[i]);
	}
}

/* What a response says. */
struct said {
	uint8_t cause, flags;
};

static bool
read_cause(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct said *)group)->cause = value.at[0];
	return true;
}

static bool
read_flags(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct said *)group)->flags = value.at[0];
	return true;
}

bool
pfcp_reports_answered(struct pfcp_agent *agent, struct pfcp_peer from,
		      const struct pfcp_header *header)
{
	static const struct pfcp_row rows[] = {
		{PFCP_IE_CAUSE, 1, true, false, read_cause},
		{PFCP_IE_SRRSP_FLAGS, 1, false, false, read_flags},
	};
	const struct pfcp_session *session;
	struct said said = {0};
	struct pfcp_fault fault;

	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++) {
		struct pfcp_report *report = &agent->reports.report[i];

		if (report->tries == 0 || report->sequence != header->sequence ||
		    report->to_ip != from.ip)
			continue;
		if (!pfcp_group_read(rows, PFCP_COUNT(rows), header->ies, &said, &fault)) {
			agent->counts.malformed++;
			return true;
		}
		end_report(&agent->reports, report);
		if (said.cause == PFCP_ACCEPTED)
			agent->counts.reports_accepted++;
		else
			agent->counts.reports_refused++;
		session = pfcp_session_of(agent, report->association, header->seid);
		if ((said.flags & PFCP_DROPS_BUFFERED) != 0 && session != NULL)
			pfcp_session_drop_buffered(agent, session);
		return true;
	}
	return false;
}

const struct pfcp_writer *
pfcp_report_send(struct pfcp_report *report, uint64_t now_ms, struct pfcp_peer *to)
{
	report->tries++;
	report->again_ms = now_ms + PFCP_REPORT_AGAIN_MS;
	*to = (struct pfcp_peer){.ip = report->to_ip, .port = RTE_BE16(PFCP_PORT)};
	return &report->message;
}

/* The next one that was not answered in time. */
static const struct pfcp_writer *
send_again(struct pfcp_agent *agent, uint64_t now_ms, struct pfcp_peer *to)
{
	struct pfcp_reports *reports = &agent->reports;

	while (reports->next_sent < PFCP_REPORTS_MAX) {
		struct pfcp_report *report = &reports->report[reports->next_sent++];

		if (report->tries == 0 || report->again_ms > now_ms)
			continue;
		if (report->tries < PFCP_REPORT_TRIES) {
			agent->counts.reports_repeated++;
			return pfcp_report_send(report, now_ms, to);
		}
		end_report(reports, report);
		agent->counts.reports_unanswered++;
	}
	return NULL;
}

struct pfcp_report *
pfcp_report_free(struct pfcp_reports *reports, uint8_t association)
{
	uint32_t kept = 0;

	for (unsigned int i = 0; i < PFCP_ASSOCIATIONS_MAX; i++) {
		if (i != association && reports->under_way_of[i] < PFCP_REPORTS_OWN)
			kept += PFCP_REPORTS_OWN - reports->under_way_of[i];
	}
	if (reports->under_way_of[association] >= PFCP_REPORTS_OWN &&
	    reports->under_way + kept >= PFCP_REPORTS_MAX)
		return NULL;
	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++) {
		if (reports->report[i].tries == 0)
			return &reports->report[i];
	}
	return NULL;
}

void
pfcp_report_begin(struct pfcp_agent *agent, const struct pfcp_session *session, uint8_t type,
		  struct pfcp_report *report)
{
	report->sequence = agent->reports.sequence++ & 0xffffff;
	report->to_ip = session->cp_ip;
	report->association = session->association;
	pfcp_begin(&report->message, PFCP_SESSION_REPORT_REQUEST, &session->cp_seid,
		   report->sequence);
	pfcp_put_number(&report->message, PFCP_IE_REPORT_TYPE, type, 1);
	agent->reports.under_way++;
	agent->reports.under_way_of[session->association]++;
	agent->counts.reports++;
}

static void
write_usages(struct pfcp_agent *agent, const struct pfcp_session *session,
	     const struct pfcp_usages *usages, struct pfcp_report *report)
{
	pfcp_report_begin(agent, session, PFCP_REPORTS_USAGE, report);
	pfcp_put_usages(&report->message, PFCP_IE_USAGE_REPORT, usages);
	pfcp_end(&report->message); /* all rules of a session fit */
}

/* Time that is used up stops what is measured, whether there is room for a report or not. What of
 * `met` is to be reported. */
static uint32_t
obey_quotas(struct pfcp_agent *agent, const struct pfcp_session *session, struct pfcp_urr *urr,
	    uint32_t met)
{
	if ((met & PFCP_AT_TIME_QUOTA) != 0 &&
	    !agent->way.is_exhausted(agent->way.of, urr->meter.slot))
		pfcp_session_exhaust(agent, session, urr->meter.slot);
	return met & (urr->triggers | ~QUOTAS); /* of others nobody asked */
}

/* All rules of the session that are to report now. NULL: none is, or there is no room. Each is
 * looked at either way. */
static const struct pfcp_writer *
report_session(struct pfcp_agent *agent, struct pfcp_session *session, uint64_t now_ms,
	       struct pfcp_peer *to)
{
	struct pfcp_report *report;
	struct pfcp_usages usages = {0};
	uint32_t met[PFCP_URRS_MAX], any = 0;
	unsigned int count;
	struct pfcp_urr *urr = pfcp_kept_urrs(session->kept, &count);

	for (unsigned int i = 0; i < count; i++) {
		met[i] = obey_quotas(agent, session, &urr[i],
				     pfcp_meter_looks(&agent->way, &urr[i]));
		any |= met[i];
	}
	if (any == 0)
		return NULL;
	report = pfcp_report_free(&agent->reports, session->association);
	if (report == NULL)
		return NULL;
	for (unsigned int i = 0; i < count; i++) {
		if (met[i] == 0)
			continue;
		urr[i].meter.quota_told |= (met[i] & QUOTAS) != 0;
		pfcp_meter_reports(&agent->way, &urr[i], met[i], &usages);
	}
	write_usages(agent, session, &usages, report);
	return pfcp_report_send(report, now_ms, to);
}

const struct pfcp_writer *
pfcp_reports_due(struct pfcp_agent *agent, struct pfcp_peer *to)
{
	struct pfcp_reports *reports = &agent->reports;
	const uint64_t now_ms = agent->way.now_ms(agent->way.of);
	const struct pfcp_writer *message;

	if (now_ms >= reports->turn_ms + TURN_MS) {
		reports->turn_ms = now_ms;
		reports->next_sent = 0;
		reports->left = RTE_MIN(reports->metered_count, (uint32_t)SESSIONS_A_TURN);
	}
	message = send_again(agent, now_ms, to);
	if (message == NULL)
		message = pfcp_notes_due(agent, now_ms, to);
	while (message == NULL && reports->left > 0 && reports->metered_count > 0) {
		reports->left--;
		reports->next = (reports->next + 1) % reports->metered_count;
		message = report_session(agent, &agent->sessions[reports->metered[reports->next]],
					 now_ms, to);
	}
	return message;
}
