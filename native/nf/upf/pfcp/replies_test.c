/* SPDX-License-Identifier: Apache-2.0 */
/* What was answered once is answered so again, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "state.h"
#include "session_vectors_test.h"

/* A new agent with one session, of the SMF; its SEID. */
static uint64_t
start_session(void)
{
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	return given_seid();
}

static void
what_comes_again_is_answered_as_before_and_not_done_again(void **state)
{
	uint8_t replayed[sizeof(handover)];
	uint64_t seid;

	(void)state;
	seid = start_session();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_true(given_seid() == seid);
	assert_int_equal(function->live, 1);

	memcpy(replayed, numbered(SPAN(handover), seid, 40).at, sizeof(replayed));
	assert_int_equal(tell(SMF, SPAN(replayed)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, numbered(SPAN(without_downlink), seid, 41)), PFCP_ACCEPTED);
	assert_int_equal(function->changed.modified, 2);
	assert_int_equal(tell(SMF, SPAN(replayed)), PFCP_ACCEPTED);
	assert_int_equal(function->changed.modified, 2);
	/* Nor is an association that is asked for again the end of its sessions. */
	associate();
	assert_int_equal(function->live, 1);
	assert_int_equal(pfcp_agent_counts(agent)->repeated, 3);
}

/* An association that does not begin ends nothing. */
static void
what_was_answered_stays_so_where_a_setup_is_refused(void **state)
{
	uint8_t nobodys[sizeof(association_setup)];
	uint64_t seid;

	(void)state;
	seid = start_session();
	memcpy(nobodys, association_setup, sizeof(nobodys));
	nobodys[6] = 99;		/* its sequence number */
	nobodys[8 + 1] = PFCP_IE_CAUSE; /* where its Node ID was */
	assert_int_equal(tell(SMF, SPAN(nobodys)), PFCP_MANDATORY_IE_MISSING);
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_true(given_seid() == seid);
	assert_int_equal(pfcp_agent_counts(agent)->repeated, 1);
	assert_int_equal(pfcp_agent_counts(agent)->established, 1);
	assert_int_equal(function->live, 1);
}

/* However often it comes, and with the number of the one that was accepted. */
static void
a_refused_setup_of_a_number_that_was_answered_takes_the_place_of_no_answer(void **state)
{
	uint8_t untimed[sizeof(association_setup)];
	uint64_t seid;

	(void)state;
	seid = start_session();
	memcpy(untimed, association_setup, sizeof(untimed));
	untimed[8 + 9 + 1] = PFCP_IE_CAUSE; /* where its Recovery Time Stamp was */
	for (unsigned int i = 0; i < PFCP_REPLIES_MAX; i++)
		assert_int_equal(tell(SMF, SPAN(untimed)), PFCP_MANDATORY_IE_MISSING);
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_true(given_seid() == seid);
	assert_int_equal(pfcp_agent_counts(agent)->repeated, 2);
	assert_int_equal(pfcp_agent_counts(agent)->established, 1);
}

/* With another Node ID and another sequence number each. */
static uint8_t
set_up(struct pfcp_peer from, uint8_t number)
{
	uint8_t message[sizeof(association_setup)];

	memcpy(message, association_setup, sizeof(message));
	message[6] = number;	     /* of its sequence number */
	message[8 + 4 + 4] = number; /* of its Node ID */
	return tell(from, SPAN(message));
}

static void
what_was_answered_stays_so_where_no_association_is_left_for_a_setup(void **state)
{
	(void)state;
	start_agent("100");
	assert_int_equal(set_up(STRANGER, 100), PFCP_ACCEPTED);
	assert_int_equal(tell(STRANGER, SPAN(association_release)), PFCP_ACCEPTED);
	for (uint8_t i = 0; i < PFCP_ASSOCIATIONS_MAX; i++)
		assert_int_equal(set_up((struct pfcp_peer){.ip = 1u + i, .port = 8805}, 1 + i),
				 PFCP_ACCEPTED);
	assert_int_equal(set_up(STRANGER, 101), PFCP_NO_RESOURCES);
	assert_int_equal(tell(STRANGER, SPAN(association_release)), PFCP_ACCEPTED);
	assert_int_equal(pfcp_agent_counts(agent)->repeated, 1);
	assert_int_equal(pfcp_agent_associations(agent), PFCP_ASSOCIATIONS_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_again_is_answered_as_before_and_not_done_again),
		cmocka_unit_test(what_was_answered_stays_so_where_a_setup_is_refused),
		cmocka_unit_test(
			a_refused_setup_of_a_number_that_was_answered_takes_the_place_of_no_answer),
		cmocka_unit_test(
			what_was_answered_stays_so_where_no_association_is_left_for_a_setup),
	};

	return cmocka_run_group_tests_name("upf-pfcp-replies", tests, weir_test_eal, stop_agent);
}
