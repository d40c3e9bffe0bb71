/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that wait for a UE: each is somewhere at any time, and none overtakes another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/eal.h"
#include "upf.h"
#include "upf_fixture_test.h"

static struct weir_stage_ledger ledger;
static unsigned int next_sent; /* the number of the next packet */
static uint64_t let_in;
static unsigned int next_of[256]; /* the least number that may leave next, by the UE's last byte */

static void
start(const char *of_one, const char *of_all)
{
	upf_start((const char *const[][2]){{"sessions", "3"},
					   {"buffer_packets", of_one},
					   {"buffer_packets_max", of_all},
					   {"buffer_time_s", "10"},
					   {NULL, NULL}});
	memset(&ledger, 0, sizeof(ledger));
	memset(next_of, 0, sizeof(next_of));
	next_sent = 0;
	let_in = 0;
}

/* Takes one that left, behind all of its UE's that came before it: its number. */
static unsigned int
take(struct rte_mbuf *packet)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const uint8_t ue = frame[IP_AT + sizeof(struct weir_gtpu_outer) + 19];
	unsigned int number;

	memcpy(&number, frame + packet->pkt_len - sizeof(number), sizeof(number));
	assert_true(number >= next_of[ue]);
	next_of[ue] = number + 1;
	rte_pktmbuf_free(packet);
	return number;
}

/* Every packet that came is out, was dropped, or waits. */
static void
balance(unsigned int left)
{
	uint64_t dropped = 0;

	let_in -= left;
	for (unsigned int i = 0; i < UPF_DROP_REASONS; i++)
		dropped += ledger.drops[i];
	assert_int_equal(let_in, dropped + ledger.held);
	assert_int_equal(ledger.held, upf_figure("packets_waiting"));
}

/* So many packets for a UE, each with its number: how many went on at once, in their order. */
static unsigned int
send_to(const char *ue, unsigned int count)
{
	struct weir_batch batch = {.count = (uint16_t)count,
				   .direction = WEIR_INBOUND,
				   .now_tsc = upf_now_s * rte_get_tsc_hz()};

	for (unsigned int i = 0; i < count; i++) {
		const struct weir_test_ipv4 what = {.src = SERVER,
						    .dst = ue,
						    .payload = &next_sent,
						    .payload_bytes = sizeof(next_sent)};

		batch.packet[i] = weir_test_ipv4_packet(&what);
		next_sent++;
	}
	let_in += count;
	upf_process(upf, &batch, &ledger);
	for (unsigned int i = 0; i < batch.count; i++)
		take(batch.packet[i]);
	balance(batch.count);
	return batch.count;
}

/* What leaves at one poll: the numbers are `first` and those that follow. */
static unsigned int
poll_from(unsigned int first)
{
	struct weir_batch batch = {.direction = WEIR_INBOUND,
				   .now_tsc = upf_now_s * rte_get_tsc_hz()};

	weir_nf_upf.release(upf, &batch, &ledger);
	assert_int_equal(batch.released, WEIR_RELEASED_BEHIND);
	for (unsigned int i = 0; i < batch.count; i++)
		assert_int_equal(take(batch.packet[i]), first + i);
	balance(batch.count);
	return batch.count;
}

static void
what_waits_leaves_before_what_comes_while_it_leaves(void **state)
{
	(void)state;
	start("200", "200");
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(send_to(UE, 20), 0);
	assert_int_equal(send_to("10.45.0.2", 1), 1); /* others do not wait */
	assert_int_equal(poll_from(0), 0);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_int_equal(poll_from(0), 32);
	next_sent = 100;
	assert_int_equal(send_to(UE, 10), 0); /* behind those that still wait */
	assert_int_equal(poll_from(32), 32);
	assert_int_equal(poll_from(64), 32);
	assert_int_equal(poll_from(96), 14);
	assert_int_equal(poll_from(0), 0);
	assert_int_equal(send_to(UE, 7), 7);
	assert_int_equal(ledger.held, 0);
}

static void
what_leaves_may_be_told_to_wait_again(void **state)
{
	(void)state;
	start("200", "200");
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(send_to(UE, 25), 0);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_int_equal(poll_from(0), 32);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	assert_int_equal(poll_from(0), 0);
	assert_int_equal(send_to(UE, 2), 0);
	assert_int_equal(poll_from(0), 0);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_int_equal(poll_from(32), 20);
}

static void
a_session_that_ends_takes_what_waits_with_it_and_its_place_begins_anew(void **state)
{
	(void)state;
	start("200", "200");
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(send_to(UE, 20), 0);
	assert_null(upf_change("sessions-remove", "ue=10.45.0.1"));
	assert_null(upf_change("sessions-add", "ue=10.45.0.1 teid=1 gnb_teid=5 downlink=buffer"));
	assert_int_equal(send_to(UE, 1), 0);
	assert_int_equal(poll_from(0), 0);
	assert_int_equal(ledger.drops[UPF_DROP_KEPT_IN_VAIN], 64); /* so many a poll */
	assert_int_equal(poll_from(0), 0);
	assert_int_equal(ledger.drops[UPF_DROP_KEPT_IN_VAIN], 100);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_int_equal(poll_from(100), 1);
}

static void
room_is_what_one_session_and_what_all_may_have(void **state)
{
	(void)state;
	start("5", "8");
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer, "
						  "ue=10.45.0.2 downlink=buffer"));
	assert_int_equal(send_to(UE, 7), 0);
	assert_int_equal(ledger.drops[UPF_DROP_BUFFER_FULL], 2);
	assert_int_equal(send_to("10.45.0.2", 5), 0);
	assert_int_equal(ledger.drops[UPF_DROP_BUFFER_FULL], 4);
	upf_now_s += 9;
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(poll_from(0), 0);
	assert_int_equal(ledger.held, 8);
	upf_now_s += 1;
	for (unsigned int i = 0; i < 8; i++) /* a queue a poll */
		assert_int_equal(poll_from(0), 0);
	assert_int_equal(ledger.drops[UPF_DROP_KEPT_TOO_LONG], 8);
	next_sent = 50;
	assert_int_equal(send_to(UE, 3), 0);
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=forward"));
	assert_int_equal(poll_from(50), 3);
	start("5", "0"); /* nothing is kept */
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	assert_int_equal(send_to(UE, 3), 0);
	assert_int_equal(ledger.drops[UPF_DROP_BUFFER_FULL], 3);
	assert_int_equal(poll_from(0), 0);
}

static void
what_waits_when_the_function_ends_is_given_back(void **state)
{
	const unsigned int free_before = rte_mempool_avail_count(weir_test_pool());

	(void)state;
	start("64", "64");
	assert_null(upf_change("sessions-modify", "ue=10.45.0.1 downlink=buffer"));
	assert_int_equal(send_to(UE, 30), 0);
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), free_before - 30);
	start("64", "64");
	assert_int_equal(rte_mempool_avail_count(weir_test_pool()), free_before);
}

static void
only_what_is_for_the_ue_waits(void **state)
{
	(void)state;
	start("64", "64");
	assert_string_equal(upf_change("sessions-modify", "ue=10.45.0.1 uplink=buffer"),
			    "what comes from ue=10.45.0.1 does not wait");
}

/* Any changes of three sessions, and packets for them, in any order. */
static void
no_packet_is_lost_or_overtaken_whatever_is_said(void **state)
{
	static const char *const actions[] = {"buffer", "forward", "drop"};
	unsigned int left = 0;

	(void)state;
	start("40", "64");
	srand(7);
	for (unsigned int step = 0; step < 4000; step++) {
		const unsigned int ue = 1 + (unsigned int)rand() % 3;
		char words[64], address[16];

		snprintf(address, sizeof(address), "10.45.0.%u", ue);
		snprintf(words, sizeof(words), "ue=%s downlink=%s", address, actions[rand() % 3]);
		switch (rand() % 4) {
		case 0:
			assert_null(upf_change("sessions-modify", words));
			break;
		case 1:
			upf_now_s += (unsigned int)rand() % 4;
			break;
		case 2:
			send_to(address, 1 + (unsigned int)rand() % 9);
			break;
		case 3: {
			struct weir_batch batch = {.direction = WEIR_INBOUND,
						   .now_tsc = upf_now_s * rte_get_tsc_hz()};

			weir_nf_upf.release(upf, &batch, &ledger);
			left += batch.count;
			for (unsigned int i = 0; i < batch.count; i++)
				take(batch.packet[i]);
			balance(batch.count);
			break;
		}
		}
	}
	assert_true(left > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_leaves_before_what_comes_while_it_leaves),
		cmocka_unit_test(what_leaves_may_be_told_to_wait_again),
		cmocka_unit_test(
			a_session_that_ends_takes_what_waits_with_it_and_its_place_begins_anew),
		cmocka_unit_test(room_is_what_one_session_and_what_all_may_have),
		cmocka_unit_test(what_waits_when_the_function_ends_is_given_back),
		cmocka_unit_test(only_what_is_for_the_ue_waits),
		cmocka_unit_test(no_packet_is_lost_or_overtaken_whatever_is_said),
	};

	return cmocka_run_group_tests_name("upf-buffer", tests, weir_test_eal, upf_stop);
}
