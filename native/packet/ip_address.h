/* SPDX-License-Identifier: Apache-2.0 */
/* An address of either family, as a key. */
#ifndef WEIR_PACKET_IP_ADDRESS_H
#define WEIR_PACKET_IP_ADDRESS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Network byte order; of IPv4 the first four bytes, the rest 0. */
struct weir_ip_address {
	uint8_t bytes[16];
	bool ipv6;
};
static_assert(sizeof(struct weir_ip_address) == 17, "a key without holes");

static inline unsigned int
weir_ip_address_bytes(bool ipv6)
{
	return ipv6 ? 16 : 4;
}

/* From the 4 or 16 bytes of a header. */
static inline struct weir_ip_address
weir_ip_address(const void *bytes, bool ipv6)
{
	struct weir_ip_address address = {.ipv6 = ipv6};

	memcpy(address.bytes, bytes, weir_ip_address_bytes(ipv6));
	return address;
}

static inline bool
weir_ip_address_is(const struct weir_ip_address *one, const struct weir_ip_address *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

/* 0.0.0.0 or ::. */
static inline bool
weir_ip_address_is_none(const struct weir_ip_address *address)
{
	static const uint8_t none[16];

	return memcmp(address->bytes, none, sizeof(none)) == 0;
}

#endif
