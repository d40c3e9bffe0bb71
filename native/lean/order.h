/* SPDX-License-Identifier: Apache-2.0 */
/* Measured values in order, for medians and quartiles. */
#ifndef WEIR_LEAN_ORDER_H
#define WEIR_LEAN_ORDER_H

#include <stddef.h>
#include <stdlib.h>

static inline int
weir_order_of(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* The least first. */
static inline void
weir_order(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), weir_order_of);
}

#endif
