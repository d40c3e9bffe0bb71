/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header fields and payload bytes that change from packet to packet, over what flows say.
 *
 * A packet's values follow from its sequence number alone: the same in every run, unmoved by what
 * is skipped, and known to the receiver. Checksums are updated by what changed (RFC 1624).
 */
#ifndef WEIR_TRAFFIC_PACKET_FIELDS_H
#define WEIR_TRAFFIC_PACKET_FIELDS_H

#include "frame.h"

struct rte_mbuf;

/* A field of a stream, ready to be drawn. */
struct weir_packet_draw {
	enum weir_packet_field field;
	bool random;
	uint32_t from, step;
	uint64_t count; /* of values; of a list its length */
	uint64_t seed;
	bool listed;
	uint32_t value[WEIR_PACKET_VALUES_MAX];
	/* Alias tables (Walker 1977): value i below its share of 2^32, else value alias[i]. */
	uint64_t share[WEIR_PACKET_VALUES_MAX];
	uint16_t alias[WEIR_PACKET_VALUES_MAX];
};

struct weir_packet_fields {
	unsigned int count;
	struct weir_offsets at;
	bool tcp, v4;
	struct weir_packet_draw draw[WEIR_PACKET_FIELDS];
};

/* NULL without `error`: the stream has none. */
int weir_packet_fields_make(const struct weir_stream_config *config,
			    struct weir_packet_fields **fields, struct weir_error *error);
/* Packet `sequence`'s value of the field. */
uint32_t weir_packet_value(const struct weir_packet_draw *draw, uint64_t sequence);
/* The byte behind the stamp of that packet. `fields` may be NULL. */
uint8_t weir_packet_fields_payload(const struct weir_packet_fields *fields, uint64_t sequence);
/* Into a burst of complete frames, of which the first has that number. */
void weir_packet_fields_write(const struct weir_packet_fields *fields, uint64_t sequence,
			      struct rte_mbuf **packets, uint16_t count);

#endif
