/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage-bench: cycles a packet of single functions, side by side on the same packets.
 *
 *   stage-bench EAL-ARGUMENTS -- FLOWS ROUNDS DESTINATION PORT nf=NAME [OPTION=VALUE ...] [nf=...]
 *
 * Batches of 32 UDP packets of 64 bytes (with FCS), each of a flow drawn at random, are written
 * into the same buffers, so that they are in the cache as a driver leaves them, and then run
 * through the function: that alone is timed, with its ticks. Each flow has passed once before. A
 * round is a line of JSON, {"NAME": cycles a packet, ...}; the order changes from round to round.
 * With ROUNDS 0 there is one line, of that first time, in which each packet is a new flow:
 * {"NAME": new flows a second, ...}.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "engine/stage.h"

#define CONTENDERS_MAX 4
#define OPTIONS_MAX 16
#define PACKETS_A_ROUND (1 << 20)
#define FRAME_BYTES 60
#define IP_AT 14
#define FIRST_PORT 1024
#define PORTS 32768

struct contender {
	struct weir_stage stage;
	bool ticks; /* its function wants to be called now and then */
	uint64_t next_tick_tsc;
};

struct bench {
	uint32_t flows;
	uint32_t random;
	uint8_t frame[FRAME_BYTES];
	struct rte_mbuf *packets[WEIR_BURST];
};

static void
make_frame(struct bench *bench, const char *destination, uint16_t port)
{
	static const uint8_t head[] = {2, 0, 0,	   0, 0, 2,  2, 0, 0, 0, 0,  1,
				       8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17};
	const uint16_t l4[] = {0, htons(port), htons(26), 0}; /* no UDP checksum: RFC 768 */

	memcpy(bench->frame, head, sizeof(head));
	if (inet_pton(AF_INET, destination, bench->frame + IP_AT + 16) != 1)
		rte_exit(2, "stage-bench: %s is not an address\n", destination);
	memcpy(bench->frame + IP_AT + 20, l4, sizeof(l4));
}

/* The frame of that flow: a client's address and port, and the right checksum. */
static void
write_frame(const struct bench *bench, uint32_t flow, struct rte_mbuf *packet)
{
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	uint32_t address = htonl(0xc6120000 + flow / PORTS); /* 198.18.0.0/15, RFC 2544 */
	uint16_t port = htons(FIRST_PORT + flow % PORTS);
	uint16_t checksum;

	memcpy(frame, bench->frame, FRAME_BYTES);
	memcpy(frame + IP_AT + 12, &address, 4);
	memcpy(frame + IP_AT + 20, &port, 2);
	checksum = ~rte_raw_cksum(frame + IP_AT, 20);
	memcpy(frame + IP_AT + 10, &checksum, 2);
}

/* Cycles of one batch, which begins with flow `first`, or is drawn at random. */
static uint64_t
run_batch(struct bench *bench, struct contender *contender, const uint32_t *first)
{
	const struct weir_nf *nf = contender->stage.nf;
	struct weir_batch batch = {.count = WEIR_BURST, .direction = WEIR_OUTBOUND};
	uint64_t begin, end;

	for (uint32_t i = 0; i < WEIR_BURST; i++) {
		bench->random = bench->random * 1664525 + 1013904223;
		write_frame(bench,
			    first != NULL ? (*first + i) % bench->flows
					  : (uint64_t)bench->random * bench->flows >> 32,
			    bench->packets[i]);
	}
	memcpy(batch.packet, bench->packets, sizeof(bench->packets));
	begin = rte_rdtsc_precise();
	batch.now_tsc = begin;
	if (contender->ticks && begin >= contender->next_tick_tsc) {
		contender->next_tick_tsc = begin + rte_get_tsc_hz() / 1000;
		nf->tick(contender->stage.state, begin, NULL);
	}
	weir_stage_run(&contender->stage, &batch);
	end = rte_rdtsc_precise();
	if (batch.count != WEIR_BURST)
		rte_exit(1, "stage-bench: %s dropped packets\n", nf->name);
	return end - begin;
}

static double
run_round(struct bench *bench, struct contender *contender)
{
	uint64_t cycles = 0;

	for (uint32_t done = 0; done < PACKETS_A_ROUND; done += WEIR_BURST)
		cycles += run_batch(bench, contender, NULL);
	return (double)cycles / PACKETS_A_ROUND;
}

/* "nf=NAME OPTION=VALUE ..." up to the next one; returns how many arguments that were. */
static int
make_contender(char **arguments, int count, struct contender *contender)
{
	struct weir_option_value values[OPTIONS_MAX];
	struct weir_error error = {0};
	int used = 1;

	contender->stage.nf =
		strncmp(arguments[0], "nf=", 3) == 0 ? weir_nf_find(arguments[0] + 3) : NULL;
	if (contender->stage.nf == NULL)
		rte_exit(2, "stage-bench: '%s' is no nf=NAME\n", arguments[0]);
	for (; used < count && strncmp(arguments[used], "nf=", 3) != 0; used++) {
		char *equals = strchr(arguments[used], '=');

		if (equals == NULL || used > OPTIONS_MAX)
			rte_exit(2, "stage-bench: '%s' is no OPTION=VALUE\n", arguments[used]);
		*equals = '\0';
		values[used - 1] = (struct weir_option_value){arguments[used], equals + 1};
	}
	contender->stage.state =
		weir_nf_create(contender->stage.nf, values, used - 1, "options", &error);
	if (contender->stage.state == NULL)
		rte_exit(2, "stage-bench: %s: %s\n", contender->stage.nf->name, error.message);
	contender->ticks = contender->stage.nf->tick != NULL &&
			   !weir_nf_is_idle(contender->stage.nf, contender->stage.state);
	return used;
}

static void
print(const struct contender *contenders, unsigned int count, const double *figures)
{
	for (unsigned int i = 0; i < count; i++)
		printf("%s\"%s\": %.2f", i == 0 ? "{" : ", ", contenders[i].stage.nf->name,
		       figures[i]);
	printf("}\n");
}

/* Each flow's first packet. New flows a second of each contender. */
static void
begin_flows(struct bench *bench, struct contender *contenders, unsigned int count, double *per_s)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t cycles = 0;

		for (uint32_t flow = 0; flow < bench->flows; flow += WEIR_BURST)
			cycles += run_batch(bench, &contenders[i], &flow);
		per_s[i] = (double)bench->flows * (double)rte_get_tsc_hz() / (double)cycles;
	}
}

static void
run_rounds(struct bench *bench, struct contender *contenders, unsigned int count,
	   unsigned int rounds)
{
	double cycles[CONTENDERS_MAX];

	begin_flows(bench, contenders, count, cycles);
	if (rounds == 0)
		print(contenders, count, cycles);
	for (unsigned int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < count; i++) {
			unsigned int which = round % 2 == 0 ? i : count - 1 - i;

			cycles[which] = run_round(bench, &contenders[which]);
		}
		print(contenders, count, cycles);
	}
}

int
main(int argc, char **argv)
{
	static struct contender contenders[CONTENDERS_MAX];
	static struct bench bench = {.random = 1};
	struct rte_mempool *pool;
	unsigned int count = 0;
	int used = rte_eal_init(argc, argv);

	if (used < 0 || argc - used < 6)
		rte_exit(2, "usage: stage-bench EAL-ARGUMENTS -- FLOWS ROUNDS DESTINATION PORT "
			    "nf=NAME [OPTION=VALUE ...] ...\n");
	argv += used + 1;
	argc -= used + 1;
	bench.flows = strtoul(argv[0], NULL, 10);
	make_frame(&bench, argv[2], strtoul(argv[3], NULL, 10));
	pool = rte_pktmbuf_pool_create("bench", 63, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (bench.flows == 0 || pool == NULL ||
	    rte_pktmbuf_alloc_bulk(pool, bench.packets, WEIR_BURST) != 0)
		rte_exit(1, "stage-bench: no flows, or no memory\n");
	for (uint32_t i = 0; i < WEIR_BURST; i++)
		rte_pktmbuf_append(bench.packets[i], FRAME_BYTES);
	for (int i = 4; i < argc && count < CONTENDERS_MAX; count++)
		i += make_contender(argv + i, argc - i, &contenders[count]);
	run_rounds(&bench, contenders, count, strtoul(argv[1], NULL, 10));
	return 0;
}
