/* SPDX-License-Identifier: Apache-2.0 */
/* N4 as upf's descriptor has it: where it listens, and who hears a datagram. */
#include <stdlib.h>
#include <time.h>

#include "engine/controller.h"
#include "engine/report.h"
#include "agent.h"

#define UNIX_EPOCH_SINCE_1900_S 2208988800u /* RFC 5905, figure 4 */

struct n4 {
	struct upf *upf;
	uint64_t began_ms, began_by_clock_ms; /* since 1900; of a clock that nobody sets */
	struct weir_controller_way way;
	struct pfcp_agent *agent;
};

/* Changes of the agent as a command: what was checked is applied, and kept by the agent. */
static int
prepare(const void *state, const void *arguments, const char *where, void **prepared,
	struct weir_error *error)
{
	*prepared = (void *)(uintptr_t)arguments;
	return upf_changes_check(state, *prepared, where, error);
}

static void
commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	(void)cache;
	upf_changes_apply(state, prepared);
}

static const struct weir_command change_command = {
	.name = "N4",
	.prepare = prepare,
	.commit = commit,
};

static bool
change(void *of, struct upf_changes *changes)
{
	const struct n4 *n4 = of;
	struct weir_error error;

	return n4->way.change(n4->way.of, &change_command, changes, &error) == 0;
}

struct count {
	uint32_t slot;
	struct weir_counter *sum; /* by direction */
};

static void
add_usage(const void *state, void *argument)
{
	const struct count *count = argument;
	const struct upf_usage *usage = &((const struct upf *)state)->usages[count->slot];

	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		count->sum[way].packets += weir_counted(&usage->passed[way].packets);
		count->sum[way].bytes += weir_counted(&usage->passed[way].bytes);
	}
}

static void
count(void *of, uint32_t slot, struct weir_counter sum[2])
{
	const struct n4 *n4 = of;
	struct count count = {slot, sum};

	n4->way.visit(n4->way.of, add_usage, &count);
}

struct exhausted {
	uint32_t slot;
	bool found;
};

static void
look_at_quota(const void *state, void *argument)
{
	struct exhausted *exhausted = argument;

	exhausted->found |=
		__atomic_load_n(&((const struct upf *)state)->usages[exhausted->slot].is_exhausted,
				__ATOMIC_RELAXED);
}

static bool
is_exhausted(void *of, uint32_t slot)
{
	const struct n4 *n4 = of;
	struct exhausted exhausted = {.slot = slot};

	n4->way.visit(n4->way.of, look_at_quota, &exhausted);
	return exhausted.found;
}

struct noted {
	struct upf_note *note;
	bool found;
};

static void
take_note(const void *state, void *argument)
{
	struct noted *noted = argument;

	if (!noted->found)
		noted->found = upf_buffer_next_note(state, noted->note);
}

static bool
next_note(void *of, struct upf_note *note)
{
	const struct n4 *n4 = of;
	struct noted noted = {.note = note};

	n4->way.visit(n4->way.of, take_note, &noted);
	return noted.found;
}

static uint64_t
clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t
now_ms(void *of)
{
	const struct n4 *n4 = of;

	return n4->began_ms + clock_ms(CLOCK_MONOTONIC) - n4->began_by_clock_ms;
}

static bool
address(const void *state, struct weir_controller_address *address)
{
	*address = (struct weir_controller_address){
		.ip = ((const struct upf *)state)->n4_ip,
		.port = RTE_BE16(PFCP_PORT),
	};
	return address->ip != 0;
}

static void *
begin(void *state, struct weir_controller_way way, const char *where, struct weir_error *error)
{
	struct upf *upf = state;
	struct n4 *n4 = calloc(1, sizeof(*n4));

	if (n4 != NULL) {
		*n4 = (struct n4){.upf = upf,
				  .way = way,
				  .began_ms = clock_ms(CLOCK_REALTIME) +
					      1000ull * UNIX_EPOCH_SINCE_1900_S,
				  .began_by_clock_ms = clock_ms(CLOCK_MONOTONIC)};
		n4->agent = pfcp_agent_create(
			upf, (struct pfcp_way){change, count, is_exhausted, next_note, now_ms, n4},
			upf->n4_ip, (uint32_t)(n4->began_ms / 1000));
	}
	if (n4 == NULL || n4->agent == NULL) {
		free(n4);
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for N4");
		return NULL;
	}
	upf->agent = n4->agent;
	return n4;
}

static size_t
take(void *begun, struct weir_controller_address from, const uint8_t *datagram, size_t bytes,
     const uint8_t **answer)
{
	const struct n4 *n4 = begun;
	const struct pfcp_writer *response =
		pfcp_agent_take(n4->agent, (struct pfcp_peer){from.ip, from.port},
				(struct pfcp_span){datagram, bytes});

	if (response == NULL)
		return 0;
	*answer = response->message;
	return response->bytes;
}

static bool
waits(const void *begun)
{
	return pfcp_agent_waits(((const struct n4 *)begun)->agent);
}

static size_t
due(void *begun, struct weir_controller_address *to, const uint8_t **datagram)
{
	const struct n4 *n4 = begun;
	struct pfcp_peer peer;
	const struct pfcp_writer *message = pfcp_agent_due(n4->agent, &peer);

	if (message == NULL)
		return 0;
	*to = (struct weir_controller_address){peer.ip, peer.port};
	*datagram = message->message;
	return message->bytes;
}

static void
end(void *begun)
{
	struct n4 *n4 = begun;

	n4->upf->agent = NULL;
	pfcp_agent_free(n4->agent);
	free(n4);
}

const struct weir_controller upf_n4 = {
	.address = address,
	.begin = begin,
	.take = take,
	.waits = waits,
	.due = due,
	.end = end,
};

bool
upf_n4_has(const struct upf *upf, uint32_t place)
{
	return upf->agent != NULL && pfcp_agent_has(upf->agent, place);
}

/* What a figure calls the causes that are given here. */
static const struct {
	enum pfcp_cause cause;
	const char *figure;
} refusals[] = {
	{PFCP_SESSION_NOT_FOUND, "n4_refused_session_not_found"},
	{PFCP_MANDATORY_IE_MISSING, "n4_refused_mandatory_ie_missing"},
	{PFCP_CONDITIONAL_IE_MISSING, "n4_refused_conditional_ie_missing"},
	{PFCP_INVALID_LENGTH, "n4_refused_invalid_length"},
	{PFCP_MANDATORY_IE_INCORRECT, "n4_refused_mandatory_ie_incorrect"},
	{PFCP_INVALID_F_TEID_ALLOCATION, "n4_refused_invalid_f_teid_allocation"},
	{PFCP_NO_ASSOCIATION, "n4_refused_no_established_association"},
	{PFCP_RULE_FAILURE, "n4_refused_rule_failure"},
	{PFCP_NO_RESOURCES, "n4_refused_no_resources"},
	{PFCP_SERVICE_NOT_SUPPORTED, "n4_refused_service_not_supported"},
};

/* Only of who listens: of several workers the first has the agent. */
void
upf_n4_report(const struct upf *upf, struct weir_report *report)
{
	const struct pfcp_counts *counts;

	if (upf->agent == NULL)
		return;
	counts = pfcp_agent_counts(upf->agent);
	report->figure(report, "n4_associations", pfcp_agent_associations(upf->agent));
	report->figure(report, "n4_sessions", counts->established - counts->deleted);
	report->figure(report, "n4_established", counts->established);
	report->figure(report, "n4_modified", counts->modified);
	report->figure(report, "n4_deleted", counts->deleted);
	report->figure(report, "n4_accepted", counts->accepted);
	report->figure(report, "n4_refused", counts->refused);
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++)
		report->figure(report, refusals[i].figure, counts->refused_by[refusals[i].cause]);
	report->figure(report, "n4_refused_version", counts->other_version);
	report->figure(report, "n4_repeated", counts->repeated);
	report->figure(report, "n4_not_associated", counts->not_associated);
	report->figure(report, "n4_malformed", counts->malformed);
	report->figure(report, "n4_reports", counts->reports);
	report->figure(report, "n4_reports_accepted", counts->reports_accepted);
	report->figure(report, "n4_reports_refused", counts->reports_refused);
	report->figure(report, "n4_reports_repeated", counts->reports_repeated);
	report->figure(report, "n4_reports_unanswered", counts->reports_unanswered);
}
