/* SPDX-License-Identifier: Apache-2.0 */
/* With a fast path: what a change of routes forgets; and batches that are forwarded at once. */
#include "l3fwd_fixture_test.h"

#include <stdio.h>

#include <arpa/inet.h>

#include "engine/fastpath.h"

struct fast {
	struct weir_stage stage;
	struct weir_fastpath fastpath;
};

static struct fast
fast_start(void)
{
	const struct weir_flow_path path = {
		.direction = WEIR_OUTBOUND, .stage_count = 1, .state = {l3fwd}};
	struct fast fast = {.stage = {.nf = &weir_nf_l3fwd, .state = l3fwd}};

	fast.fastpath.cache = weir_flow_cache_create(64, &path, 1);
	assert_non_null(fast.fastpath.cache);
	return fast;
}

/* The last byte of the next hop; 0: dropped. */
static uint8_t
fast_to(struct fast *fast, const char *destination)
{
	const struct weir_test_ipv4 what = {.dst = destination};
	struct weir_batch batch = {.count = 1, .packet = {weir_test_ipv4_packet(&what)}};
	uint8_t last;

	weir_fastpath_run(&fast->fastpath, &fast->stage, 1, &batch, false);
	if (batch.count == 0)
		return 0;
	last = rte_pktmbuf_mtod(batch.packet[0], const uint8_t *)[5];
	rte_pktmbuf_free(batch.packet[0]);
	return last;
}

static void
fast_command(struct fast *fast, const char *name, const char *prefix, const char *next_hop)
{
	const char *const arguments[][2] = {
		{"prefix", prefix}, {next_hop != NULL ? "next_hop" : NULL, next_hop}, {NULL, NULL}};

	assert_null(weir_test_command_beside(&weir_nf_l3fwd, l3fwd, name, arguments,
					     fast->fastpath.cache));
}

static void
a_change_of_routes_forgets_the_flows_that_it_concerns_and_no_others(void **state)
{
	struct fast fast;

	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n198.51.100.128/25 02:00:00:00:00:02\n");
	fast = fast_start();
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 1);
	assert_int_equal(fast_to(&fast, "198.51.100.129"), 2);
	assert_int_equal(fast_to(&fast, "198.51.101.1"), 1);
	assert_int_equal(fast_to(&fast, "203.0.113.1"), 0);
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 4);

	/* More specific than one flow's route, less specific than another's. */
	fast_command(&fast, "route-add", "198.51.100.0/24", "02:00:00:00:00:03");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 3);

	/* A prefix that leads elsewhere. */
	fast_command(&fast, "route-add", "198.51.100.0/24", "02:00:00:00:00:04");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 4);

	/* A flow that had no route. */
	fast_command(&fast, "route-add", "0.0.0.0/0", "02:00:00:00:00:05");
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "203.0.113.1"), 5);

	fast_command(&fast, "route-delete", "198.51.100.128/25", NULL);
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 3);
	assert_int_equal(fast_to(&fast, "198.51.100.129"), 4);
	assert_int_equal(fast_to(&fast, "198.51.101.1"), 1);
	assert_int_equal(fast.fastpath.ledger.hits, 1);
	weir_flow_cache_free(fast.fastpath.cache);
}

static void
a_new_file_of_routes_forgets_all_flows(void **state)
{
	const char *const arguments[][2] = {{"routes", weir_test_path()}, {NULL, NULL}};
	struct fast fast;

	(void)state;
	start_with_routes("198.51.0.0/16 02:00:00:00:00:01\n");
	fast = fast_start();
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 1);
	weir_test_file("198.51.0.0/16 02:00:00:00:00:02\n");
	assert_null(weir_test_command_beside(&weir_nf_l3fwd, l3fwd, "routes-load", arguments,
					     fast.fastpath.cache));
	assert_int_equal(weir_flow_cache_count(fast.fastpath.cache), 0);
	assert_int_equal(fast_to(&fast, "198.51.100.1"), 2);
	weir_flow_cache_free(fast.fastpath.cache);
}

/* Both paths of the core: a batch of plain packets at once, or each by its action. */
static void
forwarding_at_once_does_what_deciding_and_applying_do(void **state)
{
	struct weir_stage stage;

	(void)state;
	start_with_routes("10.0.0.0/8 02:00:00:00:00:01\n10.7.0.0/16 02:00:00:00:00:02 3\n"
			  "10.7.7.0/25 02:00:00:00:00:03 1\n");
	stage = (struct weir_stage){.nf = &weir_nf_l3fwd, .state = l3fwd};
	srand(6);
	for (unsigned int round = 0; round < 2000; round++) {
		struct weir_batch once = {.direction = rand() % 2}, each;
		struct weir_action actions[WEIR_BURST];
		const bool plain = rand() % 2;

		once.count = 1 + rand() % WEIR_BURST;
		each = once;
		for (unsigned int i = 0; i < once.count; i++) {
			char text[INET_ADDRSTRLEN];
			const struct weir_test_ipv4 what = {
				.dst = text,
				.ttl = plain ? 2 + rand() % 254 : 1 + rand() % 3,
				.protocol = rand() % 2 ? IPPROTO_TCP : IPPROTO_UDP,
				.tagged = rand() % 2,
				.identification = rand(),
			};

			snprintf(text, sizeof(text), "%u.%u.7.%u", plain || rand() % 9 ? 10 : 11,
				 7 + rand() % 2, rand() % 256);
			once.packet[i] = weir_test_ipv4_packet(&what);
			each.packet[i] = weir_test_ipv4_packet(&what);
		}
		weir_stage_run(&stage, &once);
		weir_stage_decide(&stage, &each, actions);
		for (unsigned int i = 0, j = 0; i < each.count; i++) {
			uint8_t reason;

			if (weir_stage_apply(&each, i, &actions[i], &reason)) {
				assert_true(j < once.count);
				assert_int_equal(each.egress[i], once.egress[j]);
				assert_memory_equal(&each.headers[i], &once.headers[j],
						    sizeof(each.headers[i]));
				assert_memory_equal(rte_pktmbuf_mtod(each.packet[i], void *),
						    rte_pktmbuf_mtod(once.packet[j], void *),
						    each.packet[i]->data_len);
				j++;
			}
		}
		rte_pktmbuf_free_bulk(each.packet, each.count);
		if (plain)
			assert_int_equal(once.count, each.count);
		rte_pktmbuf_free_bulk(once.packet, once.count);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_change_of_routes_forgets_the_flows_that_it_concerns_and_no_others),
		cmocka_unit_test(a_new_file_of_routes_forgets_all_flows),
		cmocka_unit_test(forwarding_at_once_does_what_deciding_and_applying_do),
	};

	return cmocka_run_group_tests_name("l3fwd, fast", tests, weir_test_eal, end);
}
