/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbours.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "packet/mix.h"

#define ENTRIES_MIN 8 /* of rte_hash */
#define TICKS_FOR_ALL 256
#define ENTRIES_A_TICK_MIN 32

struct weir_neighbours {
	struct weir_neighbours_owner owner;
	struct rte_hash *by_key; /* position: that in `entries` */
	struct weir_neighbour *entries;
	uint32_t max, size;  /* size: of `entries` */
	uint32_t held_count; /* of all */
	uint32_t next_to_look_at;
	uint64_t random;
};

struct weir_neighbours *
weir_neighbours_create(uint32_t neighbours_max, const struct weir_neighbours_owner *owner)
{
	static atomic_uint made;
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		.entries = RTE_MAX(neighbours_max, (uint32_t)ENTRIES_MIN),
		.key_len = sizeof(struct weir_neighbour_key),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all that it has room for */
	};
	struct weir_neighbours *neighbours = calloc(1, sizeof(*neighbours));

	if (neighbours == NULL)
		return NULL;
	neighbours->owner = *owner;
	neighbours->max = neighbours_max;
	neighbours->size = parameters.entries;
	neighbours->entries = calloc(neighbours->size, sizeof(*neighbours->entries));
	snprintf(name, sizeof(name), "neighbours-%u", atomic_fetch_add(&made, 1));
	if (neighbours->entries != NULL)
		neighbours->by_key = rte_hash_create(&parameters);
	if (neighbours->by_key != NULL)
		return neighbours;
	weir_neighbours_free(neighbours);
	return NULL;
}

void
weir_neighbours_free(struct weir_neighbours *neighbours)
{
	if (neighbours == NULL)
		return;
	for (uint32_t i = 0; neighbours->entries != NULL && i < neighbours->size; i++) {
		for (unsigned int j = 0; j < neighbours->entries[i].held_count; j++)
			rte_pktmbuf_free(neighbours->entries[i].held[j].packet);
	}
	rte_hash_free(neighbours->by_key);
	free(neighbours->entries);
	free(neighbours);
}

uint32_t
weir_neighbours_count(const struct weir_neighbours *neighbours)
{
	return (uint32_t)rte_hash_count(neighbours->by_key);
}

uint32_t
weir_neighbours_held(const struct weir_neighbours *neighbours)
{
	return neighbours->held_count;
}

struct weir_neighbour *
weir_neighbours_find(const struct weir_neighbours *neighbours, const struct weir_neighbour_key *key)
{
	int position = rte_hash_lookup(neighbours->by_key, key);

	return position < 0 ? NULL : &neighbours->entries[position];
}

static inline uint64_t
after_ms(uint64_t now_tsc, uint64_t ms)
{
	return now_tsc + ms * rte_get_tsc_hz() / 1000;
}

/* RFC 4861, 6.3.2: so that routers of one link do not all ask at once. */
static uint64_t
reachable_ms(struct weir_neighbours *neighbours)
{
	const uint64_t base = WEIR_NEIGHBOUR_REACHABLE_MS;

	return base / 2 + weir_mix(++neighbours->random) % (base + 1);
}

static void
become(struct weir_neighbours *neighbours, struct weir_neighbour *neighbour,
       enum weir_neighbour_state state, uint64_t now_tsc)
{
	neighbour->state = state;
	neighbour->solicited = 0;
	switch (state) {
	case WEIR_NEIGHBOUR_REACHABLE:
		neighbour->due_tsc = after_ms(now_tsc, reachable_ms(neighbours));
		break;
	case WEIR_NEIGHBOUR_STALE:
		neighbour->sent_before = weir_counted(&neighbour->sent.packets);
		neighbour->due_tsc = now_tsc;
		break;
	case WEIR_NEIGHBOUR_DELAY:
		neighbour->due_tsc = after_ms(now_tsc, WEIR_NEIGHBOUR_DELAY_MS);
		break;
	default:
		neighbour->due_tsc = now_tsc;
		break;
	}
}

static void
ask(struct weir_neighbours *neighbours, struct weir_neighbour *neighbour, uint64_t now_tsc)
{
	neighbour->solicited++;
	neighbour->due_tsc = after_ms(now_tsc, WEIR_NEIGHBOUR_RETRANSMIT_MS);
	neighbours->owner.solicit(neighbours->owner.state, neighbour,
				  neighbour->state == WEIR_NEIGHBOUR_PROBE);
}

/* The entry is gone, and what waited for it. */
static void
forget(struct weir_neighbours *neighbours, struct weir_neighbour *neighbour,
       struct weir_flow_cache *cache)
{
	const struct weir_neighbour_key key = neighbour->key;

	weir_flow_cache_forget(cache, &neighbour->invalidation);
	for (unsigned int i = 0; i < neighbour->held_count; i++)
		neighbours->owner.refused(neighbours->owner.state, &neighbour->held[i],
					  WEIR_NEIGHBOUR_UNRESOLVED);
	neighbours->held_count -= neighbour->held_count;
	neighbour->held_count = 0;
	neighbour->state = WEIR_NEIGHBOUR_FREE;
	rte_hash_del_key(neighbours->by_key, &key);
}

/* Room for one more, if need be that of one which nobody was sure of. */
static bool
make_room(struct weir_neighbours *neighbours, struct weir_flow_cache *cache)
{
	if (weir_neighbours_count(neighbours) < neighbours->max)
		return true;
	for (uint32_t i = 0; i < neighbours->size; i++) {
		if (neighbours->entries[i].state == WEIR_NEIGHBOUR_STALE) {
			forget(neighbours, &neighbours->entries[i], cache);
			return true;
		}
	}
	return false;
}

/* A new entry without a state yet, or NULL. */
static struct weir_neighbour *
add(struct weir_neighbours *neighbours, const struct weir_neighbour_key *key,
    struct rte_mempool *pool, struct weir_flow_cache *cache)
{
	struct weir_neighbour *neighbour;
	int position;

	if (!make_room(neighbours, cache))
		return NULL;
	position = rte_hash_add_key(neighbours->by_key, key);
	if (position < 0)
		return NULL;
	neighbour = &neighbours->entries[position];
	memset(neighbour, 0, sizeof(*neighbour));
	neighbour->key = *key;
	neighbour->pool = pool;
	return neighbour;
}

enum weir_neighbours_room
weir_neighbours_hold(struct weir_neighbours *neighbours, const struct weir_neighbour_key *key,
		     const struct weir_neighbour_held *held, uint64_t now_tsc,
		     struct weir_flow_cache *cache)
{
	struct weir_neighbour *neighbour = weir_neighbours_find(neighbours, key);
	const bool is_new = neighbour == NULL;

	if (is_new)
		neighbour = add(neighbours, key, held->packet->pool, cache);
	if (neighbour == NULL)
		return WEIR_NEIGHBOURS_FULL;
	if (is_new) {
		become(neighbours, neighbour, WEIR_NEIGHBOUR_INCOMPLETE, now_tsc);
		ask(neighbours, neighbour, now_tsc);
	}
	if (neighbour->held_count == WEIR_NEIGHBOUR_HELD_MAX) {
		neighbours->owner.refused(neighbours->owner.state, &neighbour->held[0],
					  WEIR_NEIGHBOUR_QUEUE_FULL);
		memmove(&neighbour->held[0], &neighbour->held[1],
			(WEIR_NEIGHBOUR_HELD_MAX - 1) * sizeof(*held));
		neighbour->held_count--;
		neighbours->held_count--;
	}
	if (neighbours->held_count == WEIR_NEIGHBOURS_HELD_MAX)
		return WEIR_NEIGHBOURS_HELD_FULL;
	neighbour->held[neighbour->held_count++] = *held;
	neighbours->held_count++;
	return WEIR_NEIGHBOURS_HOLDS;
}

/* Its address is known now: what waited goes. */
static void
resolve(struct weir_neighbours *neighbours, struct weir_neighbour *neighbour)
{
	for (unsigned int i = 0; i < neighbour->held_count; i++) {
		weir_count(&neighbour->sent.packets, 1);
		neighbours->owner.resolved(neighbours->owner.state, neighbour, &neighbour->held[i]);
	}
	neighbours->held_count -= neighbour->held_count;
	neighbour->held_count = 0;
}

/* Returns whether it is another address than before. */
static bool
set_mac(struct weir_neighbour *neighbour, const struct rte_ether_addr *mac,
	struct weir_flow_cache *cache)
{
	if (weir_neighbour_has_mac(neighbour) && rte_is_same_ether_addr(&neighbour->mac, mac))
		return false;
	weir_flow_cache_forget(cache, &neighbour->invalidation);
	neighbour->mac = *mac;
	return true;
}

void
weir_neighbours_heard(struct weir_neighbours *neighbours, const struct weir_neighbour_key *key,
		      const struct rte_ether_addr *mac, bool known_only, struct rte_mempool *pool,
		      uint64_t now_tsc, struct weir_flow_cache *cache)
{
	struct weir_neighbour *neighbour = weir_neighbours_find(neighbours, key);

	if (neighbour == NULL && !known_only)
		neighbour = add(neighbours, key, pool, cache);
	if (neighbour == NULL || !set_mac(neighbour, mac, cache))
		return;
	become(neighbours, neighbour, WEIR_NEIGHBOUR_STALE, now_tsc);
	resolve(neighbours, neighbour);
}

void
weir_neighbours_advertised(struct weir_neighbours *neighbours, const struct weir_neighbour_key *key,
			   const struct rte_ether_addr *mac, bool solicited, bool override,
			   uint64_t now_tsc, struct weir_flow_cache *cache)
{
	struct weir_neighbour *neighbour = weir_neighbours_find(neighbours, key);
	const bool says_mac = !rte_is_zero_ether_addr(mac);
	bool changes;

	if (neighbour == NULL)
		return;
	if (neighbour->state == WEIR_NEIGHBOUR_INCOMPLETE) {
		if (!says_mac)
			return;
		set_mac(neighbour, mac, cache);
		become(neighbours, neighbour,
		       solicited ? WEIR_NEIGHBOUR_REACHABLE : WEIR_NEIGHBOUR_STALE, now_tsc);
		resolve(neighbours, neighbour);
		return;
	}
	changes = says_mac && !rte_is_same_ether_addr(&neighbour->mac, mac);
	if (changes && !override) {
		if (neighbour->state == WEIR_NEIGHBOUR_REACHABLE)
			become(neighbours, neighbour, WEIR_NEIGHBOUR_STALE, now_tsc);
		return;
	}
	if (changes)
		set_mac(neighbour, mac, cache);
	if (solicited)
		become(neighbours, neighbour, WEIR_NEIGHBOUR_REACHABLE, now_tsc);
	else if (changes)
		become(neighbours, neighbour, WEIR_NEIGHBOUR_STALE, now_tsc);
}

/* Its time is over. */
static void
end_state(struct weir_neighbours *neighbours, struct weir_neighbour *neighbour, uint64_t now_tsc,
	  struct weir_flow_cache *cache)
{
	switch ((enum weir_neighbour_state)neighbour->state) {
	case WEIR_NEIGHBOUR_REACHABLE:
		become(neighbours, neighbour, WEIR_NEIGHBOUR_STALE, now_tsc);
		break;
	case WEIR_NEIGHBOUR_STALE:
		if (weir_counted(&neighbour->sent.packets) != neighbour->sent_before)
			become(neighbours, neighbour, WEIR_NEIGHBOUR_DELAY, now_tsc);
		break;
	case WEIR_NEIGHBOUR_DELAY:
		become(neighbours, neighbour, WEIR_NEIGHBOUR_PROBE, now_tsc);
		ask(neighbours, neighbour, now_tsc);
		break;
	case WEIR_NEIGHBOUR_INCOMPLETE:
		if (neighbour->solicited < WEIR_NEIGHBOUR_MULTICAST_SOLICIT_MAX)
			ask(neighbours, neighbour, now_tsc);
		else
			forget(neighbours, neighbour, cache);
		break;
	case WEIR_NEIGHBOUR_PROBE:
		if (neighbour->solicited < WEIR_NEIGHBOUR_UNICAST_SOLICIT_MAX)
			ask(neighbours, neighbour, now_tsc);
		else
			forget(neighbours, neighbour, cache);
		break;
	case WEIR_NEIGHBOUR_FREE:
		break;
	}
}

void
weir_neighbours_tick(struct weir_neighbours *neighbours, uint64_t now_tsc,
		     struct weir_flow_cache *cache)
{
	uint32_t share = RTE_MAX(neighbours->size / TICKS_FOR_ALL, (uint32_t)ENTRIES_A_TICK_MIN);

	share = RTE_MIN(share, neighbours->size);
	for (uint32_t i = 0; i < share; i++) {
		struct weir_neighbour *neighbour =
			&neighbours->entries[neighbours->next_to_look_at];

		if (neighbour->state != WEIR_NEIGHBOUR_FREE && now_tsc >= neighbour->due_tsc)
			end_state(neighbours, neighbour, now_tsc, cache);
		neighbours->next_to_look_at = (neighbours->next_to_look_at + 1) % neighbours->size;
	}
}
