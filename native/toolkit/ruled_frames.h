/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames the rules of a function are asked about, and what becomes of all others: options
 * that such functions have alike. Rules are about IP of both families; ARP and neighbour discovery
 * can be told apart, since hosts need them to find each other.
 */
#ifndef WEIR_TOOLKIT_RULED_FRAMES_H
#define WEIR_TOOLKIT_RULED_FRAMES_H

#include "engine/option.h"
#include "packet/headers.h"

enum weir_not_ipv4 { WEIR_NOT_IPV4_DROP, WEIR_NOT_IPV4_FORWARD };
extern const char *const weir_not_ipv4_names[];
/* Of one kind of frame, where it need not be as `not_ipv4` says. */
enum weir_frame_kind_says { WEIR_KIND_AS_NOT_IPV4, WEIR_KIND_DROP, WEIR_KIND_FORWARD };
extern const char *const weir_frame_kind_names[];
/* Of IPv6: as the rules say, or without asking them. */
enum weir_ipv6_says { WEIR_IPV6_RULES, WEIR_IPV6_DROP, WEIR_IPV6_FORWARD, WEIR_IPV6_AS_NOT_IPV4 };
extern const char *const weir_ipv6_names[];
/* Of neighbour discovery, where it need not be as `ipv6` says. */
enum weir_discovery_says { WEIR_DISCOVERY_AS_IPV6, WEIR_DISCOVERY_DROP, WEIR_DISCOVERY_FORWARD };
extern const char *const weir_discovery_names[];

struct weir_ruled_frames {
	unsigned int all;		 /* enum weir_not_ipv4 */
	unsigned int arp, other;	 /* enum weir_frame_kind_says */
	unsigned int ipv6;		 /* enum weir_ipv6_says */
	unsigned int neighbor_discovery; /* enum weir_discovery_says */
};

enum weir_ruled { WEIR_RULED, WEIR_UNRULED_DROP, WEIR_UNRULED_FORWARD };

/* What is to become of this frame, which is neither IPv4 nor malformed. */
enum weir_ruled weir_ruled_frame(const struct weir_ruled_frames *options,
				 const struct rte_mbuf *packet, const struct weir_headers *headers);

/* Rows for option tables: `owner` is the type of the state, which has these options as `frames`. */
#define WEIR_RULED_FRAMES_ROW(owner, kind, default_says, names, text)                              \
	{                                                                                          \
		.name = #kind, .type = WEIR_OPTION_ENUM, .default_text = default_says,             \
		.values = names, .help = text, .offset = offsetof(owner, frames.kind),             \
	}
#define WEIR_RULED_FRAMES_ROWS(owner)                                                              \
	{                                                                                          \
		.name = "not_ipv4",                                                                \
		.type = WEIR_OPTION_ENUM,                                                          \
		.default_text = "drop",                                                            \
		.values = weir_not_ipv4_names,                                                     \
		.help = "What happens to frames that are not IPv4 and that the rules are not "     \
			"asked about, where arp, ipv6 and other say nothing else.",                \
		.offset = offsetof(owner, frames.all),                                             \
	},                                                                                         \
		WEIR_RULED_FRAMES_ROW(owner, arp, "not_ipv4", weir_frame_kind_names,               \
				      "What happens to ARP, which hosts need to find each other; " \
				      "not_ipv4: what that option says."),                         \
		WEIR_RULED_FRAMES_ROW(                                                             \
			owner, ipv6, "rules", weir_ipv6_names,                                     \
			"What happens to IPv6: what the rules say, or without asking them; "       \
			"not_ipv4: what that option says."),                                       \
		WEIR_RULED_FRAMES_ROW(owner, neighbor_discovery, "ipv6", weir_discovery_names,     \
				      "What happens to neighbor discovery (RFC 4861), which IPv6 " \
				      "hosts need to find each other; ipv6: what that option "     \
				      "says."),                                                    \
		WEIR_RULED_FRAMES_ROW(owner, other, "not_ipv4", weir_frame_kind_names,             \
				      "What happens to frames of any other type; not_ipv4: what "  \
				      "that option says.")

#endif
