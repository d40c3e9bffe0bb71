/* SPDX-License-Identifier: Apache-2.0 */
/* How long mappings live: RFC 4787, 5382, 5508 and 7857. */
#include "nat_fixture_test.h"

#include <stdio.h>

#include "nat.h"

#define UDP IPPROTO_UDP
#define TCP IPPROTO_TCP
#define ICMP IPPROTO_ICMP
#define ESTABLISHED_S 7440
#define TRANSITORY_S 240

static char mapped[32];

static void
map(uint8_t protocol, uint8_t tcp_flags)
{
	snprintf(mapped, sizeof(mapped), "%s",
		 leaves_from(protocol, INSIDE, 5000, REMOTE, 80, tcp_flags));
	port_in(mapped);
}

static bool
out(uint8_t tcp_flags)
{
	return strcmp(leaves_from(TCP, INSIDE, 5000, REMOTE, 80, tcp_flags), mapped) == 0;
}

static bool
in(uint8_t tcp_flags)
{
	return strcmp(arrives_at(TCP, REMOTE, 80, mapped, tcp_flags), INSIDE ":5000") == 0;
}

static bool
is_mapped(void)
{
	return ((const struct nat *)nat)->lives[0].used;
}

static void
establish(void)
{
	start(NULL);
	map(TCP, SYN);
	assert_true(in(SYN | ACK));
	assert_true(out(ACK));
}

/* RFC 4787, REQ-5 and 5c. */
static void
test_a_udp_mapping_lives_300_s(void **state)
{
	(void)state;
	start(NULL);
	map(UDP, 0);
	wait_s(299);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
	assert_string_equal(arrives_at(UDP, REMOTE, 80, mapped, 0), "no_mapping");
}

/* RFC 4787, REQ-6. */
static void
test_outbound_packets_keep_a_mapping(void **state)
{
	(void)state;
	START({"inbound_refresh", "false"});
	map(UDP, 0);
	for (unsigned int i = 0; i < 3; i++) {
		wait_s(200);
		assert_string_equal(leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0), mapped);
	}
}

/* RFC 4787, REQ-6a. */
static void
test_inbound_packets_keep_a_mapping_only_if_they_may(void **state)
{
	(void)state;
	start(NULL);
	map(UDP, 0);
	wait_s(200);
	arrives_at(UDP, REMOTE, 80, mapped, 0);
	wait_s(200);
	assert_true(is_mapped());
	START({"inbound_refresh", "false"});
	map(UDP, 0);
	wait_s(200);
	arrives_at(UDP, REMOTE, 80, mapped, 0);
	wait_s(200);
	assert_false(is_mapped());
}

/* What the fast path forwards moves the counter alone. */
static void
test_packets_that_only_the_counter_saw_keep_a_mapping(void **state)
{
	(void)state;
	start(NULL);
	map(UDP, 0);
	wait_s(200);
	((struct nat *)nat)->sessions[0].outbound.packets++;
	wait_s(1);
	wait_s(299);
	assert_true(is_mapped());
	wait_s(3);
	assert_false(is_mapped());
}

/* RFC 5508, REQ-2. */
static void
test_a_mapping_of_echo_lives_60_s(void **state)
{
	(void)state;
	start(NULL);
	map(ICMP, 0);
	wait_s(59);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
}

/* RFC 5382, REQ-5. */
static void
test_an_established_connection_may_be_idle_for_two_hours_and_four_minutes(void **state)
{
	(void)state;
	establish();
	wait_s(ESTABLISHED_S - 1);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
}

static void
test_a_connection_that_is_not_established_may_be_idle_for_four_minutes(void **state)
{
	(void)state;
	start(NULL);
	map(TCP, SYN);
	wait_s(TRANSITORY_S - 1);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
}

/* RFC 5382, REQ-2a. */
static void
test_simultaneous_open_establishes_a_connection(void **state)
{
	(void)state;
	start(NULL);
	map(TCP, SYN);
	assert_true(in(SYN));
	assert_true(out(SYN | ACK));
	assert_true(in(SYN | ACK));
	wait_s(TRANSITORY_S + 1);
	assert_true(is_mapped());
}

static void
test_fins_both_ways_end_a_connection_after_four_minutes(void **state)
{
	(void)state;
	establish();
	assert_true(out(FIN | ACK));
	wait_s(TRANSITORY_S + 1);
	assert_true(is_mapped()); /* half closed: data may still come */
	assert_true(in(FIN | ACK));
	assert_true(out(ACK));
	wait_s(TRANSITORY_S - 1);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
}

/* RFC 7857, section 2.2. */
static void
test_a_reset_is_translated_and_its_mapping_waits_four_minutes(void **state)
{
	(void)state;
	establish();
	wait_s(3600);
	assert_true(in(RST));
	wait_s(TRANSITORY_S - 1);
	assert_true(is_mapped());
	wait_s(2);
	assert_false(is_mapped());
}

static void
test_a_connection_that_goes_on_after_a_forged_reset_is_established(void **state)
{
	(void)state;
	establish();
	assert_true(in(RST));
	assert_true(in(ACK));
	assert_true(out(ACK));
	wait_s(TRANSITORY_S + 1);
	assert_true(is_mapped());
}

/* RFC 7857, section 6: error packets do not refresh. */
static void
test_a_reset_does_not_keep_a_mapping(void **state)
{
	(void)state;
	start(NULL);
	map(TCP, SYN);
	wait_s(TRANSITORY_S - 10);
	assert_true(out(RST));
	wait_s(11);
	assert_false(is_mapped());
}

static void
test_a_reset_makes_no_mapping(void **state)
{
	(void)state;
	start(NULL);
	assert_string_equal(leaves_from(TCP, INSIDE, 5000, REMOTE, 80, RST), "no_mapping");
}

static void
test_a_connection_older_than_the_nat_is_established_when_it_goes_both_ways(void **state)
{
	(void)state;
	start(NULL);
	map(TCP, ACK);
	assert_true(in(ACK));
	wait_s(TRANSITORY_S + 1);
	assert_true(is_mapped());
}

static void
test_one_closed_connection_does_not_end_the_mapping_of_another(void **state)
{
	(void)state;
	establish();
	assert_string_equal(leaves_from(TCP, INSIDE, 5000, OTHER_REMOTE, 80, SYN), mapped);
	assert_string_equal(arrives_at(TCP, OTHER_REMOTE, 80, mapped, SYN | ACK), INSIDE ":5000");
	assert_true(in(RST));
	wait_s(TRANSITORY_S + 1);
	assert_true(is_mapped());
	arrives_at(TCP, OTHER_REMOTE, 80, mapped, RST);
	wait_s(TRANSITORY_S + 1);
	assert_false(is_mapped());
}

static void
test_a_permission_that_is_not_used_ends(void **state)
{
	(void)state;
	START({"filtering", "address-dependent"});
	map(UDP, 0);
	for (unsigned int i = 0; i < 2; i++) {
		wait_s(200);
		leaves_from(UDP, INSIDE, 5000, OTHER_REMOTE, 80, 0);
	}
	assert_string_equal(arrives_at(UDP, REMOTE, 80, mapped, 0), "filtered");
	assert_string_equal(arrives_at(UDP, OTHER_REMOTE, 80, mapped, 0), INSIDE ":5000");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_udp_mapping_lives_300_s),
		cmocka_unit_test(test_outbound_packets_keep_a_mapping),
		cmocka_unit_test(test_inbound_packets_keep_a_mapping_only_if_they_may),
		cmocka_unit_test(test_packets_that_only_the_counter_saw_keep_a_mapping),
		cmocka_unit_test(test_a_mapping_of_echo_lives_60_s),
		cmocka_unit_test(
			test_an_established_connection_may_be_idle_for_two_hours_and_four_minutes),
		cmocka_unit_test(
			test_a_connection_that_is_not_established_may_be_idle_for_four_minutes),
		cmocka_unit_test(test_simultaneous_open_establishes_a_connection),
		cmocka_unit_test(test_fins_both_ways_end_a_connection_after_four_minutes),
		cmocka_unit_test(test_a_reset_is_translated_and_its_mapping_waits_four_minutes),
		cmocka_unit_test(
			test_a_connection_that_goes_on_after_a_forged_reset_is_established),
		cmocka_unit_test(test_a_reset_does_not_keep_a_mapping),
		cmocka_unit_test(test_a_reset_makes_no_mapping),
		cmocka_unit_test(
			test_a_connection_older_than_the_nat_is_established_when_it_goes_both_ways),
		cmocka_unit_test(test_one_closed_connection_does_not_end_the_mapping_of_another),
		cmocka_unit_test(test_a_permission_that_is_not_used_ends),
	};

	return cmocka_run_group_tests_name("nat timeouts", tests, weir_test_eal, NULL);
}
