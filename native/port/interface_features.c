/* SPDX-License-Identifier: Apache-2.0 */
#include "interface_features.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BITS_A_BLOCK 32

static bool
ask(int fd, const char *interface, void *request)
{
	struct ifreq wrapped = {.ifr_data = request};

	snprintf(wrapped.ifr_name, sizeof(wrapped.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &wrapped) == 0;
}

static unsigned int
count_of(int fd, const char *interface)
{
	union {
		struct ethtool_sset_info info; /* ends with an array without a length */
		uint8_t bytes[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} asked = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	uint32_t count;

	if (!ask(fd, interface, &asked) || asked.info.sset_mask == 0)
		return 0;
	memcpy(&count, asked.bytes + offsetof(struct ethtool_sset_info, data), sizeof(count));
	return count;
}

static bool
begins_with_one_of(const char *name, const char *const *prefixes)
{
	for (; *prefixes != NULL; prefixes++) {
		if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
			return true;
	}
	return false;
}

static void
list(const struct ethtool_gstrings *names, const struct ethtool_gfeatures *features,
     const char *const *prefixes, char *found, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; i < names->len; i++) {
		const char *name = (const char *)&names->data[(size_t)i * ETH_GSTRING_LEN];
		uint32_t active = features->features[i / BITS_A_BLOCK].active;

		if ((active >> i % BITS_A_BLOCK & 1) != 0 && begins_with_one_of(name, prefixes) &&
		    used < size)
			used += (size_t)snprintf(found + used, size - used, "%s%.*s",
						 used > 0 ? ", " : "", ETH_GSTRING_LEN, name);
	}
}

void
weir_interface_features(const char *interface, const char *const *prefixes, char *found,
			size_t size)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned int count = count_of(fd, interface);
	unsigned int blocks = (count + BITS_A_BLOCK - 1) / BITS_A_BLOCK;
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + count * ETH_GSTRING_LEN);
	struct ethtool_gfeatures *features =
		calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));

	*found = '\0';
	if (count > 0 && names != NULL && features != NULL) {
		*names = (struct ethtool_gstrings){
			.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
		*features = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = blocks};
		if (ask(fd, interface, names) && names->len <= count &&
		    ask(fd, interface, features))
			list(names, features, prefixes, found, size);
	}
	free(features);
	free(names);
	if (fd >= 0)
		close(fd);
}
