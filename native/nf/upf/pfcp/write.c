/* SPDX-License-Identifier: Apache-2.0 */
#include "write.h"

#include <string.h>

#define LENGTH_AT 2
#define BEHIND_LENGTH 4

static void
put(struct pfcp_writer *writer, const void *value, size_t bytes)
{
	if (bytes > sizeof(writer->message) - writer->bytes) {
		writer->is_full = true;
		return;
	}
	memcpy(writer->message + writer->bytes, value, bytes);
	writer->bytes += bytes;
}

static void
put_number(struct pfcp_writer *writer, uint64_t number, unsigned int bytes)
{
	uint8_t value[8];

	for (unsigned int i = 0; i < bytes; i++)
		value[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
	put(writer, value, bytes);
}

void
pfcp_begin(struct pfcp_writer *writer, enum pfcp_message message, const uint64_t *seid,
	   uint32_t sequence)
{
	writer->bytes = 0;
	writer->is_full = false;
	put_number(writer, PFCP_VERSION << 5 | (seid != NULL), 1);
	put_number(writer, message, 1);
	put_number(writer, 0, 2);
	if (seid != NULL)
		put_number(writer, *seid, 8);
	put_number(writer, sequence, 3);
	put_number(writer, 0, 1);
}

static void
write_length(struct pfcp_writer *writer, size_t at, size_t length)
{
	writer->message[at] = (uint8_t)(length >> 8);
	writer->message[at + 1] = (uint8_t)length;
}

bool
pfcp_end(struct pfcp_writer *writer)
{
	write_length(writer, LENGTH_AT, writer->bytes - BEHIND_LENGTH);
	return !writer->is_full;
}

void
pfcp_put_bytes(struct pfcp_writer *writer, enum pfcp_ie_type ie, const void *value, size_t bytes)
{
	put_number(writer, ie, 2);
	put_number(writer, bytes, 2);
	put(writer, value, bytes);
}

void
pfcp_put_number(struct pfcp_writer *writer, enum pfcp_ie_type ie, uint64_t number,
		unsigned int bytes)
{
	put_number(writer, ie, 2);
	put_number(writer, bytes, 2);
	put_number(writer, number, bytes);
}

size_t
pfcp_group_begin(struct pfcp_writer *writer, enum pfcp_ie_type ie)
{
	pfcp_put_number(writer, ie, 0, 0);
	return writer->bytes;
}

void
pfcp_group_end(struct pfcp_writer *writer, size_t begun)
{
	if (!writer->is_full)
		write_length(writer, begun - LENGTH_AT, writer->bytes - begun);
}
