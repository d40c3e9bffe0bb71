/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of RFC 2697, 2698, 4115 and 2597 about who passes, with a clock of the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "testing/eal.h"
#include "testing/packet.h"
#include "testing/report.h"

extern const struct weir_nf weir_nf_policer;

#define TENANT "10.1.0.1"
#define PACKET_BYTES 1000 /* of IP */

static void *policer;
static double now_s;

static void
start(const char *tenants, const char *drop, const char *colour_aware)
{
	const char *const options[][2] = {
		{"tenants", tenants}, {"drop", drop}, {"colour_aware", colour_aware}, {NULL, NULL}};

	weir_nf_destroy(&weir_nf_policer, policer);
	policer = weir_test_state(&weir_nf_policer, options);
	now_s = 1000;
}

/* "forwarded", or why not. */
static const char *
send_with(const struct weir_test_ipv4 *what, uint8_t dscp)
{
	struct rte_mbuf *packet = weir_test_ipv4_packet(what);
	struct weir_test_outcome outcome;

	rte_pktmbuf_mtod(packet, uint8_t *)[what->tagged ? 19 : 15] = dscp << 2;
	outcome = weir_test_run(&weir_nf_policer, policer, WEIR_OUTBOUND, packet,
				now_s * rte_get_tsc_hz());
	if (outcome.packet == NULL)
		return outcome.drop_reason;
	rte_pktmbuf_free(outcome.packet);
	return "forwarded";
}

static const char *
send_from(const char *src, uint8_t dscp)
{
	static const uint8_t payload[PACKET_BYTES];
	const struct weir_test_ipv4 what = {
		.src = src, .payload = payload, .payload_bytes = PACKET_BYTES - 28};

	return send_with(&what, dscp);
}

/* How many of `count` packets at once get each answer. */
struct answers {
	unsigned int green, yellow, red;
};

static struct answers
send_many(const char *src, unsigned int count)
{
	struct answers answers = {0};

	for (unsigned int i = 0; i < count; i++) {
		const char *answer = send_from(src, 0);

		answers.green += strcmp(answer, "forwarded") == 0;
		answers.yellow += strcmp(answer, "yellow") == 0;
		answers.red += strcmp(answer, "red") == 0;
	}
	return answers;
}

static void
assert_answers(struct answers answers, unsigned int green, unsigned int yellow, unsigned int red)
{
	assert_int_equal(answers.green, green);
	assert_int_equal(answers.yellow, yellow);
	assert_int_equal(answers.red, red);
}

static void
test_srtcm_a_burst_of_cbs_is_green_then_ebs_yellow_then_red(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000000 cbs_bytes=5000 ebs_bytes=3000", "yellow-and-red",
	      "false");
	assert_answers(send_many(TENANT, 12), 5, 3, 4);
}

static void
test_srtcm_tokens_fill_the_committed_bucket_first_then_the_excess(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000000 cbs_bytes=5000 ebs_bytes=3000", "yellow-and-red",
	      "false");
	send_many(TENANT, 12);
	now_s += 0.00601; /* 6 packets of 1,000 bytes at 1,000,000 bytes a second */
	assert_answers(send_many(TENANT, 8), 5, 1, 2);
}

static void
test_trtcm_above_pir_is_red_above_cir_is_yellow(void **state)
{
	(void)state;
	start("10.1.0.0/16 trtcm cir_bps=8000000 pir_bps=16000000 cbs_bytes=2000 pbs_bytes=5000",
	      "yellow-and-red", "false");
	assert_answers(send_many(TENANT, 8), 2, 3, 3);
	now_s += 0.00201;
	assert_answers(send_many(TENANT, 8), 2, 2, 4);
}

static void
test_rfc4115_excess_tokens_come_at_a_rate_of_their_own(void **state)
{
	(void)state;
	start("10.1.0.0/16 trtcm-4115 cir_bps=8000000 eir_bps=8000000 cbs_bytes=2000 "
	      "ebs_bytes=5000",
	      "yellow-and-red", "false");
	assert_answers(send_many(TENANT, 9), 2, 5, 2);
	now_s += 0.00201;
	assert_answers(send_many(TENANT, 9), 2, 2, 5);
}

/* Packets that pass in `seconds`, offered at twice the rate. */
static double
passed_bps(double seconds, double offered_pps)
{
	double passed = 0;

	for (double sent = 0; sent < seconds * offered_pps; sent++) {
		now_s += 1 / offered_pps;
		passed += strcmp(send_from(TENANT, 0), "forwarded") == 0;
	}
	return passed * PACKET_BYTES * 8 / seconds;
}

static void
test_the_committed_rate_passes_over_time(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000000 cbs_bytes=2000 ebs_bytes=0", "red", "false");
	assert_in_range(passed_bps(5, 2000), 8000000 * 0.995, 8000000 * 1.005);
}

/* What the tenant's outbound meter counted. */
static struct weir_counter
reported(const char *colour)
{
	const char *const texts[] = {"10.1.0.0/16", "outbound", colour, NULL};

	return weir_test_counted(&weir_nf_policer, policer, texts);
}

static void
test_what_is_not_dropped_is_counted_by_colour_all_the_same(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=2000 ebs_bytes=1000", "none", "false");
	assert_answers(send_many(TENANT, 5), 5, 0, 0);
	assert_int_equal(reported("green").packets, 2);
	assert_int_equal(reported("yellow").packets, 1);
	assert_int_equal(reported("red").bytes, 2000);
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=2000 ebs_bytes=1000", "red", "false");
	assert_answers(send_many(TENANT, 5), 3, 0, 2);
}

static void
test_a_packet_is_never_better_than_its_colour_says(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=9000 ebs_bytes=9000", "yellow-and-red",
	      "true");
	assert_string_equal(send_from(TENANT, 10), "forwarded"); /* AF11 */
	assert_string_equal(send_from(TENANT, 12), "yellow");	 /* AF12 */
	assert_string_equal(send_from(TENANT, 38), "red");	 /* AF43 */
	assert_string_equal(send_from(TENANT, 46), "forwarded"); /* EF */
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=9000 ebs_bytes=9000", "yellow-and-red",
	      "false");
	assert_string_equal(send_from(TENANT, 38), "forwarded");
}

static void
test_tenants_do_not_take_each_others_tokens_and_the_longest_prefix_counts(void **state)
{
	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=3000 ebs_bytes=0,"
	      "10.1.2.0/24 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0",
	      "red", "false");
	assert_answers(send_many("10.1.1.1", 5), 3, 0, 2);
	assert_answers(send_many("10.1.2.1", 5), 1, 0, 4);
	assert_answers(send_many("10.9.0.1", 5), 5, 0, 0); /* no tenant */
}

static void
test_directions_have_meters_of_their_own(void **state)
{
	const struct weir_test_ipv4 what = {.dst = TENANT};
	struct weir_test_outcome outcome;

	(void)state;
	start("10.1.0.0/16 srtcm cir_bps=8000 cbs_bytes=1000 ebs_bytes=0", "red", "false");
	assert_answers(send_many(TENANT, 2), 1, 0, 1);
	outcome = weir_test_run(&weir_nf_policer, policer, WEIR_INBOUND,
				weir_test_ipv4_packet(&what), now_s * rte_get_tsc_hz());
	assert_non_null(outcome.packet);
	rte_pktmbuf_free(outcome.packet);
}

static void
test_a_tenant_can_be_a_vlan_or_everybody_else(void **state)
{
	const struct weir_test_ipv4 tagged = {.src = "10.9.0.1", .tagged = true};

	(void)state;
	start("vlan:100 srtcm cir_bps=8 cbs_bytes=28 ebs_bytes=0,"
	      "default srtcm cir_bps=8 cbs_bytes=1000 ebs_bytes=0",
	      "red", "false");
	assert_string_equal(send_with(&tagged, 0), "forwarded");
	assert_string_equal(send_with(&tagged, 0), "red");
	assert_answers(send_many("10.9.0.1", 2), 1, 0, 1);
}

static const char *
refusal(const char *tenants)
{
	static struct weir_error error;
	const struct weir_option_value values[] = {{"tenants", tenants}};

	assert_null(weir_nf_create(&weir_nf_policer, values, 1, "options", &error));
	return error.message;
}

static void
test_a_list_of_tenants_that_makes_no_sense_is_refused_with_what_is_wrong(void **state)
{
	(void)state;
	assert_string_equal(refusal("10.1.0.1/16 srtcm"),
			    "'10.1.0.1/16' names no tenant, or one that is there");
	assert_string_equal(refusal("vlan:4095 srtcm"),
			    "'vlan:4095' names no tenant, or one that is there");
	assert_string_equal(refusal("default frtcm"), "tenant default has no meter 'frtcm'");
	assert_string_equal(refusal("default srtcm cbs_bytes=1"),
			    "tenant default has no cir_bps, or one out of its range");
	assert_string_equal(refusal("default srtcm cir_bps=1000 pir_bps=2000"),
			    "tenant default has no use for pir_bps");
	assert_string_equal(refusal("default srtcm cir_bps=8k"),
			    "'cir_bps' of tenant default cannot be read");
	assert_string_equal(
		refusal("default trtcm cir_bps=2000 pir_bps=1000 cbs_bytes=1 pbs_bytes=1"),
		"tenant default has a meter that cannot work");
	assert_string_equal(refusal("# nobody"), "the list of policer names no tenant");
}

static int
stop(void **state)
{
	(void)state;
	weir_nf_destroy(&weir_nf_policer, policer);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_srtcm_a_burst_of_cbs_is_green_then_ebs_yellow_then_red),
		cmocka_unit_test(test_srtcm_tokens_fill_the_committed_bucket_first_then_the_excess),
		cmocka_unit_test(test_trtcm_above_pir_is_red_above_cir_is_yellow),
		cmocka_unit_test(test_rfc4115_excess_tokens_come_at_a_rate_of_their_own),
		cmocka_unit_test(test_the_committed_rate_passes_over_time),
		cmocka_unit_test(test_what_is_not_dropped_is_counted_by_colour_all_the_same),
		cmocka_unit_test(test_a_packet_is_never_better_than_its_colour_says),
		cmocka_unit_test(
			test_tenants_do_not_take_each_others_tokens_and_the_longest_prefix_counts),
		cmocka_unit_test(test_directions_have_meters_of_their_own),
		cmocka_unit_test(test_a_tenant_can_be_a_vlan_or_everybody_else),
		cmocka_unit_test(
			test_a_list_of_tenants_that_makes_no_sense_is_refused_with_what_is_wrong),
	};

	return cmocka_run_group_tests_name("policer", tests, weir_test_eal, stop);
}
