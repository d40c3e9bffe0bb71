/* SPDX-License-Identifier: Apache-2.0 */
#include "wired.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "packet.h"

struct weir_test_wired weir_test_wired;

int
weir_test_unwire(void **state)
{
	struct rte_mbuf *packet;

	(void)state;
	if (weir_test_wired.chain == NULL)
		return 0;
	while (rte_ring_dequeue(weir_test_wired.out, (void **)&packet) == 0)
		rte_pktmbuf_free(packet);
	weir_chain_destroy(weir_test_wired.chain);
	weir_test_wired.chain = NULL;
	return 0;
}

void
weir_test_wire(const struct weir_nf *nf, const char *const (*options)[2])
{
	struct weir_test_wired *wired = &weir_test_wired;
	struct weir_error error;
	struct weir_path *path;

	weir_test_unwire(NULL);
	if (wired->in == NULL) {
		wired->in = rte_ring_create("in", WEIR_TEST_RING_PACKETS, SOCKET_ID_ANY, 0);
		wired->out = rte_ring_create("out", WEIR_TEST_RING_PACKETS, SOCKET_ID_ANY, 0);
	}
	wired->chain = weir_chain_create("chain", 0, true);
	wired->chain->path_count = 1;
	path = &wired->chain->paths[0];
	path->in = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = wired->in};
	path->out.queue[0] = (struct weir_queue){.kind = WEIR_QUEUE_RING, .ring = wired->out};
	path->out.count = 1;
	path->stage_count = 1;
	path->stages[0].nf = nf;
	path->stages[0].state = weir_test_state(nf, options);
	assert_int_equal(weir_chain_complete(wired->chain, 0, &error), 0);
	wired->now_tsc = 1000 * rte_get_tsc_hz();
}

void
weir_test_pass_us(double us)
{
	weir_test_wired.now_tsc += us * rte_get_tsc_hz() / 1e6;
}

void
weir_test_poll_wired(void)
{
	weir_test_wired.chain->area.poll(&weir_test_wired.chain->area, weir_test_wired.now_tsc);
}

unsigned int
weir_test_poll_and_free(void)
{
	struct rte_mbuf *packet;
	unsigned int count = 0;

	weir_test_poll_wired();
	for (; rte_ring_dequeue(weir_test_wired.out, (void **)&packet) == 0; count++)
		rte_pktmbuf_free(packet);
	return count;
}

const struct weir_stage_ledger *
weir_test_wired_ledger(void)
{
	return &weir_test_wired.chain->paths[0].stages[0].ledger;
}
