/* SPDX-License-Identifier: Apache-2.0 */
#include "below_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/if_ether.h>

#include "engine/fastpath_fixture_test.h"

struct below below;

struct weir_chain *
chain_above(struct weir_offload *offload, uint32_t flows)
{
	struct weir_chain *chain = weir_fastpath_chain(flows);

	weir_flow_cache_offload(chain->flows, 0, offload); /* which closes it */
	return chain;
}

uint64_t
forwarded_by(const struct weir_offload *offload, unsigned int output)
{
	uint64_t packets, bytes, failed;

	offload->kind->totals(offload, output, &packets, &bytes, &failed);
	return packets;
}

/* Half of them are damaged somewhere, or cut off. */
static struct rte_mbuf *
some_packet(void)
{
	struct rte_mbuf *packet = weir_fastpath_packet(256);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);

	switch (rand() % 8) {
	case 0:
	case 1:
		frame[rand() % packet->data_len] ^= 1 << rand() % 8;
		break;
	case 2:
		frame[12 + rand() % 30] = rand();
		break;
	case 3:
		rte_pktmbuf_trim(packet, rand() % (packet->data_len - ETH_HLEN));
		break;
	default:
		break;
	}
	return packet;
}

static void
run_both(struct weir_chain *const chains[2], const struct weir_offload *offload)
{
	struct weir_batch plain = {.count = 1}, fast = {.count = 1};
	unsigned int output = 0;

	plain.packet[0] = some_packet();
	fast.packet[0] = weir_test_packet(rte_pktmbuf_mtod(plain.packet[0], void *),
					  plain.packet[0]->data_len);
	weir_path_run(&chains[0]->paths[0], &plain);
	if (below.run(offload, fast.packet[0], &output))
		fast.egress[0] = output;
	else
		weir_path_run(&chains[1]->paths[0], &fast);
	assert_int_equal(plain.count, fast.count);
	if (plain.count == 0)
		return;
	assert_int_equal(plain.packet[0]->data_len, fast.packet[0]->data_len);
	assert_memory_equal(rte_pktmbuf_mtod(plain.packet[0], void *),
			    rte_pktmbuf_mtod(fast.packet[0], void *), plain.packet[0]->data_len);
	assert_int_equal(plain.egress[0], fast.egress[0]);
	rte_pktmbuf_free(plain.packet[0]);
	rte_pktmbuf_free(fast.packet[0]);
}

void
differ_nowhere(uint32_t entries, uint64_t below_min)
{
	struct weir_offload *offload = below.load(entries);
	struct weir_chain *const chains[2] = {weir_fastpath_chain(0), chain_above(offload, 4096)};

	srand(1);
	for (unsigned int step = 0; step < 100000; step++) {
		if (rand() % 1024 == 0)
			weir_fastpath_change(chains);
		if (rand() % 2048 == 0)
			weir_flow_cache_flush(chains[1]->flows);
		run_both(chains, offload);
	}
	weir_fastpath_assert_same_counts(chains);
	/* It was below, and entries came and went. */
	assert_true(forwarded_by(offload, 0) > below_min);
	assert_true(forwarded_by(offload, 1) > below_min);
	assert_true(offload->revoked > 50);
	assert_int_equal(offload->put, offload->flows + offload->revoked);
	for (unsigned int i = 0; i < 2; i++)
		weir_chain_destroy(chains[i]);
}

void
random_and_damaged_frames_with_random_changes_leave_as_without_it(void **state)
{
	(void)state;
	differ_nowhere(4096, 1000);
}

void
so_they_do_when_most_flows_find_no_entry(void **state)
{
	(void)state;
	differ_nowhere(16, 100);
}

void
pass(struct weir_chain *chain, const struct weir_offload *offload, uint16_t src_port,
     unsigned int count)
{
	unsigned int output;

	for (unsigned int i = 0; i < count; i++) {
		struct weir_batch batch = {.count = 1};

		batch.packet[0] = weir_test_ipv4_packet(
			&(struct weir_test_ipv4){.src_port = src_port, .dst_port = 1});
		if (!below.run(offload, batch.packet[0], &output))
			weir_path_run(&chain->paths[0], &batch);
		rte_pktmbuf_free(batch.packet[0]);
	}
}

void
elephants_go_below_as_far_as_there_is_room_and_mice_stay(void **state)
{
	struct weir_offload *offload = below.load(2);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT); /* the first makes the entry */
	pass(chain, offload, 17, ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 1);
	for (uint16_t port = 18; port < 22; port++)
		pass(chain, offload, port, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 2);
	assert_int_equal(offload->refused[WEIR_OFFLOAD_FULL], 3);
	/* A flow that asks again and again is one flow. */
	pass(chain, offload, 21, ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->refused[WEIR_OFFLOAD_FULL], 3);
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 0);
	pass(chain, offload, 16, 5);
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 5);
	weir_chain_destroy(chain);
}

bool
goes_below(const struct weir_offload *offload, struct weir_test_ipv4 what, bool has_wrong_checksum)
{
	struct rte_mbuf *packet;
	unsigned int output;
	bool forwarded;

	what.src_port = 16;
	what.dst_port = 1;
	packet = weir_test_ipv4_packet(&what);
	if (has_wrong_checksum)
		rte_pktmbuf_mtod(packet, uint8_t *)[ETH_HLEN + 5] ^= 1; /* its identification */
	forwarded = below.run(offload, packet, &output);
	rte_pktmbuf_free(packet);
	return forwarded;
}

void
what_the_fast_path_would_not_follow_goes_up(void **state)
{
	struct weir_offload *offload = below.load(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	assert_true(goes_below(offload, (struct weir_test_ipv4){0}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){0}, true));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.more_fragments = true}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.option_bytes = 4}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.tagged = true}, false));
	assert_false(goes_below(offload, (struct weir_test_ipv4){.ttl = 1}, false));
	assert_true(goes_below(offload, (struct weir_test_ipv4){.no_udp_checksum = true}, false));
	weir_chain_destroy(chain);
}

void
what_was_counted_below_reaches_the_functions_when_an_entry_comes_up(void **state)
{
	struct weir_offload *offload = below.load(8);
	struct weir_chain *chain = chain_above(offload, 64);
	struct mapper *mapper = chain->paths[0].stages[0].state;
	struct session *session = &mapper->sessions[16 % SESSIONS];

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	pass(chain, offload, 16, 7);
	assert_int_equal(session->counter.packets, 1 + ELEPHANT);
	weir_flow_cache_forget(chain->flows, &session->invalidation);
	assert_int_equal(session->counter.packets, 1 + ELEPHANT + 7);
	assert_int_equal(session->counter.bytes, 60 * (1 + ELEPHANT + 7));
	assert_int_equal(offload->flows, 0);
	/* There is no entry below any more. */
	pass(chain, offload, 16, 1);
	assert_int_equal(forwarded_by(offload, 0) + forwarded_by(offload, 1), 7);
	weir_chain_destroy(chain);
}

void
an_entry_that_carries_nothing_comes_up(void **state)
{
	struct weir_offload *offload = below.load(8);
	struct weir_chain *chain = chain_above(offload, 64);

	(void)state;
	pass(chain, offload, 16, 1 + ELEPHANT);
	weir_flow_cache_flush(chain->flows);
	for (unsigned int i = 0; i < WEIR_OFFLOAD_IDLE_FLUSHES; i++)
		weir_flow_cache_flush(chain->flows);
	pass(chain, offload, 16, 1); /* in time */
	for (unsigned int i = 0; i < WEIR_OFFLOAD_IDLE_FLUSHES; i++)
		weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 1);
	weir_flow_cache_flush(chain->flows);
	assert_int_equal(offload->flows, 0);
	assert_int_equal(weir_flow_cache_count(chain->flows), 1);
	weir_chain_destroy(chain);
}
