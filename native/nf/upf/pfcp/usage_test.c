/* SPDX-License-Identifier: Apache-2.0 */
/* What usage reporting rules measure is reported when its time has come, once, and until that is
 * answered. */
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
#include "usage_vectors_test.h"

/* In a report: the last octet of the first rule's number, and its volume of both directions. */
#define FIRST_RULE_AT 32
#define FIRST_VOLUME_AT 69

/* A session whose rule 31 reports each 60 s, and rule 32 at 1,000 bytes of uplink or 10 s; its
 * SEID.
 */
static uint64_t
start_metered(void)
{
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(metered)), PFCP_ACCEPTED);
	return given_seid();
}

static void
pass_time_ms(uint64_t ms)
{
	now_ms += ms;
}

static void
a_report_is_as_scapy_writes_it_and_is_sent_until_it_is_answered(void **state)
{
	const struct pfcp_writer *report;

	(void)state;
	start_metered();
	pass_time_ms(5900);
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 500;
	assert_null(due()); /* this is when it sees the first packet */
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 1100;
	pass_time_ms(4100);
	report = due();
	assert_non_null(report);
	assert_int_equal(report->bytes, sizeof(usage_reported));
	assert_memory_equal(report->message, usage_reported, sizeof(usage_reported));
	pass_time_ms(2999);
	assert_null(due());

	for (unsigned int tries = 2; tries <= PFCP_REPORT_TRIES; tries++) {
		pass_time_ms(3000);
		report = due();
		assert_non_null(report);
		assert_memory_equal(report->message, usage_reported, sizeof(usage_reported));
		assert_null(due());
	}
	assert_int_equal(tell(SMF, SPAN(report_taken)), 0);
	assert_int_equal(agent->counts.reports_accepted, 1);
	assert_int_equal(tell(SMF, SPAN(report_taken)), 0); /* both answers came late */
	assert_int_equal(tell((struct pfcp_peer){.ip = 7}, SPAN(report_taken)), 0);
	assert_int_equal(agent->counts.not_associated, 1);
	assert_int_equal(agent->counts.repeated, 1);
	assert_int_equal(agent->counts.malformed, 0);
	pass_time_ms(800); /* 9.9 s of the next ten */
	assert_null(due());
	pass_time_ms(101);
	report = due();
	assert_non_null(report);
	assert_int_equal(pfcp_number(report->message + 12, 3), 1);
	assert_int_equal(agent->counts.reports, 2);
	assert_int_equal(agent->counts.reports_repeated, 2);
}

static void
a_report_that_nobody_answers_is_given_up_and_counted(void **state)
{
	unsigned int sent = 0;

	(void)state;
	start_metered();
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 1000;
	for (unsigned int i = 0; i < 8; i++) { /* within the period of the other rule */
		pass_time_ms(3000);
		while (due() != NULL)
			sent++;
	}
	/* The time threshold of that rule is met meanwhile. */
	assert_int_equal(agent->counts.reports, 2);
	assert_int_equal(agent->counts.reports_unanswered, 2);
	assert_int_equal(sent, 2 * PFCP_REPORT_TRIES);
}

static void
periods_and_thresholds_of_time_come_again_and_again(void **state)
{
	unsigned int periodic = 0, timed = 0;

	(void)state;
	start_metered();
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 10;
	for (unsigned int s = 0; s < 605; s++) {
		const struct pfcp_writer *report;

		pass_time_ms(1000);
		while ((report = due()) != NULL) {
			uint8_t taken[sizeof(report_taken)];

			/* Both rules may be in one, 31 first. */
			periodic += report->message[FIRST_RULE_AT] == 31;
			timed += report->message[FIRST_RULE_AT] == 32 || report->bytes > 130;
			memcpy(taken, report_taken, sizeof(taken));
			memcpy(taken + 12, report->message + 12, 3);
			assert_int_equal(tell(SMF, (struct pfcp_span){taken, sizeof(taken)}), 0);
		}
	}
	assert_int_equal(periodic, 10);
	assert_int_equal(timed, 60);
	assert_int_equal(agent->counts.reports_repeated, 0);
	assert_int_equal(agent->counts.reports, agent->counts.reports_accepted);
}

static void
what_is_measured_while_there_is_no_room_for_reports_is_in_a_later_one(void **state)
{
	const struct pfcp_writer *report;

	(void)state;
	start_metered();
	leave_no_room_for_reports(5000);
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 1000;
	pass_time_ms(1000);
	assert_null(due());
	usage_of(1)->passed[WEIR_OUTBOUND].bytes = 1100;
	pass_time_ms(4000); /* the others are given up */
	report = due();
	assert_non_null(report);
	assert_int_equal(pfcp_number(report->message + FIRST_VOLUME_AT, 8), 1100);
	assert_int_equal(agent->counts.reports, 1);
}

static void
reports_end_with_the_session_and_with_the_association(void **state)
{
	uint64_t seid = start_metered();

	(void)state;
	usage_of(0)->passed[WEIR_INBOUND].bytes = 1000;
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 30)), PFCP_ACCEPTED);
	assert_false(pfcp_agent_waits(agent));
	assert_int_equal(agent->slots.count, function->rules_max);
	/* Two reports: with volumes, and one of them with a duration. */
	assert_true(answer()->bytes > 16 + 5 + 2 * 60);
	pass_time_ms(100000);
	assert_null(due());

	assert_int_equal(tell(SMF, numbered(SPAN(metered), 0, 31)), PFCP_ACCEPTED);
	usage_of(1)->passed[WEIR_OUTBOUND].bytes += 1000;
	pass_time_ms(10);
	assert_non_null(due());
	assert_int_equal(tell(SMF, SPAN(association_release)), PFCP_ACCEPTED);
	pass_time_ms(10000);
	assert_null(due());
	assert_false(pfcp_agent_waits(agent));
	check_sessions_agree();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_as_scapy_writes_it_and_is_sent_until_it_is_answered),
		cmocka_unit_test(a_report_that_nobody_answers_is_given_up_and_counted),
		cmocka_unit_test(periods_and_thresholds_of_time_come_again_and_again),
		cmocka_unit_test(
			what_is_measured_while_there_is_no_room_for_reports_is_in_a_later_one),
		cmocka_unit_test(reports_end_with_the_session_and_with_the_association),
	};

	return cmocka_run_group_tests_name("upf-pfcp-usage", tests, weir_test_eal, stop_agent);
}
