/* SPDX-License-Identifier: Apache-2.0 */
/* Writes PFCP (TS 29.244, clauses 7.2.2 and 8.1.1) into a buffer of a fixed size. */
#ifndef WEIR_NF_UPF_PFCP_WRITE_H
#define WEIR_NF_UPF_PFCP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* A modification's has 21, 23 for each rule from the access, and 80 for each report of usage. */
#define PFCP_RESPONSE_BYTES_MAX 1280

struct pfcp_writer {
	size_t bytes;
	bool is_full; /* something did not fit: the message is not to be sent */
	uint8_t message[PFCP_RESPONSE_BYTES_MAX];
};

/* A message with that sequence number; `seid`: NULL for one of nodes. */
void pfcp_begin(struct pfcp_writer *writer, enum pfcp_message message, const uint64_t *seid,
		uint32_t sequence);
/* Completes its length. False: it did not fit. */
bool pfcp_end(struct pfcp_writer *writer);

/* An element of so many bytes, network byte order. */
void pfcp_put_number(struct pfcp_writer *writer, enum pfcp_ie_type ie, uint64_t number,
		     unsigned int bytes);
void pfcp_put_bytes(struct pfcp_writer *writer, enum pfcp_ie_type ie, const void *value,
		    size_t bytes);
/* A group: what is put between both is in it. */
size_t pfcp_group_begin(struct pfcp_writer *writer, enum pfcp_ie_type ie);
void pfcp_group_end(struct pfcp_writer *writer, size_t begun);

#endif
