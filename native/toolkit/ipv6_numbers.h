/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in the place of IPv6 addresses, for tables whose keys have room for an IPv4 address: two
 * addresses are the same if their numbers are. A number is an address's from the first that holds
 * it to the last that lets it go. For one thread, but for how many are held.
 */
#ifndef WEIR_TOOLKIT_IPV6_NUMBERS_H
#define WEIR_TOOLKIT_IPV6_NUMBERS_H

#include <stdint.h>

#define WEIR_IPV6_NUMBER_NONE UINT32_MAX

struct weir_ipv6_numbers;

/* For so many addresses at a time, about 40 bytes each. NULL: no memory. */
struct weir_ipv6_numbers *weir_ipv6_numbers_create(uint32_t capacity);
void weir_ipv6_numbers_free(struct weir_ipv6_numbers *numbers);

/* The address's, below the capacity; or WEIR_IPV6_NUMBER_NONE: nobody holds it. */
uint32_t weir_ipv6_number_find(const struct weir_ipv6_numbers *numbers, const uint8_t address[16]);
/* The same for one holder more; WEIR_IPV6_NUMBER_NONE: there is no room for another address. */
uint32_t weir_ipv6_number_hold(struct weir_ipv6_numbers *numbers, const uint8_t address[16]);
/* For one holder less. */
void weir_ipv6_number_let_go(struct weir_ipv6_numbers *numbers, uint32_t number);

/* The 16 bytes of the address of a number that is held. */
const uint8_t *weir_ipv6_number_address(const struct weir_ipv6_numbers *numbers, uint32_t number);
/* How many addresses are held; from any thread. */
uint64_t weir_ipv6_numbers_used(const struct weir_ipv6_numbers *numbers);

#endif
