/* SPDX-License-Identifier: Apache-2.0 */
/* The table of flows: 128 bytes each, an index over them, and a sweep. */
#include <string.h>

#include <rte_malloc.h>

#include "dpi.h"

#define NO_FLOW UINT32_MAX
#define SWEEP_CALLS 1000
#define SWEEP_MIN 64

void
dpi_flows_fini(struct dpi *dpi)
{
	weir_flow_table_free(dpi->index);
	rte_free(dpi->flows);
}

int
dpi_flows_init(struct dpi *dpi, const char *where, struct weir_error *error)
{
	uint32_t count = dpi->flows_max;

	dpi->flows = rte_zmalloc("dpi flows", count * sizeof(struct dpi_flow), RTE_CACHE_LINE_SIZE);
	if (dpi->flows != NULL)
		dpi->index = weir_flow_table_create(count, dpi->flows, sizeof(struct dpi_flow));
	if (dpi->index == NULL) {
		dpi_flows_fini(dpi);
		return weir_fail(error, "no_memory", where, NULL,
				 "give weir-dp more --memory-mb, or lower flows_max",
				 "no memory for %u flows", count);
	}
	for (uint32_t i = 0; i < count; i++)
		dpi->flows[i].next_free = i + 1 < count ? i + 1 : NO_FLOW;
	dpi->first_free = 0;
	return 0;
}

struct dpi_flow *
dpi_flow_find(struct dpi *dpi, const struct weir_tuple *key)
{
	const void *keys[] = {key};
	uint32_t number;

	weir_flow_table_find(dpi->index, keys, &number, 1);
	return number != WEIR_FLOW_NONE ? &dpi->flows[number] : NULL;
}

struct dpi_flow *
dpi_flow_begin(struct dpi *dpi, const struct weir_tuple *key, uint32_t rule, uint32_t now)
{
	uint32_t number = dpi->first_free;
	struct dpi_flow *flow;

	if (number == NO_FLOW)
		return NULL;
	flow = &dpi->flows[number];
	dpi->first_free = flow->next_free;
	memset(flow, 0, sizeof(*flow));
	flow->key = *key;
	if (!weir_flow_table_put(dpi->index, number)) {
		flow->key.zero[1] = 0;
		flow->next_free = dpi->first_free;
		dpi->first_free = number;
		return NULL;
	}
	flow->charge = DPI_CHARGE_NONE;
	flow->inspection = DPI_INSPECTION_NONE;
	flow->active_at = now;
	weir_count(&dpi->flow_count, 1);
	dpi_verdict_by_tuple(dpi, flow, rule);
	return flow;
}

void
dpi_flow_end(struct dpi *dpi, struct dpi_flow *flow, struct weir_flow_cache *cache)
{
	uint32_t number = flow - dpi->flows;

	/* Its packets are charged even if its verdict never came. */
	if ((flow->flags & DPI_FLOW_DECIDED) == 0 && flow->open.packets > 0 &&
	    !dpi_verdict(dpi, flow, flow->active_at))
		dpi_charges_add(&dpi->charges, DPI_CHARGE_NONE, &flow->open);
	if (flow->inspection != DPI_INSPECTION_NONE)
		dpi_inspection_end(&dpi->inspections, flow->inspection);
	weir_flow_cache_forget(cache, &flow->invalidation);
	if (flow->charge != DPI_CHARGE_NONE)
		dpi_charges_leave(&dpi->charges, flow->charge);
	weir_flow_table_take(dpi->index, number);
	flow->key.zero[1] = 0;
	flow->next_free = dpi->first_free;
	dpi->first_free = number;
	weir_count(&dpi->flow_count, -(uint64_t)1);
}

static uint32_t
timeout_of(const struct dpi *dpi, const struct dpi_flow *flow)
{
	if (flow->key.protocol != IPPROTO_TCP)
		return dpi->timeouts.udp;
	return dpi_flow_is_closed(flow) ? dpi->timeouts.closed : dpi->timeouts.tcp;
}

/* Whether packets came after the verdict since the last call. */
static bool
has_moved(struct dpi_flow *flow, uint32_t now)
{
	if (flow->counter.packets == flow->swept_packets)
		return false;
	flow->swept_packets = flow->counter.packets;
	flow->active_at = now;
	return true;
}

static void
look_at(struct dpi *dpi, struct dpi_flow *flow, bool flushes, uint32_t now,
	struct weir_flow_cache *cache)
{
	if (has_moved(flow, now))
		return;
	if (flushes || now - flow->active_at > timeout_of(dpi, flow)) {
		weir_flow_cache_flush_for(cache, &flow->invalidation);
		if (!has_moved(flow, now))
			dpi_flow_end(dpi, flow, cache);
	} else if (flow->inspection != DPI_INSPECTION_NONE &&
		   now - dpi->inspections.places[flow->inspection].active_at >
			   dpi->timeouts.inspection) {
		dpi_verdict(dpi, flow, now);
	}
}

/* Flows that were classified by older rules, to be classified again together. */
struct review {
	unsigned int count;
	struct dpi_flow *flows[WEIR_CLASSIFIER_BULK];
	struct weir_tuple tuples[WEIR_CLASSIFIER_BULK];
};

static void
review_all(struct dpi *dpi, struct review *review, uint32_t now, struct weir_flow_cache *cache)
{
	uint32_t found[WEIR_CLASSIFIER_BULK];

	dpi_rules_classify(dpi->rules, review->tuples, found, review->count);
	for (unsigned int i = 0; i < review->count; i++)
		dpi_verdict_review(dpi, review->flows[i], found[i], now, cache);
	review->count = 0;
}

void
dpi_flows_sweep(struct dpi *dpi, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	uint32_t now = weir_session_time(now_tsc);
	uint32_t capacity = dpi->flows_max;
	uint32_t count =
		RTE_MIN(capacity, RTE_MAX(capacity / SWEEP_CALLS + 1, (uint32_t)SWEEP_MIN));
	struct review review = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct dpi_flow *flow = &dpi->flows[dpi->sweep_at];
		bool flushes = dpi->flush_left > 0;

		dpi->flush_left -= flushes;
		dpi->sweep_at = dpi->sweep_at + 1 < capacity ? dpi->sweep_at + 1 : 0;
		if (flow->key.zero[1] != DPI_KEY_IN_USE)
			continue;
		look_at(dpi, flow, flushes, now, cache);
		if (flow->key.zero[1] != DPI_KEY_IN_USE || flow->epoch == dpi->matching.epoch)
			continue;
		review.flows[review.count] = flow;
		review.tuples[review.count++] = flow->key;
		if (review.count == WEIR_CLASSIFIER_BULK)
			review_all(dpi, &review, now, cache);
	}
	review_all(dpi, &review, now, cache);
	dpi_charges_sweep(&dpi->charges,
			  RTE_MAX(dpi->charges.capacity / SWEEP_CALLS + 1, (uint32_t)SWEEP_MIN),
			  now, dpi->timeouts.charge);
}
