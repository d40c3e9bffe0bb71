/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions at a rate of their own, on connections that stay open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "side.h"
#include "wire_fixture_test.h"

static const struct weir_connections_run paced = {.rate = 100000,
						  .duration_ns = 200 * MS_NS,
						  .connections = 500,
						  .hold = true,
						  .transaction_rate = 50000,
						  .transactions_after_ns = 100 * MS_NS,
						  .drain_ns = 3600 * S_NS};

static void
transactions_are_begun_at_their_rate_on_connections_that_stay_open(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_count count;

	(void)state;
	config.service_count = 2;
	config.services[1] = (struct weir_service){.udp = true,
						   .port = 53,
						   .transactions = 1,
						   .weight = 1,
						   .request_bytes = 40,
						   .answer_bytes = 200};
	configure_ends(&config);
	count = make_connections(&paced, S_NS);
	assert_int_equal(count.intended, 500);
	assert_int_equal(count.open_most, 500);
	assert_int_equal(count.clients.completed, 500);
	assert_int_equal(count.transactions_intended, 5000);
	assert_int_equal(count.transactions_begun, 5000);
	assert_int_equal(count.transactions_missed, 0);
	assert_int_equal(count.clients.transactions, 5000);
	assert_int_equal(count.transaction.count, 5000);
	/* Each connection in turn: those of a service have its share. */
	assert_in_range(count.services[1].transactions, 9 * count.services[1].opened,
			11 * count.services[1].opened);
	assert_int_equal(count.services[0].transactions + count.services[1].transactions, 5000);
}

static bool
lose_answers(bool from_client, struct rte_mbuf *packet)
{
	return from_client || packet->pkt_len < 1000;
}

static void
a_transaction_that_is_due_while_no_connection_is_idle_is_missed(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_run run = paced;
	struct weir_connections_count count;

	(void)state;
	config.retries = 0;
	configure_ends(&config);
	run.connections = 10;
	wire.pass = lose_answers;
	count = make_connections(&run, 3600 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_NO_ANSWER], 10);
	assert_int_equal(count.transactions_begun, 10);
	assert_int_equal(count.transactions_missed, 4990);
	assert_int_equal(count.transactions_intended, 5000);
	assert_int_equal(count.clients.transactions, 0);
}

#define RESET_FROM 20 /* of 30 connections, those from there on */

/* The first answers become resets of connections that wait for their first transaction. */
static bool
reset_idle_ones(bool from_client, struct rte_mbuf *packet)
{
	static rte_be32_t expected[30];
	static uint32_t next;
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, 14);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(ip + 1);
	uint32_t number = rte_be_to_cpu_32(ip->dst_addr) - CLIENTS_ADDRESS +
			  16 * (rte_be_to_cpu_16(tcp->dst_port) - 1024u);

	if (from_client)
		return true;
	if ((tcp->tcp_flags & RTE_TCP_SYN_FLAG) != 0) {
		expected[number] = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + 1);
		next = RESET_FROM;
	} else if (next < RTE_DIM(expected)) {
		ip->dst_addr = rte_cpu_to_be_32(CLIENTS_ADDRESS + next % 16);
		tcp->dst_port = rte_cpu_to_be_16((uint16_t)(1024 + next / 16));
		tcp->sent_seq = expected[next++];
		tcp->tcp_flags = RTE_TCP_RST_FLAG | RTE_TCP_ACK_FLAG;
		set_checksums(packet);
	}
	return true;
}

/* Taken out of the middle and from the end of the idle ones; the others go on. */
static void
connections_that_fail_are_no_longer_idle(void **state)
{
	struct weir_connections_config config = plain_config();
	struct weir_connections_run run = paced;
	struct weir_connections_count count;

	(void)state;
	config.services[0].answer_bytes = 20;
	configure_ends(&config);
	run.connections = 30;
	wire.pass = reset_idle_ones;
	count = make_connections(&run, 3600 * S_NS);
	assert_int_equal(count.clients.failed[WEIR_FAILED_RESET], 10);
	assert_int_equal(count.clients.completed, 20);
	assert_int_equal(count.clients.transactions, count.transactions_begun);
	assert_int_equal(count.transactions_begun + count.transactions_missed, 5000);
	assert_true(count.transactions_begun > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(transactions_are_begun_at_their_rate_on_connections_that_stay_open),
		IPV4(a_transaction_that_is_due_while_no_connection_is_idle_is_missed),
		IPV4(connections_that_fail_are_no_longer_idle),
	};

	return cmocka_run_group_tests_name("paced", tests, start_wire, NULL);
}
