/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of dpi share: its state, its flows, its drop reasons. */
#ifndef WEIR_NF_DPI_DPI_H
#define WEIR_NF_DPI_DPI_H

#include "charges.h"
#include "engine/flow_cache.h"
#include "engine/nf.h"
#include "toolkit/held_fragments.h"
#include "toolkit/session_timeouts.h"
#include "inspections.h"
#include "rules.h"

enum dpi_drop_reason {
	DPI_DROP_MALFORMED,
	DPI_DROP_FLOW_RULE,
	DPI_DROP_CONTENT_RULE,
	DPI_DROP_APPLICATION_RULE,
	DPI_DROP_FLOWS_FULL,
	DPI_DROP_INSPECTIONS_FULL,
	DPI_DROP_CHARGES_FULL,
	DPI_DROP_FRAGMENT_UNKNOWN,
	DPI_DROP_FRAGMENT_TIMEOUT,
	DPI_DROP_FRAGMENTS_FULL,
	DPI_DROP_IPV6,
};

enum dpi_flow_flag {
	DPI_FLOW_DECIDED = 1 << 0, /* it has its verdict, and counts under its charge */
	DPI_FLOW_DROPPED = 1 << 1, /* and that is to drop */
	DPI_FLOW_FIN_OUTBOUND = 1 << 2,
	DPI_FLOW_FIN_INBOUND = 1 << 3,
	DPI_FLOW_RESET = 1 << 4,
	DPI_FLOW_RULED =
		1 << 5, /* an L3/L4 rule permits or drops it: there is nothing to inspect */
};

#define DPI_KEY_IN_USE 2 /* key.zero[1] */

/*
 * A flow, both directions of one five-tuple, and its label. `rule_id` 0: no
 * rule. An L3/L4 rule that only labels is noted when the flow begins, and stays if no other says
 * more.
 */
struct dpi_flow {
	/* What the packets of a flow with a verdict need. */
	struct weir_tuple key; /* from inside; zero: as the classifier's, DPI_KEY_IN_USE or free */
	struct weir_counter counter; /* behind the verdict: both directions, for idleness */
	struct weir_invalidation_list invalidation;
	uint32_t charge;     /* a place, or DPI_CHARGE_NONE */
	uint32_t inspection; /* a place, or DPI_INSPECTION_NONE */
	uint32_t epoch;	     /* of the rules that it was last classified by */
	uint32_t rule_id;
	uint32_t rule_print;
	uint8_t rule_kind; /* enum dpi_kind */
	uint8_t flags;	   /* enum dpi_flow_flag */
	uint8_t zero[6];
	/* What the sweep needs, and the first packets. */
	struct weir_counter open; /* before the verdict */
	uint64_t swept_packets;
	uint32_t active_at; /* in weir_session_time(): the last packet, as far as is known */
	uint32_t next_free;
	uint16_t protocol, application; /* of nDPI */
	uint8_t zero_behind[28];
};
static_assert(sizeof(struct dpi_flow) == 128, "two cache lines");

struct dpi {
	/* What every batch reads. */
	struct dpi_matching matching;
	struct weir_flow_table *index; /* of flows, by key */
	struct dpi_flow *flows;
	uint64_t tsc_hz;
	uint64_t flow_count; /* also read by the control thread */
	uint32_t first_free;
	uint32_t sweep_at;
	uint64_t flush_left; /* places that the sweep is to empty where no packet comes */
	unsigned int ipv6;   /* enum weir_unknown_ipv6 */
	struct {
		uint32_t tcp, udp, closed, inspection, charge; /* in weir_session_time() */
	} timeouts;
	struct dpi_charges charges;
	struct dpi_inspections inspections;
	struct weir_fragments *fragments;
	struct dpi_rules *rules; /* that `matching` reads, and this holds */
	struct dpi_streams streams;
	/* Options. */
	uint64_t flows_max;
	uint64_t inspections_max;
	uint64_t charges_max;
	uint64_t packets_max;
	uint64_t payload_bytes_max;
	uint64_t tcp_timeout_s;
	uint64_t udp_timeout_s;
	uint64_t closed_timeout_s;
	uint64_t inspection_timeout_s;
	uint64_t charge_timeout_s;
	struct weir_fragment_options fragment_options;
	bool applications;
	char rules_file[WEIR_OPTION_TEXT_BYTES];
};

/* flows.c */

/* -1 with `error`: nothing to free. */
int dpi_flows_init(struct dpi *dpi, const char *where, struct weir_error *error);
void dpi_flows_fini(struct dpi *dpi);
/* The flow under `key`, or NULL. */
struct dpi_flow *dpi_flow_find(struct dpi *dpi, const struct weir_tuple *key);
/* A new one without a verdict, with the L3/L4 rule of that index, or DPI_RULE_NONE. NULL:
 * the table is full. `now`, here and below: weir_session_time(). */
struct dpi_flow *dpi_flow_begin(struct dpi *dpi, const struct weir_tuple *key, uint32_t rule,
				uint32_t now);
void dpi_flow_end(struct dpi *dpi, struct dpi_flow *flow, struct weir_flow_cache *cache);
/* Ends flows that were idle too long, and classifies those that have a verdict by newer rules; a
 * part of the table a call, all of it in 1,000. */
void dpi_flows_sweep(struct dpi *dpi, uint64_t now_tsc, struct weir_flow_cache *cache);

/* verdict.c */

/* Notes the L3/L4 rule of that index, or DPI_RULE_NONE. */
void dpi_verdict_by_tuple(const struct dpi *dpi, struct dpi_flow *flow, uint32_t rule);
/* Gives the flow its verdict, by what was noted and by its inspection, which ends. False: there is
 * no room for its charge, and it has none. */
bool dpi_verdict(struct dpi *dpi, struct dpi_flow *flow, uint32_t now);
/* The rules were replaced: `rule` is the L3/L4 rule that the flow matches now. A verdict that may
 * change is withdrawn, with the fast path's entries that rest on it. */
void dpi_verdict_review(struct dpi *dpi, struct dpi_flow *flow, uint32_t rule, uint32_t now,
			struct weir_flow_cache *cache);

/* decide.c */

void dpi_decide(void *state, const struct weir_batch *batch, struct weir_action *actions);

/* commands.c */

extern const struct weir_command dpi_commands[2];

/* report.c */

void dpi_report(const void *state, struct weir_report *report);

/* The flow of a packet, seen from the inside. */
static inline struct weir_tuple
dpi_key_of(const struct weir_headers *headers, enum weir_direction direction)
{
	struct weir_tuple key = weir_classifier_tuple(headers);

	if (direction == WEIR_INBOUND) {
		key.src_ip = headers->tuple.dst_ip;
		key.dst_ip = headers->tuple.src_ip;
		key.src_port = headers->tuple.dst_port;
		key.dst_port = headers->tuple.src_port;
	}
	key.zero[1] = DPI_KEY_IN_USE;
	return key;
}

/* Both sides have said FIN, or one RST. */
static inline bool
dpi_flow_is_closed(const struct dpi_flow *flow)
{
	const uint8_t both = DPI_FLOW_FIN_OUTBOUND | DPI_FLOW_FIN_INBOUND;

	return (flow->flags & DPI_FLOW_RESET) != 0 || (flow->flags & both) == both;
}

#endif
