/* SPDX-License-Identifier: Apache-2.0 */
/* Downlink Data Reports (table 7.5.8.2-1) of packets that wait. */
#include "state.h"

/* The rule of a note, by its number, or the only one of its direction. False: none that notifies.
 */
static bool
noted_pdr(const struct pfcp_session *session, const struct upf_note *note, uint16_t *pdr_id)
{
	struct pfcp_rules rules;

	pfcp_rules_restore(session->kept, &rules);
	for (unsigned int i = 0; i < rules.pdr_count; i++) {
		const struct pfcp_pdr *pdr = &rules.pdr[i];

		if (pdr->source_interface != PFCP_CORE ||
		    (note->is_of_rule && pdr->id != note->rule_id))
			continue;
		*pdr_id = pdr->id;
		for (unsigned int j = 0; j < rules.far_count; j++) {
			if (rules.far[j].id == pdr->far_id &&
			    (rules.far[j].action & PFCP_NOTIFY) != 0)
				return true;
		}
	}
	return false;
}

static void
write_data(struct pfcp_agent *agent, const struct pfcp_session *session, uint16_t pdr_id,
	   struct pfcp_report *report)
{
	size_t group;

	pfcp_report_begin(agent, session, PFCP_REPORTS_DOWNLINK_DATA, report);
	group = pfcp_group_begin(&report->message, PFCP_IE_DOWNLINK_DATA_REPORT);
	pfcp_put_number(&report->message, PFCP_IE_PDR_ID, pdr_id, 2);
	pfcp_group_end(&report->message, group);
	pfcp_end(&report->message);
}

static void
take_out(struct pfcp_reports *reports, uint32_t at)
{
	reports->note_count--;
	for (; at < reports->note_count; at++)
		reports->note[at] = reports->note[at + 1];
}

/* Until its association has room. Where too many wait, the oldest is one that nobody answers. */
static void
put_off(struct pfcp_agent *agent, const struct upf_note *note)
{
	struct pfcp_reports *reports = &agent->reports;

	if (reports->note_count == PFCP_NOTES_MAX) {
		take_out(reports, 0);
		agent->counts.reports_unanswered++;
	}
	reports->note[reports->note_count++] = *note;
}

/* A report of a note, in *message. False: there is no room for it. */
static bool
report_note(struct pfcp_agent *agent, const struct upf_note *note, uint64_t now_ms,
	    struct pfcp_peer *to, const struct pfcp_writer **message)
{
	const struct pfcp_session *session = &agent->sessions[note->place];
	struct pfcp_report *report;
	uint16_t pdr_id;

	*message = NULL;
	/* It is gone or forwards meanwhile, or did and others wait now, or it was another one's. */
	if (!session->notifies || note->changes < session->notifies_since ||
	    !pfcp_session_stands(agent, session))
		return true;
	report = pfcp_report_free(&agent->reports, session->association);
	if (report == NULL)
		return false;
	if (!noted_pdr(session, note, &pdr_id))
		return true;
	write_data(agent, session, pdr_id, report);
	*message = pfcp_report_send(report, now_ms, to);
	return true;
}

const struct pfcp_writer *
pfcp_notes_due(struct pfcp_agent *agent, uint64_t now_ms, struct pfcp_peer *to)
{
	struct pfcp_reports *reports = &agent->reports;
	const struct pfcp_writer *message = NULL;
	struct upf_note note;

	if (reports->notifying == 0) {
		reports->note_count = 0;
		return NULL;
	}
	for (uint32_t i = 0; message == NULL && i < reports->note_count;) {
		note = reports->note[i];
		if (report_note(agent, &note, now_ms, to, &message))
			take_out(reports, i);
		else
			i++;
	}
	while (message == NULL && agent->way.note(agent->way.of, &note)) {
		if (!report_note(agent, &note, now_ms, to, &message))
			put_off(agent, &note);
	}
	return message;
}
