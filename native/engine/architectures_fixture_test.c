/* SPDX-License-Identifier: Apache-2.0 */
#include "architectures_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define END_SIZE 256
#define HOPS_MAX 8

static struct weir_queue
ring(struct built *built, unsigned int size)
{
	struct weir_queue queue = {.kind = WEIR_QUEUE_RING};
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "test-%u", built->ring_count);
	queue.ring = rte_ring_create(name, size, SOCKET_ID_ANY,
				     RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	assert_non_null(queue.ring);
	built->rings[built->ring_count++] = queue.ring;
	return queue;
}

static void
add(struct built *built, struct weir_area *area, bool runs_functions)
{
	assert_non_null(area);
	built->runs_functions[built->area_count] = runs_functions;
	built->areas[built->area_count++] = area;
}

/* The other end. */
static unsigned int
far(unsigned int way)
{
	return 1 - way;
}

/* Both ways through these functions, way 0 from left to right; states are the first way's. */
static struct weir_chain *
chain_of(bool state_core, const struct weir_nf *const *nfs, unsigned int count,
	 const struct weir_queue *in, struct weir_outputs *const *out)
{
	struct weir_chain *chain = state_core ? weir_state_core_create("state_core", 0, true)
					      : weir_chain_create("chain", 0, true);

	assert_non_null(chain);
	chain->path_count = 2;
	for (unsigned int way = 0; way < 2; way++) {
		struct weir_path *path = &chain->paths[way];

		path->direction = way == 0 ? WEIR_OUTBOUND : WEIR_INBOUND;
		path->in = in[way];
		path->out = *out[way];
		path->stage_count = count;
		for (unsigned int i = 0; i < count; i++) {
			struct weir_stage *stage = &path->stages[i];
			struct weir_error error;

			stage->nf = nfs[way == 0 ? i : count - 1 - i];
			stage->shares_state = way == 1;
			stage->state = way == 0 ? weir_nf_create(stage->nf, NULL, 0, "test", &error)
						: chain->paths[0].stages[count - 1 - i].state;
			assert_non_null(stage->state);
		}
	}
	return chain;
}

static struct weir_chain *
add_chain(struct built *built, const struct plan *plan, bool state_core,
	  const struct weir_nf *const *nfs, unsigned int count, const struct weir_queue *in,
	  struct weir_outputs *const *out)
{
	struct weir_chain *chain = chain_of(state_core, nfs, count, in, out);
	struct weir_error error;

	assert_int_equal(weir_chain_complete(chain, plan->fastpath_flows, &error), 0);
	add(built, &chain->area, true);
	return chain;
}

static void
build_pipeline(struct built *built, const struct plan *plan)
{
	struct weir_queue middle[2] = {ring(built, plan->ring_size), ring(built, plan->ring_size)};
	struct weir_outputs right = {.count = 1, .queue = {built->ends_out[1]}};
	struct weir_outputs left = {.count = 1, .queue = {built->ends_out[0]}};
	struct weir_outputs there = {.count = 1, .queue = {middle[0]}};
	struct weir_outputs back = {.count = 1, .queue = {middle[1]}};

	add_chain(built, plan, false, &plan->nfs[0], 1,
		  (struct weir_queue[]){built->ends_in[0], middle[1]},
		  (struct weir_outputs *[]){&there, &left});
	add_chain(built, plan, false, &plan->nfs[1], 1,
		  (struct weir_queue[]){middle[0], built->ends_in[1]},
		  (struct weir_outputs *[]){&right, &back});
}

/* A dispatcher from both ends to `count` chains or state cores; hops[way].out are its rings. */
static void
add_dispatcher(struct built *built, const struct plan *plan, unsigned int count,
	       struct weir_hop *hops)
{
	for (unsigned int way = 0; way < 2; way++) {
		hops[way].direction = way == 0 ? WEIR_OUTBOUND : WEIR_INBOUND;
		hops[way].input_count = 1;
		hops[way].inputs[0] = built->ends_in[way];
		hops[way].out.count = count;
		for (unsigned int i = 0; i < count; i++)
			hops[way].out.queue[i] = ring(built, plan->ring_size);
	}
	struct weir_hops *dispatcher = weir_dispatcher_create("dispatcher", 0, hops, 2);

	weir_dispatcher_steer_by(dispatcher, &shift_nf, NULL);
	add(built, &dispatcher->area, false);
}

static void
build_dispatch(struct built *built, const struct plan *plan)
{
	struct weir_hop hops[2] = {0};

	add_dispatcher(built, plan, plan->workers, hops);
	/* One end takes from each worker: a chain without functions, with a path a worker. */
	struct weir_chain *ends[2] = {weir_chain_create("right", 0, true),
				      weir_chain_create("left", 0, true)};
	for (unsigned int i = 0; i < plan->workers; i++) {
		struct weir_outputs out[2] = {
			{.count = 1, .queue = {ring(built, plan->ring_size)}},
			{.count = 1, .queue = {ring(built, plan->ring_size)}}};

		add_chain(built, plan, false, plan->nfs, 2,
			  (struct weir_queue[]){hops[0].out.queue[i], hops[1].out.queue[i]},
			  (struct weir_outputs *[]){&out[0], &out[1]});
		for (unsigned int way = 0; way < 2; way++) {
			struct weir_path *path = &ends[way]->paths[ends[way]->path_count++];

			path->in = out[way].queue[0];
			path->out.count = 1;
			path->out.queue[0] = built->ends_out[far(way)];
		}
	}
	add(built, &ends[0]->area, true);
	add(built, &ends[1]->area, true);
}

static void
build_separated(struct built *built, const struct plan *plan)
{
	struct weir_hop dispatched[2] = {0}, collected[HOPS_MAX] = {0};
	unsigned int rewriters = plan->workers, hop = 0;

	add_dispatcher(built, plan, plan->state_cores, dispatched);
	struct weir_hop(*per_worker)[HOPS_MAX] = calloc(rewriters, sizeof(*per_worker));

	assert_non_null(per_worker);
	for (unsigned int state_core = 0; state_core < plan->state_cores; state_core++) {
		struct weir_outputs shared[2] = {0};

		for (unsigned int way = 0; way < 2; way++, hop++) {
			shared[way].count = rewriters;
			collected[hop].input_count = rewriters;
			collected[hop].out.count = 1;
			collected[hop].out.queue[0] = built->ends_out[far(way)];
			for (unsigned int i = 0; i < rewriters; i++) {
				struct weir_hop *through = &per_worker[i][hop];

				shared[way].queue[i] = ring(built, plan->ring_size);
				collected[hop].inputs[i] = ring(built, plan->ring_size);
				through->input_count = 1;
				through->inputs[0] = shared[way].queue[i];
				through->out.count = 1;
				through->out.queue[0] = collected[hop].inputs[i];
			}
		}
		add_chain(built, plan, true, plan->nfs, 2,
			  (struct weir_queue[]){dispatched[0].out.queue[state_core],
						dispatched[1].out.queue[state_core]},
			  (struct weir_outputs *[]){&shared[0], &shared[1]});
	}
	for (unsigned int i = 0; i < rewriters; i++)
		add(built,
		    &weir_rewrite_worker_create("rewrite_worker", 0, per_worker[i], hop)->area,
		    false);
	free(per_worker);
	add(built, &weir_collector_create("collector", 0, collected, hop)->area, false);
}

struct built
build(const struct plan *plan)
{
	struct built built = {0};

	for (unsigned int end = 0; end < 2; end++) {
		built.ends_in[end] = ring(&built, END_SIZE);
		built.ends_out[end] = ring(&built, END_SIZE);
	}
	struct weir_outputs right = {.count = 1, .queue = {built.ends_out[1]}};
	struct weir_outputs left = {.count = 1, .queue = {built.ends_out[0]}};

	switch (plan->architecture) {
	case RUN_TO_COMPLETION:
		add_chain(&built, plan, false, plan->nfs, 2, built.ends_in,
			  (struct weir_outputs *[]){&right, &left});
		break;
	case PIPELINE:
		build_pipeline(&built, plan);
		break;
	case DISPATCH:
		build_dispatch(&built, plan);
		break;
	case SEPARATED:
		build_separated(&built, plan);
		break;
	}
	return built;
}

static uint64_t
lost_by(const struct weir_outputs *outputs)
{
	return outputs->tx_queue_full + outputs->no_output;
}

static uint64_t
lost_in_chain(const struct weir_chain *chain)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < chain->path_count; i++) {
		const struct weir_path *path = &chain->paths[i];
		uint64_t here = lost_by(&path->out);

		for (unsigned int j = 0; j < path->stage_count; j++) {
			for (unsigned int k = 0; k < WEIR_DROP_REASONS_MAX; k++)
				here += path->stages[j].ledger.drops[k];
		}
		assert_int_equal(path->rx_packets, path->out.tx_packets + here);
		lost += here;
	}
	return lost;
}

static uint64_t
lost_on_hops(const struct weir_hops *hops)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < hops->count; i++) {
		const struct weir_hop *hop = &hops->hops[i];

		assert_int_equal(hop->rx_packets, hop->out.tx_packets + lost_by(&hop->out));
		lost += lost_by(&hop->out);
	}
	return lost;
}

int64_t
unaccounted(const struct built *built, uint64_t in, uint64_t out)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < built->area_count; i++)
		lost += built->runs_functions[i]
				? lost_in_chain((const struct weir_chain *)built->areas[i])
				: lost_on_hops((const struct weir_hops *)built->areas[i]);
	return (int64_t)(in - out - lost);
}

void
take_down(struct built *built)
{
	for (unsigned int i = 0; i < built->area_count; i++) {
		if (built->runs_functions[i])
			weir_chain_destroy((struct weir_chain *)built->areas[i]);
		else
			weir_hops_destroy((struct weir_hops *)built->areas[i]);
	}
	while (built->ring_count > 0)
		rte_ring_free(built->rings[--built->ring_count]);
}
