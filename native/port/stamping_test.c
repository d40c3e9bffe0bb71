/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a network card when its port is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_ethdev.h>

#include "port/card_fixture_test.h"
#include "port/device_clock.h"
#include "testing/eal.h"

static void
a_card_with_stamps_and_a_clock_times_arrivals(void **state)
{
	const struct weir_port *port = open_card(WEIR_TIMESTAMPS_AUTO);

	(void)state;
	assert_non_null(port->clock);
	assert_int_equal(card.configured, 1);
	assert_true((card.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0);
	assert_true(weir_device_clock_resolution_ns(port->clock) >= 0.9);
	assert_true(weir_device_clock_uncertainty_ns(port->clock) > 0);
}

static void
the_clock_of_ieee_1588_does_as_well_and_is_given_back(void **state)
{
	card.raw_clock = false;
	card.timesync = true;
	assert_non_null(open_card(WEIR_TIMESTAMPS_HARDWARE)->clock);
	assert_true(card.timesync_enabled);
	close_card(state);
	assert_false(card.timesync_enabled);
}

static void
stamps_by_a_clock_that_cannot_be_read_are_switched_off_again(void **state)
{
	const struct weir_port *port;

	(void)state;
	card.raw_clock = false;
	port = open_card(WEIR_TIMESTAMPS_AUTO);
	assert_null(port->clock);
	assert_string_equal(port->no_clock,
			    "it stamps packets, but by a clock that its driver does not show");
	assert_int_equal(card.configured, 2);
	assert_int_equal(card.offloads, 0);
}

static void
stamps_by_a_clock_that_stands_still_are_switched_off_again(void **state)
{
	const struct weir_port *port;

	(void)state;
	card.ticks_per_cycle = 0;
	port = open_card(WEIR_TIMESTAMPS_AUTO);
	assert_null(port->clock);
	assert_string_equal(port->no_clock, "its clock stands still");
	assert_int_equal(card.offloads, 0);
}

static void
a_driver_without_stamps_is_left_alone_and_is_the_reason(void **state)
{
	const struct weir_port *port;

	(void)state;
	card.stamps = false;
	port = open_card(WEIR_TIMESTAMPS_AUTO);
	assert_null(port->clock);
	assert_string_equal(port->no_clock, "its driver offers no stamps on received packets");
	assert_int_equal(card.configured, 1);
}

static void
a_port_that_need_not_stamp_is_left_as_it_is(void **state)
{
	(void)state;
	assert_null(open_card(WEIR_TIMESTAMPS_COUNTER)->clock);
	assert_int_equal(card.offloads, 0);
}

#define OPENED(test) cmocka_unit_test_setup_teardown(test, new_card, close_card)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(a_card_with_stamps_and_a_clock_times_arrivals),
		OPENED(the_clock_of_ieee_1588_does_as_well_and_is_given_back),
		OPENED(stamps_by_a_clock_that_cannot_be_read_are_switched_off_again),
		OPENED(stamps_by_a_clock_that_stands_still_are_switched_off_again),
		OPENED(a_driver_without_stamps_is_left_alone_and_is_the_reason),
		OPENED(a_port_that_need_not_stamp_is_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, weir_test_eal, NULL);
}
