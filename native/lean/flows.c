/* SPDX-License-Identifier: Apache-2.0 */
#include "flows.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "packet/headers.h"

#define IPV6_ADDRESSES_AT 8 /* RFC 8200, section 3: source, then destination */

struct key {
	struct weir_tuple tuple;
	uint8_t ipv6[32]; /* addresses, which a tuple has no room for */
};

/* Places of frames by their flows; a place holds the number of a frame, plus one. */
struct table {
	uint32_t mask;
	uint32_t *places;
	struct key *keys; /* of each frame */
};

static void
read_key(const struct weir_frames *frames, uint32_t index, struct rte_mbuf *packet, struct key *key)
{
	uint16_t length = frames->offset[index + 1] - frames->offset[index];
	const uint8_t *frame = frames->bytes + frames->offset[index];
	struct weir_headers headers;

	memcpy(rte_pktmbuf_mtod(packet, void *), frame, length);
	packet->data_len = length;
	packet->pkt_len = length;
	weir_headers_parse(packet, &headers);
	memset(key, 0, sizeof(*key));
	key->tuple = headers.tuple;
	if (headers.network == WEIR_NETWORK_IPV6)
		memcpy(key->ipv6, frame + headers.l3_offset + IPV6_ADDRESSES_AT, sizeof(key->ipv6));
}

/* False: the table has that flow. */
static bool
is_new(struct table *table, uint32_t index)
{
	const struct key *key = &table->keys[index];
	uint32_t place = rte_jhash(key, sizeof(*key), 0) & table->mask;

	while (table->places[place] != 0) {
		if (memcmp(&table->keys[table->places[place] - 1], key, sizeof(*key)) == 0)
			return false;
		place = (place + 1) & table->mask;
	}
	table->places[place] = index + 1;
	return true;
}

uint32_t *
weir_flows_first(const struct weir_frames *frames, struct rte_mempool *pool, uint32_t *count)
{
	uint32_t size = rte_align32pow2(2 * frames->count + 2);
	struct table table = {
		.mask = size - 1,
		.places = calloc(size, sizeof(*table.places)),
		.keys = malloc(frames->count * sizeof(*table.keys)),
	};
	uint32_t *first = malloc(frames->count * sizeof(*first));
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	bool ready = table.places != NULL && table.keys != NULL && first != NULL && packet != NULL;

	*count = 0;
	for (uint32_t i = 0; ready && i < frames->count; i++) {
		read_key(frames, i, packet, &table.keys[i]);
		if (is_new(&table, i))
			first[(*count)++] = i;
	}
	rte_pktmbuf_free(packet);
	free(table.places);
	free(table.keys);
	if (ready)
		return first;
	free(first);
	return NULL;
}
