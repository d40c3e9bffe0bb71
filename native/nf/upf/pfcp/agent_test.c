/* SPDX-License-Identifier: Apache-2.0 */
/* What control plane functions ask for is done once, all of it or none; and asked by whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "flow_vectors_test.h"
#include "refused_vectors_test.h"
#include "state.h"
#include "session_vectors_test.h"

static void
a_session_is_set_up_handed_over_held_back_and_deleted(void **state)
{
	const struct upf_session *session;
	uint64_t seid;

	(void)state;
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	session = session_of_ue();
	assert_non_null(session);
	assert_ptr_equal(upf_session_at_teid(function, given_teid()), session);
	assert_int_equal(session->teid, given_teid());
	assert_int_equal(session->tunnel.to_ip, inet_addr("192.0.2.7"));
	assert_int_equal(rte_be_to_cpu_32(session->tunnel.teid), 77);
	assert_int_equal(session->tunnel.qfi, 5);
	/* Uplink: 50 Mbit/s; downlink: more than is held to, and its gate is closed. */
	assert_int_equal(session->out_of.held_by, UPF_HELD_BY_MBR);
	assert_int_equal(session->into.held_by, UPF_HELD_BY_GATE);
	check_sessions_agree();

	assert_int_equal(tell(SMF, numbered(SPAN(handover), seid, 20)), PFCP_ACCEPTED);
	assert_int_equal(session->tunnel.to_ip, inet_addr("192.0.2.8"));
	assert_int_equal(rte_be_to_cpu_32(session->tunnel.teid), 4000000000u);
	assert_int_equal(session->into.held_by, UPF_HELD_BY_GATE);

	assert_int_equal(tell(SMF, numbered(SPAN(without_downlink), seid, 21)), PFCP_ACCEPTED);
	assert_int_equal(session->out_of.held_by, UPF_HELD_BY_MBR | UPF_HELD_BY_GATE);
	assert_true((session->into.held_by & UPF_HELD_BY_ACTION) != 0);

	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 22)), PFCP_ACCEPTED);
	assert_null(session_of_ue());
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 23)), PFCP_SESSION_NOT_FOUND);
	check_sessions_agree();
	assert_int_equal(pfcp_agent_counts(agent)->accepted, 5);
	assert_int_equal(pfcp_agent_counts(agent)->refused, 1);
}

static void
who_is_not_associated_is_refused_with_cause_72(void **state)
{
	(void)state;
	start_agent("100");
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_NO_ASSOCIATION);
	associate();
	assert_int_equal(tell(STRANGER, SPAN(establishment)), PFCP_NO_ASSOCIATION);
	assert_int_equal(tell(STRANGER, SPAN(association_release)), PFCP_NO_ASSOCIATION);
	assert_int_equal(pfcp_agent_counts(agent)->refused_by[PFCP_NO_ASSOCIATION], 3);
	assert_int_equal(pfcp_agent_counts(agent)->not_associated, 0);
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	assert_int_equal(tell(STRANGER, numbered(SPAN(handover), given_seid(), 30)),
			 PFCP_NO_ASSOCIATION);
	assert_int_equal(session_of_ue()->tunnel.to_ip, inet_addr("192.0.2.7"));
	assert_int_equal(tell(SMF, SPAN(association_release)), PFCP_ACCEPTED);
	assert_int_equal(function->live, 0);
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 31)), PFCP_NO_ASSOCIATION);
	assert_int_equal(pfcp_agent_associations(agent), 0);
}

/* Two who are associated do not see each other's sessions. */
static void
a_session_is_changed_by_its_own_control_plane_function_alone(void **state)
{
	uint8_t other[sizeof(association_setup)];
	uint64_t seid;

	(void)state;
	start_agent("100");
	associate();
	memcpy(other, association_setup, sizeof(other));
	other[8 + 4 + 4] = 254; /* of its Node ID */
	assert_int_equal(tell(STRANGER, SPAN(other)), PFCP_ACCEPTED);
	assert_int_equal(pfcp_agent_associations(agent), 2);
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	assert_int_equal(tell(STRANGER, numbered(SPAN(handover), seid, 5)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(tell(STRANGER, numbered(SPAN(deletion), seid, 6)), PFCP_SESSION_NOT_FOUND);
	assert_int_equal(tell(STRANGER, SPAN(association_release)), PFCP_ACCEPTED);
	assert_int_equal(session_of_ue()->tunnel.to_ip, inet_addr("192.0.2.7"));
}

static void
a_node_that_begins_anew_has_no_sessions(void **state)
{
	uint8_t later[sizeof(association_setup)];

	(void)state;
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	memcpy(later, association_setup, sizeof(later));
	later[6] = 99; /* its sequence number */
	assert_int_equal(tell(SMF, SPAN(later)), PFCP_ACCEPTED);
	assert_int_equal(function->live, 0);
	assert_int_equal(pfcp_agent_associations(agent), 1);
	check_sessions_agree();
}

static void
what_cannot_be_is_refused_with_its_cause_and_changes_nothing(void **state)
{
	uint64_t seid;

	(void)state;
	start_agent("2");
	associate();
	assert_int_equal(tell(SMF, SPAN(no_node_id)), PFCP_MANDATORY_IE_MISSING);
	assert_int_equal(tell(SMF, SPAN(teid_of_the_smf)), PFCP_INVALID_F_TEID_ALLOCATION);
	assert_int_equal(tell(SMF, SPAN(buffering)), PFCP_SERVICE_NOT_SUPPORTED);
	assert_int_equal(function->live, 0);
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	seid = given_seid();
	/* The UE has a session. */
	assert_int_equal(tell(SMF, numbered(SPAN(establishment), 0, 50)), PFCP_RULE_FAILURE);
	assert_int_equal(tell(SMF, SPAN(other_ue)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, SPAN(third_ue)), PFCP_NO_RESOURCES);
	assert_int_equal(tell(SMF, numbered(SPAN(handover), seid ^ 1, 51)), PFCP_SESSION_NOT_FOUND);
	/* What was removed once cannot be again. */
	assert_int_equal(tell(SMF, numbered(SPAN(without_downlink), seid, 52)), PFCP_ACCEPTED);
	assert_int_equal(tell(SMF, numbered(SPAN(without_downlink), seid, 53)), PFCP_RULE_FAILURE);
	assert_int_equal(function->changed.modified, 1);
	check_sessions_agree();
}

/* With any bit of any request changed: whatever becomes of it, both have the same sessions. */
static void
a_changed_bit_never_leaves_half_a_session(void **state)
{
	const struct pfcp_span messages[] = {
		SPAN(establishment), SPAN(handover),	   SPAN(without_downlink), SPAN(deletion),
		SPAN(bearers),	     SPAN(web_goes_first), SPAN(one_flow_again)};
	uint8_t message[MESSAGE_BYTES_MAX];
	uint32_t sequence = 1000;

	(void)state;
	start_agent("5000");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	for (unsigned int i = 0; i < RTE_DIM(messages); i++) {
		for (size_t bit = 0; bit < 8 * messages[i].bytes; bit++) {
			const uint32_t place =
				upf_session_place_of_ip(function, inet_addr("10.46.0.1"));
			struct pfcp_span sent;

			sent = numbered(messages[i], place != WEIR_FLOW_NONE ? given_seid() : 0,
					sequence++);
			memcpy(message, sent.at, sent.bytes);
			message[bit / 8] ^= (uint8_t)(1 << bit % 8);
			pfcp_agent_take(agent, SMF,
					(struct pfcp_span){.at = message, .bytes = sent.bytes});
			if (bit % 64 == 0)
				check_sessions_agree();
		}
	}
	check_sessions_agree();
}

static void
a_session_takes_less_than_a_kibibyte_with_its_tunnel(void **state)
{
	const size_t tunnel_bytes = sizeof(struct upf_session) + 2 * 40; /* of the tables */
	/* One flow each way, at a rate; its place is in two lists. */
	const struct pfcp_rules rules = {.pdr_count = 2, .far_count = 2, .qer_count = 1};
	const size_t bytes = sizeof(struct pfcp_session) + 2 * sizeof(uint32_t);

	(void)state;
	assert_in_range(bytes + pfcp_kept_bytes(&rules) + tunnel_bytes, 1, 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_set_up_handed_over_held_back_and_deleted),
		cmocka_unit_test(who_is_not_associated_is_refused_with_cause_72),
		cmocka_unit_test(a_session_is_changed_by_its_own_control_plane_function_alone),
		cmocka_unit_test(a_node_that_begins_anew_has_no_sessions),
		cmocka_unit_test(what_cannot_be_is_refused_with_its_cause_and_changes_nothing),
		cmocka_unit_test(a_changed_bit_never_leaves_half_a_session),
		cmocka_unit_test(a_session_takes_less_than_a_kibibyte_with_its_tunnel),
	};

	return cmocka_run_group_tests_name("upf-pfcp-agent", tests, weir_test_eal, stop_agent);
}
