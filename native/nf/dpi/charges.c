/* SPDX-License-Identifier: Apache-2.0 */
#include "charges.h"

#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

void
dpi_charges_fini(struct dpi_charges *charges)
{
	weir_flow_table_free(charges->index);
	rte_free(charges->places);
}

bool
dpi_charges_init(struct dpi_charges *charges, uint32_t capacity)
{
	*charges = (struct dpi_charges){.capacity = capacity};
	charges->places = rte_zmalloc("dpi charges", capacity * sizeof(struct dpi_charge),
				      RTE_CACHE_LINE_SIZE);
	if (charges->places != NULL)
		charges->index = weir_flow_table_create(capacity, charges->places,
							sizeof(struct dpi_charge));
	if (charges->index == NULL) {
		dpi_charges_fini(charges);
		return false;
	}
	for (uint32_t i = 0; i < capacity; i++) {
		charges->places[i].changes = 1;
		charges->places[i].next_free = i + 1 < capacity ? i + 1 : DPI_CHARGE_NONE;
	}
	return true;
}

#define KEY_WORDS (sizeof(struct dpi_charge_key) / sizeof(uint64_t))

static uint32_t
create(struct dpi_charges *charges, const struct dpi_charge_key *key)
{
	uint32_t place = charges->first_free;
	struct dpi_charge *charge;

	if (place == DPI_CHARGE_NONE)
		return DPI_CHARGE_NONE;
	charge = &charges->places[place];
	/* The place is free: its number is odd, and was before it was given back. */
	weir_words_put(charge->key_words, key, KEY_WORDS);
	if (!weir_flow_table_put(charges->index, place))
		return DPI_CHARGE_NONE;
	charges->first_free = charge->next_free;
	weir_count(&charges->count, 1);
	__atomic_store_n(&charge->counter.packets, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&charge->counter.bytes, 0, __ATOMIC_RELAXED);
	charge->swept_packets = 0;
	charge->flows = 0;
	weir_sequence_close(&charge->changes);
	return place;
}

uint32_t
dpi_charges_join(struct dpi_charges *charges, const struct dpi_charge_key *key, uint32_t now)
{
	const void *keys[] = {key};
	uint32_t place;

	weir_flow_table_find(charges->index, keys, &place, 1);
	if (place == WEIR_FLOW_NONE)
		place = create(charges, key);
	if (place == DPI_CHARGE_NONE)
		return DPI_CHARGE_NONE;
	charges->places[place].flows++;
	charges->places[place].active_at = now;
	return place;
}

void
dpi_charges_leave(struct dpi_charges *charges, uint32_t place)
{
	charges->places[place].flows--;
}

void
dpi_charges_add(struct dpi_charges *charges, uint32_t place, const struct weir_counter *counted)
{
	struct weir_counter *counter =
		place != DPI_CHARGE_NONE ? &charges->places[place].counter : &charges->forgotten;

	weir_count(&counter->packets, counted->packets);
	weir_count(&counter->bytes, counted->bytes);
}

static void
forget(struct dpi_charges *charges, uint32_t place)
{
	struct dpi_charge *charge = &charges->places[place];

	weir_sequence_open(&charge->changes);
	weir_flow_table_take(charges->index, place);
	dpi_charges_add(charges, DPI_CHARGE_NONE, &charge->counter);
	charge->next_free = charges->first_free;
	charges->first_free = place;
	weir_count(&charges->count, -(uint64_t)1);
}

void
dpi_charges_sweep(struct dpi_charges *charges, uint32_t count, uint32_t now, uint32_t timeout)
{
	for (uint32_t i = 0; i < RTE_MIN(count, charges->capacity); i++) {
		uint32_t place = charges->sweep_at;
		struct dpi_charge *charge = &charges->places[place];

		charges->sweep_at = place + 1 < charges->capacity ? place + 1 : 0;
		if ((charge->changes & 1) != 0)
			continue;
		if (charge->flows > 0 || charge->counter.packets != charge->swept_packets) {
			charge->swept_packets = charge->counter.packets;
			charge->active_at = now;
		} else if (now - charge->active_at > timeout) {
			forget(charges, place);
		}
	}
}

bool
dpi_charges_read(const struct dpi_charges *charges, uint32_t place, struct dpi_charge_key *key,
		 struct weir_counter *counter)
{
	const struct dpi_charge *charge = &charges->places[place];
	uint32_t begun = weir_sequence_begin(&charge->changes);

	weir_words_get(key, charge->key_words, KEY_WORDS);
	counter->packets = weir_counted(&charge->counter.packets);
	counter->bytes = weir_counted(&charge->counter.bytes);
	return weir_sequence_holds(&charge->changes, begun);
}
