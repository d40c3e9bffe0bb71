/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpi: looks into the first packets of each flow, gives it a label and a verdict, and charges its
 * packets to its subscriber. nDPI recognises applications, Hyperscan matches the expressions of the
 * rules.
 *
 * A subscriber is an inside IPv4 address, the source of outbound packets. A flow is both
 * directions of one five-tuple, seen from the inside. L3/L4 rules are asked at its first packet;
 * one that permits or drops decides. Else its payload is scanned until a rule permits or drops it
 * (the first in the file of those that match so far), or packets_max or payload_bytes_max is
 * reached: it passes then, with the first label that matched. TCP payload is scanned as a stream
 * for each direction, over packets' bounds; datagrams one by one. From then on nothing is scanned:
 * packets are counted for subscriber, rule and application, and dropped if the rule says so.
 *
 * Limits: IPv4, IPv6 is dropped, or passes unseen (`ipv6`); VLANs are not distinguished; later
 * fragments follow their first one unscanned, for which those wait that come before it; TCP
 * segments behind a hole begin a new text, and so does whatever comes when rules change;
 * expressions that end in $ match no text, since it has no known end. nDPI allocates memory of its
 * own for what it dissects. Example: {"nf": "dpi", "options": {"rules_file":
 * "/etc/weir/dpi.rules"}}
 */
#include "dpi.h"

#include <rte_cycles.h>

#include "toolkit/option_rows.h"

#define NUMBER(title, in, by_default, low, high, text)                                             \
	{                                                                                          \
		.name = #title, .type = WEIR_OPTION_INT, .unit = in, .default_text = by_default,   \
		.min = low, .max = high, .help = text, .offset = offsetof(struct dpi, title),      \
	}

static const struct weir_option options[] = {
	{
		.name = "rules_file",
		.type = WEIR_OPTION_FILE,
		.help = "A file of rules, one a line: \"ID ACTION /EXPRESSION/FLAGS\", \"ID ACTION "
			"application NAME\" or \"ID ACTION flow PROTOCOL SOURCE DESTINATION "
			"[SOURCE-PORTS DESTINATION-PORTS]\"; ACTION is permit, drop or label. # "
			"begins a remark. Absent: no "
			"rules.",
		.offset = offsetof(struct dpi, rules_file),
	},
	{
		.name = "applications",
		.type = WEIR_OPTION_BOOL,
		.default_text = "true",
		.help = "Recognise applications by nDPI.",
		.offset = offsetof(struct dpi, applications),
	},
	WEIR_UNKNOWN_IPV6_ROW(struct dpi, "looked into"),
	NUMBER(packets_max, NULL, "10", 1, 255,
	       "Packets with payload of a flow, both directions together, that are looked into."),
	NUMBER(payload_bytes_max, "B", "8192", 1, 1048576,
	       "Payload of a flow, both directions together, that is scanned for expressions."),
	NUMBER(flows_max, NULL, "65536", 1, 16777216,
	       "Flows at once, about 150 bytes of memory each; packets of more are dropped."),
	NUMBER(inspections_max, NULL, "8192", 1, 1048576,
	       "Flows at once that have sent payload and have no verdict, about 2 KB each; payload "
	       "of more is dropped."),
	NUMBER(charges_max, NULL, "65536", 1, 16777216,
	       "Pairs of subscriber and what its packets are counted for, about 90 bytes each; "
	       "packets of more are dropped."),
	NUMBER(tcp_timeout_s, "s", "900", 1, 86400,
	       "Idle time after which a TCP flow is forgotten."),
	NUMBER(closed_timeout_s, "s", "30", 1, 86400, "The same behind both FINs or an RST."),
	NUMBER(udp_timeout_s, "s", "120", 1, 86400, "The same for UDP, ICMP and all others."),
	NUMBER(inspection_timeout_s, "s", "30", 1, 86400,
	       "Time without payload after which a flow gets the verdict that is known so far."),
	NUMBER(charge_timeout_s, "s", "3600", 1, 604800,
	       "Time without flows after which a subscriber's counters are forgotten: read them "
	       "more often."),
	WEIR_FRAGMENT_ROWS(struct dpi),
};

static const struct weir_drop_reason drop_reasons[] = {
	[DPI_DROP_MALFORMED] = {"malformed",
				"The packet's lengths contradict each other, or its L4 header is "
				"cut off."},
	[DPI_DROP_FLOW_RULE] = {"flow_rule", "An L3/L4 rule drops the flow."},
	[DPI_DROP_CONTENT_RULE] = {"content_rule",
				   "The flow has content that a rule drops it for."},
	[DPI_DROP_APPLICATION_RULE] = {"application_rule",
				       "The flow is of an application that a rule drops."},
	[DPI_DROP_FLOWS_FULL] = {"flows_full",
				 "The first packet of a flow when flows_max are there."},
	[DPI_DROP_INSPECTIONS_FULL] = {"inspections_full",
				       "The first payload of a flow when inspections_max flows "
				       "wait for their verdict."},
	[DPI_DROP_CHARGES_FULL] = {"charges_full",
				   "The flow's verdict came when charges_max pairs of subscriber "
				   "and rule were counted for."},
	[DPI_DROP_FRAGMENT_UNKNOWN] = {"fragment_unknown",
				       "A later fragment of a flow that has ended."},
	[DPI_DROP_FRAGMENT_TIMEOUT] = WEIR_FRAGMENT_TIMEOUT_REASON,
	[DPI_DROP_FRAGMENTS_FULL] = WEIR_FRAGMENTS_FULL_REASON,
	[DPI_DROP_IPV6] = {"ipv6", "IPv6 is not looked into, and ipv6 is drop."},
};

static void
fini(void *state)
{
	struct dpi *dpi = state;

	dpi_flows_fini(dpi);
	dpi_charges_fini(&dpi->charges);
	weir_fragments_free(dpi->fragments);
	dpi_streams_fini(&dpi->streams);
	dpi_rules_release(dpi->rules);
	dpi_inspections_fini(&dpi->inspections);
}

/* What the rules are matched with. -1 with `error`, nothing to free. */
static int
init_inspection(struct dpi *dpi, const char *where, struct weir_error *error)
{
	if (dpi_inspections_init(&dpi->inspections, dpi->inspections_max) < 0)
		return weir_fail(error, "no_memory", where, NULL,
				 "give weir-dp more --memory-mb, or lower inspections_max",
				 "no memory for %lu inspections", dpi->inspections_max);
	dpi->inspections.packets_max = dpi->packets_max;
	dpi->inspections.payload_bytes_max = dpi->payload_bytes_max;
	dpi->inspections.recognise = dpi->applications;
	dpi->rules = dpi_rules_load(dpi->rules_file, dpi->inspections.ndpi, where, error);
	if (dpi->rules == NULL)
		goto failed;
	if (dpi_streams_init(&dpi->streams, dpi->rules, dpi->inspections_max) == 0) {
		dpi->matching.rules = dpi->rules;
		dpi->matching.streams = &dpi->streams;
		return 0;
	}
	dpi_rules_release(dpi->rules);
	weir_fail(error, "no_memory", where, NULL, "lower inspections_max",
		  "no memory to match %lu inspections", dpi->inspections_max);
failed:
	dpi_inspections_fini(&dpi->inspections);
	return -1;
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct dpi *dpi = state;

	dpi->tsc_hz = rte_get_tsc_hz();
	dpi->timeouts.tcp = weir_session_time_of_s(dpi->tcp_timeout_s);
	dpi->timeouts.udp = weir_session_time_of_s(dpi->udp_timeout_s);
	dpi->timeouts.closed = weir_session_time_of_s(dpi->closed_timeout_s);
	dpi->timeouts.inspection = weir_session_time_of_s(dpi->inspection_timeout_s);
	dpi->timeouts.charge = weir_session_time_of_s(dpi->charge_timeout_s);
	if (init_inspection(dpi, where, error) < 0)
		return -1;
	if (dpi_flows_init(dpi, where, error) < 0)
		goto no_flows;
	if (!dpi_charges_init(&dpi->charges, dpi->charges_max)) {
		weir_fail(error, "no_memory", where, NULL,
			  "give weir-dp more --memory-mb, or lower charges_max",
			  "no memory for %lu charges", dpi->charges_max);
		goto no_charges;
	}
	dpi->fragments = weir_fragments_of(&dpi->fragment_options);
	if (dpi->fragments != NULL)
		return 0;
	weir_fail(error, "no_memory", where, NULL, NULL, "no memory for fragments");
	dpi_charges_fini(&dpi->charges);
no_charges:
	dpi_flows_fini(dpi);
no_flows:
	dpi_streams_fini(&dpi->streams);
	dpi_rules_release(dpi->rules);
	dpi_inspections_fini(&dpi->inspections);
	return -1;
}

static void
tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	dpi_flows_sweep(state, now_tsc, cache);
}

extern const struct weir_nf weir_nf_dpi;

static void
take(void *state, const struct weir_batch *batch, uint16_t index, const struct weir_action *action,
     struct weir_stage_ledger *ledger)
{
	const struct dpi *dpi = state;

	weir_held_fragments_take(dpi->fragments, batch, index, action, ledger);
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct dpi *dpi = state;

	weir_held_fragments_release(&weir_nf_dpi, state, dpi->fragments, batch,
				    DPI_DROP_FRAGMENT_TIMEOUT, ledger);
}

/*
 * No steer(): a worker needs both directions of a flow, which it gets in any case, and a
 * subscriber's charges are sums, so that each worker may have a part of them. Behind an address
 * translation, whose steer() chooses the worker, nothing else is possible.
 */
const struct weir_nf weir_nf_dpi = {
	.name = "dpi",
	.summary = "Recognises applications and content, drops by rules, charges subscribers.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.flow_bytes = 240,
	.state_size = sizeof(struct dpi),
	.init = init,
	.fini = fini,
	.commands = dpi_commands,
	.command_count = RTE_DIM(dpi_commands),
	.decide = dpi_decide,
	.take = take,
	.release = release,
	.releases_held_only = true,
	.tick = tick,
	.report = dpi_report,
};
