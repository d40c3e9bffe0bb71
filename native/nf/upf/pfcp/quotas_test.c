/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas of usage reporting rules: what they stop, and that whoever asked is told of the one that
 * was used up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "testing/packet.h"
#include "agent_fixture_test.h"
#include "state.h"
#include "session_vectors_test.h"
#include "usage_vectors_test.h"

#define TRIGGERS_AT 45 /* in a report: those of its first rule */

extern const struct weir_nf weir_nf_upf;

/* A session with 1,000 bytes of both ways, or five seconds; what counts them. */
static struct upf_usage *
start_limited(void)
{
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(limited)), PFCP_ACCEPTED);
	return usage_of(0);
}

/* The triggers in the report that is due; 0: none is. */
static uint64_t
told_of(void)
{
	const struct pfcp_writer *report = due();

	return report != NULL ? pfcp_number(report->message + TRIGGERS_AT, 3) : 0;
}

/* The rule that has the quotas. */
static struct pfcp_urr *
limited_rule(void)
{
	unsigned int count;
	struct pfcp_urr *urr =
		pfcp_kept_urrs(agent->sessions[agent->reports.metered[0]].kept, &count);

	assert_int_equal(count, 1);
	return urr;
}

static void
a_quota_that_is_used_up_is_told_once_and_a_new_one_counts_from_then_on(void **state)
{
	struct upf_usage *usage;
	uint64_t seid;

	(void)state;
	usage = start_limited();
	seid = given_seid();
	assert_true(usage->is_limited);
	assert_int_equal(usage->limit_bytes[UPF_TOTAL], 1000);
	usage->passed[WEIR_INBOUND].bytes = 900;
	assert_null(due());
	usage->is_exhausted = true; /* by a packet of more than the rest */
	now_ms += 10;
	assert_int_equal(told_of(), PFCP_AT_VOLUME_QUOTA);
	assert_null(due());

	assert_int_equal(tell(SMF, numbered(SPAN(granted), seid, 50)), PFCP_ACCEPTED);
	assert_false(usage->is_exhausted);
	assert_int_equal(usage->limit_bytes[UPF_TOTAL], 1400);
	now_ms += 4900;
	usage->passed[WEIR_OUTBOUND].bytes = 1;
	agent->reports.report[0].tries = 0;
	agent->reports.under_way--;
	assert_null(due());
	now_ms += 100;
	assert_int_equal(told_of(), PFCP_AT_TIME_QUOTA);
	assert_true(usage->is_exhausted);
	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 51)), PFCP_ACCEPTED);

	assert_int_equal(tell(SMF, SPAN(metered)), PFCP_ACCEPTED);
	for (unsigned int i = 0; i < 2; i++) /* one of them is where that was */
		assert_false(usage_of(i)->is_limited || usage_of(i)->is_exhausted);
}

static void
time_that_is_used_up_while_there_is_no_room_for_reports_is_told_as_time_later(void **state)
{
	static const uint32_t asked[] = {PFCP_AT_VOLUME_QUOTA | PFCP_AT_TIME_QUOTA,
					 PFCP_AT_TIME_QUOTA};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(asked); i++) {
		struct upf_usage *usage = start_limited();

		limited_rule()->triggers = asked[i];
		usage->passed[WEIR_INBOUND].bytes = 100;
		assert_int_equal(told_of(), 0); /* its time begins */
		leave_no_room_for_reports(6000);
		now_ms += 5000;
		assert_int_equal(told_of(), 0);
		assert_true(usage->is_exhausted);
		now_ms += 10;
		assert_int_equal(told_of(), 0);
		now_ms += 990; /* the others are given up */
		assert_int_equal(told_of(), PFCP_AT_TIME_QUOTA);
		now_ms += 10;
		assert_int_equal(told_of(), 0);
	}
}

static void
who_asked_for_the_time_alone_is_told_of_it_though_the_volume_was_used_up_before(void **state)
{
	struct upf_usage *usage = start_limited();

	(void)state;
	limited_rule()->triggers = PFCP_AT_TIME_QUOTA;
	usage->passed[WEIR_INBOUND].bytes = 1000;
	usage->is_exhausted = true;
	assert_int_equal(told_of(), 0); /* its time begins */
	now_ms += 4990;
	assert_int_equal(told_of(), 0);
	now_ms += 10;
	assert_int_equal(told_of(), PFCP_AT_TIME_QUOTA);
	now_ms += 10;
	assert_int_equal(told_of(), 0);
}

static struct upf_usage *
downlink_usage(unsigned int index)
{
	return &function->usages[function->rules[session_of_ue()->rules[0]].usage[index]];
}

/* A session with 1,000 bytes of both ways, reported at 500, and 600 bytes or five seconds of
 * downlink. */
static void
start_limited_twice(void)
{
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(limited_twice)), PFCP_ACCEPTED);
}

static void
time_ends_with_its_quota_though_a_rule_before_it_finds_no_room_for_its_report(void **state)
{
	(void)state;
	start_limited_twice();
	leave_no_room_for_reports(60000);
	downlink_usage(0)->passed[WEIR_INBOUND].bytes = 500; /* which is to be reported */
	downlink_usage(1)->passed[WEIR_INBOUND].bytes = 500;
	assert_null(due()); /* its time begins */
	now_ms += 4990;
	assert_null(due());
	assert_false(downlink_usage(1)->is_exhausted);
	now_ms += 10;
	assert_null(due());
	assert_true(downlink_usage(1)->is_exhausted);
	assert_false(downlink_usage(0)->is_exhausted);
}

/* An IP packet of so many bytes to the UE: "", or why it is dropped. */
static const char *
down(uint16_t bytes)
{
	static const uint8_t payload[1400];
	const struct weir_test_ipv4 what = {.src = "203.0.113.9",
					    .dst = "10.46.0.1",
					    .payload = payload,
					    .payload_bytes = bytes - 28};
	struct weir_test_outcome outcome = weir_test_run(&weir_nf_upf, function, WEIR_INBOUND,
							 weir_test_ipv4_packet(&what), 1000);

	rte_pktmbuf_free(outcome.packet);
	return outcome.drop_reason != NULL ? outcome.drop_reason : "";
}

static void
what_does_not_leave_uses_up_no_quota_and_what_a_quota_stops_no_rate(void **state)
{
	struct upf_usage *usage = start_limited();
	struct upf_flow *flow = &function->rules[session_of_ue()->rules[0]].flow;

	(void)state;
	flow->held_by = UPF_HELD_BY_ACTION;
	assert_string_equal(down(1400), "forwarding_action");
	flow->held_by = UPF_HELD_BY_GATE;
	assert_string_equal(down(1400), "gate_closed");
	function->mbr_burst_bytes = 1100;
	upf_flow_set_mbr(flow, 8);
	flow->held_by = UPF_HELD_BY_MBR;
	assert_string_equal(down(1400), "above_mbr");
	flow->held_by |= UPF_HELD_BY_BUFFER;
	assert_string_equal(down(1050), "held");
	assert_int_equal(function->buffer.packets, 1);
	assert_false(usage->is_exhausted);
	upf_flow_set_mbr(flow, 8);
	flow->held_by = UPF_HELD_BY_MBR;
	assert_string_equal(down(600), "");
	assert_string_equal(down(500), "quota_exhausted");
	assert_true(usage->is_exhausted);
	assert_int_equal(usage->passed[WEIR_INBOUND].bytes, 600);
	assert_int_equal(tell(SMF, numbered(SPAN(granted), given_seid(), 50)), PFCP_ACCEPTED);
	assert_string_equal(down(500), "");
}

static void
a_packet_that_one_quota_stops_uses_up_no_other(void **state)
{
	(void)state;
	start_limited_twice();
	assert_string_equal(down(600), "");
	assert_string_equal(down(100), "quota_exhausted");
	assert_true(downlink_usage(1)->is_exhausted);
	assert_false(downlink_usage(0)->is_exhausted);
	assert_string_equal(down(1400), "quota_exhausted");
	assert_false(downlink_usage(0)->is_exhausted);
	/* One that fits neither ends both. */
	start_limited_twice();
	assert_string_equal(down(1400), "quota_exhausted");
	assert_true(downlink_usage(0)->is_exhausted);
	assert_true(downlink_usage(1)->is_exhausted);
	assert_int_equal(downlink_usage(0)->passed[WEIR_INBOUND].bytes, 0);
}

static void
nothing_waits_where_a_quota_is_used_up_and_nobody_is_told_of_it(void **state)
{
	struct upf_usage *usage = start_limited();
	struct upf_rule *rule = &function->rules[session_of_ue()->rules[0]];
	struct upf_note note;

	(void)state;
	rule->flow.held_by = UPF_HELD_BY_BUFFER | UPF_NOTIFIES;
	usage->is_exhausted = true;
	assert_string_equal(down(600), "quota_exhausted");
	assert_int_equal(function->buffer.packets, 0);
	assert_false(upf_buffer_next_note(function, &note));
	/* A new one is for what comes then. */
	assert_int_equal(tell(SMF, numbered(SPAN(granted), given_seid(), 50)), PFCP_ACCEPTED);
	assert_string_equal(down(1400), "held");
	assert_true(upf_buffer_next_note(function, &note));
	assert_false(usage->is_exhausted);
}

static void
what_waits_is_of_the_quota_when_it_leaves(void **state)
{
	const struct upf_usage *usage = start_limited();
	struct upf_rule *rule = &function->rules[session_of_ue()->rules[0]];
	struct weir_batch batch = {.direction = WEIR_INBOUND};
	struct weir_stage_ledger ledger = {.held = 3};

	(void)state;
	rule->flow.held_by = UPF_HELD_BY_BUFFER;
	for (unsigned int i = 0; i < 3; i++)
		assert_string_equal(down(600), "held");
	assert_int_equal(usage->passed[WEIR_INBOUND].bytes, 0);
	upf_flow_keep(function, &rule->flow, rule->queue, false);
	weir_nf_upf.release(function, &batch, &ledger);
	assert_int_equal(batch.count, 1);
	rte_pktmbuf_free(batch.packet[0]);
	assert_int_equal(ledger.drops[UPF_DROP_QUOTA], 2);
	assert_int_equal(ledger.held, 0);
	assert_int_equal(usage->passed[WEIR_INBOUND].bytes, 600);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_quota_that_is_used_up_is_told_once_and_a_new_one_counts_from_then_on),
		cmocka_unit_test(
			time_that_is_used_up_while_there_is_no_room_for_reports_is_told_as_time_later),
		cmocka_unit_test(
			who_asked_for_the_time_alone_is_told_of_it_though_the_volume_was_used_up_before),
		cmocka_unit_test(
			what_does_not_leave_uses_up_no_quota_and_what_a_quota_stops_no_rate),
		cmocka_unit_test(
			time_ends_with_its_quota_though_a_rule_before_it_finds_no_room_for_its_report),
		cmocka_unit_test(a_packet_that_one_quota_stops_uses_up_no_other),
		cmocka_unit_test(nothing_waits_where_a_quota_is_used_up_and_nobody_is_told_of_it),
		cmocka_unit_test(what_waits_is_of_the_quota_when_it_leaves),
	};

	return cmocka_run_group_tests_name("upf-pfcp-quotas", tests, weir_test_eal, stop_agent);
}
