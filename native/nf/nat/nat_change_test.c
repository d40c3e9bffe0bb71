/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, workers, and translation there and back. */
#include "nat_fixture_test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#define UDP IPPROTO_UDP
#define TCP IPPROTO_TCP
#define EXTERNAL "203.0.113.1"
#define WORKERS 3
#define HOST_ENDPOINTS 300

static const char *
command(const char *name, const char *const (*arguments)[2])
{
	return weir_test_command(&weir_nf_nat, nat, name, arguments);
}
#define COMMAND(name, ...) command(name, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})

#define WEB_SERVER                                                                                 \
	{"protocol", "tcp"}, {"external", EXTERNAL}, {"external_port", "80"}, {"inside", INSIDE},  \
	{                                                                                          \
		"inside_port", "8080"                                                              \
	}

static void
test_a_static_mapping_is_open_to_all_and_never_ends(void **state)
{
	(void)state;
	START({"filtering", "address-and-port-dependent"});
	assert_string_equal(arrives_at(TCP, REMOTE, 1234, EXTERNAL ":80", SYN), "no_mapping");
	assert_null(COMMAND("static-add", WEB_SERVER));
	wait_s(100000);
	assert_string_equal(arrives_at(TCP, REMOTE, 1234, EXTERNAL ":80", SYN), INSIDE ":8080");
	assert_string_equal(leaves_from(TCP, INSIDE, 8080, REMOTE, 1234, SYN | ACK),
			    EXTERNAL ":80");
	assert_null(COMMAND("static-delete", {"protocol", "tcp"}, {"external", EXTERNAL},
			    {"external_port", "80"}));
	assert_string_equal(arrives_at(TCP, REMOTE, 1234, EXTERNAL ":80", SYN), "no_mapping");
}

static void
test_dynamic_mappings_give_way_to_a_static_one(void **state)
{
	(void)state;
	START({"external", EXTERNAL "/32"});
	leaves_from(TCP, INSIDE, 8080, REMOTE, 80, SYN);
	assert_string_equal(leaves_from(TCP, OTHER_INSIDE, 5000, REMOTE, 80, SYN),
			    EXTERNAL ":5000");
	assert_null(COMMAND("static-add", {"external_port", "5000"}, {"inside", INSIDE},
			    {"inside_port", "8080"}));
	assert_string_equal(leaves_from(TCP, INSIDE, 8080, REMOTE, 80, SYN), EXTERNAL ":5000");
	assert_string_not_equal(leaves_from(TCP, OTHER_INSIDE, 5000, REMOTE, 80, SYN),
				EXTERNAL ":5000");
}

static void
test_a_deleted_static_mapping_gives_its_port_back(void **state)
{
	(void)state;
	START({"external", EXTERNAL "/32"}, {"port_min", "3000"}, {"port_max", "3000"});
	assert_null(COMMAND("static-add", {"external_port", "3000"}, {"inside", INSIDE}));
	assert_string_equal(leaves_from(TCP, OTHER_INSIDE, 1, REMOTE, 80, SYN), "ports_exhausted");
	assert_null(COMMAND("static-delete", {"external_port", "3000"}));
	assert_string_equal(leaves_from(TCP, OTHER_INSIDE, 1, REMOTE, 80, SYN), EXTERNAL ":3000");
}

static void
test_a_static_mapping_that_cannot_be_is_refused(void **state)
{
	(void)state;
	start(NULL);
	assert_null(COMMAND("static-add", WEB_SERVER));
	assert_non_null(COMMAND("static-add", WEB_SERVER));
	assert_non_null(COMMAND("static-add", {"external_port", "81"}));
	assert_non_null(COMMAND("static-add", {"inside", INSIDE}));
	assert_non_null(COMMAND("static-add", {"external", "192.0.2.1"}, {"external_port", "81"},
				{"inside", INSIDE}));
	assert_non_null(COMMAND("static-delete", {"external_port", "81"}));
}

static void
test_flush_ends_the_dynamic_mappings_that_there_are(void **state)
{
	char before[32];

	(void)state;
	start(NULL);
	assert_null(COMMAND("static-add", WEB_SERVER));
	snprintf(before, sizeof(before), "%s", leaves_from(UDP, INSIDE, 5000, REMOTE, 80, 0));
	assert_null(command("flush", NULL));
	leaves_from(UDP, OTHER_INSIDE, 5001, REMOTE, 80, 0);
	wait_s(4);
	assert_string_equal(arrives_at(UDP, REMOTE, 80, before, 0), "no_mapping");
	assert_string_equal(arrives_at(TCP, REMOTE, 1234, EXTERNAL ":80", SYN), INSIDE ":8080");
}

static void
test_bad_options_are_refused(void **state)
{
	static const struct weir_option_value bad[][2] = {
		{{"lanes", "3"}, {"external", "203.0.113.0/30"}},
		{{"external", "203.0.0.0/16"}, {"lanes", "1"}},
		{{"port_min", "5"}, {"port_max", "4"}},
	};
	struct weir_error error;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_null(weir_nf_create(&weir_nf_nat, bad[i], 2, "options", &error));
}

/* The worker of a packet, as a dispatcher chooses it. */
static uint32_t
worker_of(enum weir_direction direction, const struct weir_test_ipv4 *what)
{
	struct rte_mbuf *packet = weir_test_ipv4_packet(what);
	struct weir_headers headers;

	weir_headers_parse(packet, &headers);
	rte_pktmbuf_free(packet);
	return weir_nf_nat.steer(nat, &headers, NULL, direction) % WORKERS;
}

static void
test_both_directions_of_an_endpoint_meet_the_same_worker_and_what_one_nat_does(void **state)
{
	static const char *const options[][2] = {{"external", "203.0.113.0/30"}, {NULL, NULL}};
	void *workers[WORKERS], *alone = weir_test_state(&weir_nf_nat, options);
	struct weir_error error;
	unsigned int used[WORKERS] = {0};

	(void)state;
	for (unsigned int i = 0; i < WORKERS; i++) {
		workers[i] = weir_test_state(&weir_nf_nat, options);
		assert_int_equal(weir_nf_nat.share(workers[i], i, WORKERS, "nat", &error), 0);
	}
	assert_int_equal(weir_nf_nat.share(alone, 0, 17, "nat", &error), -1);
	weir_nf_destroy(&weir_nf_nat, nat);
	for (uint16_t port = 2000; port < 2000 + HOST_ENDPOINTS; port++) {
		struct weir_test_ipv4 what = {.src = INSIDE, .src_port = port, .dst = REMOTE};
		struct seen seen, together;
		uint32_t worker;

		nat = alone;
		worker = worker_of(WEIR_OUTBOUND, &what);
		together = pass(WEIR_OUTBOUND, &what);
		nat = workers[worker];
		used[worker]++;
		seen = pass(WEIR_OUTBOUND, &what);
		assert_string_equal(seen.source, together.source);
		what = (struct weir_test_ipv4){.src = REMOTE, .dst_port = port_in(seen.source)};
		*strchr(seen.source, ':') = '\0';
		what.dst = seen.source;
		assert_int_equal(worker_of(WEIR_INBOUND, &what), worker);
		nat = workers[(worker + 1) % WORKERS];
		what = (struct weir_test_ipv4){.src = INSIDE, .src_port = port, .dst = REMOTE};
		assert_string_equal(pass(WEIR_OUTBOUND, &what).drop, "other_worker");
	}
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_true(used[i] > HOST_ENDPOINTS / WORKERS / 2);
		weir_nf_destroy(&weir_nf_nat, workers[i]);
	}
	nat = alone;
}

/* Exchanges the ends of an IPv4 packet; that leaves all checksums right. */
static void
turn_round(uint8_t *frame)
{
	uint8_t address[4], port[2];

	memcpy(address, frame + 26, 4);
	memcpy(frame + 26, frame + 30, 4);
	memcpy(frame + 30, address, 4);
	if (frame[23] == IPPROTO_ICMP)
		return; /* one identifier, and an echo request is as good as a reply */
	memcpy(port, frame + 34, 2);
	memcpy(frame + 34, frame + 36, 2);
	memcpy(frame + 36, port, 2);
}

static void
test_what_comes_back_has_the_bytes_that_were_sent(void **state)
{
	static const uint8_t protocols[] = {UDP, TCP, IPPROTO_ICMP};
	uint8_t payload[64], sent[WEIR_TEST_FRAME_BYTES];

	(void)state;
	START({"lanes", "16"}, {"filtering", "address-and-port-dependent"});
	srand(1);
	for (unsigned int i = 0; i < 5000; i++) {
		char inside[32], remote[32];
		struct weir_test_ipv4 what = {
			.src = inside,
			.dst = remote,
			.protocol = protocols[i % 3],
			.src_port = 1 + rand() % 65535,
			.dst_port = 1 + rand() % 65535,
			.payload = payload,
			.payload_bytes = rand() % sizeof(payload),
			.no_udp_checksum = rand() % 4 == 0,
		};
		struct weir_test_outcome outcome;
		size_t bytes;

		for (unsigned int j = 0; j < sizeof(payload); j++)
			payload[j] = rand();
		snprintf(inside, sizeof(inside), "10.%d.%d.%d", rand() % 4, rand() % 256,
			 rand() % 256);
		snprintf(remote, sizeof(remote), "198.51.100.%d", rand() % 256);
		bytes = weir_test_ipv4_frame(&what, sent);
		outcome = weir_test_run(&weir_nf_nat, nat, WEIR_OUTBOUND,
					weir_test_packet(sent, bytes), now_s * rte_get_tsc_hz());
		assert_non_null(outcome.packet);
		assert_true(weir_test_checksums_right(rte_pktmbuf_mtod(outcome.packet, uint8_t *),
						      bytes));
		turn_round(rte_pktmbuf_mtod(outcome.packet, uint8_t *));
		outcome = weir_test_run(&weir_nf_nat, nat, WEIR_INBOUND, outcome.packet,
					now_s * rte_get_tsc_hz());
		assert_non_null(outcome.packet);
		turn_round(rte_pktmbuf_mtod(outcome.packet, uint8_t *));
		assert_memory_equal(rte_pktmbuf_mtod(outcome.packet, uint8_t *), sent, bytes);
		rte_pktmbuf_free(outcome.packet);
	}
}

static struct seen
sent_to(const char *destination)
{
	return pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.src = INSIDE,
							    .dst = destination,
							    .protocol = UDP,
							    .src_port = 5000,
							    .dst_port = 80});
}

static void
test_what_goes_to_an_untranslated_prefix_stays_as_it_is(void **state)
{
	struct seen seen;

	(void)state;
	START({"untranslated", "10.2.0.0/24, 10.1.0.0/24,10.9.9.9/32"});
	seen = sent_to("10.1.0.0");
	assert_string_equal(seen.source, INSIDE ":5000");
	assert_string_equal(seen.destination, "10.1.0.0:80");
	assert_string_equal(sent_to("10.2.0.255").source, INSIDE ":5000");
	assert_string_equal(sent_to("10.9.9.9").source, INSIDE ":5000");
	assert_string_not_equal(sent_to("10.0.255.255").source, INSIDE ":5000");
	assert_string_not_equal(sent_to("10.2.1.0").source, INSIDE ":5000");
	assert_string_not_equal(sent_to("10.9.9.10").source, INSIDE ":5000");
}

static void
test_packets_of_any_kind_go_to_an_untranslated_prefix_but_malformed_ones(void **state)
{
	(void)state;
	START({"untranslated", "10.1.0.0/24"});
	assert_null(pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.dst = "10.1.0.1",
								 .protocol = UDP,
								 .fragment_offset_bytes = 64,
								 .payload = "later",
								 .payload_bytes = 5})
			    .drop);
	assert_null(pass(WEIR_OUTBOUND, &(struct weir_test_ipv4){.dst = "10.1.0.1", .protocol = 47})
			    .drop);
	assert_string_equal(
		pass(WEIR_INBOUND,
		     &(struct weir_test_ipv4){.src = REMOTE, .dst = "10.1.0.1", .protocol = UDP})
			.drop,
		"no_mapping");
}

static void
test_forwarded_ports_given_as_an_option_are_static_mappings(void **state)
{
	(void)state;
	START({"forwards",
	       "tcp " EXTERNAL ":80 " INSIDE ":8080, udp 203.0.113.2:53 " OTHER_INSIDE ":5353"});
	wait_s(100000);
	assert_string_equal(arrives_at(TCP, REMOTE, 1234, EXTERNAL ":80", SYN), INSIDE ":8080");
	assert_string_equal(arrives_at(UDP, REMOTE, 1234, "203.0.113.2:53", 0),
			    OTHER_INSIDE ":5353");
	assert_string_equal(arrives_at(UDP, REMOTE, 1234, EXTERNAL ":80", 0), "no_mapping");
	assert_non_null(COMMAND("static-add", WEB_SERVER));
	assert_null(COMMAND("static-delete", {"external", EXTERNAL}, {"external_port", "80"}));
}

static void
test_both_directions_between_insides_meet_the_same_worker(void **state)
{
	unsigned int used[WORKERS] = {0};

	(void)state;
	START({"untranslated", "10.0.0.0/8"}, {"lanes", "64"});
	for (unsigned int host = 1; host < 200; host++) {
		char one[INET_ADDRSTRLEN];

		snprintf(one, sizeof(one), "10.1.0.%u", host);
		const struct weir_test_ipv4 there = {
			.src = one, .src_port = 2000, .dst = "10.2.0.1", .dst_port = 80};
		const struct weir_test_ipv4 back = {
			.src = "10.2.0.1", .src_port = 80, .dst = one, .dst_port = 2000};
		uint32_t worker = worker_of(WEIR_OUTBOUND, &there);

		assert_int_equal(worker_of(WEIR_OUTBOUND, &back), worker);
		used[worker]++;
	}
	assert_true(used[0] > 0 && used[1] > 0);
}

static void
test_bad_lists_are_refused(void **state)
{
	static const struct weir_option_value wrong[] = {
		{"untranslated", "10.1.0.0/33"},
		{"untranslated", "10.1.0.1/24"},
		{"untranslated", "10.1.0.0/24,"},
		{"untranslated", "10.1.0.0/24, 10.0.0.0/8"},
		{"untranslated", "203.0.113.0/24"},
		{"forwards", "tcp 203.0.113.1:80"},
		{"forwards", "tcp 203.0.113.1:80 0.0.0.0:80"},
		{"forwards", "icmp 203.0.113.1:80 10.0.0.1:80"},
		{"forwards", "tcp 203.0.113.1:0 10.0.0.1:80"},
		{"forwards", "tcp 203.0.113.1:80 10.0.0.1:65536"},
		{"forwards", "tcp 203.0.113.4:80 10.0.0.1:80"},
		{"forwards", "tcp 203.0.113.1:80 10.0.0.1:80, tcp 203.0.113.2:80 10.0.0.1:80"},
	};
	struct weir_error error;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		const struct weir_option_value options[] = {{"external", "203.0.113.0/30"},
							    wrong[i]};

		if (weir_nf_create(&weir_nf_nat, options, 2, "options", &error) != NULL)
			fail_msg("%s '%s' was taken", wrong[i].name, wrong[i].text);
	}
}

static void
test_a_bad_mapping_among_others_is_named(void **state)
{
	static const struct {
		const char *forwards, *message;
	} wrong[] = {
		{"tcp 203.0.113.1:80 10.0.0.1:80, tcp 203.0.113.1:443",
		 "nat: mapping 2 of `forwards`, 'tcp 203.0.113.1:443', is none"},
		{"tcp 203.0.113.4:80 10.0.0.1:80, tcp 203.0.113.1:80 10.0.0.1:80",
		 "nat: mapping 1 of `forwards`, 'tcp 203.0.113.4:80 10.0.0.1:80', begins at none "
		 "of the external addresses"},
		{"udp 203.0.113.1:53 10.0.0.1:53, tcp 203.0.113.1:80 10.0.0.1:80,"
		 "  tcp 203.0.113.2:80 10.0.0.1:80",
		 "nat: mapping 3 of `forwards`, 'tcp 203.0.113.2:80 10.0.0.1:80', has an endpoint "
		 "of an earlier one"},
		{"tcp 203.0.113.1:80 10.0.0.1:80,", "nat: mapping 2 of `forwards`, '', is none"},
	};
	struct weir_error error;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		const struct weir_option_value options[] = {{"external", "203.0.113.0/30"},
							    {"forwards", wrong[i].forwards}};

		assert_null(weir_nf_create(&weir_nf_nat, options, 2, "options", &error));
		assert_string_equal(error.message, wrong[i].message);
		assert_string_equal(error.where, "options");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_static_mapping_is_open_to_all_and_never_ends),
		cmocka_unit_test(test_dynamic_mappings_give_way_to_a_static_one),
		cmocka_unit_test(test_a_deleted_static_mapping_gives_its_port_back),
		cmocka_unit_test(test_a_static_mapping_that_cannot_be_is_refused),
		cmocka_unit_test(test_flush_ends_the_dynamic_mappings_that_there_are),
		cmocka_unit_test(test_bad_options_are_refused),
		cmocka_unit_test(
			test_both_directions_of_an_endpoint_meet_the_same_worker_and_what_one_nat_does),
		cmocka_unit_test(test_what_comes_back_has_the_bytes_that_were_sent),
		cmocka_unit_test(test_what_goes_to_an_untranslated_prefix_stays_as_it_is),
		cmocka_unit_test(test_both_directions_between_insides_meet_the_same_worker),
		cmocka_unit_test(
			test_packets_of_any_kind_go_to_an_untranslated_prefix_but_malformed_ones),
		cmocka_unit_test(test_forwarded_ports_given_as_an_option_are_static_mappings),
		cmocka_unit_test(test_bad_lists_are_refused),
		cmocka_unit_test(test_a_bad_mapping_among_others_is_named),
	};

	return cmocka_run_group_tests_name("nat changes", tests, weir_test_eal, NULL);
}
