/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_RING_CHECK_H
#define WEIR_CONTROL_RING_CHECK_H

#include "engine/error.h"

/*
 * Fails if areas of two cores put packets into one ring or port, or take them from it: rings have
 * one producer and one consumer, and so has a port's queue. For all areas, once they are joined.
 */
int weir_rings_check(struct weir_error *error);

#endif
