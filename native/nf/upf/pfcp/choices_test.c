/* SPDX-License-Identifier: Apache-2.0 */
/* Where sessions of control plane functions are, and their TEIDs and SEIDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "session_vectors_test.h"
#include "state.h"
#include "usage_vectors_test.h"

/* So that a gNB which nobody tells TEIDs has the same. */
static void
teids_in_a_row_are_those_of_the_ues_numbers(void **state)
{
	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	for (uint32_t i = 0; i < 300; i++) { /* more than there is room for at a time */
		assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 1000 + i)),
				 PFCP_ACCEPTED);
		assert_int_equal(given_teid(), 2);
		assert_ptr_equal(session_of_ue(), &function->sessions[1]);
		assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 2000 + i)),
				 PFCP_RULE_FAILURE);
		assert_ptr_equal(session_of_ue(), &function->sessions[1]);
		assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 1000 + i)),
				 PFCP_ACCEPTED); /* repeated */
		assert_int_equal(tell(SMF, numbered(SPAN(deletion), given_seid(), 3000 + i)),
				 PFCP_ACCEPTED);
		assert_null(session_of_ue());
	}
	check_sessions_agree();
	assert_int_equal(pfcp_agent_counts(agent)->established, 300);
	assert_int_equal(pfcp_agent_counts(agent)->deleted, 300);
	assert_int_equal(pfcp_agent_counts(agent)->repeated, 300);
	assert_int_equal(pfcp_agent_counts(agent)->refused_by[PFCP_RULE_FAILURE], 300);
	assert_int_equal(pfcp_agent_counts(agent)->refused, 300);
}

static void
a_ue_outside_the_row_has_no_room(void **state)
{
	static const char *const first[] = {"10.46.0.2", "10.45.255.157"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(first); i++) {
		start_agent_in_a_row(first[i]);
		associate();
		assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_NO_RESOURCES);
		assert_int_equal(pfcp_agent_counts(agent)->refused_by[PFCP_NO_RESOURCES], 1);
		assert_null(session_of_ue());
	}
	start_agent_in_a_row("10.45.255.158"); /* the last one of 100 */
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_int_equal(given_teid(), 100);
}

static void
teids_and_seids_of_a_thousand_sessions_differ_in_all_their_bits(void **state)
{
	uint32_t teid_ones[32] = {0};
	uint64_t before = 0;
	uint32_t sequence = 100;

	(void)state;
	start_agent("16");
	associate();
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, sequence++)),
				 PFCP_ACCEPTED);
		assert_true(given_seid() != before);
		before = given_seid();
		for (unsigned int bit = 0; bit < 32; bit++)
			teid_ones[bit] += given_teid() >> bit & 1;
		assert_int_equal(tell(SMF, numbered(SPAN(deletion), before, sequence++)),
				 PFCP_ACCEPTED);
	}
	/* Of fair bits one is set in fewer than 350 of 1,000 once in 10^20 times. */
	for (unsigned int bit = 5; bit < 32; bit++)
		assert_in_range(teid_ones[bit], 350, 650);
}

static void
a_place_that_a_command_has_emptied_is_for_a_session_too(void **state)
{
	uint64_t seid;

	(void)state;
	start_agent_beside("2", "3");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	assert_int_equal(tell(SMF, SPAN(other_ue)), PFCP_NO_RESOURCES);
	assert_null(change_by_command("sessions-remove", "ue=10.45.0.2"));
	assert_int_equal(tell(SMF, numbered(SPAN(other_ue), 0, 20)), PFCP_ACCEPTED);
	assert_int_equal(function->live, 3);
	assert_int_equal(tell(SMF, SPAN(third_ue)), PFCP_NO_RESOURCES);

	/* One that a command takes from a control plane function stays that one's until it deletes
	 * it. */
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	assert_int_equal(tell(SMF, numbered(SPAN(third_ue), 0, 21)), PFCP_NO_RESOURCES);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 22)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, numbered(SPAN(third_ue), 0, 23)), PFCP_ACCEPTED);
	assert_int_equal(function->live, 3);
}

/* Likewise where the UE's number says the place: what is counted there is of the one session. */
static void
a_place_in_a_row_that_a_command_has_emptied_stays_that_of_its_control_plane_function(void **state)
{
	uint64_t seid;

	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	assert_int_equal(tell(SMF, SPAN(metered)), PFCP_ACCEPTED);
	seid = given_seid();
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	for (uint32_t sequence = 20; sequence < 22; sequence++)
		assert_int_equal(tell(SMF, numbered(SPAN(metered), 0, sequence)),
				 PFCP_NO_RESOURCES);
	assert_int_equal(agent->reports.metered_count, 1);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 22)), PFCP_ACCEPTED);
	assert_false(pfcp_agent_waits(agent));
	assert_int_equal(agent->slots.count, function->rules_max);
	assert_int_equal(tell(SMF, numbered(SPAN(metered), 0, 23)), PFCP_ACCEPTED);
	assert_int_equal(given_teid(), 2);
	assert_int_equal(agent->reports.metered_count, 1);
	check_sessions_agree();
}

static uint32_t
given_place(void)
{
	return upf_place_of_teid(function, given_teid());
}

static void
places_that_commands_have_emptied_are_found_from_where_the_last_one_was(void **state)
{
	(void)state;
	start_agent_beside("4", "4");
	associate();
	assert_null(change_by_command("sessions-remove", "ue=10.45.0.2"));
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 1);
	assert_null(change_by_command("sessions-remove", "ue=10.45.0.1, ue=10.45.0.4"));
	assert_int_equal(tell(SMF, SPAN(other_ue)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 3);
	assert_int_equal(tell(SMF, SPAN(third_ue)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 0);
}

static void
a_place_that_a_command_empties_is_found_though_there_was_none_before(void **state)
{
	uint64_t seid;

	(void)state;
	start_agent_beside("2", "2");
	associate();
	assert_null(change_by_command("sessions-remove", "ue=10.45.0.1"));
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	for (uint32_t sequence = 20; sequence < 22; sequence++)
		assert_int_equal(tell(SMF, numbered(SPAN(other_ue), 0, sequence)),
				 PFCP_NO_RESOURCES);
	assert_null(change_by_command("sessions-remove", "ue=10.45.0.2"));
	assert_int_equal(tell(SMF, numbered(SPAN(other_ue), 0, 22)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 1);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), given_seid(), 23)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, SPAN(third_ue)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 1);
	assert_int_equal(tell(SMF, numbered(SPAN(other_ue), 0, 24)), PFCP_NO_RESOURCES);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 25)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, numbered(SPAN(other_ue), 0, 26)), PFCP_ACCEPTED);
	assert_int_equal(given_place(), 0);
	check_sessions_agree();
}

/* The place is that of 10.46.0.1 in the row, as is its TEID. */
static void
no_command_takes_the_place_of_a_session_that_was_not_deleted(void **state)
{
	static const char *const taken[] = {"ue=10.46.0.1 teid=2 gnb_teid=60",
					    "ue=10.46.0.90 teid=2 gnb_teid=60",
					    "ue=10.46.0.90 teid=70, ue=10.46.0.91 teid=130"};
	uint64_t seid;

	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	for (unsigned int i = 0; i < RTE_DIM(taken); i++) {
		const char *refusal = change_by_command("sessions-add", taken[i]);

		assert_non_null(refusal);
		assert_non_null(
			strstr(refusal, "leads to place 1, which is that of a session by N4"));
	}
	assert_int_equal(function->live, 0);
	assert_int_equal(tell(SMF, numbered(SPAN(handover), seid, 20)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 21)), PFCP_NO_RESOURCES);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 22)), PFCP_ACCEPTED);

	assert_null(change_by_command("sessions-add", taken[0]));
	assert_int_equal(tell(SMF, numbered(SPAN(handover), seid, 23)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 24)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(rte_be_to_cpu_32(session_of_ue()->tunnel.teid), 60);
}

/* A TEID that the control plane function was given is nothing that an operator cannot know. */
static void
no_command_takes_the_teid_of_a_session_that_was_not_deleted(void **state)
{
	char same[64];
	uint64_t seid;

	(void)state;
	start_agent("16");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	snprintf(same, sizeof(same), "ue=10.46.0.1 teid=%u gnb_teid=60", given_teid());
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	assert_non_null(change_by_command("sessions-add", same));
	assert_int_equal(tell(SMF, numbered(SPAN(handover), seid, 20)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(tell(SMF, SPAN(association_release)), PFCP_ACCEPTED);
	assert_null(change_by_command("sessions-add", same));
	assert_int_equal(function->live, 1);
}

static void
an_operators_session_of_a_ue_is_not_the_one_that_the_ue_had_by_n4(void **state)
{
	uint64_t seid;

	(void)state;
	start_agent_in_a_row("10.46.0.0");
	for (unsigned int released = 0; released < 2; released++) {
		associate();
		assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 20)), PFCP_ACCEPTED);
		seid = given_seid();
		assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
		assert_null(change_by_command("sessions-add", "ue=10.46.0.1 teid=70 gnb_teid=60"));
		assert_int_equal(tell(SMF, numbered(SPAN(handover), seid, 21)),
				 PFCP_SESSION_NOT_FOUND);
		assert_int_equal(tell(SMF, released ? SPAN(association_release)
						    : numbered(SPAN(deletion), seid, 22)),
				 PFCP_ACCEPTED);
		assert_int_equal(rte_be_to_cpu_32(session_of_ue()->tunnel.teid), 60);
		assert_int_equal(function->live, 1);
		assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
		if (!released)
			assert_int_equal(tell(SMF, SPAN(association_release)), PFCP_ACCEPTED);
	}
}

/* Where the row has the UE's place another one's session may be; where it has its own, the UE has a
 * session, and so it has where that is at another place. */
static void
a_ue_whose_place_another_one_has_finds_no_room_and_one_that_has_a_session_none_more(void **state)
{
	(void)state;
	start_agent_in_a_row("10.46.0.0");
	associate();
	assert_null(change_by_command("sessions-add", "ue=10.46.0.90 teid=2 gnb_teid=60"));
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_NO_RESOURCES);
	assert_null(change_by_command("sessions-add", "ue=10.46.0.1 teid=70 gnb_teid=60"));
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 20)), PFCP_RULE_FAILURE);
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.90"));
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 21)), PFCP_RULE_FAILURE);
	assert_null(change_by_command("sessions-remove", "ue=10.46.0.1"));
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 22)), PFCP_ACCEPTED);
	assert_int_equal(given_teid(), 2);
	check_sessions_agree();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(teids_in_a_row_are_those_of_the_ues_numbers),
		cmocka_unit_test(a_ue_outside_the_row_has_no_room),
		cmocka_unit_test(teids_and_seids_of_a_thousand_sessions_differ_in_all_their_bits),
		cmocka_unit_test(a_place_that_a_command_has_emptied_is_for_a_session_too),
		cmocka_unit_test(
			a_place_in_a_row_that_a_command_has_emptied_stays_that_of_its_control_plane_function),
		cmocka_unit_test(
			places_that_commands_have_emptied_are_found_from_where_the_last_one_was),
		cmocka_unit_test(
			a_place_that_a_command_empties_is_found_though_there_was_none_before),
		cmocka_unit_test(no_command_takes_the_place_of_a_session_that_was_not_deleted),
		cmocka_unit_test(no_command_takes_the_teid_of_a_session_that_was_not_deleted),
		cmocka_unit_test(an_operators_session_of_a_ue_is_not_the_one_that_the_ue_had_by_n4),
		cmocka_unit_test(
			a_ue_whose_place_another_one_has_finds_no_room_and_one_that_has_a_session_none_more),
	};

	return cmocka_run_group_tests_name("upf-pfcp-choices", tests, weir_test_eal, stop_agent);
}
