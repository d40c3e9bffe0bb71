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

/* Four sessions from the beginning, and room that is no power of two. */
#define ROOM 300
#define STEP 512u /* what a TEID is above the first one, modulo this, is its place */
#define FIRST 1u

static void
start_with_room(void)
{
	upf_start((const char *const[][2]){{"sessions", "4"},
					   {"sessions_max", "300"},
					   {"teid_first", "1"},
					   {"error_indications_pps", "0"},
					   {NULL, NULL}});
}

static const char *
change(const char *command, const char *sessions)
{
	return weir_test_command(&weir_nf_upf, upf, command,
				 (const char *const[][2]){{"sessions", sessions}, {NULL, NULL}});
}

static uint64_t
figure(const char *name)
{
	return weir_test_figure(&weir_nf_upf, upf, name);
}

static uint64_t
passed(const char *direction)
{
	return weir_test_counted(&weir_nf_upf, upf, (const char *const[]){direction, NULL}).packets;
}

/* "forwarded", or why a packet that is sent in that tunnel is dropped. */
static const char *
up(uint32_t teid, const char *ue)
{
	struct weir_test_outcome outcome = upf_pass(WEIR_OUTBOUND, in_tunnel(teid, ue, 20));

	rte_pktmbuf_free(outcome.packet);
	return outcome.packet != NULL ? "forwarded" : outcome.drop_reason;
}

struct seen {
	char gnb[INET_ADDRSTRLEN]; /* "": dropped */
	uint32_t teid;
	uint8_t qfi;
	const char *reason;
};

/* Where a packet for that UE goes. */
static struct seen
down(const char *ue)
{
	const struct weir_test_ipv4 what = {
		.src = SERVER, .dst = ue, .payload = "down", .payload_bytes = 4};
	struct weir_test_outcome outcome = upf_pass(WEIR_INBOUND, weir_test_ipv4_packet(&what));
	struct seen seen = {.reason = outcome.drop_reason};
	const uint8_t *frame;
	struct weir_gtpu gtpu;

	if (outcome.packet == NULL)
		return seen;
	frame = rte_pktmbuf_mtod(outcome.packet, const uint8_t *);
	assert_true(weir_test_checksums_right(frame, outcome.packet->pkt_len));
	assert_true(weir_gtpu_parse(frame + GTPU_AT, outcome.packet->pkt_len - GTPU_AT, &gtpu));
	inet_ntop(AF_INET, frame + IP_AT + 16, seen.gnb, sizeof(seen.gnb));
	seen.teid = gtpu.teid;
	seen.qfi = gtpu.qfi;
	assert_memory_equal(frame + GTPU_AT + gtpu.payload_offset + 28, "down", 4);
	rte_pktmbuf_free(outcome.packet);
	return seen;
}

#define assert_goes_to(ue, to_gnb, to_teid, to_qfi)                                                \
	do {                                                                                       \
		const struct seen goes = down(ue);                                                 \
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
	start_with_room();
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "unknown_teid");
	assert_string_equal(down(ADDED_UE).reason, "unknown_ue");
	assert_null(change("sessions-add", ADDED));
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_string_equal(up(ADDED_TEID, UE), "spoofed");
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_string_equal(up(FIRST, UE), "forwarded");
	assert_goes_to(UE, GNB, 1, 9);
	assert_int_equal(figure("sessions"), 5);
	assert_int_equal(figure("sessions_added"), 1);
	assert_int_equal(figure("sessions_max"), ROOM);
}

/* Each TEID near those that are there, and with other high bits. */
static void
a_teid_that_differs_in_any_bit_is_nobodys(void **state)
{
	(void)state;
	start_with_room();
	assert_null(change("sessions-add", ADDED));
	for (unsigned int bit = 0; bit < 32; bit++) {
		const uint32_t other = ADDED_TEID ^ 1u << bit;

		assert_string_equal(up(other, ADDED_UE), "unknown_teid");
		if (bit >= 9)
			assert_string_equal(up(FIRST + (1u << bit), UE), "unknown_teid");
	}
	for (uint32_t teid = 0; teid < 4 * STEP; teid++) {
		const bool is_known = teid >= FIRST && teid < FIRST + 4;

		assert_string_equal(up(teid, ADDED_UE), is_known ? "spoofed" : "unknown_teid");
	}
}

static void
a_handover_leads_to_the_other_gnb_from_the_next_packet_on(void **state)
{
	(void)state;
	start_with_room();
	assert_null(change("sessions-add", ADDED));
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_null(change("sessions-modify", "ue=10.46.0.1 gnb=192.0.2.8 gnb_teid=4000000000"));
	assert_goes_to(ADDED_UE, "192.0.2.8", 4000000000u, 5);
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_null(change("sessions-modify", "ue=" UE " gnb_teid=9 qfi=3"));
	assert_goes_to(UE, GNB, 9, 3);
	assert_goes_to("10.45.0.2", GNB, 2, 9);
	assert_int_equal(passed("downlink"), 4);
	assert_int_equal(passed("uplink"), 1);
	assert_int_equal(figure("sessions_modified"), 2);
}

static void
a_session_that_is_removed_is_gone_and_what_it_counted_stays(void **state)
{
	(void)state;
	start_with_room();
	assert_null(change("sessions-add", ADDED));
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_goes_to(ADDED_UE, "192.0.2.7", 77, 5);
	assert_null(change("sessions-remove", "ue=10.46.0.1, ue=10.45.0.1"));
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "unknown_teid");
	assert_string_equal(down(ADDED_UE).reason, "unknown_ue");
	assert_string_equal(up(FIRST, UE), "unknown_teid");
	assert_int_equal(passed("uplink"), 1);
	assert_int_equal(passed("downlink"), 1);
	assert_int_equal(figure("sessions"), 3);
	assert_int_equal(figure("sessions_removed"), 2);
	/* Another one at the same place, with another TEID. */
	assert_null(change("sessions-add", "ue=10.46.0.9 teid=21 gnb_teid=5"));
	assert_string_equal(up(21, "10.46.0.9"), "forwarded");
	assert_string_equal(up(ADDED_TEID, "10.46.0.9"), "unknown_teid");
	assert_goes_to("10.46.0.9", GNB, 5, 9);
	assert_int_equal(passed("uplink"), 2);
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
	start_with_room();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		snprintf(words, sizeof(words), "ue=" UE " %s", cases[i].words);
		assert_null(change("sessions-modify", words));
		assert_string_equal(up(FIRST, UE), cases[i].up);
		if (cases[i].down == NULL)
			assert_goes_to(UE, GNB, 1, 9);
		else
			assert_string_equal(down(UE).reason, cases[i].down);
		assert_string_equal(up(FIRST + 1, "10.45.0.2"), "forwarded");
	}
}

static void
a_session_without_a_gnb_drops_its_downlink_until_it_has_one(void **state)
{
	(void)state;
	start_with_room();
	assert_null(change("sessions-add", "ue=10.46.0.1 teid=5141"));
	assert_string_equal(up(ADDED_TEID, ADDED_UE), "forwarded");
	assert_string_equal(down(ADDED_UE).reason, "forwarding_action");
	assert_string_equal(change("sessions-modify", "ue=10.46.0.1 downlink=forward"),
			    "what is for ue=10.46.0.1 has no tunnel to enter");
	assert_null(change("sessions-modify", "ue=10.46.0.1 gnb_teid=6 downlink=forward"));
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
	assert_null(change("sessions-modify", "ue=10.45.0.2 mbr_uplink_bps=0"));
	for (unsigned int i = 0; i < 50; i++) {
		admitted[0] += strcmp(up(FIRST, UE), "forwarded") == 0;
		admitted[1] += strcmp(up(FIRST + 1, "10.45.0.2"), "forwarded") == 0;
	}
	assert_int_equal(admitted[0], 10);
	assert_int_equal(admitted[1], 50);
	assert_null(change("sessions-modify", "ue=10.45.0.2 mbr_uplink_bps=16000"));
	upf_now_s++;
	for (unsigned int i = 0, more = 0; i < 50; i++, admitted[1] = more)
		more += strcmp(up(FIRST + 1, "10.45.0.2"), "forwarded") == 0;
	assert_int_equal(admitted[1], 10);
}

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
	start_with_room();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_string_equal(change(cases[i].command, cases[i].sessions), cases[i].message);
	assert_string_equal(up(FIRST, UE), "forwarded");
	assert_string_equal(up(40, "10.46.0.2"), "unknown_teid");
	assert_int_equal(figure("sessions"), 4);
	assert_int_equal(figure("sessions_added") + figure("sessions_modified") +
				 figure("sessions_removed"),
			 0);
}

static void
a_command_changes_128_sessions_at_most(void **state)
{
	char words[129 * 24];
	size_t used = 0;

	(void)state;
	start_with_room();
	for (unsigned int i = 0; i < 129; i++)
		used += snprintf(words + used, sizeof(words) - used, "ue=10.46.1.%u teid=%u,", i,
				 100 + i);
	assert_string_equal(change("sessions-add", words), "too many sessions");
	assert_int_equal(figure("sessions"), 4);
	words[used - strlen("ue=10.46.1.128 teid=228,")] = '\0';
	assert_null(change("sessions-add", words));
	assert_int_equal(figure("sessions"), 132);
	assert_string_equal(up(227, "10.46.1.127"), "forwarded");
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
		assert_null(change(adds ? "sessions-add" : "sessions-remove", words));
		known = adds ? known + 1 : known - 1;
		assert_int_equal(figure("sessions"), known);
		assert_string_equal(up(adds ? teid_of[at] : before, ue),
				    adds ? "forwarded" : "unknown_teid");
		if (adds)
			assert_goes_to(ue, GNB, at + 1, 9);
		else
			assert_string_equal(down(ue).reason, "unknown_ue");
	}
	assert_int_equal(passed("uplink"), figure("sessions_added"));
	assert_int_equal(passed("downlink"), figure("sessions_added"));
	assert_int_equal(figure("sessions_added") - figure("sessions_removed"), known);
}

static void
what_is_added_meets_at_one_worker_or_is_told_which_teid_would(void **state)
{
	struct weir_headers headers, down = {0};
	struct rte_mbuf *packet;
	struct weir_error error;
	const char *message;
	char words[64];
	unsigned long teid;

	(void)state;
	start_with_room();
	assert_int_equal(weir_nf_upf.share(upf, 1, 3, "upf", &error), 0);
	message = change("sessions-add", "ue=10.46.0.1 teid=22 gnb_teid=7");
	assert_non_null(message);
	assert_memory_equal(message, "teid=22 leads to another of 3 workers than ue=10.46.0.1; ",
			    57);
	teid = strtoul(strstr(message, "; teid=") + 7, NULL, 10);
	assert_int_equal((teid - FIRST) % STEP, 21);
	snprintf(words, sizeof(words), "ue=10.46.0.1 teid=%lu gnb_teid=7", teid);
	assert_null(change("sessions-add", words));
	packet = in_tunnel((uint32_t)teid, ADDED_UE, 20);
	weir_headers_parse(packet, &headers);
	down.tuple.dst_ip = inet_addr(ADDED_UE);
	assert_int_equal(weir_nf_upf.steer(upf, &headers, packet, WEIR_OUTBOUND) % 3,
			 weir_nf_upf.steer(upf, &down, NULL, WEIR_INBOUND) % 3);
	rte_pktmbuf_free(packet);
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
		cmocka_unit_test(
			a_session_that_is_added_has_its_packets_both_ways_and_those_of_others_go_on),
		cmocka_unit_test(a_teid_that_differs_in_any_bit_is_nobodys),
		cmocka_unit_test(a_handover_leads_to_the_other_gnb_from_the_next_packet_on),
		cmocka_unit_test(a_session_that_is_removed_is_gone_and_what_it_counted_stays),
		cmocka_unit_test(each_direction_has_a_gate_and_an_action_of_its_own),
		cmocka_unit_test(a_session_without_a_gnb_drops_its_downlink_until_it_has_one),
		cmocka_unit_test(a_session_has_a_maximum_bit_rate_of_its_own),
		cmocka_unit_test(what_cannot_be_is_refused_as_a_whole_and_says_why),
		cmocka_unit_test(a_command_changes_128_sessions_at_most),
		cmocka_unit_test(sessions_at_random_agree_with_a_plain_list),
		cmocka_unit_test(what_is_added_meets_at_one_worker_or_is_told_which_teid_would),
		cmocka_unit_test(room_that_is_none_is_refused),
	};

	return cmocka_run_group_tests_name("upf-sessions", tests, weir_test_eal, upf_stop);
}
