/* SPDX-License-Identifier: Apache-2.0 */
/* Five-tuples: as many as asked for, and by which law. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixtures_test.h"
#include "flows.h"

#define ALL (WEIR_VARY_SRC_IP | WEIR_VARY_DST_IP | WEIR_VARY_SRC_PORT | WEIR_VARY_DST_PORT)

static struct weir_flows
flows_of(bool v6, uint32_t count, unsigned int vary)
{
	struct weir_stream_config config = stream_of(template_of(v6, false, false), 128);
	struct weir_error error;
	struct weir_flows flows;

	config.flow_count = count;
	config.vary = vary;
	assert_int_equal(weir_flows_make(&config, &flows, &error), 0);
	return flows;
}

static int
by_tuple(const void *left, const void *right)
{
	return memcmp(left, right, 12);
}

static uint32_t
distinct(struct weir_flows *flows)
{
	uint32_t found = 1;

	qsort(flows->flow, flows->count, sizeof(*flows->flow), by_tuple);
	for (uint32_t i = 1; i < flows->count; i++)
		found += by_tuple(&flows->flow[i - 1], &flows->flow[i]) != 0;
	return found;
}

static void
every_choice_of_fields_gives_exactly_as_many_flows_as_asked_for(void **state)
{
	(void)state;
	for (unsigned int vary = 1; vary <= ALL; vary++) {
		uint32_t count = __builtin_popcount(vary) == 1 ? WEIR_FLOW_RADIX : 40009;
		struct weir_flows flows = flows_of(vary & 1, count, vary);

		assert_int_equal(distinct(&flows), count);
		weir_flows_free(&flows);
	}
}

static void
a_million_flows_of_two_fields_are_a_million(void **state)
{
	struct weir_flows flows =
		flows_of(false, WEIR_FLOWS_MAX, WEIR_VARY_DST_IP | WEIR_VARY_DST_PORT);

	(void)state;
	assert_int_equal(distinct(&flows), WEIR_FLOWS_MAX);
	weir_flows_free(&flows);
}

static void
fields_that_are_not_varied_stay_as_in_the_template(void **state)
{
	struct weir_flows flows = flows_of(false, 1000, WEIR_VARY_SRC_PORT);

	(void)state;
	for (uint32_t i = 0; i < flows.count; i++) {
		assert_int_equal(flows.flow[i].src_ip, flows.flow[0].src_ip);
		assert_int_equal(flows.flow[i].dst_ip, flows.flow[0].dst_ip);
		assert_int_equal(flows.flow[i].dst_port, flows.flow[0].dst_port);
	}
	weir_flows_free(&flows);
}

/* The same four numbers, the other way round. */
static void
what_is_exchanged_answers_flow_by_flow_whichever_fields_are_varied(void **state)
{
	enum { FLOWS = 40009 };
	struct weir_stream_config there = stream_of(template_of(false, false, false), 64);
	struct weir_stream_config back = there;
	struct weir_error error;

	(void)state;
	memcpy(back.template.src_ip, there.template.dst_ip, sizeof(back.template.src_ip));
	memcpy(back.template.dst_ip, there.template.src_ip, sizeof(back.template.dst_ip));
	back.template.src_port = there.template.dst_port;
	back.template.dst_port = there.template.src_port;
	back.exchanged = true;
	for (unsigned int vary = 1; vary <= ALL; vary++) {
		struct weir_flows questions, answers;

		there.vary = vary;
		back.vary = (vary & 5) << 1 | (vary & 10) >> 1;
		there.flow_count = back.flow_count =
			__builtin_popcount(vary) == 1 ? WEIR_FLOW_RADIX : FLOWS;
		assert_int_equal(weir_flows_make(&there, &questions, &error), 0);
		assert_int_equal(weir_flows_make(&back, &answers, &error), 0);
		for (uint32_t i = 0; i < questions.count; i++) {
			const struct weir_flow *question = &questions.flow[i];
			const struct weir_flow *answer = &answers.flow[i];

			assert_int_equal(answer->src_ip, question->dst_ip);
			assert_int_equal(answer->dst_ip, question->src_ip);
			assert_int_equal(answer->src_port, question->dst_port);
			assert_int_equal(answer->dst_port, question->src_port);
		}
		weir_flows_free(&questions);
		weir_flows_free(&answers);
	}
}

static void
more_flows_than_the_fields_can_tell_apart_are_refused(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_flows flows;
	struct weir_error error;

	(void)state;
	config.flow_count = WEIR_FLOW_RADIX + 1;
	config.vary = WEIR_VARY_SRC_PORT;
	assert_int_equal(weir_flows_make(&config, &flows, &error), -1);
	assert_string_equal(error.where, "flows.count");
	config.flow_count = 2;
	config.vary = 0;
	assert_int_equal(weir_flows_make(&config, &flows, &error), -1);
	assert_string_equal(error.where, "flows.vary");
}

static void
zipf_frequencies_follow_the_law(void **state)
{
	static const double exponents[] = {0.8, 1.5};
	enum { FLOWS = 1000 };

	(void)state;
	for (unsigned int e = 0; e < RTE_DIM(exponents); e++) {
		struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
		uint32_t seen[FLOWS] = {0};
		struct weir_flows flows;
		struct weir_error error;
		double total = 0;

		config.flow_count = FLOWS;
		config.vary = ALL;
		config.zipf = true;
		config.zipf_s = exponents[e];
		config.seed = 7;
		assert_int_equal(weir_flows_make(&config, &flows, &error), 0);
		for (uint32_t i = 0; i < flows.order_count; i++)
			seen[flows.order[i]]++;
		for (unsigned int rank = 1; rank <= FLOWS; rank++)
			total += pow(rank, -config.zipf_s);
		for (unsigned int rank = 1; rank <= FLOWS; rank++) {
			double expected = flows.order_count * pow(rank, -config.zipf_s) / total;

			/* Five standard deviations: one in 1.7 million. */
			assert_true(fabs(seen[rank - 1] - expected) < 5 * sqrt(expected) + 1);
		}
		weir_flows_free(&flows);
	}
}

static void
the_seed_decides_the_order(void **state)
{
	struct weir_stream_config config = stream_of(template_of(false, false, false), 64);
	struct weir_flows flows[3];
	struct weir_error error;

	(void)state;
	config.flow_count = 100;
	config.vary = ALL;
	config.zipf = true;
	config.zipf_s = 1;
	for (unsigned int i = 0; i < 3; i++) {
		config.seed = i == 2 ? 9 : 8;
		assert_int_equal(weir_flows_make(&config, &flows[i], &error), 0);
	}
	assert_memory_equal(flows[0].order, flows[1].order, 4000);
	assert_memory_not_equal(flows[0].order, flows[2].order, 4000);
	for (unsigned int i = 0; i < 3; i++)
		weir_flows_free(&flows[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_choice_of_fields_gives_exactly_as_many_flows_as_asked_for),
		cmocka_unit_test(a_million_flows_of_two_fields_are_a_million),
		cmocka_unit_test(fields_that_are_not_varied_stay_as_in_the_template),
		cmocka_unit_test(
			what_is_exchanged_answers_flow_by_flow_whichever_fields_are_varied),
		cmocka_unit_test(more_flows_than_the_fields_can_tell_apart_are_refused),
		cmocka_unit_test(zipf_frequencies_follow_the_law),
		cmocka_unit_test(the_seed_decides_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
