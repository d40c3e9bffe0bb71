/* SPDX-License-Identifier: Apache-2.0 */
#include "inspections.h"

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>
#include <rte_tcp.h>

void
dpi_inspections_fini(struct dpi_inspections *inspections)
{
	for (uint32_t i = 0; i < inspections->capacity && inspections->places != NULL; i++) {
		if (inspections->places[i].ndpi != NULL)
			ndpi_free_flow_data(inspections->places[i].ndpi);
	}
	rte_free(inspections->places);
	rte_free(inspections->ndpi_flows);
	if (inspections->ndpi != NULL)
		ndpi_exit_detection_module(inspections->ndpi);
}

static struct ndpi_detection_module_struct *
create_ndpi(void)
{
	struct ndpi_detection_module_struct *ndpi = ndpi_init_detection_module(ndpi_no_prefs);
	NDPI_PROTOCOL_BITMASK all;

	if (ndpi == NULL)
		return NULL;
	NDPI_BITMASK_SET_ALL(all);
	ndpi_set_protocol_detection_bitmask2(ndpi, &all);
	ndpi_finalize_initialization(ndpi);
	return ndpi;
}

int
dpi_inspections_init(struct dpi_inspections *inspections, uint32_t capacity)
{
	*inspections = (struct dpi_inspections){
		.ndpi = create_ndpi(),
		.ndpi_flow_bytes =
			RTE_CACHE_LINE_ROUNDUP(ndpi_detection_get_sizeof_ndpi_flow_struct()),
		.capacity = capacity,
	};
	inspections->places =
		rte_zmalloc("dpi inspections", capacity * sizeof(struct dpi_inspection), 0);
	inspections->ndpi_flows =
		rte_zmalloc("dpi nDPI flows", (size_t)capacity * inspections->ndpi_flow_bytes,
			    RTE_CACHE_LINE_SIZE);
	if (inspections->ndpi == NULL || inspections->places == NULL ||
	    inspections->ndpi_flows == NULL) {
		dpi_inspections_fini(inspections);
		return -1;
	}
	for (uint32_t i = 0; i < capacity; i++)
		inspections->places[i].next_free = i + 1 < capacity ? i + 1 : DPI_INSPECTION_NONE;
	return 0;
}

void
dpi_streams_fini(struct dpi_streams *streams)
{
	for (uint32_t i = 0; i < streams->count; i++)
		hs_close_stream(streams->streams[i], NULL, NULL, NULL);
	free(streams->streams);
	hs_free_scratch(streams->scratch);
	*streams = (struct dpi_streams){0};
}

int
dpi_streams_init(struct dpi_streams *streams, const struct dpi_rules *rules, uint32_t inspections)
{
	*streams = (struct dpi_streams){0};
	if (rules->content == NULL)
		return 0;
	streams->streams = calloc(2 * (size_t)inspections, sizeof(*streams->streams));
	if (streams->streams == NULL ||
	    hs_alloc_scratch(rules->content, &streams->scratch) != HS_SUCCESS)
		goto failed;
	while (streams->count < 2 * inspections) {
		if (hs_open_stream(rules->content, 0, &streams->streams[streams->count]) !=
		    HS_SUCCESS)
			goto failed;
		streams->count++;
	}
	return 0;
failed:
	dpi_streams_fini(streams);
	return -1;
}

uint32_t
dpi_inspection_begin(struct dpi_inspections *inspections)
{
	uint32_t place = inspections->first_free;
	struct dpi_inspection *inspection;

	if (place == DPI_INSPECTION_NONE)
		return DPI_INSPECTION_NONE;
	inspection = &inspections->places[place];
	inspections->first_free = inspection->next_free;
	weir_count(&inspections->count, 1);
	memset(inspection, 0, sizeof(*inspection));
	inspection->ndpi =
		(void *)(inspections->ndpi_flows + (size_t)place * inspections->ndpi_flow_bytes);
	inspection->rule = DPI_RULE_NONE;
	inspection->label = DPI_RULE_NONE;
	return place;
}

void
dpi_inspection_end(struct dpi_inspections *inspections, uint32_t place)
{
	struct dpi_inspection *inspection = &inspections->places[place];

	ndpi_free_flow_data(inspection->ndpi);
	memset(inspection->ndpi, 0, inspections->ndpi_flow_bytes);
	inspection->ndpi = NULL;
	inspection->next_free = inspections->first_free;
	inspections->first_free = place;
	weir_count(&inspections->count, -(uint64_t)1);
}

/* Of two rules that match, the earlier one in the file takes precedence. */
static inline void
note(struct dpi_inspection *inspection, const struct dpi_rules *rules, uint32_t rule)
{
	uint32_t *first =
		rules->rules[rule].action == DPI_LABEL ? &inspection->label : &inspection->rule;

	if (rule < *first)
		*first = rule;
}

struct scan {
	struct dpi_inspection *inspection;
	const struct dpi_rules *rules;
};

static int
on_match(unsigned int rule, unsigned long long from, unsigned long long to, unsigned int flags,
	 void *argument)
{
	struct scan *scan = argument;

	(void)from;
	(void)to;
	(void)flags;
	note(scan->inspection, scan->rules, rule);
	return 0;
}

static inline hs_stream_t *
stream_of(const struct dpi_matching *matching, uint32_t place, enum weir_direction direction)
{
	return matching->streams->streams[2 * place + direction];
}

static inline void
reset(hs_stream_t *stream)
{
	hs_reset_stream(stream, 0, NULL, NULL, NULL);
}

/* How many of the payload's first bytes were scanned before. A hole begins the text anew. */
static uint32_t
known_bytes(struct dpi_inspection *inspection, hs_stream_t *stream, const struct rte_tcp_hdr *tcp,
	    enum weir_direction direction, uint32_t bytes)
{
	uint32_t seq = rte_be_to_cpu_32(tcp->sent_seq) + ((tcp->tcp_flags & RTE_TCP_SYN_FLAG) != 0);
	uint32_t behind = inspection->next_seq[direction] - seq; /* or ahead: from 2^31 + 1 on */
	uint32_t known = 0;

	if (!inspection->begun[direction] || behind > 1U << 31) {
		inspection->begun[direction] = true;
		reset(stream);
	} else {
		known = RTE_MIN(behind, bytes);
	}
	if (known < bytes)
		inspection->next_seq[direction] = seq + bytes;
	return known;
}

static void
scan_content(struct dpi_inspections *inspections, uint32_t place,
	     const struct dpi_matching *matching, const struct rte_mbuf *packet,
	     const struct weir_headers *headers, enum weir_direction direction)
{
	struct dpi_inspection *inspection = &inspections->places[place];
	struct scan scan = {.inspection = inspection, .rules = matching->rules};
	uint32_t bytes = dpi_payload_bytes(headers);
	const char *payload =
		rte_pktmbuf_mtod_offset(packet, const char *, headers->payload_offset);
	hs_stream_t *stream = stream_of(matching, place, direction);
	uint32_t known = 0;

	if (headers->tuple.protocol == IPPROTO_TCP)
		known = known_bytes(inspection, stream,
				    rte_pktmbuf_mtod_offset(packet, const struct rte_tcp_hdr *,
							    headers->l4_offset),
				    direction, bytes);
	else
		reset(stream);
	bytes = RTE_MIN(bytes - known, inspections->payload_bytes_max - inspection->payload_bytes);
	if (bytes == 0)
		return;
	hs_scan_stream(stream, payload + known, bytes, 0, matching->streams->scratch, on_match,
		       &scan);
	inspection->payload_bytes += bytes;
	weir_count(&inspections->scanned_bytes, bytes);
}

static void
note_application(struct dpi_inspection *inspection, const struct dpi_rules *rules)
{
	const uint16_t names[] = {inspection->protocol, inspection->application};

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		if (names[i] != NDPI_PROTOCOL_UNKNOWN && names[i] < RTE_DIM(rules->applications) &&
		    rules->applications[names[i]] != DPI_RULE_NONE)
			note(inspection, rules, rules->applications[names[i]]);
	}
}

/* nDPI names the protocol below an application, or in its place. */
static void
name_application(struct dpi_inspection *inspection, ndpi_protocol found)
{
	bool alone = found.master_protocol == NDPI_PROTOCOL_UNKNOWN;

	inspection->protocol = alone ? found.app_protocol : found.master_protocol;
	inspection->application =
		found.app_protocol != inspection->protocol ? found.app_protocol : 0;
}

static void
recognise(struct dpi_inspections *inspections, struct dpi_inspection *inspection,
	  const struct dpi_rules *rules, const struct rte_mbuf *packet,
	  const struct weir_headers *headers, uint64_t now_ms)
{
	ndpi_protocol found = ndpi_detection_process_packet(
		inspections->ndpi, inspection->ndpi,
		rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->l3_offset),
		headers->l3_bytes, now_ms);

	name_application(inspection, found);
	note_application(inspection, rules);
	inspection->recognised =
		ndpi_is_protocol_detected(inspections->ndpi, found) != 0 &&
		ndpi_extra_dissection_possible(inspections->ndpi, inspection->ndpi) == 0;
}

/* Other rules: what was scanned is gone, what nDPI said still holds. */
static void
begin_anew(struct dpi_inspection *inspection, const struct dpi_matching *matching)
{
	inspection->epoch = matching->epoch;
	inspection->rule = DPI_RULE_NONE;
	inspection->label = DPI_RULE_NONE;
	inspection->begun[WEIR_OUTBOUND] = false;
	inspection->begun[WEIR_INBOUND] = false;
	note_application(inspection, matching->rules);
}

bool
dpi_inspect(struct dpi_inspections *inspections, uint32_t place,
	    const struct dpi_matching *matching, const struct rte_mbuf *packet,
	    const struct weir_headers *headers, enum weir_direction direction, uint64_t now_ms)
{
	struct dpi_inspection *inspection = &inspections->places[place];
	const struct dpi_rules *rules = matching->rules;
	bool has_payload =
		headers->tuple.protocol == IPPROTO_TCP || headers->tuple.protocol == IPPROTO_UDP;

	if (inspection->epoch != matching->epoch)
		begin_anew(inspection, matching);
	inspection->packets += inspection->packets < inspections->packets_max;
	weir_count(&inspections->inspected_packets, 1);
	if (rules->content != NULL && has_payload)
		scan_content(inspections, place, matching, packet, headers, direction);
	if (inspections->recognise && !inspection->recognised)
		recognise(inspections, inspection, rules, packet, headers, now_ms);
	return inspection->rule != DPI_RULE_NONE || !has_payload ||
	       inspection->packets >= inspections->packets_max ||
	       inspection->payload_bytes >= inspections->payload_bytes_max ||
	       (rules->content == NULL && inspection->recognised);
}

void
dpi_inspection_conclude(struct dpi_inspections *inspections, uint32_t place,
			const struct dpi_matching *matching)
{
	struct dpi_inspection *inspection = &inspections->places[place];
	uint8_t guessed;

	if (inspection->epoch != matching->epoch)
		begin_anew(inspection, matching);
	if (!inspections->recognise || inspection->recognised)
		return;
	inspection->recognised = true;
	name_application(inspection,
			 ndpi_detection_giveup(inspections->ndpi, inspection->ndpi, 0, &guessed));
	note_application(inspection, matching->rules);
}
