/* SPDX-License-Identifier: Apache-2.0 */
/* How near meters come to the rate that was asked for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "nf/shaper/meter.h"
#include "testing/eal.h"

#define PACKET_BYTES 1000
#define PACKETS 20000
#define BURST_BYTES 4000
#define ERROR_MAX 0.005

/* The bytes that pass in green, as a share of rate x time and burst, of packets that are offered at
 * twice the rate. */
static double
passed_share(const struct tenant_words *words, uint64_t rate_bps)
{
	struct meter_profile profile;
	struct weir_error error;
	struct meter meter = {0};
	double packet_cycles = 8.0 * PACKET_BYTES * (double)rte_get_tsc_hz() / (double)rate_bps / 2;
	double passed_bytes = 0;

	assert_int_equal(meter_profile_read(words, &profile, "tenants", &error), 0);
	meter_start(&meter, &profile);
	for (unsigned int i = 0; i < PACKETS; i++) {
		uint64_t now_tsc = rte_get_tsc_hz() + (uint64_t)(i * packet_cycles);

		if (meter_check(&meter, now_tsc, PACKET_BYTES, RTE_COLOR_GREEN) == RTE_COLOR_GREEN)
			passed_bytes += PACKET_BYTES;
	}
	return passed_bytes / (PACKETS * PACKET_BYTES / 2.0 + BURST_BYTES);
}

static const uint64_t rates_bps[] = {
	64000,	     1000000,	  10000000,    99999999,    100000000,	123456789,
	333333333,   777777777,	  1000000000,  2500000000,  3141592653, 9999999999,
	10000000000, 25000000000, 39999999999, 40000000000,
};

static void
srtcm_keeps_its_rate_within_half_a_percent_up_to_40_gbit_a_second(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rates_bps); i++) {
		const struct tenant_words words = {
			.name = "default",
			.word = "srtcm",
			.number_count = 3,
			.numbers = {{"cir_bps", rates_bps[i]},
				    {"cbs_bytes", BURST_BYTES},
				    {"ebs_bytes", 0}},
		};

		assert_float_equal(passed_share(&words, rates_bps[i]), 1, ERROR_MAX);
	}
}

static void
trtcm_and_that_of_rfc_4115_keep_theirs_too(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rates_bps); i++) {
		const struct tenant_words rfc2698 = {
			.name = "default",
			.word = "trtcm",
			.number_count = 4,
			.numbers = {{"cir_bps", rates_bps[i]},
				    {"pir_bps", 2 * rates_bps[i]},
				    {"cbs_bytes", BURST_BYTES},
				    {"pbs_bytes", BURST_BYTES}},
		};
		const struct tenant_words rfc4115 = {
			.name = "default",
			.word = "trtcm-4115",
			.number_count = 4,
			.numbers = {{"cir_bps", rates_bps[i]},
				    {"eir_bps", rates_bps[i]},
				    {"cbs_bytes", BURST_BYTES},
				    {"ebs_bytes", BURST_BYTES}},
		};

		assert_float_equal(passed_share(&rfc2698, rates_bps[i]), 1, ERROR_MAX);
		assert_float_equal(passed_share(&rfc4115, rates_bps[i]), 1, ERROR_MAX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(srtcm_keeps_its_rate_within_half_a_percent_up_to_40_gbit_a_second),
		cmocka_unit_test(trtcm_and_that_of_rfc_4115_keep_theirs_too),
	};

	return cmocka_run_group_tests_name("meter", tests, weir_test_eal, NULL);
}
