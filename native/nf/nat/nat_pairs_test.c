/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are translated whole, as floating ones are (basic NAT, RFC 3022). */
#include "nat_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>

#include <rte_icmp.h>

#define UDP IPPROTO_UDP
#define TCP IPPROTO_TCP
#define ICMP IPPROTO_ICMP
#define GRE IPPROTO_GRE
#define PAIRED "10.0.0.9"
#define FLOATING "203.0.113.9"
#define OTHER_PAIRED "10.0.0.8"
#define OTHER_FLOATING "203.0.113.8"
#define ROUTER "192.0.2.9"

static void
begin(void)
{
	START({"addresses", FLOATING " " PAIRED ", " OTHER_FLOATING " " OTHER_PAIRED},
	      {"hairpin_output", "1"});
}

static struct seen
outbound(uint8_t protocol, const char *src, uint16_t src_port, const char *dst, uint16_t dst_port)
{
	return pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.src = src,
							    .dst = dst,
							    .protocol = protocol,
							    .src_port = src_port,
							    .dst_port = dst_port});
}

static void
a_paired_host_leaves_by_its_own_address_and_keeps_its_ports(void **state)
{
	(void)state;
	begin();
	assert_string_equal(leaves_from(UDP, PAIRED, 5000, REMOTE, 80, 0), FLOATING ":5000");
	assert_string_equal(leaves_from(TCP, PAIRED, 5000, REMOTE, 80, ACK), FLOATING ":5000");
	assert_string_equal(leaves_from(UDP, OTHER_PAIRED, 5000, REMOTE, 80, 0),
			    OTHER_FLOATING ":5000");
	assert_string_equal(leaves_from(ICMP, PAIRED, 77, REMOTE, 0, 0), FLOATING ":77");
}

static void
anybody_reaches_it_at_any_port_by_any_protocol_though_it_never_sent(void **state)
{
	struct seen seen;

	(void)state;
	begin();
	assert_string_equal(arrives_at(TCP, REMOTE, 4000, FLOATING ":22", SYN), PAIRED ":22");
	assert_string_equal(arrives_at(UDP, REMOTE, 4000, FLOATING ":53", 0), PAIRED ":53");
	assert_string_equal(arrives_at(ICMP, REMOTE, 0, FLOATING ":9", 0), PAIRED ":9");
	seen = pass(WEIR_INBOUND,
		    &(struct weir_test_ipv4){.src = REMOTE, .dst = FLOATING, .protocol = GRE});
	assert_null(seen.drop);
	assert_string_equal(seen.destination, PAIRED ":0");
}

static void
nobody_elses_address_is_open(void **state)
{
	(void)state;
	begin();
	assert_string_equal(arrives_at(TCP, REMOTE, 4000, "203.0.113.1:22", SYN), "no_mapping");
	assert_string_equal(arrives_at(TCP, REMOTE, 4000, "203.0.113.10:22", SYN), "no_mapping");
}

static void
hosts_beside_it_share_the_external_ones_as_before(void **state)
{
	const char *from;

	(void)state;
	begin();
	from = leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0);
	assert_memory_equal(from, "203.0.113.", 10);
	assert_string_not_equal(from, FLOATING ":5000");
	assert_string_equal(arrives_at(UDP, REMOTE, 80, from, 0), INSIDE ":5000");
}

static void
within_its_network_it_is_reached_by_its_floating_address_too(void **state)
{
	struct seen seen;

	(void)state;
	begin();
	seen = outbound(UDP, INSIDE, 5000, FLOATING, 53);
	assert_null(seen.drop);
	assert_string_equal(seen.destination, PAIRED ":53");
	assert_memory_equal(seen.source, "203.0.113.", 10); /* so that the answer comes back here */
	assert_int_equal(seen.egress, 1);
	seen = outbound(TCP, OTHER_PAIRED, 5000, FLOATING, 53);
	assert_string_equal(seen.source, OTHER_FLOATING ":5000");
	assert_string_equal(seen.destination, PAIRED ":53");
	assert_int_equal(seen.egress, 1);
}

static void
it_reaches_what_another_host_of_its_network_has_mapped(void **state)
{
	struct seen seen;
	const char *mapped;
	char external[32];

	(void)state;
	begin();
	mapped = leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0);
	snprintf(external, sizeof(external), "%.*s", (int)strcspn(mapped, ":"), mapped);
	seen = outbound(UDP, PAIRED, 6000, external, port_in(mapped));
	assert_string_equal(seen.source, FLOATING ":6000");
	assert_string_equal(seen.destination, INSIDE ":5000");
	seen = outbound(UDP, PAIRED, 6000, external, port_in(mapped) ^ 1);
	assert_string_equal(seen.drop, "no_mapping");
}

static void
it_answers_an_echo_of_a_host_of_its_network(void **state)
{
	struct weir_test_ipv4 echo = {
		.src = INSIDE, .dst = FLOATING, .protocol = ICMP, .src_port = 77};
	uint8_t frame[WEIR_TEST_FRAME_BYTES];
	struct rte_icmp_hdr *icmp;
	struct seen seen;
	char external[32];
	size_t bytes;

	(void)state;
	begin();
	seen = pass(WEIR_OUTBOUND, &echo);
	assert_null(seen.drop);
	assert_string_equal(seen.destination, PAIRED ":77");
	snprintf(external, sizeof(external), "%.*s", (int)strcspn(seen.source, ":"), seen.source);
	echo = (struct weir_test_ipv4){
		.src = PAIRED, .dst = external, .protocol = ICMP, .src_port = 77};
	assert_string_equal(pass(WEIR_OUTBOUND, &echo).drop, "no_mapping"); /* whom does it ask? */
	echo.src_port = port_in(seen.source);
	bytes = weir_test_ipv4_frame(&echo, frame);
	icmp = (struct rte_icmp_hdr *)(frame + IP_AT + 20);
	icmp->icmp_type = RTE_IP_ICMP_ECHO_REPLY;
	icmp->icmp_cksum = 0;
	icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, sizeof(*icmp));
	seen = pass_bytes(WEIR_OUTBOUND, frame, bytes);
	assert_null(seen.drop);
	assert_string_equal(seen.source, FLOATING ":77");
	assert_string_equal(seen.destination, INSIDE ":77");
	assert_int_equal(seen.egress, 1);
}

static void
with_filtering_it_reaches_a_mapping_only_if_it_was_sent_to(void **state)
{
	struct seen seen;
	char external[32];
	uint16_t port;

	(void)state;
	START({"addresses", FLOATING " " PAIRED}, {"filtering", "address-and-port-dependent"});
	seen = outbound(UDP, INSIDE, 5000, REMOTE, 80);
	snprintf(external, sizeof(external), "%.*s", (int)strcspn(seen.source, ":"), seen.source);
	port = port_in(seen.source);
	assert_string_equal(outbound(UDP, PAIRED, 53, external, port).drop, "filtered");
	assert_null(outbound(UDP, INSIDE, 5000, FLOATING, 53).drop);
	seen = outbound(UDP, PAIRED, 53, external, port);
	assert_null(seen.drop);
	assert_string_equal(seen.destination, INSIDE ":5000");
}

static void
fragments_of_it_need_not_wait_for_each_other(void **state)
{
	struct weir_test_ipv4 later = {.src = PAIRED,
				       .dst = REMOTE,
				       .payload = "later",
				       .payload_bytes = 5,
				       .identification = 9,
				       .fragment_offset_bytes = 512};
	struct seen seen;

	(void)state;
	begin();
	seen = pass(WEIR_OUTBOUND, &later);
	assert_null(seen.drop);
	assert_string_equal(seen.source, FLOATING ":0");
	later.src = REMOTE;
	later.dst = FLOATING;
	seen = pass(WEIR_INBOUND, &later);
	assert_null(seen.drop);
	assert_string_equal(seen.destination, PAIRED ":0");
}

static void
an_error_about_its_packet_reaches_it_and_names_the_packet_that_it_sent(void **state)
{
	struct weir_test_icmp_error error = {
		.src = ROUTER,
		.dst = FLOATING,
		.code = 1,
		.inside = {.src = FLOATING, .dst = REMOTE, .src_port = 5000, .dst_port = 80},
	};
	struct weir_test_ipv4 sent = error.inside;
	struct seen seen;

	(void)state;
	begin();
	sent.src = PAIRED;
	seen = pass_error(WEIR_INBOUND, &error, &sent);
	assert_null(seen.drop);
	assert_string_equal(seen.destination, PAIRED);
	error.inside.src = OTHER_FLOATING; /* it did not send that */
	assert_string_equal(pass_error(WEIR_INBOUND, &error, &sent).drop, "icmp");
}

static void
an_error_that_it_sends_names_the_packet_as_it_came(void **state)
{
	struct weir_test_icmp_error error = {
		.src = PAIRED,
		.dst = REMOTE,
		.code = 3,
		.inside = {.src = REMOTE, .dst = PAIRED, .src_port = 5000, .dst_port = 9},
	};
	struct weir_test_ipv4 came = error.inside;
	struct seen seen;

	(void)state;
	begin();
	came.dst = FLOATING;
	seen = pass_error(WEIR_OUTBOUND, &error, &came);
	assert_null(seen.drop);
	assert_string_equal(seen.source, FLOATING);
	assert_string_equal(seen.destination, REMOTE);
}

static void
refused(const char *addresses)
{
	const struct weir_option_value options[] = {{"external", "203.0.113.0/30"},
						    {"untranslated", "10.9.0.0/16"},
						    {"addresses", addresses}};
	struct weir_error error = {0};

	assert_null(weir_nf_create(&weir_nf_nat, options, RTE_DIM(options), "options", &error));
}

static void
pairs_that_contradict_something_are_refused(void **state)
{
	(void)state;
	refused("203.0.113.9");
	refused("203.0.113.9 10.0.0.9 10.0.0.10");
	refused("203.0.113.9 nobody");
	refused("203.0.113.9 0.0.0.0");
	refused("203.0.113.9 10.0.0.9, 203.0.113.9 10.0.0.8");
	refused("203.0.113.9 10.0.0.9, 203.0.113.8 10.0.0.9");
	refused("203.0.113.1 10.0.0.9");
	refused("10.9.0.1 10.0.0.9");
	refused("203.0.113.9 203.0.113.2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_paired_host_leaves_by_its_own_address_and_keeps_its_ports),
		cmocka_unit_test(
			anybody_reaches_it_at_any_port_by_any_protocol_though_it_never_sent),
		cmocka_unit_test(nobody_elses_address_is_open),
		cmocka_unit_test(hosts_beside_it_share_the_external_ones_as_before),
		cmocka_unit_test(within_its_network_it_is_reached_by_its_floating_address_too),
		cmocka_unit_test(it_reaches_what_another_host_of_its_network_has_mapped),
		cmocka_unit_test(it_answers_an_echo_of_a_host_of_its_network),
		cmocka_unit_test(with_filtering_it_reaches_a_mapping_only_if_it_was_sent_to),
		cmocka_unit_test(fragments_of_it_need_not_wait_for_each_other),
		cmocka_unit_test(
			an_error_about_its_packet_reaches_it_and_names_the_packet_that_it_sent),
		cmocka_unit_test(an_error_that_it_sends_names_the_packet_as_it_came),
		cmocka_unit_test(pairs_that_contradict_something_are_refused),
	};

	return cmocka_run_group_tests_name("nat pairs", tests, weir_test_eal, NULL);
}
