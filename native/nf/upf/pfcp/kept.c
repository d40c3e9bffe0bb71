/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

/* One kind of rule behind the other. */
struct pfcp_kept {
	uint8_t pdr_count, far_count, qer_count, filter_count, urr_count, bar_count;
	struct pfcp_urr urr[]; /* and behind them the others */
};

size_t
pfcp_kept_bytes(const struct pfcp_rules *rules)
{
	return sizeof(struct pfcp_kept) + rules->pdr_count * sizeof(rules->pdr[0]) +
	       rules->far_count * sizeof(rules->far[0]) + rules->qer_count * sizeof(rules->qer[0]) +
	       rules->filter_count * sizeof(rules->filter[0]) +
	       rules->urr_count * sizeof(rules->urr[0]) + rules->bar_count * sizeof(rules->bar[0]);
}

static uint8_t *
put(uint8_t *at, const void *from, size_t bytes)
{
	memcpy(at, from, bytes);
	return at + bytes;
}

struct pfcp_kept *
pfcp_rules_keep(const struct pfcp_rules *rules)
{
	struct pfcp_kept *kept = malloc(pfcp_kept_bytes(rules));
	uint8_t *at;

	if (kept == NULL)
		return NULL;
	kept->pdr_count = (uint8_t)rules->pdr_count;
	kept->far_count = (uint8_t)rules->far_count;
	kept->qer_count = (uint8_t)rules->qer_count;
	kept->filter_count = (uint8_t)rules->filter_count;
	kept->urr_count = (uint8_t)rules->urr_count;
	kept->bar_count = (uint8_t)rules->bar_count;
	at = put((uint8_t *)kept->urr, rules->urr, rules->urr_count * sizeof(rules->urr[0]));
	at = put(at, rules->pdr, rules->pdr_count * sizeof(rules->pdr[0]));
	at = put(at, rules->far, rules->far_count * sizeof(rules->far[0]));
	at = put(at, rules->qer, rules->qer_count * sizeof(rules->qer[0]));
	at = put(at, rules->filter, rules->filter_count * sizeof(rules->filter[0]));
	put(at, rules->bar, rules->bar_count * sizeof(rules->bar[0]));
	return kept;
}

static const uint8_t *
get(const uint8_t *at, void *into, size_t bytes)
{
	memcpy(into, at, bytes);
	return at + bytes;
}

void
pfcp_rules_restore(const struct pfcp_kept *kept, struct pfcp_rules *rules)
{
	const uint8_t *at;

	rules->pdr_count = kept->pdr_count;
	rules->far_count = kept->far_count;
	rules->qer_count = kept->qer_count;
	rules->filter_count = kept->filter_count;
	rules->urr_count = kept->urr_count;
	rules->bar_count = kept->bar_count;
	at = get((const uint8_t *)kept->urr, rules->urr, rules->urr_count * sizeof(rules->urr[0]));
	at = get(at, rules->pdr, rules->pdr_count * sizeof(rules->pdr[0]));
	at = get(at, rules->far, rules->far_count * sizeof(rules->far[0]));
	at = get(at, rules->qer, rules->qer_count * sizeof(rules->qer[0]));
	at = get(at, rules->filter, rules->filter_count * sizeof(rules->filter[0]));
	get(at, rules->bar, rules->bar_count * sizeof(rules->bar[0]));
}

struct pfcp_urr *
pfcp_kept_urrs(struct pfcp_kept *kept, unsigned int *count)
{
	*count = kept->urr_count;
	return kept->urr;
}
