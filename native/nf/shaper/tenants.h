/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tenant of a packet: by IPv4 prefix (of the inside address; the longest counts), by VLAN
 * (of the outermost tag), or "default" for all others.
 */
#ifndef WEIR_NF_SHAPER_TENANTS_H
#define WEIR_NF_SHAPER_TENANTS_H

#include <stdint.h>

#include "engine/error.h"
#include "engine/nf.h"
#include "engine/report.h"

#define TENANTS_MAX 1024
#define TENANT_NONE UINT16_MAX
#define TENANT_NAME_BYTES 24
#define TENANT_VLANS 4096
#define TENANT_PLACES 4096 /* of the hash of prefixes */

struct tenant_place {
	uint32_t address; /* network byte order */
	uint16_t number;
	uint8_t length_and_1; /* 0: free */
};

struct tenants {
	uint16_t count;
	uint16_t fallback; /* TENANT_NONE: packets of no tenant are let through */
	uint16_t of_vlan[TENANT_VLANS];
	char names[TENANTS_MAX][TENANT_NAME_BYTES];
	uint8_t length_count;
	uint8_t lengths[33]; /* that occur, longest first */
	struct tenant_place places[TENANT_PLACES];
};

/* What stands behind a tenant's name: words, and numbers such as "cir_bps=10000000". */
struct tenant_words {
	const char *name;
	const char *word; /* the one without '=', or "" */
	unsigned int number_count;
	struct {
		const char *name;
		uint64_t value;
	} numbers[8];
};

/* One tenant read; its number is how many there were before. 0, or -1 with `error`. */
typedef int (*tenant_fn)(void *argument, uint16_t number, const struct tenant_words *words,
			 const char *where, struct weir_error *error);

/* Reads the list in `text` or in the file at `path` (see toolkit/entries.h): each entry is a
 * prefix, "vlan:100" or "default", and what `take` makes of the words behind. */
int tenants_read(struct tenants *tenants, const char *owner, const char *text, const char *path,
		 tenant_fn take, void *argument, const char *where, struct weir_error *error);

/* The number of that name, within [min, max], into `value`; without one, `otherwise` if that is not
 * 0. -1 with `error`. */
int tenant_number(const struct tenant_words *words, const char *name, uint64_t min, uint64_t max,
		  uint64_t otherwise, uint64_t *value, const char *where, struct weir_error *error);

/* Refuses numbers whose name is not among `known`, which ends with NULL. */
int tenant_refuse_unknown(const struct tenant_words *words, const char *const *known,
			  const char *where, struct weir_error *error);

/* The labels of a counter: tenant, direction ("outbound" or "inbound") and what it counts. */
void tenant_labels(const struct tenants *tenants, uint16_t number, enum weir_direction direction,
		   const char *what_name, const char *what, struct weir_report_label labels[3]);

/* Whose packet it is, or TENANT_NONE. */
uint16_t tenants_find(const struct tenants *tenants, const struct weir_headers *headers,
		      enum weir_direction direction);

/* What steer() of nf.h gives: all of a tenant meets one worker, what is of none any. */
uint32_t tenants_steer(const struct tenants *tenants, const struct weir_headers *headers,
		       enum weir_direction direction);

#endif
