/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in a card that is a program (card_fixture_test.c), and drivers of DPDK that take none. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "engine/flow_cache.h"
#include "port/below_fixture_test.h"
#include "port/card_rules/card_fixture_test.h"
#include "port/card_rules/offload.h"
#include "testing/eal.h"

static struct weir_offload *
opened(uint32_t flows, struct weir_error *error)
{
	static const uint16_t out[] = {CARD_OUT, CARD_OUT + 1};
	const struct weir_card_config config = {
		.in = CARD_IN,
		.out = out,
		.out_count = 2,
		.flows = flows,
		.packets_min = ELEPHANT,
		.where = "areas[0].offload",
	};

	return weir_card_offload_open(&config, error);
}

static struct weir_offload *
with_a_new_card(uint32_t flows)
{
	struct weir_error error;
	struct weir_offload *offload;

	new_rule_card();
	offload = opened(flows, &error);
	assert_non_null(offload);
	return offload;
}

static bool
run_card(const struct weir_offload *offload, struct rte_mbuf *packet, unsigned int *output)
{
	(void)offload;
	return rule_card_run(packet, output);
}

static void
a_rule_that_the_card_refuses_stays_in_software_and_is_counted(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	rule_card.rules_max = 3; /* an entry's */
	pass(chain, offload, 16, 1 + ELEPHANT);
	pass(chain, offload, 17, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 1);
	assert_int_equal(offload->refused[WEIR_OFFLOAD_FAILED], 1);
	assert_int_equal(rule_card.counters, 1);
	pass(chain, offload, 16, 5);
	pass(chain, offload, 17, 5);
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 5);
	weir_chain_destroy(chain);
	assert_int_equal(rule_card.rules + rule_card.counters, 0);
}

static void
of_an_entry_whose_second_rule_is_refused_the_others_are_followed(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	rule_card.refuses_number = 2; /* times to live from 64 to 127 */
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(rule_card.rules, 2);
	assert_true(goes_below(offload, (struct weir_test_ipv4){.ttl = 255}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.ttl = 64}, false));
	assert_true(goes_below(offload, (struct weir_test_ipv4){.ttl = 33}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.ttl = 31}, false));
	weir_chain_destroy(chain);
}

static void
packets_whose_checksum_the_card_would_mend_go_up(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);
	struct rte_mbuf *packet;
	unsigned int output;

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	packet = weir_test_ipv4_packet(&(struct weir_test_ipv4){.src_port = 16, .dst_port = 1});
	rte_pktmbuf_mtod(packet, uint8_t *)[40] ^= 1; /* of UDP */
	assert_false(rule_card_run(packet, &output));
	rte_pktmbuf_free(packet);
	weir_chain_destroy(chain);
}

static void
a_rule_that_does_not_go_takes_all_with_it_and_nothing_is_treated_by_what_was_revoked(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	pass(chain, offload, 17, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	pass(chain, offload, 17, 4);
	assert_int_equal(rule_card.rules, 6);
	rule_card.keeps = true;
	for (unsigned int i = 0; i < WEIR_OFFLOAD_IDLE_FLUSHES; i++) {
		pass(chain, offload, 17, 1);
		weir_flow_cache_flush(chain->flows);
	}
	weir_flow_cache_flush(chain->flows); /* flow 16 comes up */
	assert_int_equal(rule_card.rules, 0);
	pass(chain, offload, 17, 3); /* in software */
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1),
			 4 + WEIR_OFFLOAD_IDLE_FLUSHES);
	weir_chain_destroy(chain);
	assert_int_equal(rule_card.counters, 0);
}

static void
a_counter_that_cannot_be_read_counts_nothing_until_it_can(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	pass(chain, offload, 16, 7);
	rule_card.counts_nothing = true;
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 0);
	rule_card.counts_nothing = false;
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 7);
	weir_chain_destroy(chain);
}

static void
an_entry_whose_counter_cannot_be_read_stays_in_software(void **state)
{
	struct weir_offload *offload = with_a_new_card(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	rule_card.counts_nothing = true;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->refused[WEIR_OFFLOAD_FAILED], 1);
	assert_int_equal(rule_card.rules + rule_card.counters, 0);
	weir_chain_destroy(chain);
}

static void
a_rule_that_does_not_go_takes_those_of_the_card_s_other_chains_with_it(void **state)
{
	struct weir_offload *offload = with_a_new_card(8), *other;
	struct weir_chain *chain = chain_above(offload, 64), *other_chain;
	struct weir_error error;

	(void)state;
	other = opened(8, &error);
	assert_non_null(other);
	other_chain = chain_above(other, 64);
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	for (unsigned int i = 0; i < 1 + ELEPHANT; i++) {
		struct weir_batch batch = {.count = 1};

		batch.packet[0] = weir_test_ipv4_packet(
			&(struct weir_test_ipv4){.src_port = 17, .dst_port = 1});
		weir_path_run(&other_chain->paths[0], &batch);
		rte_pktmbuf_free(batch.packet[0]);
	}
	weir_flow_cache_flush(other_chain->flows);
	assert_int_equal(rule_card.rules, 6);
	rule_card.keeps = true;
	weir_chain_destroy(chain);
	assert_int_equal(rule_card.rules, 0);
	weir_chain_destroy(other_chain); /* whose rules it does not destroy again */
	assert_int_equal(rule_card.counters, 0);
}

static void
a_port_out_with_a_smaller_mtu_is_refused(void **state)
{
	struct weir_error error;

	(void)state;
	new_rule_card();
	rule_card.mtu_out = 1400;
	assert_null(opened(8, &error));
	assert_string_equal(error.where, "areas[0].offload");
	assert_non_null(strstr(error.message, "1400 is less than 1500"));
}

static void
a_port_that_the_card_s_switch_does_not_obey_is_refused(void **state)
{
	struct weir_error error;

	(void)state;
	new_rule_card();
	rule_card.has_no_proxy = true;
	assert_null(opened(8, &error));
	assert_non_null(strstr(error.message, "no port of its card takes rules for port 90"));
}

static void
a_driver_without_rules_is_refused_by_its_name(void **state)
{
	struct weir_card_config config = {.where = "areas[0].offload", .flows = 8};
	struct weir_error error;

	(void)state;
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_null7", ""), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &config.in), 0);
	assert_null(weir_card_offload_open(&config, &error));
	assert_string_equal(error.message, "net_null takes no rules (rte_flow)");
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_null7"), 0);
}

/* DPDK's tap: it has rules for Linux' traffic control, of other kinds than these. */
static void
a_driver_that_takes_other_rules_alone_leaves_all_in_software(void **state)
{
	uint16_t port, out[2];
	struct weir_card_config config = {.where = "areas[0].offload",
					  .out = out,
					  .out_count = 2,
					  .flows = 8,
					  .packets_min = ELEPHANT};
	struct weir_offload *offload;
	struct weir_chain *chain;
	struct weir_error error;

	(void)state;
	/* Its interface is in nobody else's way. */
	if (unshare(CLONE_NEWNET) != 0 ||
	    rte_eal_hotplug_add("vdev", "net_tap7", "iface=tap7") != 0) {
		print_message("no interfaces can be made here: run as root\n");
		skip();
	}
	assert_int_equal(rte_eth_dev_get_port_by_name("net_tap7", &port), 0);
	config.in = out[0] = out[1] = port;
	offload = weir_card_offload_open(&config, &error);
	assert_non_null(offload);
	chain = chain_above(offload, 64);
	for (uint16_t flow = 16; flow < 20; flow++) {
		for (unsigned int i = 0; i < 2 + ELEPHANT; i++)
			pass(chain, offload, flow, 1);
	}
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 0);
	assert_int_equal(
		offload->refused[WEIR_OFFLOAD_FAILED] + offload->refused[WEIR_OFFLOAD_DROPS], 4);
	assert_true(offload->refused[WEIR_OFFLOAD_FAILED] > 0);
	assert_int_equal(forwarded_by(offload, 0), 0);
	weir_chain_destroy(chain);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_tap7"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BELOW_TESTS,
		cmocka_unit_test(a_rule_that_the_card_refuses_stays_in_software_and_is_counted),
		cmocka_unit_test(of_an_entry_whose_second_rule_is_refused_the_others_are_followed),
		cmocka_unit_test(packets_whose_checksum_the_card_would_mend_go_up),
		cmocka_unit_test(
			a_rule_that_does_not_go_takes_all_with_it_and_nothing_is_treated_by_what_was_revoked),
		cmocka_unit_test(a_counter_that_cannot_be_read_counts_nothing_until_it_can),
		cmocka_unit_test(an_entry_whose_counter_cannot_be_read_stays_in_software),
		cmocka_unit_test(
			a_rule_that_does_not_go_takes_those_of_the_card_s_other_chains_with_it),
		cmocka_unit_test(a_port_out_with_a_smaller_mtu_is_refused),
		cmocka_unit_test(a_port_that_the_card_s_switch_does_not_obey_is_refused),
		cmocka_unit_test(a_driver_without_rules_is_refused_by_its_name),
		cmocka_unit_test(a_driver_that_takes_other_rules_alone_leaves_all_in_software),
	};

	below = (struct below){.load = with_a_new_card, .run = run_card};
	return cmocka_run_group_tests_name("card rules", tests, weir_test_eal, NULL);
}
