/* SPDX-License-Identifier: Apache-2.0 */
/* Model: a place of dpi's charges that is read while it is given back and taken by another key. */
#include "checker.h"
#include <stdlib.h>

#include "nf/dpi/charges.c"

#define FIRST_PACKETS 5
#define SECOND_PACKETS 7
#define IDLE_S 1

static struct dpi_charges charges;
static struct dpi_charge place;

/* The index finds nothing: every join takes a place. */
void
weir_flow_table_find(const struct weir_flow_table *table, const void *const keys[],
		     uint32_t numbers[], unsigned int count)
{
	(void)table, (void)keys;
	for (unsigned int i = 0; i < count; i++)
		numbers[i] = WEIR_FLOW_NONE;
}

bool
weir_flow_table_put(struct weir_flow_table *table, uint32_t number)
{
	(void)table, (void)number;
	return true;
}

void
weir_flow_table_take(struct weir_flow_table *table, uint32_t number)
{
	(void)table, (void)number;
}

/* By words, as charges.c copies it: the checker knows no access to half of one. */
union key {
	struct dpi_charge_key key;
	uint64_t words[KEY_WORDS];
};

static void *
charge(void *unused)
{
	const union key first = {.words = {1, 1}}, second = {.words = {2, 2}};
	const struct weir_counter of_first = {.packets = FIRST_PACKETS},
				  of_second = {.packets = SECOND_PACKETS};

	dpi_charges_join(&charges, &first.key, 0);
	dpi_charges_add(&charges, 0, &of_first);
	forget(&charges, 0);
	dpi_charges_join(&charges, &second.key, 0);
	dpi_charges_add(&charges, 0, &of_second);
	return unused;
}

int
main(void)
{
	struct weir_counter counter;
	union key key;
	long writer;

	place.changes = 1;
	place.next_free = DPI_CHARGE_NONE;
	charges.places = &place;
	charges.capacity = 1;
	writer = model_thread(charge);
	if (dpi_charges_read(&charges, 0, &key.key, &counter)) {
		model_assert(key.words[0] == 1 || key.words[0] == 2);
		model_assert(key.words[1] == key.words[0]);
		model_assert(counter.packets == 0 ||
			     counter.packets ==
				     (key.words[0] == 1 ? FIRST_PACKETS : SECOND_PACKETS));
	}
	model_join(writer);
	return 0;
}
