/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that answers no report holds up its own alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nf/upf/kept.h"
#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "state.h"
#include "session_vectors_test.h"
#include "usage_vectors_test.h"

#define DEAF ((struct pfcp_peer){.ip = RTE_BE32(0xc0000266), .port = 8805})
#define DEAFS_SESSIONS (PFCP_REPORTS_MAX + 200)
#define ROOM_OF_ONE (PFCP_REPORTS_MAX - PFCP_REPORTS_OWN * (PFCP_ASSOCIATIONS_MAX - 1))

/* What the SMF says, as another peer says it. */
static struct pfcp_span
said_by(struct pfcp_peer peer, struct pfcp_span message)
{
	static uint8_t changed[MESSAGE_BYTES_MAX];
	const rte_be32_t smf = SMF.ip;
	uint8_t *at;

	memcpy(changed, message.at, message.bytes);
	while (peer.ip != smf && (at = memmem(changed, message.bytes, &smf, sizeof(smf))) != NULL)
		memcpy(at, &peer.ip, sizeof(peer.ip));
	return (struct pfcp_span){.at = changed, .bytes = message.bytes};
}

/* Session by session, for UEs from that number on. */
static void
establish_for(struct pfcp_peer peer, struct pfcp_span establishment, uint16_t number, uint16_t end)
{
	static const uint8_t first_ue[] = {0x0a, 0x2e, 0x00, 0x01};

	for (; number < end; number++) {
		uint8_t message[MESSAGE_BYTES_MAX];
		uint8_t *ue;

		memcpy(message, establishment.at, establishment.bytes);
		ue = memmem(message, establishment.bytes, first_ue, sizeof(first_ue));
		assert_non_null(ue);
		ue[2] = (uint8_t)(number >> 8);
		ue[3] = (uint8_t)number;
		struct pfcp_span said = {message, establishment.bytes};

		assert_int_equal(tell(peer, numbered(said_by(peer, said), 0, 100 + number)),
				 PFCP_ACCEPTED);
	}
}

static void
associate_both(void)
{
	start_agent("600");
	assert_int_equal(tell(DEAF, said_by(DEAF, SPAN(association_setup))), PFCP_ACCEPTED);
	associate();
}

/* Of all sessions; how many are for each. */
static void
count_due(unsigned int *for_deaf, unsigned int *for_smf)
{
	struct pfcp_peer to;

	*for_deaf = *for_smf = 0;
	while (pfcp_agent_due(agent, &to) != NULL) {
		assert_true(to.ip == DEAF.ip || to.ip == SMF.ip);
		*(to.ip == DEAF.ip ? for_deaf : for_smf) += 1;
	}
}

static void
reports_to_a_peer_that_answers_none_leave_room_for_those_to_others(void **state)
{
	unsigned int for_deaf, for_smf;
	uint8_t taken[sizeof(report_taken)];

	(void)state;
	associate_both();
	establish_for(DEAF, SPAN(metered), 300, 300 + DEAFS_SESSIONS);
	establish_for(SMF, SPAN(metered), 1, 5);
	now_ms += 60000; /* all are to report */
	count_due(&for_deaf, &for_smf);
	assert_int_equal(for_deaf, ROOM_OF_ONE);
	assert_int_equal(for_smf, 4);
	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++) {
		const struct pfcp_report *report = &agent->reports.report[i];

		if (report->tries == 0 || report->to_ip != SMF.ip)
			continue;
		memcpy(taken, report_taken, sizeof(taken));
		memcpy(taken + 12, report->message.message + 12, 3);
		assert_int_equal(tell(SMF, (struct pfcp_span){taken, sizeof(taken)}), 0);
	}
	assert_int_equal(agent->counts.reports_accepted, 4);
	assert_int_equal(agent->reports.under_way, for_deaf);
	now_ms += 9000; /* the deaf one's are given up: what it was to be told is in later ones */
	count_due(&for_deaf, &for_smf);
	assert_true(for_deaf > 0);
}

/* A packet waits for each of that peer's sessions. */
static void
note_sessions(struct pfcp_peer peer)
{
	for (uint32_t place = 0; place < function->capacity; place++) {
		if (agent->sessions[place].notifies && agent->sessions[place].cp_ip == peer.ip)
			assert_true(
				upf_buffer_note(function, (struct upf_owner){.place = place}, 0));
	}
}

static void
packets_that_wait_behind_a_peer_that_answers_nothing_are_told_to_others(void **state)
{
	unsigned int for_deaf, for_smf, in_time = 0;

	(void)state;
	associate_both();
	establish_for(DEAF, SPAN(idle_from_the_beginning), 300, 300 + DEAFS_SESSIONS);
	note_sessions(DEAF);
	count_due(&for_deaf, &for_smf);
	assert_int_equal(for_deaf, ROOM_OF_ONE);
	/* What is beyond the notes that can be put off nobody would answer either. */
	assert_int_equal(agent->reports.note_count, PFCP_NOTES_MAX);
	assert_int_equal(agent->counts.reports_unanswered,
			 DEAFS_SESSIONS - ROOM_OF_ONE - PFCP_NOTES_MAX);
	establish_for(SMF, SPAN(idle_from_the_beginning), 1, 2);
	note_sessions(SMF);
	now_ms += 10;
	count_due(&for_deaf, &for_smf);
	assert_int_equal(for_deaf, 0);
	assert_int_equal(for_smf, 1);
	for (unsigned int i = 0; i < 9; i++) {
		now_ms += 3000;
		count_due(&for_deaf, &for_smf);
		in_time += for_deaf;
	}
	/* Those that were put off, too, as often as any. */
	assert_int_equal(agent->reports.note_count, 0);
	assert_int_equal(in_time, (ROOM_OF_ONE + PFCP_NOTES_MAX) * PFCP_REPORT_TRIES - ROOM_OF_ONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			reports_to_a_peer_that_answers_none_leave_room_for_those_to_others),
		cmocka_unit_test(
			packets_that_wait_behind_a_peer_that_answers_nothing_are_told_to_others),
	};

	return cmocka_run_group_tests_name("upf-pfcp-shares", tests, weir_test_eal, stop_agent);
}
