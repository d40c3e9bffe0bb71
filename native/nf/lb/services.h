/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual services and their back-ends: a set that packets read and nobody changes. A command makes
 * a new set beside it and puts that in its place.
 */
#ifndef WEIR_NF_LB_SERVICES_H
#define WEIR_NF_LB_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash_crc.h>

#include "engine/error.h"
#include "packet/headers.h"
#include "endpoint.h"

#define LB_SERVICES_MAX 64
#define LB_BACKENDS_MAX 1024 /* of all services together */
#define LB_PLACES 4096	     /* of the hash of endpoints: a quarter full at most, nearly */
#define LB_NONE UINT16_MAX

struct lb_service {
	struct lb_endpoint at;
	uint16_t *table; /* Maglev's: numbers of back-ends; NULL: none takes new connections */
};

enum lb_backend_state { LB_FREE, LB_ACTIVE, LB_DRAINING };

struct lb_backend {
	struct lb_endpoint at;
	uint16_t service;
	/* Another back-end that takes the number of a removed one has another generation. */
	uint16_t generation;
	uint8_t state; /* enum lb_backend_state */
};

struct lb_place {
	uint64_t endpoint; /* 0: free */
	uint16_t number;   /* of the service or back-end */
};

struct lb_set {
	uint32_t table_size;
	uint16_t service_count;
	struct lb_service services[LB_SERVICES_MAX];
	struct lb_backend backends[LB_BACKENDS_MAX];
	struct lb_place places[LB_PLACES];
};

/* The number of the service or back-end (by role) at the endpoint, or LB_NONE. */
static inline uint16_t
lb_set_find(const struct lb_set *set, struct lb_endpoint endpoint)
{
	uint64_t word = lb_endpoint_word(endpoint);
	uint32_t place = rte_hash_crc_8byte(word, 0) % LB_PLACES;

	while (set->places[place].endpoint != word) {
		if (set->places[place].endpoint == 0)
			return LB_NONE;
		place = (place + 1) % LB_PLACES;
	}
	return set->places[place].number;
}

/* The back-end that Maglev's table has for a client's tuple, or LB_NONE. */
uint16_t lb_set_choose(const struct lb_set *set, uint16_t service, const struct weir_tuple *tuple);

/* Whether any service or back-end (by role) has this address and protocol: for packets without
 * ports. */
bool lb_set_has_address(const struct lb_set *set, uint32_t ip, uint8_t protocol, uint8_t role);

/*
 * Makes a set of "VIP:port/protocol BACKEND:port" entries, of `text` or of the file at `path`: see
 * toolkit/entries.h. NULL with `error`.
 */
struct lb_set *lb_set_create(const char *text, const char *path, uint32_t table_size,
			     const char *where, struct weir_error *error);
void lb_set_free(struct lb_set *set);

enum lb_change { LB_ADD, LB_DRAIN, LB_REMOVE };

/* A new set with that back-end of that service added (or taken back into service), drained or
 * removed, and its number; NULL with `error`. */
struct lb_set *lb_set_changed(const struct lb_set *set, enum lb_change change, const char *service,
			      const char *backend, uint16_t *number, const char *where,
			      struct weir_error *error);

#endif
