/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of tables that several functions have alike: options, and below them drop reasons. `owner`
 * is the type of the state, which has a field of the option's name where none is given. */
#ifndef WEIR_TOOLKIT_OPTION_ROWS_H
#define WEIR_TOOLKIT_OPTION_ROWS_H

#include "engine/option.h"

/* session_timeouts.h has those that most functions have. */
#define WEIR_TIMEOUT_ROW(owner, field, seconds, seconds_max, text)                                 \
	{                                                                                          \
		.name = #field, .type = WEIR_OPTION_INT, .unit = "s", .default_text = seconds,     \
		.min = 1, .max = seconds_max, .help = text, .offset = offsetof(owner, field),      \
	}
/* The same of a member of the state's struct `within`. */
#define WEIR_TIMEOUT_ROW_AT(owner, within, field, seconds, seconds_max, text)                      \
	{                                                                                          \
		.name = #field, .type = WEIR_OPTION_INT, .unit = "s", .default_text = seconds,     \
		.min = 1, .max = seconds_max, .help = text,                                        \
		.offset = offsetof(owner, within.field),                                           \
	}

/* Of functions that decide by rules (rule_set.h). */
enum weir_default { WEIR_DEFAULT_DENY, WEIR_DEFAULT_PERMIT };
extern const char *const weir_default_names[];

#define WEIR_RULES_ROW(owner)                                                                      \
	{                                                                                          \
		.name = "rules", .type = WEIR_OPTION_FILE,                                         \
		.help = "File with one rule a line, such as: permit tcp 10.0.0.0/8 any "           \
			"1024-65535 80. None: only `default` decides.",                            \
		.offset = offsetof(owner, path),                                                   \
	}
#define WEIR_DEFAULT_ROW(owner, what)                                                              \
	{                                                                                          \
		.name = "default", .type = WEIR_OPTION_ENUM, .default_text = "deny",               \
		.values = weir_default_names,                                                      \
		.help = "What happens to " what " that match no rule.",                            \
		.offset = offsetof(owner, default_verdict),                                        \
	}

/* Of functions that know IPv4 alone; `owner` has the option as `ipv6`. */
enum weir_unknown_ipv6 { WEIR_UNKNOWN_IPV6_DROP, WEIR_UNKNOWN_IPV6_FORWARD };
extern const char *const weir_unknown_ipv6_names[];

#define WEIR_UNKNOWN_IPV6_ROW(owner, done)                                                         \
	{                                                                                          \
		.name = "ipv6", .type = WEIR_OPTION_ENUM, .default_text = "drop",                  \
		.values = weir_unknown_ipv6_names,                                                 \
		.help = "What happens to IPv6, which is not " done                                 \
			": dropped, or forwarded as it is, both ways.",                            \
		.offset = offsetof(owner, ipv6),                                                   \
	}

/* Of weir_drop_reason. */
#define WEIR_NOT_IPV4_REASON                                                                       \
	{                                                                                          \
		"not_ipv4", "The frame is not an IPv4 packet."                                     \
	}
#define WEIR_MALFORMED_REASON                                                                      \
	{                                                                                          \
		"malformed", "The IP header contradicts itself or is cut."                         \
	}
#define WEIR_TRUNCATED_REASON                                                                      \
	{                                                                                          \
		"truncated", "The TCP, UDP or ICMP header is not all there, or overwritten."       \
	}

#endif
