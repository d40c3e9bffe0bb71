/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of flow descriptions: any text, and behind its first line any IPv4 packet. What is
 * read is a filter, and what is refused says why. */
#include <stdlib.h>
#include <string.h>

#include "filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
check_end(const struct upf_filter_end *end)
{
	const unsigned int most = 8 * weir_ip_address_bytes(end->ip.ipv6);

	if (end->range_count > UPF_PORT_RANGES_MAX || end->bits > most)
		abort();
	for (unsigned int bit = end->bits; bit < most; bit++) {
		if ((end->ip.bytes[bit / 8] & 0x80 >> bit % 8) != 0)
			abort();
	}
	for (unsigned int i = 0; i < end->range_count; i++) {
		if (end->range[i].first > end->range[i].last)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *line = size > 0 ? memchr(bytes, '\n', size) : NULL;
	const size_t text_bytes = line != NULL ? (size_t)(line - bytes) : size;
	const size_t room = line != NULL ? size - text_bytes - 1 : 0;
	struct upf_filter filter;
	uint8_t *ip;

	if (upf_filter_read((const char *)bytes, text_bytes, &filter) != NULL)
		return 0;
	check_end(&filter.network);
	check_end(&filter.ue);
	if (filter.protocol > UPF_ANY_PROTOCOL)
		abort();
	if (room < 20 || (line[1] >> 4 == 6 && room < 40))
		return 0;
	ip = malloc(room); /* so that reading behind it is seen */
	if (ip == NULL)
		abort();
	memcpy(ip, line + 1, room);
	for (unsigned int from_ue = 0; from_ue <= 1; from_ue++) {
		const struct upf_filtered packet =
			upf_filtered_read(ip, (uint32_t)room, from_ue != 0);
		const struct upf_filter all = UPF_FILTER_OF_ALL;

		upf_filter_fits(&filter, &packet);
		if (!upf_filter_fits(&all, &packet))
			abort();
	}
	free(ip);
	return 0;
}
