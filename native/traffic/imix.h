/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IMIX genome (RFC 6985): a letter a frame size, in the order of sending. Small letters are its
 * table's; capital ones are custom sizes, said behind the genome: "aaaaaaaAAAAg:A=570".
 */
#ifndef WEIR_TRAFFIC_IMIX_H
#define WEIR_TRAFFIC_IMIX_H

#include <stdint.h>

#include "engine/error.h"

/* a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, i 9000, z 1518: the MTU's. Returns the
 * number of sizes, at most `max`, or -1. */
int weir_imix_sizes(const char *genome, uint16_t *sizes, unsigned int max, const char *where,
		    struct weir_error *error);

#endif
