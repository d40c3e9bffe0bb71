/* SPDX-License-Identifier: Apache-2.0 */
/* Who has packets that wait is told by the rule that they fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nf/upf/kept.h"
#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "session_vectors_test.h"
#include "state.h"

/* An establishment with another number in the place of that of its downlink rule. */
static struct pfcp_span
with_downlink_rule(uint16_t id)
{
	static const uint8_t downlink[] = {0x00, PFCP_IE_PDR_ID, 0x00, 0x02, 0x00, 0x15};
	static uint8_t changed[sizeof(idle_from_the_beginning)];
	uint8_t *at;

	memcpy(changed, idle_from_the_beginning, sizeof(changed));
	at = memmem(changed, sizeof(changed), downlink, sizeof(downlink));
	assert_non_null(at);
	at[4] = (uint8_t)(id >> 8);
	at[5] = (uint8_t)id;
	return (struct pfcp_span){changed, sizeof(changed)};
}

/* TS 29.244, clause 8.2.36: none of them is reserved. */
static void
a_rule_of_any_number_is_named_to_whoever_is_to_be_told(void **state)
{
	static const uint16_t ids[] = {0, 2, 255, 256, UINT16_MAX};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(ids); i++) {
		const uint8_t named[] = {0x00,
					 PFCP_IE_DOWNLINK_DATA_REPORT,
					 0x00,
					 6,
					 0x00,
					 PFCP_IE_PDR_ID,
					 0x00,
					 2,
					 (uint8_t)(ids[i] >> 8),
					 (uint8_t)ids[i]};
		const struct pfcp_writer *report;

		start_agent("10");
		associate();
		assert_int_equal(tell(SMF, with_downlink_rule(ids[i])), PFCP_ACCEPTED);
		assert_true(upf_buffer_note(
			function,
			(struct upf_owner){.place = upf_place_of_teid(function, given_teid())}, 0));
		report = due();
		assert_non_null(report);
		assert_non_null(memmem(report->message, report->bytes, named, sizeof(named)));
	}
}

static void
a_note_of_a_rule_is_none_of_its_session_whatever_its_number(void **state)
{
	static const uint32_t last = UPF_SESSIONS_MAX - 1;
	struct upf_note note;

	(void)state;
	start_agent("10");
	for (uint32_t rule = 0; rule <= 1; rule++) {
		assert_true(upf_buffer_note(function,
					    (struct upf_owner){.place = last, .rule = rule}, 0));
		assert_true(upf_buffer_next_note(function, &note));
		assert_int_equal(note.place, last);
		assert_int_equal(note.is_of_rule, rule != 0);
		assert_int_equal(note.rule_id, 0);
	}
}

static void
a_note_says_how_many_changes_were_made_when_its_packet_came(void **state)
{
	static const uint64_t made[] = {0, 1, (1 << 23) - 1, 1 << 23, (1ull << 40) + 5};
	struct upf_note note;

	(void)state;
	start_agent("10");
	for (unsigned int i = 0; i < RTE_DIM(made); i++) {
		function->changed.modified = made[i];
		assert_true(upf_buffer_note(function, (struct upf_owner){.place = 9}, 0));
		function->changed.modified += 1000000;
		assert_true(upf_buffer_next_note(function, &note));
		assert_int_equal(note.changes, made[i]);
		assert_int_equal(note.place, 9);
	}
}

static void
note_a_packet(void)
{
	const struct upf_owner owner = {.place = 1}; /* of the vectors' UE, in a row */

	assert_true(upf_buffer_note(function, owner, 0));
}

static void
begin_anew_at_the_place(uint32_t sequence)
{
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), given_seid(), sequence)),
			 PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, numbered(SPAN(idle_from_the_beginning), 0, sequence + 1)),
			 PFCP_ACCEPTED);
	assert_int_equal(upf_place_of_teid(function, given_teid()), 1);
}

static void
a_packet_that_waited_for_a_session_is_none_of_the_next_one_at_its_place(void **state)
{
	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	assert_int_equal(tell(SMF, SPAN(idle_from_the_beginning)), PFCP_ACCEPTED);
	note_a_packet();
	begin_anew_at_the_place(20);
	assert_null(due());
	/* Nor where there was no room to tell it in time. */
	leave_no_room_for_reports(100);
	note_a_packet();
	assert_null(due());
	assert_int_equal(agent->reports.note_count, 1);
	begin_anew_at_the_place(22);
	now_ms += 100;
	assert_null(due());
	assert_int_equal(agent->reports.note_count, 0);
	note_a_packet();
	assert_non_null(due());
}

static void
nobody_is_told_of_a_packet_that_waited_for_a_session_which_a_command_removed(void **state)
{
	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	assert_int_equal(tell(SMF, SPAN(idle_from_the_beginning)), PFCP_ACCEPTED);
	note_a_packet();
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	assert_null(due());
	assert_int_equal(pfcp_agent_counts(agent)->reports, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_of_any_number_is_named_to_whoever_is_to_be_told),
		cmocka_unit_test(a_note_of_a_rule_is_none_of_its_session_whatever_its_number),
		cmocka_unit_test(a_note_says_how_many_changes_were_made_when_its_packet_came),
		cmocka_unit_test(
			a_packet_that_waited_for_a_session_is_none_of_the_next_one_at_its_place),
		cmocka_unit_test(
			nobody_is_told_of_a_packet_that_waited_for_a_session_which_a_command_removed),
	};

	return cmocka_run_group_tests_name("upf-pfcp-notes", tests, weir_test_eal, stop_agent);
}
