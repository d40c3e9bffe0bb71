/* SPDX-License-Identifier: Apache-2.0 */
/* PFCP is read as Scapy wrote it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "request.h"
#include "refused_vectors_test.h"
#include "response_vectors_test.h"
#include "session_vectors_test.h"

static struct pfcp_request
read_whole(struct pfcp_span message)
{
	struct pfcp_request request;
	struct pfcp_fault fault;

	assert_int_equal(pfcp_request_read(message, &request, &fault), PFCP_READ);
	return request;
}

static void
messages_of_nodes_are_read(void **state)
{
	static const uint8_t smf[] = {0, 192, 0, 2, 100};
	struct pfcp_request request;

	(void)state;
	request = read_whole(SPAN(heartbeat));
	assert_int_equal(request.message, PFCP_HEARTBEAT_REQUEST);
	assert_int_equal(request.sequence, 1);
	assert_int_equal(request.recovery_time_s, 3900000000u);
	request = read_whole(SPAN(association_setup));
	assert_int_equal(request.message, PFCP_ASSOCIATION_SETUP_REQUEST);
	assert_int_equal(request.node_id.bytes, sizeof(smf));
	assert_memory_equal(request.node_id.at, smf, sizeof(smf));
	assert_int_equal(request.recovery_time_s, 3900000000u);
	request = read_whole(SPAN(association_release));
	assert_int_equal(request.message, PFCP_ASSOCIATION_RELEASE_REQUEST);
	assert_int_equal(request.sequence, 0xffffff);
	assert_memory_equal(request.node_id.at, smf, sizeof(smf));
}

static void
both_directions_of_a_session_are_read_with_their_rules(void **state)
{
	const struct pfcp_request request = read_whole(SPAN(establishment));
	const struct pfcp_rules *rules = &request.rules;
	const struct pfcp_pdr *up = &rules->pdr[0], *down = &rules->pdr[1];

	(void)state;
	assert_int_equal(request.sequence, 0x010203);
	assert_int_equal(request.seid, 0);
	assert_true(request.cp_seid == 0x1122334455667788);
	assert_int_equal(request.cp_ip, inet_addr("192.0.2.100"));
	assert_int_equal(rules->pdr_count, 2);
	assert_int_equal(rules->far_count, 2);
	assert_int_equal(rules->qer_count, 1);

	assert_int_equal(up->id, 1);
	assert_int_equal(up->source_interface, PFCP_ACCESS);
	assert_true(up->f_teid.given && up->f_teid.chooses && up->f_teid.has_choose_id);
	assert_int_equal(up->f_teid.choose_id, 5);
	assert_int_equal(up->ue.ip, inet_addr("10.46.0.1"));
	assert_false(up->ue_is_destination);
	assert_true(up->removes_outer_header);
	assert_int_equal(up->outer_header_removal, PFCP_REMOVE_GTPU_UDP_IPV4);
	assert_int_equal(up->far_id, 11);
	assert_int_equal(up->qer_count, 1);
	assert_int_equal(up->qer_id[0], 21);

	assert_int_equal(down->id, 2);
	assert_int_equal(down->source_interface, PFCP_CORE);
	assert_true(down->ue_is_destination);
	assert_false(down->f_teid.given || down->removes_outer_header);
	assert_int_equal(down->far_id, 12);

	assert_int_equal(rules->far[0].action, PFCP_FORWARD);
	assert_int_equal(rules->far[0].destination, PFCP_CORE);
	assert_false(rules->far[0].has_outer_header);
	assert_int_equal(rules->far[1].id, 12);
	assert_int_equal(rules->far[1].destination, PFCP_ACCESS);
	assert_int_equal(rules->far[1].teid, 77);
	assert_int_equal(rules->far[1].ip, inet_addr("192.0.2.7"));

	assert_true(rules->qer[0].has_gate && rules->qer[0].has_mbr && rules->qer[0].has_qfi);
	assert_false(rules->qer[0].is_closed[0]);
	assert_true(rules->qer[0].is_closed[1]);
	assert_true(rules->qer[0].mbr_bps[0] == 50000000);
	assert_true(rules->qer[0].mbr_bps[1] == 10000000000000);
	assert_int_equal(rules->qer[0].qfi, 5);
}

static void
a_modification_gives_what_it_changes_and_nothing_else(void **state)
{
	struct pfcp_request request = read_whole(SPAN(handover));

	(void)state;
	assert_true(request.seid == 0x99aabbccddeeff01);
	assert_int_equal(request.rules.pdr_count + request.rules.qer_count, 0);
	assert_int_equal(request.rules.far_count, 1);
	assert_int_equal(request.rules.far[0].change, PFCP_UPDATE);
	assert_int_equal(request.rules.far[0].id, 12);
	assert_false(request.rules.far[0].has_action || request.rules.far[0].has_destination);
	assert_int_equal(request.rules.far[0].teid, 4000000000u);
	assert_int_equal(request.rules.far[0].ip, inet_addr("192.0.2.8"));

	request = read_whole(SPAN(without_downlink));
	assert_int_equal(request.rules.pdr[0].change, PFCP_REMOVE);
	assert_int_equal(request.rules.pdr[0].id, 2);
	assert_int_equal(request.rules.far[0].change, PFCP_REMOVE);
	assert_int_equal(request.rules.qer[0].change, PFCP_UPDATE);
	assert_true(request.rules.qer[0].is_closed[0] && request.rules.qer[0].is_closed[1]);
	assert_false(request.rules.qer[0].has_mbr);

	request = read_whole(SPAN(deletion));
	assert_int_equal(request.message, PFCP_SESSION_DELETION_REQUEST);
	assert_int_equal(request.sequence, 6);
}

static void
a_mandatory_element_that_is_missing_is_named(void **state)
{
	static const struct {
		struct pfcp_span message;
		uint16_t ie;
	} cases[] = {
		{{no_node_id, sizeof(no_node_id)}, PFCP_IE_NODE_ID},
		{{no_f_seid, sizeof(no_f_seid)}, PFCP_IE_F_SEID},
		{{no_far, sizeof(no_far)}, PFCP_IE_CREATE_FAR},
		{{no_precedence, sizeof(no_precedence)}, PFCP_IE_PRECEDENCE},
		{{no_source_interface, sizeof(no_source_interface)}, PFCP_IE_SOURCE_INTERFACE},
		{{no_gate_status, sizeof(no_gate_status)}, PFCP_IE_GATE_STATUS},
	};

	(void)state;
	for (unsigned int i = 0; i < PFCP_COUNT(cases); i++) {
		struct pfcp_request request;
		struct pfcp_fault fault;

		assert_int_equal(pfcp_request_read(cases[i].message, &request, &fault),
				 PFCP_FAULTY);
		assert_int_equal(fault.cause, PFCP_MANDATORY_IE_MISSING);
		assert_int_equal(fault.ie, cases[i].ie);
		assert_int_equal(request.sequence, 7);
	}
}

/* With a length of its header that agrees, and with the one it had. */
static void
a_message_that_is_cut_anywhere_is_ignored_or_refused(void **state)
{
	uint8_t message[sizeof(establishment)];
	struct pfcp_request request;
	struct pfcp_fault fault;
	unsigned int accepted = 0;

	(void)state;
	for (size_t bytes = 0; bytes < sizeof(establishment); bytes++) {
		const struct pfcp_span cut = {.at = message, .bytes = bytes};
		enum pfcp_reading reading;

		memcpy(message, establishment, bytes);
		assert_int_equal(pfcp_request_read(cut, &request, &fault), PFCP_IGNORED);
		if (bytes < 4)
			continue;
		message[2] = (uint8_t)((bytes - 4) >> 8);
		message[3] = (uint8_t)(bytes - 4);
		reading = pfcp_request_read(cut, &request, &fault);
		accepted += reading == PFCP_READ;
		if (bytes >= 16 && reading != PFCP_READ) {
			assert_int_equal(reading, PFCP_FAULTY);
			assert_true(fault.cause == PFCP_INVALID_LENGTH ||
				    fault.cause == PFCP_MANDATORY_IE_MISSING);
		}
	}
	/* Behind the second FAR (QER, PDN type) and behind the QER; and behind the first FAR. */
	assert_int_equal(accepted, 3);
}

static void
elements_that_nobody_knows_are_left_out_and_a_second_one_is_too(void **state)
{
	static const uint8_t message[] = {
		0x20, PFCP_HEARTBEAT_REQUEST,
		0,    4 + 9 + 8 + 8,
		0,    0,
		9,    0,
		0x80, 0x01,
		0,    5,
		0x48, 0xf9,
		1,    2,
		3, /* a vendor's */
		0,    PFCP_IE_RECOVERY_TIME_STAMP,
		0,    4,
		0,    0,
		0,    7,
		0,    PFCP_IE_RECOVERY_TIME_STAMP,
		0,    4,
		0,    0,
		0,    8,
		0xff, /* behind the message's end */
	};

	(void)state;
	assert_int_equal(read_whole(SPAN(message)).recovery_time_s, 7);
}

static void
what_is_no_request_is_ignored_and_another_version_is_told(void **state)
{
	uint8_t message[sizeof(deletion)];
	struct pfcp_request request;
	struct pfcp_fault fault;

	(void)state;
	assert_int_equal(pfcp_request_read(SPAN(heartbeat_response), &request, &fault),
			 PFCP_IGNORED);
	memcpy(message, deletion, sizeof(message));
	message[0] = 0x41;
	assert_int_equal(pfcp_request_read(SPAN(message), &request, &fault), PFCP_OTHER_VERSION);
	assert_int_equal(request.sequence, 6);
	message[0] = 0x20; /* a session's, without a SEID */
	assert_int_equal(pfcp_request_read(SPAN(message), &request, &fault), PFCP_IGNORED);
}

/* Of each kind PFCP_RULES_MAX, and not more: nothing of a length in a message is allocated. */
static void
more_rules_than_there_is_room_for_are_refused(void **state)
{
	uint8_t message[256] = {0x21, PFCP_SESSION_MODIFICATION_REQUEST};
	struct pfcp_request request;
	struct pfcp_fault fault;
	size_t bytes = 16;

	(void)state;
	for (uint8_t i = 0; i < PFCP_RULES_MAX + 1; i++) {
		const uint8_t rule[] = {0, PFCP_IE_REMOVE_PDR, 0, 6, 0, PFCP_IE_PDR_ID, 0, 2, 0, i};

		memcpy(message + bytes, rule, sizeof(rule));
		bytes += sizeof(rule);
		message[3] = (uint8_t)(bytes - 4);
		assert_int_equal(
			pfcp_request_read((struct pfcp_span){.at = message, .bytes = bytes},
					  &request, &fault),
			i < PFCP_RULES_MAX ? PFCP_READ : PFCP_FAULTY);
	}
	assert_int_equal(fault.cause, PFCP_NO_RESOURCES);
}

/* Tables 7.5.4.6-1 … 7.5.4.12-1: what else comes is left out, and not refused. */
static void
of_a_rule_that_is_removed_the_number_alone_is_read(void **state)
{
	static const struct {
		uint8_t removes, id, id_bytes, other;
	} kinds[] = {
		{PFCP_IE_REMOVE_PDR, PFCP_IE_PDR_ID, 2, PFCP_IE_PRECEDENCE},
		{PFCP_IE_REMOVE_FAR, PFCP_IE_FAR_ID, 4, PFCP_IE_APPLY_ACTION},
		{PFCP_IE_REMOVE_QER, PFCP_IE_QER_ID, 4, PFCP_IE_MBR},
		{PFCP_IE_REMOVE_URR, PFCP_IE_URR_ID, 4, PFCP_IE_FAR_ID},
		{PFCP_IE_REMOVE_BAR, PFCP_IE_BAR_ID, 1, PFCP_IE_SUGGESTED_PACKETS},
	};

	(void)state;
	for (unsigned int i = 0; i < PFCP_COUNT(kinds); i++) {
		const uint8_t id_bytes = kinds[i].id_bytes, bytes = 4 + id_bytes + 4;
		const uint8_t head[] = {0, kinds[i].removes, 0, bytes, 0, kinds[i].id, 0, id_bytes};
		const uint8_t other[] = {0, kinds[i].other, 0, 0}; /* too short */
		uint8_t message[64] = {0x21, PFCP_SESSION_MODIFICATION_REQUEST, 0, 12 + 4 + bytes};
		struct pfcp_request request;
		struct pfcp_fault fault;

		memcpy(message + 16, head, sizeof(head));
		message[16 + sizeof(head) + id_bytes - 1] = 7;
		memcpy(message + 16 + sizeof(head) + id_bytes, other, sizeof(other));
		assert_int_equal(pfcp_request_read((struct pfcp_span){message, 16 + 4 + bytes},
						   &request, &fault),
				 PFCP_READ);
		assert_int_equal(request.rules.pdr[0].id + request.rules.far[0].id +
					 request.rules.qer[0].id + request.rules.urr[0].id +
					 request.rules.bar[0].id,
				 7);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_nodes_are_read),
		cmocka_unit_test(both_directions_of_a_session_are_read_with_their_rules),
		cmocka_unit_test(a_modification_gives_what_it_changes_and_nothing_else),
		cmocka_unit_test(a_mandatory_element_that_is_missing_is_named),
		cmocka_unit_test(a_message_that_is_cut_anywhere_is_ignored_or_refused),
		cmocka_unit_test(elements_that_nobody_knows_are_left_out_and_a_second_one_is_too),
		cmocka_unit_test(what_is_no_request_is_ignored_and_another_version_is_told),
		cmocka_unit_test(more_rules_than_there_is_room_for_are_refused),
		cmocka_unit_test(of_a_rule_that_is_removed_the_number_alone_is_read),
	};

	return cmocka_run_group_tests_name("upf-pfcp-read", tests, NULL, NULL);
}
