/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <assert.h>

#define HEADER_BYTES 8
#define SEID_BYTES 8
#define HAS_SEID 0x01
#define BEHIND_LENGTH 4 /* the length counts from there */

bool
pfcp_fails(struct pfcp_fault *fault, enum pfcp_cause cause, uint16_t ie)
{
	*fault = (struct pfcp_fault){.cause = cause, .ie = ie};
	return false;
}

bool
pfcp_header_read(struct pfcp_span message, struct pfcp_header *header)
{
	const uint8_t *at = message.at;
	size_t begin = HEADER_BYTES, end;

	*header = (struct pfcp_header){0};
	if (message.bytes < HEADER_BYTES)
		return false;
	header->version = at[0] >> 5;
	header->message = at[1];
	header->has_seid = (at[0] & HAS_SEID) != 0;
	end = BEHIND_LENGTH + pfcp_number(at + 2, 2);
	if (header->has_seid)
		begin += SEID_BYTES;
	if (message.bytes < begin)
		return false;
	header->sequence = (uint32_t)pfcp_number(at + begin - 4, 3);
	if (header->version != PFCP_VERSION)
		return true;
	if (end < begin || end > message.bytes)
		return false;
	if (header->has_seid)
		header->seid = pfcp_number(at + BEHIND_LENGTH, SEID_BYTES);
	header->ies = (struct pfcp_span){.at = at + begin, .bytes = end - begin};
	return true;
}

/* One element of a group, if it has a row. */
static bool
read_ie(const struct pfcp_row *rows, unsigned int row_count, uint16_t ie, struct pfcp_span value,
	uint32_t *seen, void *group, struct pfcp_fault *fault)
{
	for (unsigned int i = 0; i < row_count; i++) {
		const struct pfcp_row *row = &rows[i];

		if (row->ie != ie)
			continue;
		if ((*seen & 1u << i) != 0 && !row->repeats)
			return true;
		*seen |= 1u << i;
		if (value.bytes < row->bytes_min)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, ie);
		return row->read == NULL || row->read(value, group, fault);
	}
	return true;
}

bool
pfcp_group_read(const struct pfcp_row *rows, unsigned int row_count, struct pfcp_span ies,
		void *group, struct pfcp_fault *fault)
{
	uint32_t seen = 0;

	assert(row_count <= PFCP_ROWS_MAX);
	while (ies.bytes > 0) {
		const uint16_t ie = ies.bytes >= 2 ? (uint16_t)pfcp_number(ies.at, 2) : 0;
		struct pfcp_span value;

		if (ies.bytes < 4)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, ie);
		value = (struct pfcp_span){.at = ies.at + 4,
					   .bytes = (size_t)pfcp_number(ies.at + 2, 2)};
		if (value.bytes > ies.bytes - 4)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, ie);
		if (!read_ie(rows, row_count, ie, value, &seen, group, fault))
			return false;
		ies.at += 4 + value.bytes;
		ies.bytes -= 4 + value.bytes;
	}
	for (unsigned int i = 0; i < row_count; i++) {
		if (rows[i].mandatory && (seen & 1u << i) == 0)
			return pfcp_fails(fault, PFCP_MANDATORY_IE_MISSING, rows[i].ie);
	}
	return true;
}
