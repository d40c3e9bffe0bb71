/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_cache.h"

#include <string.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "packet/flow_table.h"

#define ENDED_MAX 64

/*
 * What an entry needs at a stage only when it is made or forgotten: the tuple seen there, and its
 * place in the list of those that rest on the same object, which may be met at other stages too.
 * Places are the link's index + 1, so that 0 ends a list.
 */
struct link {
	struct weir_tuple seen;
	struct weir_invalidation_list *invalidation;
	uint32_t next, previous; /* previous 0: the first */
};

struct weir_flow_cache {
	uint32_t capacity;
	uint64_t count; /* also read by the control thread */
	uint32_t hand;	/* of the clock that looks for a flow to forget */
	uint32_t next_flushed;
	uint32_t free_count;
	uint64_t changes;
	struct weir_flow_table *table;
	struct weir_flow_entry *entries;
	struct link *links;    /* capacity × stages */
	uint8_t *stage_counts; /* by entry: as far as its first packet came; 0: free */
	uint32_t *free_numbers;
	/* Objects whose flows were forgotten since weir_flow_cache_begin(); one more than fit: all.
	 */
	unsigned int ended_count;
	const struct weir_invalidation_list *ended[ENDED_MAX];
	unsigned int stages;
	unsigned int path_count;
	struct weir_flow_path paths[WEIR_FLOW_PATHS_MAX];
	struct weir_offload *offloads[WEIR_FLOW_PATHS_MAX]; /* NULL: none */
};

static inline struct link *
link_of(struct weir_flow_cache *cache, uint32_t number, unsigned int stage)
{
	return &cache->links[(size_t)number * cache->stages + stage];
}

static inline struct link *
link_at(struct weir_flow_cache *cache, uint32_t place)
{
	return &cache->links[place - 1];
}

void
weir_flow_cache_free(struct weir_flow_cache *cache)
{
	if (cache == NULL)
		return;
	for (unsigned int i = 0; i < cache->path_count; i++) {
		if (cache->offloads[i] != NULL)
			cache->offloads[i]->kind->close(cache->offloads[i]);
	}
	weir_flow_table_free(cache->table);
	rte_free(cache->entries);
	rte_free(cache->links);
	rte_free(cache->stage_counts);
	rte_free(cache->free_numbers);
	rte_free(cache);
}

struct weir_flow_cache *
weir_flow_cache_create(uint32_t capacity, const struct weir_flow_path *paths,
		       unsigned int path_count)
{
	struct weir_flow_cache *cache = rte_zmalloc("flow cache", sizeof(*cache), 0);

	if (cache == NULL)
		return NULL;
	cache->capacity = capacity;
	cache->path_count = path_count;
	cache->stages = 1;
	for (unsigned int i = 0; i < path_count; i++) {
		cache->paths[i] = paths[i];
		cache->stages = RTE_MAX(cache->stages, paths[i].stage_count);
	}
	cache->entries = rte_zmalloc("flow entries", capacity * sizeof(*cache->entries),
				     RTE_CACHE_LINE_SIZE);
	cache->links = rte_zmalloc("flow links",
				   (size_t)capacity * cache->stages * sizeof(*cache->links), 0);
	cache->stage_counts = rte_zmalloc("flow stages", capacity, 0);
	cache->free_numbers = rte_malloc("flow numbers", capacity * sizeof(uint32_t), 0);
	if (cache->entries != NULL)
		cache->table =
			weir_flow_table_create(capacity, cache->entries, sizeof(*cache->entries));
	if (cache->table == NULL || cache->links == NULL || cache->stage_counts == NULL ||
	    cache->free_numbers == NULL) {
		weir_flow_cache_free(cache);
		return NULL;
	}
	for (uint32_t i = 0; i < capacity; i++)
		cache->free_numbers[i] = capacity - 1 - i;
	cache->free_count = capacity;
	return cache;
}

static void
take_out(struct weir_flow_cache *cache, struct link *link)
{
	if (link->invalidation == NULL)
		return;
	if (link->previous != 0)
		link_at(cache, link->previous)->next = link->next;
	else
		link->invalidation->first = link->next;
	if (link->next != 0)
		link_at(cache, link->next)->previous = link->previous;
	link->invalidation = NULL;
}

void
weir_flow_cache_offload(struct weir_flow_cache *cache, unsigned int path,
			struct weir_offload *offload)
{
	cache->offloads[path] = offload;
}

static inline struct weir_offload *
offload_of(const struct weir_flow_cache *cache, const struct weir_flow_entry *entry)
{
	return cache->offloads[entry->key.zero[0] - 1];
}

void
weir_flow_cache_flush(struct weir_flow_cache *cache)
{
	weir_flow_cache_flush_some(cache, 1);
}

void
weir_flow_cache_flush_some(struct weir_flow_cache *cache, uint32_t parts)
{
	uint32_t share = cache->capacity / parts + 1;

	for (uint32_t i = 0; i < RTE_MIN(share, cache->capacity); i++) {
		uint32_t number = cache->next_flushed;
		struct weir_flow_entry *entry = &cache->entries[number];

		cache->next_flushed = number + 1 == cache->capacity ? 0 : number + 1;
		if (cache->stage_counts[number] != 0)
			weir_flow_entry_turn(entry, offload_of(cache, entry));
	}
}

void
weir_flow_cache_flush_for(struct weir_flow_cache *cache,
			  const struct weir_invalidation_list *invalidation)
{
	if (cache == NULL)
		return;
	for (uint32_t place = invalidation->first; place != 0;
	     place = link_at(cache, place)->next) {
		struct weir_flow_entry *entry = &cache->entries[(place - 1) / cache->stages];

		weir_flow_entry_flush(entry, offload_of(cache, entry));
	}
}

static void
forget(struct weir_flow_cache *cache, uint32_t number)
{
	struct weir_flow_entry *entry = &cache->entries[number];

	weir_flow_entry_revoke(entry, offload_of(cache, entry));
	weir_flow_entry_flush(entry, offload_of(cache, entry));
	for (unsigned int i = 0; i < cache->stage_counts[number]; i++)
		take_out(cache, link_of(cache, number, i));
	weir_flow_table_take(cache->table, number);
	cache->stage_counts[number] = 0;
	cache->free_numbers[cache->free_count++] = number;
	weir_count(&cache->count, -(uint64_t)1);
	cache->changes++;
}

void
weir_flow_cache_forget(struct weir_flow_cache *cache, struct weir_invalidation_list *invalidation)
{
	if (cache == NULL)
		return;
	if (cache->ended_count < ENDED_MAX)
		cache->ended[cache->ended_count] = invalidation;
	cache->ended_count++;
	while (invalidation->first != 0)
		forget(cache, (invalidation->first - 1) / cache->stages);
}

static bool
is_concerned(struct weir_flow_cache *cache, uint32_t number, const void *state,
	     bool (*concerns)(const struct weir_tuple *, enum weir_direction, void *),
	     void *argument)
{
	const struct weir_flow_path *path = &cache->paths[cache->entries[number].key.zero[0] - 1];

	for (unsigned int i = 0; i < cache->stage_counts[number]; i++) {
		if (path->state[i] == state &&
		    concerns(&link_of(cache, number, i)->seen, path->direction, argument))
			return true;
	}
	return false;
}

void
weir_flow_cache_forget_if(struct weir_flow_cache *cache, const void *state,
			  bool (*concerns)(const struct weir_tuple *tuple,
					   enum weir_direction direction, void *argument),
			  void *argument)
{
	if (cache == NULL)
		return;
	cache->ended_count = ENDED_MAX + 1;
	for (uint32_t i = 0; i < cache->capacity; i++) {
		if (cache->stage_counts[i] != 0 &&
		    is_concerned(cache, i, state, concerns, argument))
			forget(cache, i);
	}
}

void
weir_flow_cache_find(struct weir_flow_cache *cache, const struct weir_tuple *const keys[],
		     struct weir_flow_entry *entries[], unsigned int count)
{
	uint32_t numbers[WEIR_FLOW_BULK];

	weir_flow_table_find(cache->table, (const void *const *)keys, numbers, count);
	for (unsigned int i = 0; i < count; i++) {
		entries[i] = numbers[i] != WEIR_FLOW_NONE ? &cache->entries[numbers[i]] : NULL;
	}
}

uint64_t
weir_flow_cache_changes(const struct weir_flow_cache *cache)
{
	return cache->changes;
}

uint32_t
weir_flow_cache_count(const struct weir_flow_cache *cache)
{
	return (uint32_t)weir_counted(&cache->count);
}

/* Second chance: passes over flows that were used since the hand was there. */
static void
make_room(struct weir_flow_cache *cache)
{
	for (;;) {
		uint32_t number = cache->hand;

		cache->hand = number + 1 == cache->capacity ? 0 : number + 1;
		if (cache->stage_counts[number] == 0)
			continue;
		if (!cache->entries[number].used) {
			forget(cache, number);
			return;
		}
		cache->entries[number].used = false;
	}
}

static void
put_in(struct weir_flow_cache *cache, struct link *link, const struct weir_tuple *seen,
       struct weir_invalidation_list *invalidation)
{
	uint32_t place = link - cache->links + 1;

	*link = (struct link){.seen = *seen, .invalidation = invalidation};
	if (invalidation == NULL)
		return;
	link->next = invalidation->first;
	if (link->next != 0)
		link_at(cache, link->next)->previous = place;
	invalidation->first = place;
}

void
weir_flow_cache_begin(struct weir_flow_cache *cache)
{
	cache->ended_count = 0;
}

static bool
rests_on_ended(const struct weir_flow_cache *cache, const struct weir_flow_stages *stages)
{
	if (cache->ended_count > ENDED_MAX)
		return true;
	for (unsigned int i = 0; i < cache->ended_count; i++) {
		for (unsigned int j = 0; j < stages->stage_count; j++) {
			if (stages->invalidation[j] == cache->ended[i])
				return true;
		}
	}
	return false;
}

static struct weir_flow_entry
kept(const struct weir_flow_decision *decision)
{
	const struct weir_action *action = &decision->action;
	struct weir_flow_entry entry = {
		.key = decision->key,
		.ip_change = weir_checksum_fold(decision->ip_change),
		.l4_change = weir_checksum_fold(decision->l4_change),
		.src_ip = action->src_ip,
		.dst_ip = action->dst_ip,
		.src_port = action->src_port,
		.dst_port = action->dst_port,
		.dst_mac = action->dst_mac,
		.src_mac = action->src_mac,
		.set = action->set,
		.verdict = action->verdict,
		.drop_reason = action->drop_reason,
		.drop_stage = decision->drop_stage,
		.ttl_decrement = action->ttl_decrement,
		.egress = action->has_egress ? action->egress : WEIR_FLOW_NO_EGRESS,
		.has_effects = decision->has_effects,
		.used = true,
		.operation_count = decision->operation_count,
	};

	memcpy(entry.operations, decision->operations, sizeof(entry.operations));
	memcpy(entry.stage_of, decision->stage_of, sizeof(entry.stage_of));
	return entry;
}

void
weir_flow_cache_remember(struct weir_flow_cache *cache, const struct weir_flow_decision *decision,
			 const struct weir_flow_stages *stages)
{
	const struct weir_tuple *key = &decision->key;
	struct weir_flow_entry *there;
	uint32_t number;

	if (rests_on_ended(cache, stages))
		return;
	weir_flow_cache_find(cache, &key, &there, 1);
	if (there != NULL)
		return;
	if (cache->free_count == 0)
		make_room(cache);
	number = cache->free_numbers[--cache->free_count];
	cache->entries[number] = kept(decision);
	if (!weir_flow_table_put(cache->table, number)) {
		cache->free_numbers[cache->free_count++] = number;
		return;
	}
	for (unsigned int i = 0; i < stages->stage_count; i++)
		put_in(cache, link_of(cache, number, i), &stages->seen[i], stages->invalidation[i]);
	cache->stage_counts[number] = stages->stage_count;
	weir_count(&cache->count, 1);
}
