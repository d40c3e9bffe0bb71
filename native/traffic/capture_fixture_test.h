/* SPDX-License-Identifier: Apache-2.0 */
/* A capture of three frames, for tests: written by libpcap, to a file that is gone at the end. */
#ifndef WEIR_TRAFFIC_CAPTURE_FIXTURE_TEST_H
#define WEIR_TRAFFIC_CAPTURE_FIXTURE_TEST_H

#include <stdint.h>

#include "capture.h"

#define FRAMES 3

extern char capture_path[];
/* Payloads that count up: UDP over IPv4, TCP over IPv6, tagged TCP over IPv4; without FCS. */
extern uint8_t capture_frames[FRAMES][2048];
extern uint16_t capture_lengths[FRAMES];

/* Frames as they are, or with stamps. */
extern const struct weir_capture_wanted as_is, with_stamps;

/* Writes it as frames of that link type, the second one cut by so many bytes. */
void write_link(int link, uint32_t more_bytes);

/* Group set-up: the file, and start_eal(). Group clean-up: removes it. */
int make_capture_file(void **state);
int remove_capture_file(void **state);
/* Test set-up: the three frames on Ethernet. */
int write_capture(void **state);

#endif
