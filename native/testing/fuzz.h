/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz targets of network functions: bytes become frames in both directions, time that passes and
 * whatever else the target does with a record. Starts DPDK by itself.
 */
#ifndef WEIR_TESTING_FUZZ_H
#define WEIR_TESTING_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nf.h"

#define WEIR_FUZZ_TEXT_BYTES 256

/* The longest frame of an input: a jumbo frame, longer than any port of Weir's takes. */
#define WEIR_FUZZ_FRAME_BYTES 9216

/* A record is a byte that says what to do (this modulo 8), a byte with the length, and that many
 * bytes. The length of the long ones is two bytes, the lower first. */
enum weir_fuzz_kind {
	WEIR_FUZZ_OUTBOUND, /* the bytes are a frame; 1 means the same */
	WEIR_FUZZ_LONG_OUTBOUND = 2,
	WEIR_FUZZ_INBOUND = 3, /* 4 means the same */
	WEIR_FUZZ_LONG_INBOUND = 5,
	WEIR_FUZZ_TIME = 6,    /* as many seconds pass as the first byte says */
	WEIR_FUZZ_COMMAND = 7, /* the target's own */
};

struct weir_fuzz_record {
	enum weir_fuzz_kind kind;
	const uint8_t *bytes;
	size_t size;
};

/* Takes the next record off the input; false: there is none. */
bool weir_fuzz_record(const uint8_t **bytes, size_t *size, struct weir_fuzz_record *record);

/* Of a frame. */
static inline bool
weir_fuzz_outbound(enum weir_fuzz_kind kind)
{
	return kind < WEIR_FUZZ_INBOUND;
}

/* A packet with those bytes, WEIR_FUZZ_FRAME_BYTES at most; AddressSanitizer sees who reads or
 * writes behind them. */
struct rte_mbuf *weir_fuzz_packet(const uint8_t *bytes, size_t size);

/*
 * Runs the function on all records. Aborts if a packet is neither forwarded nor counted as dropped
 * or held, if checksums that were right (IPv4, TCP, UDP, ICMP) are wrong afterwards (but for what
 * leaves a tunnel, whose checksums are its sender's), or if what
 * forward() did is not what decide() says. `command` may be NULL.
 */
void weir_fuzz_run(const struct weir_nf *nf, void *state, const uint8_t *bytes, size_t size,
		   void (*command)(void *state, const uint8_t *bytes, size_t size));

/* Runs a command of the function to its end; refused arguments change nothing. */
void weir_fuzz_command(const struct weir_nf *nf, void *state, const char *name,
		       const struct weir_option_value *arguments, unsigned int count);

/* A text of the input: a byte with its length and so many bytes. Returns the bytes read. */
size_t weir_fuzz_text(const uint8_t *bytes, size_t size, char text[WEIR_FUZZ_TEXT_BYTES]);

/* The name of a file with that content, until the next call. */
const char *weir_fuzz_file(const void *content, size_t size);

#endif
