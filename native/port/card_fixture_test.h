/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network card for tests: a port of DPDK that gives back what it is sent, with stamps and a clock
 * of its own. The linker puts the functions of this file in front of those that ask a driver for
 * these (`test_link_args` in meson.build).
 */
#ifndef WEIR_PORT_CARD_FIXTURE_TEST_H
#define WEIR_PORT_CARD_FIXTURE_TEST_H

#include "port/port.h"

/* What the card can do, and what was asked of it. */
struct test_card {
	bool stamps, raw_clock, timesync;
	double ticks_per_cycle;
	uint64_t first_ticks, first_tsc;
	uint64_t offloads;
	unsigned int configured;
	bool timesync_enabled;
};
extern struct test_card card;

/* Test set-up: a card that stamps, of 1 GHz and 70 ppm, a year old. */
int new_card(void **state);
/* Its clock at that time of the counter. */
uint64_t card_ticks(uint64_t tsc);

/* The card as port "tester.right". */
struct weir_port *open_card(enum weir_timestamps wish);
/* Test clean-up. */
int close_card(void **state);

#endif
