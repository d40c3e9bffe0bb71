/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover-bench: what it costs to hand packets from one core to another through a ring, as areas
 * do.
 *
 *   handover-bench EAL-ARGUMENTS -- ROUNDS
 *
 * Two lcores. The first enqueues bursts of 32 buffers, the second dequeues them. What counts is the
 * median burst: the calls of both sides that moved it. Bursts that waited longer than a full ring
 * takes are left out, since one of the cores was away; a round of which fewer than half are left is
 * not printed. Then once more with the receiving core reading the first line of each frame, which
 * the sending core wrote. A round is a line of JSON: {"pointers": cycles a packet, "frames": cycles
 * a packet}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "engine/nf.h"

#define RING_PACKETS 512
#define BUFFERS 2048
#define BURSTS_A_ROUND (1 << 15)
#define AWAY_CYCLES 50000

struct bench {
	struct rte_ring *ring;
	struct rte_mbuf *packets[BUFFERS];
	bool frames;   /* the sender writes them, the receiver reads them */
	uint64_t read; /* so that reading is not left out */
	struct moved {
		uint64_t start_tsc;
		uint32_t cycles;
	} sent[BURSTS_A_ROUND], received[BURSTS_A_ROUND];
};

static int
receive(void *argument)
{
	struct bench *bench = argument;
	struct rte_mbuf *packets[WEIR_BURST];
	uint64_t read = 0;

	for (unsigned int i = 0; i < BURSTS_A_ROUND;) {
		uint64_t start = rte_rdtsc();

		if (rte_ring_dequeue_bulk(bench->ring, (void **)packets, WEIR_BURST, NULL) == 0) {
			rte_pause();
			continue;
		}
		if (bench->frames) {
			for (unsigned int j = 0; j < WEIR_BURST; j++)
				rte_prefetch0(rte_pktmbuf_mtod(packets[j], void *));
			for (unsigned int j = 0; j < WEIR_BURST; j++)
				read += *rte_pktmbuf_mtod(packets[j], uint64_t *);
		}
		bench->received[i++] = (struct moved){start, rte_rdtsc() - start};
	}
	bench->read = read;
	return 0;
}

static int
compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* Cycles a packet of the median burst; 0: the cores were away too often. */
static double
median(const struct bench *bench)
{
	static uint32_t cycles[BURSTS_A_ROUND];
	unsigned int count = 0;

	for (unsigned int i = 0; i < BURSTS_A_ROUND; i++) {
		if (bench->received[i].start_tsc - bench->sent[i].start_tsc < AWAY_CYCLES)
			cycles[count++] = bench->sent[i].cycles + bench->received[i].cycles;
	}
	if (count < BURSTS_A_ROUND / 2)
		return 0;
	qsort(cycles, count, sizeof(*cycles), compare);
	return (double)cycles[count / 2] / WEIR_BURST;
}

static double
cycles_a_packet(struct bench *bench, unsigned int lcore, bool frames)
{
	bench->frames = frames;
	rte_eal_remote_launch(receive, bench, lcore);
	for (unsigned int i = 0; i < BURSTS_A_ROUND;) {
		struct rte_mbuf **burst = &bench->packets[i * WEIR_BURST % BUFFERS];
		uint64_t start;

		if (rte_ring_free_count(bench->ring) < WEIR_BURST) {
			rte_pause();
			continue;
		}
		for (unsigned int j = 0; frames && j < WEIR_BURST; j++)
			*rte_pktmbuf_mtod(burst[j], uint64_t *) = i;
		start = rte_rdtsc();
		rte_ring_enqueue_bulk(bench->ring, (void **)burst, WEIR_BURST, NULL);
		bench->sent[i++] = (struct moved){start, rte_rdtsc() - start};
	}
	rte_eal_wait_lcore(lcore);
	return median(bench);
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	unsigned int lcore = rte_get_next_lcore(-1, true, false);
	struct rte_mempool *pool;
	static struct bench bench;

	if (used < 0 || argc - used != 2 || lcore == RTE_MAX_LCORE)
		rte_exit(2, "use: handover-bench EAL-ARGUMENTS (two lcores) -- ROUNDS\n");
	pool = rte_pktmbuf_pool_create("packets", BUFFERS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	bench.ring = rte_ring_create("ring", RING_PACKETS, SOCKET_ID_ANY,
				     RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (pool == NULL || bench.ring == NULL ||
	    rte_pktmbuf_alloc_bulk(pool, bench.packets, BUFFERS) != 0)
		rte_exit(1, "handover-bench: no memory\n");
	for (int i = atoi(argv[used + 1]); i > 0; i--) {
		double pointers = cycles_a_packet(&bench, lcore, false);
		double frames = cycles_a_packet(&bench, lcore, true);

		if (pointers == 0 || frames == 0)
			continue;
		printf("{\"pointers\": %.3f, \"frames\": %.3f}\n", pointers, frames);
		fflush(stdout);
	}
	rte_eal_cleanup();
	return 0;
}
