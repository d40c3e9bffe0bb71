/* SPDX-License-Identifier: Apache-2.0 */
/* Longest prefix match against a search through all prefixes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_common.h>

#include "prefix_table.h"
#include "testing/eal.h"
#include "testing/rules.h"

#define PREFIXES 1500
#define ADDRESSES 600

static struct weir_ip_prefix
prefix_of(const char *text, uint8_t length)
{
	struct weir_ip_prefix prefix = {.length = length};

	assert_int_equal(
		inet_pton(strchr(text, ':') != NULL ? AF_INET6 : AF_INET, text, prefix.address), 1);
	return prefix;
}

static void
add(struct weir_prefix_table *table, const char *text, uint8_t length, uint16_t next_hop)
{
	struct weir_ip_prefix prefix = prefix_of(text, length);

	assert_int_equal(weir_prefix_table_room(table, &prefix), WEIR_PREFIX_ROOM);
	assert_int_not_equal(weir_prefix_table_add(table, &prefix, next_hop), 0);
}

static void
remove_prefix(struct weir_prefix_table *table, const char *text, uint8_t length)
{
	struct weir_ip_prefix prefix = prefix_of(text, length);

	assert_int_not_equal(weir_prefix_table_remove(table, &prefix), 0);
}

static weir_prefix_found
look_up(const struct weir_prefix_table *table, bool ipv6, const uint8_t *address)
{
	weir_prefix_found found;
	uint32_t word;

	if (ipv6) {
		weir_prefix_lookup_ipv6(table, &address, &found, 1);
		return found;
	}
	memcpy(&word, address, sizeof(word));
	word = rte_be_to_cpu_32(word);
	weir_prefix_lookup_ipv4(table, &word, &found, 1);
	return found;
}

static uint16_t
next_hop_of(const struct weir_prefix_table *table, const char *text)
{
	struct weir_ip_prefix address = prefix_of(text, 0);

	return weir_prefix_next_hop(look_up(table, strchr(text, ':') != NULL, address.address));
}

static void
the_longest_prefix_wins_whatever_the_order(void **state)
{
	struct weir_prefix_table table;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, 100, 10), 0);
	assert_int_equal(next_hop_of(&table, "10.1.2.3"), 0);
	add(&table, "10.1.2.0", 24, 24);
	add(&table, "10.1.2.3", 32, 32);
	add(&table, "10.0.0.0", 8, 8);
	add(&table, "10.1.0.0", 16, 16);
	add(&table, "0.0.0.0", 0, 1);
	assert_int_equal(next_hop_of(&table, "10.1.2.3"), 32);
	assert_int_equal(next_hop_of(&table, "10.1.2.4"), 24);
	assert_int_equal(next_hop_of(&table, "10.1.3.4"), 16);
	assert_int_equal(next_hop_of(&table, "10.2.3.4"), 8);
	assert_int_equal(next_hop_of(&table, "11.2.3.4"), 1);
	remove_prefix(&table, "10.1.2.3", 32);
	remove_prefix(&table, "10.1.0.0", 16);
	assert_int_equal(next_hop_of(&table, "10.1.2.3"), 24);
	assert_int_equal(next_hop_of(&table, "10.1.3.4"), 8);
	weir_prefix_table_free(&table);
}

/* rte_fib of DPDK 22.11 sends everything to the default route here. */
static void
a_default_route_leaves_two_halves_alone(void **state)
{
	struct weir_prefix_table table;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, 100, 10), 0);
	add(&table, "0.0.0.0", 1, 1);
	add(&table, "128.0.0.0", 1, 2);
	add(&table, "0.0.0.0", 0, 3);
	assert_int_equal(next_hop_of(&table, "10.0.0.1"), 1);
	assert_int_equal(next_hop_of(&table, "192.0.2.1"), 2);
	remove_prefix(&table, "128.0.0.0", 1);
	assert_int_equal(next_hop_of(&table, "192.0.2.1"), 3);
	weir_prefix_table_free(&table);
}

/* rte_fib6 of DPDK 22.11 has lost its room after 21 times. */
static void
what_a_removed_prefix_took_can_be_taken_again(void **state)
{
	struct weir_prefix_table table;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, 2, 13), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		add(&table, "2001:db8::1", 128, 7);
		assert_int_equal(next_hop_of(&table, "2001:db8::1"), 7);
		remove_prefix(&table, "2001:db8::1", 128);
		assert_int_equal(next_hop_of(&table, "2001:db8::1"), 0);
	}
	weir_prefix_table_free(&table);
}

static void
a_changed_next_hop_keeps_the_route(void **state)
{
	struct weir_prefix_table table;
	struct weir_ip_prefix prefix = prefix_of("192.0.2.0", 25);
	uint32_t route;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, 1, 1), 0);
	add(&table, "192.0.2.0", 25, 1);
	route = weir_prefix_table_find(&table, &prefix);
	assert_int_equal(weir_prefix_table_room(&table, &prefix), WEIR_PREFIX_ROOM);
	assert_int_equal(weir_prefix_table_add(&table, &prefix, 2), route);
	assert_int_equal(next_hop_of(&table, "192.0.2.1"), 2);
	weir_prefix_table_free(&table);
}

static void
no_room_is_said_before_anything_changes(void **state)
{
	struct weir_ip_prefix third = prefix_of("10.3.0.0", 16);
	struct weir_ip_prefix host = prefix_of("10.2.0.1", 32);
	struct weir_prefix_table table;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, 3, 1), 0);
	add(&table, "10.1.0.1", 32, 1);
	assert_int_equal(weir_prefix_table_room(&table, &host), WEIR_PREFIX_NO_GROUPS);
	add(&table, "10.1.0.2", 32, 2);
	add(&table, "10.2.0.0", 16, 3);
	assert_int_equal(weir_prefix_table_room(&table, &third), WEIR_PREFIX_NO_ROUTES);
	assert_int_equal(next_hop_of(&table, "10.1.0.2"), 2);
	weir_prefix_table_free(&table);
}

/* --- random prefixes ---------------------------------------------------------------------------
 */

struct oracle {
	struct weir_ip_prefix prefix;
	uint16_t next_hop;
	bool present;
};

static bool
covers(const struct weir_ip_prefix *prefix, const uint8_t *address)
{
	for (unsigned int bit = 0; bit < prefix->length; bit++) {
		if (((prefix->address[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8) != 0)
			return false;
	}
	return true;
}

/* Prefixes that nest often: few values for most bytes. */
static struct weir_ip_prefix
random_prefix(uint64_t *random, unsigned int address_bytes)
{
	struct weir_ip_prefix prefix = {.length =
						weir_test_random(random) % (address_bytes * 8 + 1)};

	for (unsigned int i = 0; i < address_bytes; i++)
		prefix.address[i] = weir_test_random(random) % 4 * 0x55;
	for (unsigned int bit = prefix.length; bit < address_bytes * 8; bit++)
		prefix.address[bit / 8] &= ~(0x80 >> bit % 8);
	return prefix;
}

static uint16_t
best(const struct oracle *oracle, const uint8_t *address)
{
	const struct oracle *found = NULL;

	for (unsigned int i = 0; i < PREFIXES; i++) {
		if (oracle[i].present && covers(&oracle[i].prefix, address) &&
		    (found == NULL || oracle[i].prefix.length > found->prefix.length))
			found = &oracle[i];
	}
	return found != NULL ? found->next_hop : 0;
}

static void
check_all(const struct weir_prefix_table *table, const struct oracle *oracle, uint64_t *random,
	  unsigned int address_bytes)
{
	for (unsigned int i = 0; i < ADDRESSES; i++) {
		struct weir_ip_prefix address = random_prefix(random, address_bytes);

		assert_int_equal(
			weir_prefix_next_hop(look_up(table, address_bytes == 16, address.address)),
			best(oracle, address.address));
	}
}

static void
agree(unsigned int address_bytes)
{
	struct oracle *oracle = calloc(PREFIXES, sizeof(*oracle));
	struct weir_prefix_table table;
	uint64_t random = 1;

	assert_int_equal(weir_prefix_table_init(&table, PREFIXES, 8 * PREFIXES), 0);
	for (unsigned int i = 0; i < PREFIXES; i++) {
		oracle[i].prefix = random_prefix(&random, address_bytes);
		oracle[i].next_hop = i + 1;
		assert_int_equal(weir_prefix_table_room(&table, &oracle[i].prefix),
				 WEIR_PREFIX_ROOM);
		oracle[i].present = weir_prefix_table_find(&table, &oracle[i].prefix) == 0;
		if (oracle[i].present)
			weir_prefix_table_add(&table, &oracle[i].prefix, i + 1);
	}
	check_all(&table, oracle, &random, address_bytes);
	for (unsigned int i = 0; i < PREFIXES; i++) {
		if (oracle[i].present && weir_test_random(&random) % 2 == 0) {
			assert_int_not_equal(weir_prefix_table_remove(&table, &oracle[i].prefix),
					     0);
			oracle[i].present = false;
		}
	}
	check_all(&table, oracle, &random, address_bytes);
	for (unsigned int i = 0; i < PREFIXES; i++) {
		if (oracle[i].present)
			weir_prefix_table_remove(&table, &oracle[i].prefix);
		oracle[i].present = false;
	}
	check_all(&table, oracle, &random, address_bytes);
	weir_prefix_table_free(&table);
	free(oracle);
}

static void
ipv4_agrees_with_a_search_through_all_prefixes(void **state)
{
	(void)state;
	agree(4);
}

static void
ipv6_agrees_with_a_search_through_all_prefixes(void **state)
{
	(void)state;
	agree(16);
}

static void
many_at_once_find_what_one_by_one_does(void **state)
{
	struct weir_prefix_table table;
	uint8_t bytes[WEIR_PREFIX_LOOKUPS_MAX][16];
	const uint8_t *addresses[WEIR_PREFIX_LOOKUPS_MAX];
	weir_prefix_found found[WEIR_PREFIX_LOOKUPS_MAX];
	uint64_t random = 7;

	(void)state;
	assert_int_equal(weir_prefix_table_init(&table, PREFIXES, 8 * PREFIXES), 0);
	for (unsigned int i = 0; i < PREFIXES; i++) {
		struct weir_ip_prefix prefix = random_prefix(&random, 16);

		assert_int_equal(weir_prefix_table_room(&table, &prefix), WEIR_PREFIX_ROOM);
		weir_prefix_table_add(&table, &prefix, i + 1);
	}
	for (unsigned int i = 0; i < WEIR_PREFIX_LOOKUPS_MAX; i++) {
		struct weir_ip_prefix address = random_prefix(&random, 16);

		memcpy(bytes[i], address.address, 16);
		addresses[i] = bytes[i];
	}
	weir_prefix_lookup_ipv6(&table, addresses, found, WEIR_PREFIX_LOOKUPS_MAX);
	for (unsigned int i = 0; i < WEIR_PREFIX_LOOKUPS_MAX; i++)
		assert_true(found[i] == look_up(&table, true, bytes[i]));
	weir_prefix_table_free(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_prefix_wins_whatever_the_order),
		cmocka_unit_test(a_default_route_leaves_two_halves_alone),
		cmocka_unit_test(what_a_removed_prefix_took_can_be_taken_again),
		cmocka_unit_test(a_changed_next_hop_keeps_the_route),
		cmocka_unit_test(no_room_is_said_before_anything_changes),
		cmocka_unit_test(ipv4_agrees_with_a_search_through_all_prefixes),
		cmocka_unit_test(ipv6_agrees_with_a_search_through_all_prefixes),
		cmocka_unit_test(many_at_once_find_what_one_by_one_does),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
