/* SPDX-License-Identifier: Apache-2.0 */
/* Where a virtual service or a back-end is. */
#ifndef WEIR_NF_LB_ENDPOINT_H
#define WEIR_NF_LB_ENDPOINT_H

#include <assert.h>
#include <stdint.h>

#include "engine/error.h"

#define LB_ENDPOINT_TEXT 32 /* of "255.255.255.255:65535/tcp", and to spare */

enum lb_role { LB_VIP = 1, LB_BACKEND };

/* Address and port, network byte order, as what it is looked up. */
struct lb_endpoint {
	uint32_t ip;
	uint16_t port;
	uint8_t protocol;
	uint8_t role; /* enum lb_role */
};
static_assert(sizeof(struct lb_endpoint) == 8, "compared and hashed as one word");

static inline uint64_t
lb_endpoint_word(struct lb_endpoint endpoint)
{
	/* By shifts, which stay in registers; a copy of the struct would be put together first. */
	return endpoint.ip | (uint64_t)endpoint.port << 32 | (uint64_t)endpoint.protocol << 48 |
	       (uint64_t)endpoint.role << 56;
}

/* "203.0.113.10:80/tcp", or without the protocol for a back-end. */
void lb_endpoint_text(const struct lb_endpoint *endpoint, char text[LB_ENDPOINT_TEXT]);

/* Reads "203.0.113.10:80/tcp" into `vip` and "10.0.0.1:8080" into `at`, which gets the same
 * protocol. -1 with `error`. */
int lb_endpoints_parse(const char *service, const char *backend, struct lb_endpoint *vip,
		       struct lb_endpoint *at, const char *where, struct weir_error *error);

#endif
