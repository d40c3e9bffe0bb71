/* SPDX-License-Identifier: Apache-2.0 */
#include "ue.h"

#include <stdio.h>

#include <arpa/inet.h>
#include <rte_byteorder.h>

static unsigned __int128
number_of(const struct upf_prefix *prefix)
{
	return (unsigned __int128)rte_be_to_cpu_64(prefix->words[0]) << 64 |
	       rte_be_to_cpu_64(prefix->words[1]);
}

static struct upf_prefix
prefix_of(unsigned __int128 number)
{
	return (struct upf_prefix){
		{rte_cpu_to_be_64((uint64_t)(number >> 64)), rte_cpu_to_be_64((uint64_t)number)}};
}

struct upf_prefix
upf_prefix_mask(unsigned int bits)
{
	return prefix_of(bits == 0 ? 0 : ~(unsigned __int128)0 << (128 - bits));
}

struct upf_prefix
upf_prefix_behind(const struct upf_prefix *first, unsigned int bits, uint32_t number)
{
	return prefix_of(number_of(first) + ((unsigned __int128)number << (128 - bits)));
}

uint32_t
upf_prefix_number(const struct upf_prefix *prefix, unsigned int bits)
{
	return (uint32_t)(number_of(prefix) >> (128 - bits));
}

bool
upf_ue_is(const struct upf_ue *one, const struct upf_ue *other)
{
	return one->ip == other->ip && one->prefix_bits == other->prefix_bits &&
	       upf_prefix_is(&one->prefix, &other->prefix);
}

bool
upf_ue_is_named(const struct upf_ue *ue)
{
	return ue->ip != 0 || ue->prefix_bits != 0;
}

bool
upf_ue_meets(const struct upf_ue *one, const struct upf_ue *other)
{
	return (one->ip != 0 && one->ip == other->ip) ||
	       (one->prefix_bits != 0 && one->prefix_bits == other->prefix_bits &&
		upf_prefix_is(&one->prefix, &other->prefix));
}

struct upf_ue_name
upf_ue_name(const struct upf_ue *ue)
{
	const char *between = ue->ip != 0 && ue->prefix_bits != 0 ? " " : "";
	char ip[INET_ADDRSTRLEN], prefix[INET6_ADDRSTRLEN];
	struct upf_ue_name name;
	size_t used = 0;

	inet_ntop(AF_INET, &ue->ip, ip, sizeof(ip));
	inet_ntop(AF_INET6, &ue->prefix, prefix, sizeof(prefix));
	if (ue->ip != 0 || ue->prefix_bits == 0)
		used = (size_t)snprintf(name.text, sizeof(name.text), "ue=%s%s", ip, between);
	if (ue->prefix_bits != 0)
		snprintf(name.text + used, sizeof(name.text) - used, "ue_prefix=%s/%u", prefix,
			 ue->prefix_bits);
	return name;
}
