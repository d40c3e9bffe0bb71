/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the place of IPv6 addresses: whose they are, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ipv6_numbers.h"
#include "testing/eal.h"

struct address {
	uint8_t bytes[16];
};

static struct address
address(uint32_t n)
{
	struct address made = {{0x20, 1, 0xd, 0xb8}};

	memcpy(made.bytes + 12, &n, sizeof(n));
	return made;
}

static uint32_t
hold(struct weir_ipv6_numbers *numbers, uint32_t n)
{
	return weir_ipv6_number_hold(numbers, address(n).bytes);
}

static uint32_t
find(const struct weir_ipv6_numbers *numbers, uint32_t n)
{
	return weir_ipv6_number_find(numbers, address(n).bytes);
}

static void
an_address_has_a_number_of_its_own_while_somebody_holds_it(void **state)
{
	struct weir_ipv6_numbers *numbers = weir_ipv6_numbers_create(8);
	uint32_t one, other;

	(void)state;
	assert_int_equal(find(numbers, 1), WEIR_IPV6_NUMBER_NONE);
	one = hold(numbers, 1);
	other = hold(numbers, 2);
	assert_int_not_equal(one, other);
	assert_int_equal(hold(numbers, 1), one);
	assert_int_equal(find(numbers, 2), other);
	assert_memory_equal(weir_ipv6_number_address(numbers, other), address(2).bytes, 16);
	weir_ipv6_number_let_go(numbers, one);
	assert_int_equal(find(numbers, 1), one); /* the second holder's */
	weir_ipv6_number_let_go(numbers, one);
	assert_int_equal(find(numbers, 1), WEIR_IPV6_NUMBER_NONE);
	assert_int_equal(find(numbers, 2), other);
	assert_int_equal(weir_ipv6_numbers_used(numbers), 1);
	weir_ipv6_numbers_free(numbers);
}

static void
there_is_room_for_as_many_as_were_asked_for_and_again_when_they_are_let_go(void **state)
{
	struct weir_ipv6_numbers *numbers = weir_ipv6_numbers_create(64);
	uint32_t held[64];

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		for (uint32_t n = 0; n < 64; n++) {
			held[n] = hold(numbers, round * 1000 + n);
			assert_true(held[n] < 64);
		}
		assert_int_equal(hold(numbers, 9999), WEIR_IPV6_NUMBER_NONE);
		assert_int_equal(hold(numbers, round * 1000 + 5), held[5]); /* it is there */
		weir_ipv6_number_let_go(numbers, held[5]);
		for (uint32_t n = 0; n < 64; n++) {
			assert_int_equal(find(numbers, round * 1000 + n), held[n]);
			weir_ipv6_number_let_go(numbers, held[n]);
		}
		assert_int_equal(weir_ipv6_numbers_used(numbers), 0);
	}
	weir_ipv6_numbers_free(numbers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_a_number_of_its_own_while_somebody_holds_it),
		cmocka_unit_test(
			there_is_room_for_as_many_as_were_asked_for_and_again_when_they_are_let_go),
	};

	return cmocka_run_group_tests_name("ipv6_numbers", tests, weir_test_eal, NULL);
}
