/* SPDX-License-Identifier: Apache-2.0 */
/* Options of network functions and arguments of their commands: one table says name, type, default,
 * range and help, and from it come parsing, --describe, schema and docs. */
#ifndef WEIR_ENGINE_OPTION_H
#define WEIR_ENGINE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum weir_option_type {
	WEIR_OPTION_ENUM,    /* stored as unsigned int: the index in `values` */
	WEIR_OPTION_MAC,     /* struct rte_ether_addr; all zero when not given */
	WEIR_OPTION_INT,     /* uint64_t, within [min, max] */
	WEIR_OPTION_BOOL,    /* bool */
	WEIR_OPTION_IPV4,    /* uint32_t, network byte order; 0 when not given */
	WEIR_OPTION_PREFIX,  /* struct weir_prefix: IPv4 "10.0.0.0/8"; host bits are refused */
	WEIR_OPTION_PREFIX6, /* struct weir_prefix6: IPv6 "2001:db8::/32"; likewise */
	WEIR_OPTION_TEXT, /* char[WEIR_OPTION_TEXT_BYTES]: a list or expression that init() reads */
	WEIR_OPTION_FILE, /* char[WEIR_OPTION_TEXT_BYTES]: the path of a file that init() reads */
};

#define WEIR_OPTION_TEXT_BYTES 16384

/* An IPv4 prefix; network byte order. */
struct weir_prefix {
	uint32_t address;
	uint32_t mask;
	uint8_t length;
	bool given;
};

/* The same of IPv6. */
struct weir_prefix6 {
	uint8_t address[16];
	uint8_t length;
	bool given;
};

struct weir_option {
	const char *name;
	enum weir_option_type type;
	const char *unit;	   /* NULL: none */
	const char *default_text;  /* NULL: not given means zero */
	uint64_t min, max;	   /* WEIR_OPTION_INT */
	const char *const *values; /* WEIR_OPTION_ENUM, NULL-terminated */
	const char *help;
	size_t offset; /* in the NF's state, or in the arguments of the command */
};

/* "10.0.0.0/8", or an address alone; false: it is none, or has host bits. */
bool weir_prefix_parse(const char *text, struct weir_prefix *prefix);
bool weir_prefix6_parse(const char *text, struct weir_prefix6 *prefix);

const char *weir_option_type_name(enum weir_option_type type);

/* One option as text, from the control protocol. */
struct weir_option_value {
	const char *name;
	const char *text;
};

/*
 * Writes the defaults of `options` and then `values` into `target`, each at its offset. `owner`:
 * whose they are, for messages. -1 with `error` for an unknown name or a bad value.
 */
int weir_options_parse(const char *owner, const struct weir_option *options,
		       unsigned int option_count, const struct weir_option_value *values,
		       unsigned int value_count, void *target, const char *where,
		       struct weir_error *error);

#endif
