/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes whose addresses are to be distinguished from others: sorted, disjoint, and few. */
#ifndef WEIR_NF_NAT_SPANS_H
#define WEIR_NF_NAT_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"

#define NAT_SPANS_MAX 1024

/* From the first address to the last, in host byte order. */
struct nat_span {
	uint32_t first, last;
};

struct nat_spans {
	uint32_t count;
	struct nat_span span[NAT_SPANS_MAX];
};

/* Reads "10.1.0.0/24, 10.2.0.0/24". -1 with `error`, whose message begins with `what`. */
int nat_spans_read(struct nat_spans *spans, const char *list, const char *what, const char *where,
		   struct weir_error *error);

/* Whether one of them has the address, in network byte order: a binary search. */
bool nat_spans_hold(const struct nat_spans *spans, uint32_t ip);

#endif
