/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "testing/packet.h"
#include "agent_fixture_test.h"
#include "state.h"
#include "response_vectors_test.h"
#include "session_vectors_test.h"

extern const struct weir_nf weir_nf_upf;

struct upf *function;
struct pfcp_agent *agent;
uint64_t now_ms;
static const struct pfcp_writer *answered;

/* As the control thread does it, of one worker. */
static bool
change(void *of, struct upf_changes *changes)
{
	struct weir_error error;

	if (upf_changes_check(of, changes, "test", &error) < 0)
		return false;
	upf_changes_apply(of, changes);
	return true;
}

static void
count(void *of, uint32_t slot, struct weir_counter sum[2])
{
	(void)of;
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		sum[way].packets += function->usages[slot].passed[way].packets;
		sum[way].bytes += function->usages[slot].passed[way].bytes;
	}
}

static bool
is_exhausted(void *of, uint32_t slot)
{
	(void)of;
	return function->usages[slot].is_exhausted;
}

static bool
next_note(void *of, struct upf_note *note)
{
	(void)of;
	return upf_buffer_next_note(function, note);
}

static uint64_t
tell_time(void *of)
{
	(void)of;
	return now_ms;
}

int
stop_agent(void **state)
{
	(void)state;
	pfcp_agent_free(agent);
	if (function != NULL)
		weir_nf_destroy(&weir_nf_upf, function);
	agent = NULL;
	function = NULL;
	return 0;
}

static void
start_with(const char *const (*options)[2])
{
	stop_agent(NULL);
	function = weir_test_state(&weir_nf_upf, options);
	now_ms = 3900000000000u;
	agent = pfcp_agent_create(
		function,
		(struct pfcp_way){change, count, is_exhausted, next_note, tell_time, function},
		RTE_BE32(0xc0000265), 3900000000u);
	assert_non_null(agent);
	function->agent = agent;
}

void
start_agent_beside(const char *sessions, const char *sessions_max)
{
	start_with((const char *const[][2]){{"sessions", sessions},
					    {"sessions_max", sessions_max},
					    {"error_indications_pps", "0"},
					    {NULL, NULL}});
}

void
start_agent(const char *sessions_max)
{
	start_agent_beside("0", sessions_max);
}

void
start_agent_in_a_row(const char *ue_first_address)
{
	start_with((const char *const[][2]){{"sessions", "0"},
					    {"sessions_max", "100"},
					    {"ue_first_address", ue_first_address},
					    {"n4_teids", "consecutive"},
					    {NULL, NULL}});
}

struct pfcp_span
numbered(struct pfcp_span message, uint64_t seid, uint32_t sequence)
{
	static uint8_t changed[MESSAGE_BYTES_MAX];

	memcpy(changed, message.at, message.bytes);
	seid = rte_cpu_to_be_64(seid);
	memcpy(changed + 4, &seid, sizeof(seid));
	sequence = rte_cpu_to_be_32(sequence << 8);
	memcpy(changed + 12, &sequence, sizeof(sequence));
	return (struct pfcp_span){.at = changed, .bytes = message.bytes};
}

/* The cause is behind the header of a session's response, or behind a Node ID. */
static uint8_t
cause_of(const struct pfcp_writer *response)
{
	const uint8_t *at = response->message + ((response->message[0] & 1) != 0 ? 16 : 8);

	if (at[1] == PFCP_IE_NODE_ID)
		at += 9;
	assert_int_equal(at[1], PFCP_IE_CAUSE);
	return at[4];
}

uint8_t
tell(struct pfcp_peer from, struct pfcp_span message)
{
	answered = pfcp_agent_take(agent, from, message);
	return answered != NULL ? cause_of(answered) : 0;
}

void
associate(void)
{
	assert_int_equal(
		tell(SMF, (struct pfcp_span){association_setup, sizeof(association_setup)}),
		PFCP_ACCEPTED);
	assert_memory_equal(answered->message, association_setup_response,
			    sizeof(association_setup_response));
}

const char *
change_by_command(const char *command, const char *sessions)
{
	return weir_test_command(&weir_nf_upf, function, command,
				 (const char *const[][2]){{"sessions", sessions}, {NULL, NULL}});
}

const struct pfcp_writer *
answer(void)
{
	return answered;
}

uint64_t
given_seid(void)
{
	return pfcp_number(answered->message + 35, 8);
}

uint32_t
given_teid(void)
{
	return (uint32_t)pfcp_number(answered->message + 62, 4);
}

const struct pfcp_writer *
due(void)
{
	struct pfcp_peer to = {0};
	const struct pfcp_writer *message = pfcp_agent_due(agent, &to);

	if (message != NULL) {
		assert_int_equal(to.ip, SMF.ip);
		assert_int_equal(rte_be_to_cpu_16(to.port), PFCP_PORT);
	}
	return message;
}

struct upf_usage *
usage_of(unsigned int index)
{
	const uint32_t rule = function->sessions[agent->reports.metered[0]].rules[1];

	return &function->usages[function->rules[rule].usage[index]];
}

void
leave_no_room_for_reports(uint64_t ms)
{
	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++)
		agent->reports.report[i] = (struct pfcp_report){
			.tries = PFCP_REPORT_TRIES, .to_ip = 1, .again_ms = now_ms + ms};
	agent->reports.under_way = PFCP_REPORTS_MAX;
	agent->reports.under_way_of[0] = PFCP_REPORTS_MAX;
}

const struct upf_session *
session_of_ue(void)
{
	const uint32_t place = upf_session_place_of_ip(function, inet_addr("10.46.0.1"));

	return place != WEIR_FLOW_NONE ? &function->sessions[place] : NULL;
}

void
check_sessions_agree(void)
{
	uint32_t known = 0;

	for (uint32_t place = 0; place < function->capacity; place++) {
		const struct pfcp_session *session = &agent->sessions[place];

		assert_int_equal(session->up_seid != 0, upf_place_is_taken(function, place));
		if (session->up_seid == 0)
			continue;
		known++;
		assert_int_equal(session->teid, function->sessions[place].teid);
		assert_int_equal(session->ue.ip, function->sessions[place].ue_ip);
		assert_int_equal(upf_session_place_of_ue(function, &session->ue), place);
	}
	assert_int_equal(known, function->live);
	if (function->n4_teids == UPF_N4_TEIDS_RANDOM)
		assert_int_equal(known + agent->places.count, function->capacity);
}
