/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair: does to packets what an instrument should find: holds, slows, stalls or drops them by a
 * known amount.
 *
 * A packet is held for delay_ns and what the distribution adds, from the poll behind the one that
 * brought it, which knows that it was there, to the first at which that time is over; order is
 * kept, so behind a packet that waits longer the next waits too. busy_ns is work on the core for
 * each packet, as a slow function has; stall_us every stall_every_ms is work that lets everything
 * wait, as a function's own housekeeping does. Every drop_every-th packet is dropped.
 *
 * Limits: each packet that waits keeps its buffer (give `mbufs` as many as wait). One path a
 * direction. It keeps packets, so it does not run in a fast path. The exact time depends on the
 * area's polls: on a core shared with others, some microseconds later.
 * Example: {"nf": "impair", "options": {"delay_ns": 100000, "distribution": "uniform",
 *   "spread_ns": 50000}}
 */
#include <math.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "packet/mix.h"
#include "engine/stage.h"

#define NS_MAX 10000000000

enum distribution { CONSTANT, UNIFORM, ALTERNATE, EXPONENTIAL };
static const char *const distribution_names[] = {"constant", "uniform", "alternate", "exponential",
						 NULL};

struct held {
	struct rte_mbuf *packet;
	uint64_t due_tsc; /* of the newest ones: how long, for they have no time yet */
	uint8_t egress;
};

/* One direction: packets in the order in which they came. */
struct waiting {
	struct held *held; /* queue_packets of them */
	uint64_t first, count;
	uint64_t newest; /* of them: those that came since the last poll */
	uint64_t seen;	 /* packets that came */
	uint64_t turns;	 /* of ALTERNATE */
	uint64_t random;
};

struct impair {
	uint64_t delay_ns, spread_ns;
	unsigned int distribution;
	uint64_t seed;
	uint64_t queue_packets;
	uint64_t drop_every;
	uint64_t busy_ns;
	uint64_t stall_us, stall_every_ms;
	double cycles_per_ns;
	uint64_t next_stall_tsc;
	struct waiting waiting[2]; /* by direction */
};

static const struct weir_option options[] = {
	{
		.name = "delay_ns",
		.type = WEIR_OPTION_INT,
		.unit = "ns",
		.default_text = "0",
		.max = NS_MAX,
		.help = "How long each packet is held, at least.",
		.offset = offsetof(struct impair, delay_ns),
	},
	{
		.name = "distribution",
		.type = WEIR_OPTION_ENUM,
		.default_text = "constant",
		.values = distribution_names,
		.help = "What is added to delay_ns: constant, nothing; uniform, 0 to spread_ns; "
			"alternate, 0 and spread_ns in turn; exponential, spread_ns on average.",
		.offset = offsetof(struct impair, distribution),
	},
	{
		.name = "spread_ns",
		.type = WEIR_OPTION_INT,
		.unit = "ns",
		.default_text = "0",
		.max = NS_MAX,
		.help = "See distribution.",
		.offset = offsetof(struct impair, spread_ns),
	},
	{
		.name = "seed",
		.type = WEIR_OPTION_INT,
		.default_text = "1",
		.max = INT64_MAX,
		.help = "The same seed gives the same delays.",
		.offset = offsetof(struct impair, seed),
	},
	{
		.name = "queue_packets",
		.type = WEIR_OPTION_INT,
		.unit = "packets",
		.default_text = "4096",
		.min = 1,
		.max = 1 << 20,
		.help = "Room for packets that are held, in each direction.",
		.offset = offsetof(struct impair, queue_packets),
	},
	{
		.name = "drop_every",
		.type = WEIR_OPTION_INT,
		.unit = "packets",
		.default_text = "0",
		.max = UINT32_MAX,
		.help = "The last of so many packets of a direction is dropped; 0: none.",
		.offset = offsetof(struct impair, drop_every),
	},
	{
		.name = "busy_ns",
		.type = WEIR_OPTION_INT,
		.unit = "ns",
		.default_text = "0",
		.max = NS_MAX,
		.help = "Work for each packet: the core does nothing else meanwhile.",
		.offset = offsetof(struct impair, busy_ns),
	},
	{
		.name = "stall_us",
		.type = WEIR_OPTION_INT,
		.unit = "us",
		.default_text = "0",
		.max = NS_MAX / 1000,
		.help = "Work that is done every stall_every_ms, when a packet comes.",
		.offset = offsetof(struct impair, stall_us),
	},
	{
		.name = "stall_every_ms",
		.type = WEIR_OPTION_INT,
		.unit = "ms",
		.default_text = "100",
		.min = 1,
		.max = 3600000,
		.help = "See stall_us.",
		.offset = offsetof(struct impair, stall_every_ms),
	},
};

enum { DROP_QUEUE_FULL, DROP_PLANTED };
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_QUEUE_FULL] = {"queue_full", "More packets are held than queue_packets."},
	[DROP_PLANTED] = {"planted", "It was the turn of drop_every."},
};

static bool
holds(const struct impair *impair)
{
	return impair->delay_ns > 0 || impair->distribution != CONSTANT;
}

static void
fini(void *state)
{
	struct impair *impair = state;

	for (unsigned int i = 0; i < 2; i++) {
		struct waiting *waiting = &impair->waiting[i];

		for (uint64_t j = 0; j < waiting->count; j++)
			rte_pktmbuf_free(
				waiting->held[(waiting->first + j) % impair->queue_packets].packet);
		rte_free(waiting->held);
	}
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct impair *impair = state;

	impair->cycles_per_ns = (double)rte_get_tsc_hz() / 1e9;
	if (impair->distribution != CONSTANT && impair->spread_ns == 0)
		return weir_fail(error, "bad_argument", where, "spread_ns above 0", NULL,
				 "the distribution %s has nothing to spread",
				 distribution_names[impair->distribution]);
	for (unsigned int i = 0; i < 2; i++) {
		impair->waiting[i].random = impair->seed + i;
		if (!holds(impair))
			continue;
		impair->waiting[i].held = rte_zmalloc(
			"held", impair->queue_packets * sizeof(struct held), RTE_CACHE_LINE_SIZE);
		if (impair->waiting[i].held == NULL) {
			fini(impair);
			return weir_fail(error, "no_memory", where, NULL,
					 "give weir-dp more --memory-mb, or lower queue_packets",
					 "no memory to hold %llu packets",
					 (unsigned long long)impair->queue_packets);
		}
	}
	return 0;
}

/* Evenly spread over [0, 1): splitmix64. */
static double
random_unit(struct waiting *waiting)
{
	return (double)(weir_mix(waiting->random += 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53;
}

static double
delay_of(const struct impair *impair, struct waiting *waiting)
{
	double spread = (double)impair->spread_ns;

	switch ((enum distribution)impair->distribution) {
	case UNIFORM:
		return (double)impair->delay_ns + spread * random_unit(waiting);
	case ALTERNATE:
		return (double)impair->delay_ns + (waiting->turns++ % 2 != 0 ? spread : 0);
	case EXPONENTIAL:
		return (double)impair->delay_ns - spread * log1p(-random_unit(waiting));
	case CONSTANT:
		break;
	}
	return (double)impair->delay_ns;
}

static void
work(const struct impair *impair, double ns)
{
	uint64_t end = rte_rdtsc() + (uint64_t)(ns * impair->cycles_per_ns);

	while (rte_rdtsc() < end)
		;
}

static void
stall_if_due(struct impair *impair, uint64_t now_tsc)
{
	if (impair->stall_us == 0 || now_tsc < impair->next_stall_tsc)
		return;
	if (impair->next_stall_tsc != 0) /* not at once: the first packet starts the clock */
		work(impair, (double)impair->stall_us * 1e3);
	impair->next_stall_tsc =
		now_tsc + (uint64_t)((double)impair->stall_every_ms * 1e6 * impair->cycles_per_ns);
}

static bool
hold(struct impair *impair, struct weir_batch *batch, uint16_t index)
{
	struct waiting *waiting = &impair->waiting[batch->direction];

	if (waiting->count == impair->queue_packets)
		return false;
	waiting->held[(waiting->first + waiting->count++) % impair->queue_packets] = (struct held){
		.packet = batch->packet[index],
		.due_tsc = (uint64_t)(delay_of(impair, waiting) * impair->cycles_per_ns),
		.egress = batch->egress[index],
	};
	waiting->newest++;
	return true;
}

static void
process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct impair *impair = state;
	struct waiting *waiting = &impair->waiting[batch->direction];
	uint16_t kept = 0;

	stall_if_due(impair, batch->now_tsc);
	if (impair->busy_ns > 0)
		work(impair, (double)impair->busy_ns * batch->count);
	for (uint16_t i = 0; i < batch->count; i++) {
		waiting->seen++;
		if (impair->drop_every > 0 && waiting->seen % impair->drop_every == 0) {
			rte_pktmbuf_free(batch->packet[i]);
			weir_count(&ledger->drops[DROP_PLANTED], 1);
		} else if (!holds(impair)) {
			batch->egress[kept] = batch->egress[i];
			batch->packet[kept++] = batch->packet[i];
		} else if (hold(impair, batch, i)) {
			weir_count(&ledger->held, 1);
		} else {
			rte_pktmbuf_free(batch->packet[i]);
			weir_count(&ledger->drops[DROP_QUEUE_FULL], 1);
		}
	}
	batch->count = kept;
}

/* The time of a poll is read before it receives: what it brought may have come later. */
static void
begin_to_wait(const struct impair *impair, struct waiting *waiting, uint64_t now_tsc)
{
	for (; waiting->newest > 0; waiting->newest--)
		waiting->held[(waiting->first + waiting->count - waiting->newest) %
			      impair->queue_packets]
			.due_tsc += now_tsc;
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct impair *impair = state;
	struct waiting *waiting = &impair->waiting[batch->direction];

	begin_to_wait(impair, waiting, batch->now_tsc);
	while (waiting->count > 0 && batch->count < WEIR_BURST) {
		const struct held *next = &waiting->held[waiting->first];

		if (next->due_tsc > batch->now_tsc)
			break;
		batch->egress[batch->count] = next->egress;
		batch->packet[batch->count++] = next->packet;
		waiting->first = (waiting->first + 1) % impair->queue_packets;
		waiting->count--;
	}
	if (batch->count > 0)
		weir_count(&ledger->held, -(uint64_t)batch->count);
}

extern const struct weir_nf weir_nf_impair;
/* Needs no steer(): a worker of its own holds as well as any. */
const struct weir_nf weir_nf_impair = {
	.name = "impair",
	.summary = "Holds, slows, stalls or drops packets by a known amount, to check instruments "
		   "with.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.state_size = sizeof(struct impair),
	.init = init,
	.fini = fini,
	.process = process,
	.release = release,
};
