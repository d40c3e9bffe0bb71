/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PFCP: headers (TS 29.244, clause 7.2.2) and information elements (clause 8.1.1), which may
 * be groups of others. What a group may have is a table; reading it never allocates, never
 * looks outside, and ends at the first fault, which is what the response says (clause 7.6).
 */
#ifndef WEIR_NF_UPF_PFCP_READ_H
#define WEIR_NF_UPF_PFCP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct pfcp_span {
	const uint8_t *at;
	size_t bytes;
};

/* Host byte order. */
struct pfcp_header {
	uint8_t version;
	uint8_t message; /* enum pfcp_message, or another */
	bool has_seid;
	uint64_t seid;
	uint32_t sequence; /* 24 bits */
	struct pfcp_span ies;
};

/* Reads a message. False: its lengths are not those of a message that is all there (clause 7.6.3);
 * of another version only `version` and `sequence` are read, and it is true. */
bool pfcp_header_read(struct pfcp_span message, struct pfcp_header *header);

/* What a response says of a request that is refused. */
struct pfcp_fault {
	enum pfcp_cause cause;
	uint16_t ie; /* the one that offends; 0: none does */
};

/* Fills `fault` and returns false, so that callers can `return pfcp_fails(…)`. */
bool pfcp_fails(struct pfcp_fault *fault, enum pfcp_cause cause, uint16_t ie);

/* The same for an element that this function would have to obey and cannot. */
static inline bool
pfcp_refuses(struct pfcp_fault *fault, uint16_t ie)
{
	return pfcp_fails(fault, PFCP_SERVICE_NOT_SUPPORTED, ie);
}

/* One information element that a group may have. */
struct pfcp_row {
	uint16_t ie;
	uint16_t bytes_min; /* of its value; shorter: an invalid length */
	bool mandatory;
	bool repeats; /* else those behind the first are left out (clause 7.6.10) */
	/* Writes into the group's struct. False: `fault`. NULL: just that it is there matters. */
	bool (*read)(struct pfcp_span value, void *group, struct pfcp_fault *fault);
};

#define PFCP_ROWS_MAX 32
#define PFCP_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Reads the elements of a message or group; those without a row are left out (clause 7.6.9). */
bool pfcp_group_read(const struct pfcp_row *rows, unsigned int row_count, struct pfcp_span ies,
		     void *group, struct pfcp_fault *fault);

/* Numbers of so many bytes, network byte order. */
static inline uint64_t
pfcp_number(const uint8_t *at, unsigned int bytes)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

#endif
