/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a UE is known by in a PDU session (TS 23.501, clause 5.8.2.2): an IPv4 address, an IPv6
 * prefix, or both. All prefixes of one function have one length, so that a packet is looked up
 * once.
 */
#ifndef WEIR_NF_UPF_UE_H
#define WEIR_NF_UPF_UE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UPF_PREFIX_BITS 64 /* where nothing says another length (TS 29.244, clause 8.2.62) */

/* A key of the table of prefixes: network byte order, and 0 behind the prefix. */
struct upf_prefix {
	uint64_t words[2];
};

struct upf_ue {
	struct upf_prefix prefix;
	uint32_t ip;	     /* network byte order; 0: it has none */
	uint8_t prefix_bits; /* 0: it has none */
	uint8_t zero[3];
};

/* Which bits of an IPv6 address are the prefix's. */
struct upf_prefix upf_prefix_mask(unsigned int bits);

/* That of an address of 16 bytes. */
static inline struct upf_prefix
upf_prefix_of(const uint8_t *address, const struct upf_prefix *mask)
{
	struct upf_prefix prefix;

	memcpy(&prefix, address, sizeof(prefix));
	prefix.words[0] &= mask->words[0];
	prefix.words[1] &= mask->words[1];
	return prefix;
}

static inline bool
upf_prefix_is(const struct upf_prefix *one, const struct upf_prefix *other)
{
	return one->words[0] == other->words[0] && one->words[1] == other->words[1];
}

/* The `number`-th one behind it, of that length. */
struct upf_prefix upf_prefix_behind(const struct upf_prefix *first, unsigned int bits,
				    uint32_t number);
/* Its number among those of that length, modulo 2^32. */
uint32_t upf_prefix_number(const struct upf_prefix *prefix, unsigned int bits);

bool upf_ue_is(const struct upf_ue *one, const struct upf_ue *other);
/* Whether it is known by anything. */
bool upf_ue_is_named(const struct upf_ue *ue);
/* Whether both would be sent the same packets. */
bool upf_ue_meets(const struct upf_ue *one, const struct upf_ue *other);

struct upf_ue_name {
	char text[80];
};

/* "ue=10.45.0.1", "ue_prefix=2001:db8::/64": the first that it has. */
struct upf_ue_name upf_ue_name(const struct upf_ue *ue);

#endif
