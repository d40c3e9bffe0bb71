/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of sessions that cannot be: what is refused, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "testing/eal.h"
#include "testing/report.h"
#include "upf_fixture_test.h"

static void
what_cannot_be_is_refused_as_a_whole_and_says_why(void **state)
{
	static const struct {
		const char *command, *sessions, *message;
	} cases[] = {
		{"sessions-add", "ue=10.46.0.2", "ue=10.46.0.2 has no TEID"},
		{"sessions-add", "teid=40", "a session is not named"},
		{"sessions-add", "ue=" UE " teid=40", "there is a session of ue=10.45.0.1"},
		{"sessions-add", "ue=10.46.0.2 teid=302",
		 "teid=302 of ue=10.46.0.2 leads to place 301, and there are 300"},
		{"sessions-add", "ue=10.46.0.2 teid=513",
		 "teid=513 of ue=10.46.0.2 leads to place 0, where the session of ue=10.45.0.1 is"},
		{"sessions-add", "ue=10.46.0.2 teid=40 gnb=192.0.2.7",
		 "ue=10.46.0.2 goes to a gNB without a TEID there"},
		{"sessions-add", "ue=10.46.0.2 teid=40 gnb=0.0.0.0 gnb_teid=1",
		 "ue=10.46.0.2 goes to a gNB at 0.0.0.0"},
		{"sessions-add", "ue=10.46.0.2 teid=40 downlink=forward",
		 "what is for ue=10.46.0.2 has no tunnel to enter"},
		{"sessions-add", "ue=10.46.0.2 teid=40, ue=10.46.0.2 teid=41",
		 "ue=10.46.0.2 and ue=10.46.0.2 are one session, or lead to one place"},
		{"sessions-add", "ue=10.46.0.2 teid=40, ue=10.46.0.3 teid=552",
		 "ue=10.46.0.2 and ue=10.46.0.3 are one session, or lead to one place"},
		{"sessions-add", "ue=10.46.0.2 teid=0", "option 'teid' of a session cannot be '0'"},
		{"sessions-add", "ue=10.46.0.2 tied=9", "a session has no option 'tied'"},
		{"sessions-add", "10.46.0.2", "'10.46.0.2' is not a key and its value"},
		{"sessions-add", "", "a change of sessions is given no list, or two"},
		{"sessions-modify", "ue=10.46.0.2 qfi=1", "there is no session of ue=10.46.0.2"},
		{"sessions-modify", "ue=" UE " teid=40",
		 "the TEID of ue=10.45.0.1 at this end stays"},
		{"sessions-remove", "ue=" UE ", ue=10.46.0.2",
		 "there is no session of ue=10.46.0.2"},
		{"sessions-remove", "ue=" UE ", ue=" UE,
		 "ue=10.45.0.1 and ue=10.45.0.1 are one session, or lead to one place"},
	};

	(void)state;
	upf_start_with_room();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_string_equal(upf_change(cases[i].command, cases[i].sessions),
				    cases[i].message);
	assert_string_equal(upf_up(FIRST, UE), "forwarded");
	assert_string_equal(upf_up(40, "10.46.0.2"), "unknown_teid");
	assert_int_equal(upf_figure("sessions"), 4);
	assert_int_equal(upf_figure("sessions_added") + upf_figure("sessions_modified") +
				 upf_figure("sessions_removed"),
			 0);
}

static void
a_command_changes_128_sessions_at_most(void **state)
{
	char words[129 * 24];
	size_t used = 0;

	(void)state;
	upf_start_with_room();
	for (unsigned int i = 0; i < 129; i++)
		used += snprintf(words + used, sizeof(words) - used, "ue=10.46.1.%u teid=%u,", i,
				 100 + i);
	assert_string_equal(upf_change("sessions-add", words), "too many sessions");
	assert_int_equal(upf_figure("sessions"), 4);
	words[used - strlen("ue=10.46.1.128 teid=228,")] = '\0';
	assert_null(upf_change("sessions-add", words));
	assert_int_equal(upf_figure("sessions"), 132);
	assert_string_equal(upf_up(227, "10.46.1.127"), "forwarded");
}

static void
what_is_added_meets_at_one_worker_or_is_told_which_teid_would(void **state)
{
	struct weir_headers headers, down = {.network = WEIR_NETWORK_IPV4};
	struct rte_mbuf *packet;
	struct weir_error error;
	const char *message;
	char words[64];
	unsigned long teid;

	(void)state;
	upf_start_with_room();
	assert_int_equal(weir_nf_upf.share(upf, 1, 3, "upf", &error), 0);
	message = upf_change("sessions-add", "ue=10.46.0.1 teid=22 gnb_teid=7");
	assert_non_null(message);
	assert_memory_equal(message, "teid=22 leads to another of 3 workers than ue=10.46.0.1; ",
			    57);
	teid = strtoul(strstr(message, "; teid=") + 7, NULL, 10);
	assert_int_equal((teid - FIRST) % STEP, 21);
	snprintf(words, sizeof(words), "ue=10.46.0.1 teid=%lu gnb_teid=7", teid);
	assert_null(upf_change("sessions-add", words));
	packet = in_tunnel((uint32_t)teid, "10.46.0.1", 20);
	weir_headers_parse(packet, &headers);
	down.tuple.dst_ip = inet_addr("10.46.0.1");
	assert_int_equal(weir_nf_upf.steer(upf, &headers, packet, WEIR_OUTBOUND) % 3,
			 weir_nf_upf.steer(upf, &down, NULL, WEIR_INBOUND) % 3);
	rte_pktmbuf_free(packet);
}

/* Its flows have tunnels, QFIs and gates of their own. */
static void
of_a_session_with_rules_by_flow_only_the_rate_of_all_changes(void **state)
{
	static const char *const refused[] = {"gate_downlink=closed",
					      "gate_uplink=closed",
					      "downlink=drop",
					      "downlink=buffer",
					      "downlink=forward",
					      "uplink=drop",
					      "gnb=192.0.2.8 gnb_teid=4000",
					      "gnb_teid=4000 end_marker=true",
					      "qfi=7",
					      "mbr_downlink_bps=8000 qfi=7"};
	char words[96];

	(void)state;
	upf_start(
		(const char *const[][2]){{"sessions", "2"},
					 {"mbr_burst_bytes", "64"},
					 {"flow_list", "permit out 17 from any to assigned qfi=5"},
					 {NULL, NULL}});
	for (unsigned int i = 0; i < RTE_DIM(refused); i++) {
		snprintf(words, sizeof(words), "ue=" UE " %s", refused[i]);
		assert_string_equal(upf_change("sessions-modify", words),
				    "packets of ue=10.45.0.1 go by rules of their flows");
	}
	assert_int_equal(upf_figure("sessions_modified"), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(upf_down(UE).qfi, 5);
	assert_null(upf_change("sessions-modify", "ue=" UE " mbr_downlink_bps=8"));
	assert_int_equal(upf_down(UE).qfi, 5);
	assert_int_equal(upf_down(UE).qfi, 5);
	assert_string_equal(upf_down(UE).reason, "above_mbr");
	assert_int_equal(upf_down("10.45.0.2").teid, 2);
	assert_null(upf_change("sessions-remove", "ue=" UE));
}

static void
room_that_is_none_is_refused(void **state)
{
	static const struct {
		const char *sessions, *room, *message;
	} cases[] = {
		{"0", "0", "there are no sessions, and none can be added"},
		{"10", "9", "there is room for 9 sessions, and 10 are asked for"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct weir_option_value options[] = {{"sessions", cases[i].sessions},
							    {"sessions_max", cases[i].room}};
		struct weir_error error = {0};

		assert_null(weir_nf_create(&weir_nf_upf, options, 2, "upf", &error));
		assert_string_equal(error.message, cases[i].message);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_is_refused_as_a_whole_and_says_why),
		cmocka_unit_test(a_command_changes_128_sessions_at_most),
		cmocka_unit_test(what_is_added_meets_at_one_worker_or_is_told_which_teid_would),
		cmocka_unit_test(of_a_session_with_rules_by_flow_only_the_rate_of_all_changes),
		cmocka_unit_test(room_that_is_none_is_refused),
	};

	return cmocka_run_group_tests_name("upf-changes", tests, weir_test_eal, upf_stop);
}
