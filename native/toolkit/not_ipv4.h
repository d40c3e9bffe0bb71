/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function that works on IPv4 alone does with all other frames: options that such functions
 * have alike. Apart, since between hosts ARP must pass, and IPv6 must not where only rules for IPv4
 * stand in its way.
 */
#ifndef WEIR_TOOLKIT_NOT_IPV4_H
#define WEIR_TOOLKIT_NOT_IPV4_H

#include "engine/option.h"
#include "packet/headers.h"

enum weir_not_ipv4 { WEIR_NOT_IPV4_DROP, WEIR_NOT_IPV4_FORWARD };
extern const char *const weir_not_ipv4_names[];
/* Of one kind of frame, where it need not be as `not_ipv4` says. */
enum weir_not_ipv4_kind { WEIR_KIND_AS_NOT_IPV4, WEIR_KIND_DROP, WEIR_KIND_FORWARD };
extern const char *const weir_not_ipv4_kind_names[];

struct weir_not_ipv4_options {
	unsigned int all;	       /* enum weir_not_ipv4 */
	unsigned int arp, ipv6, other; /* enum weir_not_ipv4_kind */
};

/* Whether this frame, which is neither IPv4 nor malformed, goes on. */
bool weir_not_ipv4_forwards(const struct weir_not_ipv4_options *options,
			    const struct rte_mbuf *packet, const struct weir_headers *headers);

/* Rows for option tables: `owner` is the type of the state, which has these options as `not_ipv4`.
 */
#define WEIR_NOT_IPV4_KIND_ROW(owner, kind, what)                                                  \
	{                                                                                          \
		.name = #kind, .type = WEIR_OPTION_ENUM, .default_text = "not_ipv4",               \
		.values = weir_not_ipv4_kind_names,                                                \
		.help = "What happens to " what "; not_ipv4: what that option says.",              \
		.offset = offsetof(owner, not_ipv4.kind),                                          \
	}
#define WEIR_NOT_IPV4_ROWS(owner)                                                                  \
	{                                                                                          \
		.name = "not_ipv4",                                                                \
		.type = WEIR_OPTION_ENUM,                                                          \
		.default_text = "drop",                                                            \
		.values = weir_not_ipv4_names,                                                     \
		.help = "What happens to frames that are not IPv4, where arp, ipv6 and other say " \
			"nothing else.",                                                           \
		.offset = offsetof(owner, not_ipv4.all),                                           \
	},                                                                                         \
		WEIR_NOT_IPV4_KIND_ROW(owner, arp, "ARP, which hosts need to find each other"),    \
		WEIR_NOT_IPV4_KIND_ROW(owner, ipv6, "IPv6, for which there are no rules"),         \
		WEIR_NOT_IPV4_KIND_ROW(owner, other, "frames of any other type")

/* Of weir_drop_reason. */
#define WEIR_NOT_IPV4_REASON                                                                       \
	{                                                                                          \
		"not_ipv4", "The frame is not an IPv4 packet."                                     \
	}

#endif
