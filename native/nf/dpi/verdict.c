/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a flow: which rule has it, and where it counts. */
#include "dpi.h"

static void
note_rule(const struct dpi *dpi, struct dpi_flow *flow, uint32_t index)
{
	const struct dpi_rule *rule = &dpi->rules->rules[index];

	flow->rule_id = rule->id;
	flow->rule_print = rule->print;
	flow->rule_kind = rule->kind;
	if (rule->action == DPI_DROP)
		flow->flags |= DPI_FLOW_DROPPED;
}

void
dpi_verdict_by_tuple(const struct dpi *dpi, struct dpi_flow *flow, uint32_t rule)
{
	flow->epoch = dpi->matching.epoch;
	flow->rule_id = 0;
	flow->rule_print = 0;
	flow->rule_kind = DPI_KIND_FLOW;
	flow->flags &= ~(DPI_FLOW_RULED | DPI_FLOW_DROPPED);
	if (rule == DPI_RULE_NONE)
		return;
	note_rule(dpi, flow, rule);
	if (dpi->rules->rules[rule].action != DPI_LABEL)
		flow->flags |= DPI_FLOW_RULED;
}

/* What the inspection found out, if there is one. */
static void
take_findings(struct dpi *dpi, struct dpi_flow *flow)
{
	const struct dpi_inspection *inspection;

	if (flow->inspection == DPI_INSPECTION_NONE)
		return;
	inspection = &dpi->inspections.places[flow->inspection];
	dpi_inspection_conclude(&dpi->inspections, flow->inspection, &dpi->matching);
	flow->protocol = inspection->protocol;
	flow->application = inspection->application;
	if ((flow->flags & DPI_FLOW_RULED) != 0)
		return;
	if (inspection->rule != DPI_RULE_NONE)
		note_rule(dpi, flow, inspection->rule);
	else if (inspection->label != DPI_RULE_NONE)
		note_rule(dpi, flow, inspection->label);
}

bool
dpi_verdict(struct dpi *dpi, struct dpi_flow *flow, uint32_t now)
{
	struct dpi_charge_key key = {.subscriber = flow->key.src_ip};

	take_findings(dpi, flow);
	key.rule_id = flow->rule_id;
	key.protocol = flow->protocol;
	key.application = flow->application;
	flow->charge = dpi_charges_join(&dpi->charges, &key, now);
	if (flow->charge == DPI_CHARGE_NONE)
		return false;
	if (flow->inspection != DPI_INSPECTION_NONE)
		dpi_inspection_end(&dpi->inspections, flow->inspection);
	flow->inspection = DPI_INSPECTION_NONE;
	dpi_charges_add(&dpi->charges, flow->charge, &flow->open);
	flow->open = (struct weir_counter){0};
	flow->flags |= DPI_FLOW_DECIDED;
	return true;
}

void
dpi_verdict_review(struct dpi *dpi, struct dpi_flow *flow, uint32_t rule, uint32_t now,
		   struct weir_flow_cache *cache)
{
	const struct dpi_rules *rules = dpi->rules;
	bool tuple_decides = rule != DPI_RULE_NONE && rules->rules[rule].action != DPI_LABEL;
	bool by_inspection = flow->rule_kind != DPI_KIND_FLOW;
	bool was_ruled = (flow->flags & DPI_FLOW_RULED) != 0;
	uint32_t same = DPI_RULE_NONE;

	flow->epoch = dpi->matching.epoch;
	if ((flow->flags & DPI_FLOW_DECIDED) == 0) {
		dpi_verdict_by_tuple(dpi, flow, rule);
		return;
	}
	if (flow->rule_id != 0)
		same = dpi_rules_find(rules, flow->rule_id, flow->rule_print);
	if (by_inspection && !tuple_decides
		    ? same != DPI_RULE_NONE
		    : same == rule && (flow->rule_id == 0) == (rule == DPI_RULE_NONE))
		return;
	weir_flow_cache_forget(cache, &flow->invalidation);
	dpi_charges_leave(&dpi->charges, flow->charge);
	flow->charge = DPI_CHARGE_NONE;
	flow->flags &= ~DPI_FLOW_DECIDED;
	dpi_verdict_by_tuple(dpi, flow, rule);
	/* One that was inspected in vain only changes its label. */
	if (tuple_decides || (!was_ruled && !by_inspection))
		dpi_verdict(dpi, flow, now);
}
