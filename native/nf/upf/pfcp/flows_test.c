/* SPDX-License-Identifier: Apache-2.0 */
/* Rules by service data flow, as Scapy writes them: how they are read, and what they make of a
 * session. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "testing/eal.h"
#include "agent_fixture_test.h"
#include "bearer.h"
#include "flow_vectors_test.h"
#include "session_vectors_test.h"

static void
filters_are_read_with_the_rule_that_they_are_of(void **state)
{
	const struct pfcp_rules *rules;
	struct pfcp_request request;
	struct pfcp_fault fault;

	(void)state;
	assert_int_equal(pfcp_request_read(SPAN(bearers), &request, &fault), PFCP_READ);
	rules = &request.rules;
	assert_int_equal(rules->pdr_count, 6);
	assert_int_equal(rules->filter_count, 5);
	assert_int_equal(rules->pdr[1].id, 1);
	assert_int_equal(rules->pdr[1].precedence, 10);
	assert_false(rules->pdr[1].has_qfi);
	assert_true(rules->pdr[2].has_qfi);
	assert_int_equal(rules->pdr[2].qfi, 6);

	assert_int_equal(rules->filter[0].pdr_id, 1);
	assert_true(rules->filter[0].has_id && !rules->filter[0].is_described);
	assert_int_equal(rules->filter[2].pdr_id, 21);
	assert_true(rules->filter[2].is_described);
	assert_int_equal(rules->filter[2].id, 1);
	assert_int_equal(rules->filter[2].filter.protocol, IPPROTO_UDP);
	assert_memory_equal(rules->filter[2].filter.network.ip.bytes, "\xcb\x00\x71\x09", 4);
	assert_int_equal(rules->filter[2].filter.network.bits, 32);
	assert_int_equal(rules->filter[2].filter.network.range[0].first, 53);
	assert_int_equal(rules->filter[4].pdr_id, 22);
	assert_int_equal(rules->filter[4].filter.tos, 0xb8);
	assert_int_equal(rules->filter[4].filter.tos_mask, 0xfc);
}

static const struct upf_rule *
rule_at(const struct upf_session *session, bool out, unsigned int place)
{
	uint32_t at = session->rules[out];

	for (; place > 0; place--)
		at = function->rules[at].next;
	assert_int_not_equal(at, 0);
	return &function->rules[at];
}

static void
rules_are_asked_by_precedence_and_keep_their_counts_when_that_changes(void **state)
{
	const struct upf_session *session;
	const struct upf_rule *web;
	uint64_t seid;

	(void)state;
	start_agent("100");
	associate();
	assert_int_equal(tell(SMF, SPAN(bearers)), PFCP_ACCEPTED);
	seid = given_seid();
	session = session_of_ue();
	assert_int_equal(session->out_of.held_by, UPF_HELD_BY_RULES);
	assert_int_equal(session->into.held_by, UPF_HELD_BY_RULES);
	assert_int_equal(function->rules_used, 6);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rule_at(session, true, i)->id, 1 + i);
		assert_int_equal(rule_at(session, false, i)->id, 21 + i);
	}
	/* A filter that has an ID alone is the one of the downlink. */
	assert_int_equal(rule_at(session, true, 0)->match.filter[0].protocol, IPPROTO_UDP);
	web = rule_at(session, false, 1);
	assert_int_equal(web->flow.held_by, UPF_HELD_BY_GATE);
	assert_int_equal(web->tunnel.qfi, 6);
	((struct upf_rule *)(uintptr_t)web)->flow.passed.packets = 7;

	assert_int_equal(tell(SMF, numbered(SPAN(web_goes_first), seid, 30)), PFCP_ACCEPTED);
	assert_ptr_equal(rule_at(session, false, 0), web);
	assert_int_equal(web->flow.passed.packets, 7);
	assert_int_equal(web->flow.held_by, 0);
	assert_int_equal(function->rules_used, 6);

	assert_int_equal(tell(SMF, numbered(SPAN(one_flow_again), seid, 31)), PFCP_ACCEPTED);
	assert_int_equal(session->rules[0] + session->rules[1] + function->rules_used, 0);
	assert_int_equal(session->into.held_by, 0);
	assert_int_equal(rte_be_to_cpu_32(session->tunnel.teid), 77);
	assert_int_equal(function->ended[WEIR_INBOUND].packets, 7); /* what it counted stays */
	check_sessions_agree();

	assert_int_equal(tell(SMF, numbered(SPAN(deletion), seid, 32)), PFCP_ACCEPTED);
	assert_int_equal(function->live, 0);
}

static void
a_rule_that_names_one_version_is_for_that_alone(void **state)
{
	const struct upf_session *session;

	(void)state;
	start_agent("10");
	associate();
	assert_int_equal(tell(SMF, SPAN(a_rule_a_version)), PFCP_ACCEPTED);
	session = session_of_ue();
	assert_true(upf_has_prefix(session));
	assert_int_equal(rule_at(session, true, 0)->match.families, UPF_IPV6);
	assert_int_equal(rule_at(session, false, 0)->match.filter_count, 3);
	assert_int_equal(rule_at(session, false, 0)->match.families, UPF_IPV6);
	assert_int_equal(rule_at(session, false, 1)->match.families, UPF_IPV4);
	assert_int_equal(rule_at(session, false, 2)->match.families, UPF_IPV6);
	assert_true(rule_at(session, false, 0)->match.filter[1].has_flow_label);
	assert_int_equal(rule_at(session, false, 0)->match.filter[1].flow_label, 0x54321);
	assert_true(rule_at(session, false, 0)->match.filter[2].has_spi);
	assert_int_equal(rule_at(session, false, 0)->match.filter[2].spi, 0x1000);
}

/* Address and prefix lead to one worker of some numbers of workers, and not of others. */
static void
a_session_of_both_versions_is_one_workers_or_refused(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (uint32_t workers = 1; workers <= 7; workers++) {
		start_agent("10");
		function->workers = workers;
		associate();
		if (tell(SMF, SPAN(both_versions)) == PFCP_SERVICE_NOT_SUPPORTED)
			refused++;
		else
			assert_int_equal(function->live, 1);
		assert_int_equal(tell(SMF, SPAN(prefix_alone)),
				 function->live == 1 ? PFCP_RULE_FAILURE : PFCP_ACCEPTED);
	}
	assert_in_range(refused, 1, 6);
}

static void
a_session_names_the_qos_flow_of_the_option_where_its_qer_names_none(void **state)
{
	const struct upf_session *session;

	(void)state;
	start_agent("10");
	associate();
	assert_int_equal(tell(SMF, SPAN(establishment)), PFCP_ACCEPTED);
	session = session_of_ue();
	assert_int_equal(session->tunnel.qfi, 5);
	assert_int_equal(tell(SMF, numbered(SPAN(without_qfi), given_seid(), 20)), PFCP_ACCEPTED);
	assert_int_equal(session->tunnel.qfi, function->qfi);
	assert_int_equal(session->into.held_by, 0);
	assert_int_equal(rte_be_to_cpu_32(session->tunnel.teid), 77);
}

/* The rules of a message's elements that create some, as what creates or removes them. */
static struct pfcp_rules
pdrs_of(struct pfcp_span message, enum pfcp_rule_change change)
{
	struct pfcp_rules rules = {0};
	struct pfcp_header header;
	struct pfcp_fault fault;
	const uint8_t *end;

	assert_true(pfcp_header_read(message, &header));
	end = header.ies.at + header.ies.bytes;
	for (const uint8_t *at = header.ies.at; at < end; at += 4 + pfcp_number(at + 2, 2)) {
		const struct pfcp_span value = {at + 4, pfcp_number(at + 2, 2)};

		if (pfcp_number(at, 2) == PFCP_IE_CREATE_PDR)
			assert_true(pfcp_pdr_read(value, change, &rules, &fault));
	}
	return rules;
}

static void
rules_that_stay_keep_their_order_when_another_one_goes(void **state)
{
	static const uint16_t left[] = {3, 2, 23, 21, 22};
	const struct pfcp_rules created = pdrs_of(SPAN(bearers), PFCP_CREATE);
	const struct pfcp_rules first = {.pdr_count = 1,
					 .pdr[0] = {.change = PFCP_REMOVE, .id = 1}};
	struct pfcp_rules rules = {0};
	struct pfcp_fault fault;

	(void)state;
	assert_true(pfcp_rules_change(&rules, &created, &fault));
	assert_int_equal(rules.pdr[1].id, 1);
	assert_true(pfcp_rules_change(&rules, &first, &fault));
	assert_int_equal(rules.pdr_count, RTE_DIM(left));
	for (unsigned int i = 0; i < RTE_DIM(left); i++)
		assert_int_equal(rules.pdr[i].id, left[i]);
}

/* Removing needs the rule's number alone; what else is there is not looked at. */
static void
a_rule_that_goes_leaves_no_filters_though_the_request_repeats_them(void **state)
{
	const struct pfcp_rules created = pdrs_of(SPAN(bearers), PFCP_CREATE);
	const struct pfcp_rules removed = pdrs_of(SPAN(bearers), PFCP_REMOVE);
	struct pfcp_rules rules = {0};
	struct pfcp_fault fault;

	(void)state;
	assert_int_equal(removed.pdr_count, 6);
	assert_true(pfcp_rules_change(&rules, &created, &fault));
	assert_int_equal(rules.filter_count, 5);
	assert_true(pfcp_rules_change(&rules, &removed, &fault));
	assert_int_equal(rules.pdr_count, 0);
	assert_int_equal(rules.filter_count, 0);
}

static void
a_rule_ends_its_tunnel_for_the_flag_of_its_own_far_whatever_its_number(void **state)
{
	const struct pfcp_rules rules = {
		.pdr_count = 2,
		.pdr = {{.id = 0, .source_interface = PFCP_CORE, .far_id = 1},
			{.id = 5, .source_interface = PFCP_CORE, .far_id = 2}}};
	struct pfcp_meaning had = {.session.rule_count = 2}, wanted;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		had.rule[i] = (struct upf_rule_wanted){
			.id = rules.pdr[i].id, .direction = WEIR_INBOUND, .gnb_teid = 1 + i};
	for (unsigned int flagged = 0; flagged < 2; flagged++) {
		const struct pfcp_rules changes = {
			.far_count = 1,
			.far = {{.change = PFCP_UPDATE, .id = 1 + flagged, .ends_tunnel = true}}};

		wanted = had;
		wanted.session.action[WEIR_INBOUND] = UPF_ACTION_BY_RULES;
		wanted.rule[0].gnb_teid = 11;
		wanted.rule[1].gnb_teid = 12;
		pfcp_mark_ends(&rules, &changes, &had, &wanted);
		assert_int_equal(wanted.rule[0].ends_tunnel, flagged == 0);
		assert_int_equal(wanted.rule[1].ends_tunnel, flagged == 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_are_read_with_the_rule_that_they_are_of),
		cmocka_unit_test(
			rules_are_asked_by_precedence_and_keep_their_counts_when_that_changes),
		cmocka_unit_test(a_rule_that_names_one_version_is_for_that_alone),
		cmocka_unit_test(a_session_of_both_versions_is_one_workers_or_refused),
		cmocka_unit_test(
			a_session_names_the_qos_flow_of_the_option_where_its_qer_names_none),
		cmocka_unit_test(
			a_rule_ends_its_tunnel_for_the_flag_of_its_own_far_whatever_its_number),
		cmocka_unit_test(rules_that_stay_keep_their_order_when_another_one_goes),
		cmocka_unit_test(
			a_rule_that_goes_leaves_no_filters_though_the_request_repeats_them),
	};

	return cmocka_run_group_tests_name("upf-pfcp-flows", tests, weir_test_eal, stop_agent);
}
