/* SPDX-License-Identifier: Apache-2.0 */
/* Inspections: the first packets of flows without a verdict, by Hyperscan and nDPI. */
#ifndef WEIR_NF_DPI_INSPECTIONS_H
#define WEIR_NF_DPI_INSPECTIONS_H

#include "engine/nf.h"
#include "rules.h"

#define DPI_INSPECTION_NONE UINT32_MAX

/* The memory of the expressions' matching, one for each direction of each inspection: it fits one
 * set of rules. */
struct dpi_streams {
	hs_scratch_t *scratch;
	hs_stream_t **streams;
	uint32_t count;
};

struct dpi_inspection {
	struct ndpi_flow_struct *ndpi;
	uint32_t rule;	/* that permits or drops: the first in the file so far, or DPI_RULE_NONE */
	uint32_t label; /* that only labels: the same */
	uint32_t epoch; /* of the rules that it is matched with */
	uint32_t next_seq[2];
	uint32_t active_at;	/* in weir_session_time() */
	uint32_t payload_bytes; /* scanned */
	uint16_t packets;	/* with payload */
	bool begun[2];		/* next_seq is known */
	bool recognised;	/* nDPI has said all that it will */
	uint16_t protocol;	/* of nDPI: such as TLS */
	uint16_t application;	/* such as Signal */
	uint32_t next_free;
};

struct dpi_inspections {
	struct ndpi_detection_module_struct *ndpi;
	struct dpi_inspection *places;
	uint8_t *ndpi_flows;
	uint32_t ndpi_flow_bytes;
	uint32_t capacity;
	uint64_t count; /* also read by the control thread */
	uint32_t first_free;
	/* Set by the owner: how far a flow is looked into, and whether nDPI is asked. */
	uint32_t packets_max;
	uint32_t payload_bytes_max;
	bool recognise;
	uint64_t inspected_packets;
	uint64_t scanned_bytes;
};

/* -1: no memory, nothing to free. */
int dpi_inspections_init(struct dpi_inspections *inspections, uint32_t capacity);
void dpi_inspections_fini(struct dpi_inspections *inspections);

/* Memory for so many inspections by these rules; -1: none, nothing to free. */
int dpi_streams_init(struct dpi_streams *streams, const struct dpi_rules *rules,
		     uint32_t inspections);
void dpi_streams_fini(struct dpi_streams *streams);

/* A place to inspect in; DPI_INSPECTION_NONE: all are taken. */
uint32_t dpi_inspection_begin(struct dpi_inspections *inspections);
void dpi_inspection_end(struct dpi_inspections *inspections, uint32_t place);

/* The rules it is inspected by, with their number of change. */
struct dpi_matching {
	const struct dpi_rules *rules;
	const struct dpi_streams *streams;
	uint32_t epoch;
};

/* Looks into one packet, which has payload or is neither TCP nor UDP. True: there is nothing more
 * to learn that could change the verdict, or the bounds are reached. */
bool dpi_inspect(struct dpi_inspections *inspections, uint32_t place,
		 const struct dpi_matching *matching, const struct rte_mbuf *packet,
		 const struct weir_headers *headers, enum weir_direction direction,
		 uint64_t now_ms);

/* Takes nDPI's guess as final, and matches it with the rules. */
void dpi_inspection_conclude(struct dpi_inspections *inspections, uint32_t place,
			     const struct dpi_matching *matching);

/* Bytes behind the L4 header. */
static inline uint32_t
dpi_payload_bytes(const struct weir_headers *headers)
{
	return headers->l3_offset + headers->l3_bytes - headers->payload_offset;
}

#endif
