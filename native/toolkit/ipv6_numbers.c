/* SPDX-License-Identifier: Apache-2.0 */
#include "ipv6_numbers.h"

#include <assert.h>
#include <string.h>

#include <rte_malloc.h>

#include "packet/flow_table.h"
#include "packet/ledger.h"

static_assert(WEIR_IPV6_NUMBER_NONE == WEIR_FLOW_NONE, "the index's numbers are those given out");

struct held {
	uint8_t address[WEIR_FLOW_KEY_BYTES];
	uint32_t holders; /* 0: free */
	uint32_t next_free;
};

struct weir_ipv6_numbers {
	struct weir_flow_table *index; /* of `held`, by address */
	struct held *held;
	uint64_t used; /* also read by the control thread */
	uint32_t capacity;
	uint32_t high;	     /* from here on none was ever used */
	uint32_t first_free; /* below `high` */
};

struct weir_ipv6_numbers *
weir_ipv6_numbers_create(uint32_t capacity)
{
	struct weir_ipv6_numbers *numbers = rte_zmalloc("IPv6 numbers", sizeof(*numbers), 0);

	if (numbers == NULL)
		return NULL;
	numbers->capacity = capacity;
	numbers->first_free = WEIR_IPV6_NUMBER_NONE;
	numbers->held = rte_malloc("IPv6 addresses", capacity * sizeof(*numbers->held), 0);
	if (numbers->held != NULL)
		numbers->index = weir_flow_table_create(capacity, numbers->held[0].address,
							sizeof(*numbers->held));
	if (numbers->index != NULL)
		return numbers;
	weir_ipv6_numbers_free(numbers);
	return NULL;
}

void
weir_ipv6_numbers_free(struct weir_ipv6_numbers *numbers)
{
	if (numbers == NULL)
		return;
	if (numbers->index != NULL)
		weir_flow_table_free(numbers->index);
	rte_free(numbers->held);
	rte_free(numbers);
}

uint32_t
weir_ipv6_number_find(const struct weir_ipv6_numbers *numbers, const uint8_t address[16])
{
	const void *keys[1] = {address};
	uint32_t number;

	weir_flow_table_find(numbers->index, keys, &number, 1);
	return number;
}

static uint32_t
take(struct weir_ipv6_numbers *numbers)
{
	uint32_t number = numbers->first_free;

	if (number != WEIR_IPV6_NUMBER_NONE)
		numbers->first_free = numbers->held[number].next_free;
	else if (numbers->high < numbers->capacity)
		number = numbers->high++;
	return number;
}

static void
give(struct weir_ipv6_numbers *numbers, uint32_t number)
{
	numbers->held[number].next_free = numbers->first_free;
	numbers->first_free = number;
}

uint32_t
weir_ipv6_number_hold(struct weir_ipv6_numbers *numbers, const uint8_t address[16])
{
	uint32_t number = weir_ipv6_number_find(numbers, address);

	if (number == WEIR_IPV6_NUMBER_NONE) {
		number = take(numbers);
		if (number == WEIR_IPV6_NUMBER_NONE)
			return number;
		memcpy(numbers->held[number].address, address, WEIR_FLOW_KEY_BYTES);
		numbers->held[number].holders = 0;
		if (!weir_flow_table_put(numbers->index, number)) {
			give(numbers, number);
			return WEIR_IPV6_NUMBER_NONE;
		}
		weir_count(&numbers->used, 1);
	}
	numbers->held[number].holders++;
	return number;
}

void
weir_ipv6_number_let_go(struct weir_ipv6_numbers *numbers, uint32_t number)
{
	if (--numbers->held[number].holders > 0)
		return;
	weir_flow_table_take(numbers->index, number);
	give(numbers, number);
	weir_count(&numbers->used, -(uint64_t)1);
}

const uint8_t *
weir_ipv6_number_address(const struct weir_ipv6_numbers *numbers, uint32_t number)
{
	return numbers->held[number].address;
}

uint64_t
weir_ipv6_numbers_used(const struct weir_ipv6_numbers *numbers)
{
	return weir_counted(&numbers->used);
}
