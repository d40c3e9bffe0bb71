/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that come, change and go while packets flow. */
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

#define assert_goes_to(ue, to_gnb, to_teid, to_qfi)                                                \
	do {                                                                                       \
		const struct upf_seen goes = upf_down(ue);                                         \
		assert_string_equal(goes.gnb, to_gnb);                                             \
		assert_int_equal(goes.teid, to_teid);                                              \
		assert_int_equal(goes.qfi, to_qfi);                                                \
	} while (0)

/* TEID 10 * 512 + 20 + 1: place 20. */
#define ADDED "ue=10.46.0.1 teid=5141 gnb=192.0.2.7 gnb_teid=77 qfi=5"
#define ADDED_UE "10.46.0.1"
#define ADDED_TEID 5141u

static void
a_session_that_is_added_has_its_packets_both_ways_and_those_of_others_go_on(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "unknown_teid");
	assert_string_equal(upf_down(ADDED_UE).reason, "unknown_ue");
	assert_null(upf_change("sessions-add", ADDED));
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_string_equal(upf_up(ADDED_TEID, UE), "spoofed");
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_string_equal(upf_up(FIRST, UE), "forwarded");
	assert_goes_to(UE, GNB, 1, 9);
	assert_int_equal(upf_figure("sessions"), 5);
	assert_int_equal(upf_figure("sessions_added"), 1);
	assert_int_equal(upf_figure("sessions_max"), ROOM);
}

/* Each TEID near those that are there, and with other high bits. */
static void
a_teid_that_differs_in_any_bit_is_nobodys(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add", ADDED));
	for (unsigned int bit = 0; bit < 32; bit++) {
		const uint32_t other = ADDED_TEID ^ 1u << bit;

		assert_string_equal(upf_up(other, ADDED_UE), "unknown_teid");
		if (bit >= 9)
			assert_string_equal(upf_up(FIRST + (1u << bit), UE), "unknown_teid");
	}
	for (uint32_t teid = 0; teid < 4 * STEP; teid++) {
		const bool is_known = teid >= FIRST && teid < FIRST + 4;

		assert_string_equal(upf_up(teid, ADDED_UE), is_known ? "spoofed" : "unknown_teid");
	}
}

static void
a_handover_leads_to_the_other_gnb_from_the_next_packet_on(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add", ADDED));
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_null(
		upf_change("sessions-modify", "ue=10.46.0.1 gnb=192.0.2.8 gnb_teid=4000000000"));
	assert_goes_to(ADDED_UE, "192.0.2.8", 4000000000u, 5);
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_null(upf_change("sessions-modify", "ue=" UE " gnb_teid=9 qfi=3"));
	assert_goes_to(UE, GNB, 9, 3);
	assert_goes_to("10.45.0.2", GNB, 2, 9);
	assert_int_equal(upf_passed("downlink"), 4);
	assert_int_equal(upf_passed("uplink"), 1);
	assert_int_equal(upf_figure("sessions_modified"), 2);
}

static void
a_session_that_is_removed_is_gone_and_what_it_counted_stays(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add", ADDED));
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_null(upf_change("sessions-remove", "ue=10.46.0.1, ue=10.45.0.1"));
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "unknown_teid");
	assert_string_equal(upf_down(ADDED_UE).reason, "unknown_ue");
	assert_string_equal(upf_up(FIRST, UE), "unknown_teid");
	assert_int_equal(upf_passed("uplink"), 1);
	assert_int_equal(upf_passed("downlink"), 1);
	assert_int_equal(upf_figure("sessions"), 3);
	assert_int_equal(upf_figure("sessions_removed"), 2);
	/* Another one at the same place, with another TEID. */
	assert_null(upf_change("sessions-add", "ue=10.46.0.9 teid=21 gnb_teid=5"));
	assert_string_equal(upf_up(21, "10.46.0.9"), "forwarded");
	assert_string_equal(upf_up(ADDED_TEID, "10.46.0.9"), "unknown_teid");
	assert_goes_to("10.46.0.9", GNB, 5, 9);
	assert_int_equal(upf_passed("uplink"), 2);
}

static void
each_direction_has_a_gate_and_an_action_of_its_own(void **state)
{
	static const struct {
		const char *words, *up, *down;
	} cases[] = {
		{"gate_uplink=closed", "gate_closed", NULL},
		{"gate_uplink=open gate_downlink=closed", "forwarded", "gate_closed"},
		{"uplink=drop", "forwarding_action", "gate_closed"},
		{"gate_downlink=open downlink=drop", "forwarding_action", "forwarding_action"},
		{"uplink=forward downlink=forward", "forwarded", NULL},
	};
	char words[96];

	(void)state;
	upf_start_with_room();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		snprintf(words, sizeof(words), "ue=" UE " %s", cases[i].words);
		assert_null(upf_change("sessions-modify", words));
		assert_string_equal(upf_up(FIRST, UE), cases[i].up);
		if (cases[i].down == NULL)
			assert_goes_to(UE, GNB, 1, 9);
		else
			assert_string_equal(upf_down(UE).reason, cases[i].down);
		assert_string_equal(upf_up(FIRST + 1, "10.45.0.2"), "forwarded");
	}
}

static void
a_session_without_a_gnb_drops_its_downlink_until_it_has_one(void **state)
{
	(void)state;
	upf_start_with_room();
	assert_null(upf_change("sessions-add", "ue=10.46.0.1 teid=5141"));
	assert_string_equal(upf_up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_string_equal(upf_down(ADDED_UE).reason, "forwarding_action");
	assert_string_equal(upf_change("sessions-modify", "ue=10.46.0.1 downlink=forward"),
			    "what is for ue=10.46.0.1 has no tunnel to enter");
	assert_null(upf_change("sessions-modify", "ue=10.46.0.1 gnb_teid=6 downlink=forward"));
	assert_goes_to(ADDED_UE, GNB, 6, 9);
}

/* Of 50 packets of 48 bytes at once, those that 480 bytes hold. */
static void
a_session_has_a_maximum_bit_rate_of_its_own(void **state)
{
	unsigned int admitted[2] = {0};

	(void)state;
	upf_start((const char *const[][2]){{"sessions", "2"},
					   {"mbr_burst_bytes", "480"},
					   {"mbr_uplink_bps", "8000"},
					   {NULL, NULL}});
	assert_null(upf_change("sessions-modify", "ue=10.45.0.2 mbr_uplink_bps=0"));
	for (unsigned int i = 0; i < 50; i++) {
		admitted[0] += strcmp(upf_up(FIRST, UE), "forwarded") == 0;
		admitted[1] += strcmp(upf_up(FIRST + 1, "10.45.0.2"), "forwarded") == 0;
	}
	assert_int_equal(admitted[0], 10);
	assert_int_equal(admitted[1], 50);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.2 mbr_uplink_bps=16000"));
	upf_now_s++;
	for (unsigned int i = 0, more = 0; i < 50; i++, admitted[1] = more)
		more += strcmp(upf_up(FIRST + 1, "10.45.0.2"), "forwarded") == 0;
	assert_int_equal(admitted[1], 10);
}

/* Sessions that come and go at random, each time with another TEID, beside a plain list of them. */
static void
sessions_at_random_agree_with_a_plain_list(void **state)
{
	static uint32_t teid_of[ROOM]; /* 0: there is none */
	char ue[INET_ADDRSTRLEN], words[64];
	unsigned int known = 0;

	(void)state;
	memset(teid_of, 0, sizeof(teid_of));
	upf_start((const char *const[][2]){{"sessions", "0"},
					   {"sessions_max", "300"},
					   {"error_indications_pps", "0"},
					   {NULL, NULL}});
	srand(11);
	for (unsigned int step = 0; step < 6000; step++) {
		const unsigned int at = (unsigned int)rand() % ROOM;
		const bool adds = teid_of[at] == 0;
		const uint32_t before = teid_of[at];

		snprintf(ue, sizeof(ue), "10.46.%u.%u", at / 16, at % 16);
		teid_of[at] = adds ? FIRST + at + STEP * ((unsigned int)rand() & 0x7fffff) : 0;
		snprintf(words, sizeof(words), adds ? "ue=%s teid=%u gnb_teid=%u" : "ue=%s", ue,
			 teid_of[at], at + 1);
		assert_null(upf_change(adds ? "sessions-add" : "sessions-remove", words));
		known = adds ? known + 1 : known - 1;
		assert_int_equal(upf_figure("sessions"), known);
		assert_string_equal(upf_up(adds ? teid_of[at] : before, ue),
				    adds ? "forwarded" : "unknown_teid");
		if (adds)
			assert_goes_to(ue, GNB, at + 1, 9);
		else
			assert_string_equal(upf_down(ue).reason, "unknown_ue");
	}
	assert_int_equal(upf_passed("uplink"), upf_figure("sessions_added"));
	assert_int_equal(upf_passed("downlink"), upf_figure("sessions_added"));
	assert_int_equal(upf_figure("sessions_added") - upf_figure("sessions_removed"), known);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_session_that_is_added_has_its_packets_both_ways_and_those_of_others_go_on),
		cmocka_unit_test(a_teid_that_differs_in_any_bit_is_nobodys),
		cmocka_unit_test(a_handover_leads_to_the_other_gnb_from_the_next_packet_on),
		cmocka_unit_test(a_session_that_is_removed_is_gone_and_what_it_counted_stays),
		cmocka_unit_test(each_direction_has_a_gate_and_an_action_of_its_own),
		cmocka_unit_test(a_session_without_a_gnb_drops_its_downlink_until_it_has_one),
		cmocka_unit_test(a_session_has_a_maximum_bit_rate_of_its_own),
		cmocka_unit_test(sessions_at_random_agree_with_a_plain_list),
	};

	return cmocka_run_group_tests_name("upf-sessions", tests, weir_test_eal, upf_stop);
}
