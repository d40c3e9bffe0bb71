/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l3fwd: forwards IPv4 and IPv6 by longest prefix match, as a router does (RFC 1812, RFC 8200).
 *
 * A packet gets the MAC addresses of its next hop, one less in its TTL or hop limit (5.3.1), and
 * leaves by the output that the route names. Without option `routes` every packet goes to dst_mac,
 * which a lab fills in: a router with a default route. What a router does not forward is dropped,
 * each for a reason of its own: frames that are not IP (ARP is for hosts, and this is none),
 * malformed headers and wrong checksums (5.2.2), frames sent to a broadcast or group MAC address
 * (5.3.4), addresses that belong on no wire (5.3.7; RFC 4291, 2.5), multicast, source routes
 * (RFC 7126), destinations without a route, and packets whose TTL would expire.
 *
 * With addresses of its own (`addresses`, `inbound_addresses`) it is a station on two links as
 * well: answers ARP (RFC 826), neighbour solicitations (RFC 4861) and echo requests, resolves next
 * hops that routes name by address, keeps a few packets meanwhile, and sends ICMP errors (RFC 792,
 * 1812, 4443).
 *
 * Limits: without addresses no ICMP errors are sent; no fragmentation; other IPv4 options pass
 * unread, as do IPv6 extension headers; the destination MAC address need not be this router's own.
 * Example: {"nf": "l3fwd", "options": {"routes": "routes.txt", "src_mac": "02:00:00:00:00:01"}}
 */
#include "station.h"

#include "engine/outputs.h"
#include "engine/report.h"

static const struct weir_option options[] = {
	{
		.name = "routes",
		.type = WEIR_OPTION_FILE,
		.help = "One route a line: prefix, MAC address of the next hop, or `default`, and, "
			"if it is not 0, the output of the path; or prefix, `via` and the address "
			"of a router on a link of its own; # begins a comment.",
		.offset = offsetof(struct l3fwd, routes),
	},
	{
		.name = "route_list",
		.type = WEIR_OPTION_TEXT,
		.help = "In place of a file: its lines, joined by commas.",
		.offset = offsetof(struct l3fwd, route_list),
	},
	{
		.name = "src_mac",
		.type = WEIR_OPTION_MAC,
		.help = "The source address of forwarded frames. A lab fills it in.",
		.offset = offsetof(struct l3fwd, src_mac),
	},
	{
		.name = "dst_mac",
		.type = WEIR_OPTION_MAC,
		.help = "The `default` next hop; where no routes are given, that of packets that "
			"no other route leads anywhere. A lab fills it in.",
		.offset = offsetof(struct l3fwd, dst_mac),
	},
	{
		.name = "inbound_src_mac",
		.type = WEIR_OPTION_MAC,
		.help = "src_mac of frames that go inbound, where both directions share one table. "
			"Not given: src_mac.",
		.offset = offsetof(struct l3fwd, inbound_src_mac),
	},
	{
		.name = "inbound_dst_mac",
		.type = WEIR_OPTION_MAC,
		.help = "dst_mac of frames that go inbound, where both directions share one table. "
			"Not given: dst_mac.",
		.offset = offsetof(struct l3fwd, inbound_dst_mac),
	},
	{
		.name = "ipv4_routes_max",
		.type = WEIR_OPTION_INT,
		.unit = "routes",
		.default_text = "65536",
		.min = 0,
		.max = WEIR_PREFIX_ROUTES_MAX,
		.help = "Room for IPv4 routes: about 60 bytes each, taken with the first one.",
		.offset = offsetof(struct l3fwd, routes_max[L3FWD_IPV4]),
	},
	{
		.name = "ipv4_groups_max",
		.type = WEIR_OPTION_INT,
		.unit = "groups",
		.default_text = "65536",
		.min = 0,
		.max = WEIR_PREFIX_GROUPS_MAX,
		.help = "Room for /24 networks with routes longer than /24: 2 KiB each, when used.",
		.offset = offsetof(struct l3fwd, groups_max[L3FWD_IPV4]),
	},
	{
		.name = "ipv6_routes_max",
		.type = WEIR_OPTION_INT,
		.unit = "routes",
		.default_text = "65536",
		.min = 0,
		.max = WEIR_PREFIX_ROUTES_MAX,
		.help = "Room for IPv6 routes: about 60 bytes each, taken with the first one.",
		.offset = offsetof(struct l3fwd, routes_max[L3FWD_IPV6]),
	},
	{
		.name = "ipv6_groups_max",
		.type = WEIR_OPTION_INT,
		.unit = "groups",
		.default_text = "262144",
		.min = 0,
		.max = WEIR_PREFIX_GROUPS_MAX,
		.help = "Room for networks of /24, /32, /40 ... with longer routes: 2 KiB each, "
			"when used.",
		.offset = offsetof(struct l3fwd, groups_max[L3FWD_IPV6]),
	},
	{
		.name = "next_hops_max",
		.type = WEIR_OPTION_INT,
		.unit = "next hops",
		.default_text = "1024",
		.min = 1,
		.max = UINT16_MAX,
		.help = "Room for next hops: pairs of MAC address and output.",
		.offset = offsetof(struct l3fwd, next_hops_max),
	},
	{
		.name = "inside_output",
		.type = WEIR_OPTION_INT,
		.default_text = "0",
		.max = WEIR_OUTPUTS_MAX - 1,
		.help = "The output that leads inside, where a path has outputs to both sides: "
			"what leaves by it has the inbound addresses, all else the outbound ones. "
			"0: addresses go by the direction of the path.",
		.offset = offsetof(struct l3fwd, inside_output),
	},
	{
		.name = "addresses",
		.type = WEIR_OPTION_TEXT,
		.help = "Its own addresses on the outer link, each with the length of the prefix "
			"that is there, joined by commas: 192.0.2.1/24, 2001:db8::1/64. With any "
			"it answers and asks by ARP and neighbour discovery, and sends ICMP. Needs "
			"inside_output, which a lab fills in.",
		.offset = offsetof(struct l3fwd, addresses[WEIR_OUTBOUND]),
	},
	{
		.name = "inbound_addresses",
		.type = WEIR_OPTION_TEXT,
		.help = "The same on the inner link, where inside_output leads.",
		.offset = offsetof(struct l3fwd, addresses[WEIR_INBOUND]),
	},
	{
		.name = "answers_for",
		.type = WEIR_OPTION_TEXT,
		.help = "Prefixes whose addresses it answers ARP and solicitations for on the "
			"outer link, as though they were its own: those that a function in front "
			"of it translates to.",
		.offset = offsetof(struct l3fwd, answers_for[WEIR_OUTBOUND]),
	},
	{
		.name = "inbound_answers_for",
		.type = WEIR_OPTION_TEXT,
		.help = "The same on the inner link.",
		.offset = offsetof(struct l3fwd, answers_for[WEIR_INBOUND]),
	},
	{
		.name = "mtu_bytes",
		.type = WEIR_OPTION_INT,
		.unit = "bytes",
		.default_text = "0",
		.max = UINT16_MAX,
		.help = "The longest IP packet of the outer link; a longer one is dropped, and its "
			"sender told where that is due. 0: as the port takes it. Each packet is "
			"decided on anew then.",
		.offset = offsetof(struct l3fwd, mtu_bytes[WEIR_OUTBOUND]),
	},
	{
		.name = "inbound_mtu_bytes",
		.type = WEIR_OPTION_INT,
		.unit = "bytes",
		.default_text = "0",
		.max = UINT16_MAX,
		.help = "The same of the inner link.",
		.offset = offsetof(struct l3fwd, mtu_bytes[WEIR_INBOUND]),
	},
	{
		.name = "neighbours_max",
		.type = WEIR_OPTION_INT,
		.unit = "neighbours",
		.default_text = "1024",
		.min = 1,
		.max = 65536,
		.help = "Room for stations on its links. One that is stale makes room for a new "
			"one.",
		.offset = offsetof(struct l3fwd, neighbours_max),
	},
	{
		.name = "icmp_errors_pps",
		.type = WEIR_OPTION_INT,
		.unit = "packets/s",
		.default_text = "100",
		.max = 1000000,
		.help = "ICMP errors that it sends at the most, ten at once; 0: none.",
		.offset = offsetof(struct l3fwd, icmp_errors_pps),
	},
	{
		.name = "errors_pass_all",
		.type = WEIR_OPTION_BOOL,
		.help = "Its ICMP errors pass the functions in front of it as well: where these "
			"translate addresses in both directions before it, as in a lab's router.",
		.offset = offsetof(struct l3fwd, errors_pass_all),
	},
};

static const struct weir_drop_reason drop_reasons[L3FWD_DROPS] = {
	[L3FWD_DROP_NOT_IP] = {"not_ip", "The frame is neither IPv4 nor IPv6."},
	[L3FWD_DROP_MALFORMED] = {"malformed", "Lengths, version or options of the IP header "
					       "contradict each other or the frame."},
	[L3FWD_DROP_LINK_BROADCAST] = {"link_broadcast",
				       "The frame was sent to a broadcast or multicast MAC "
				       "address."},
	[L3FWD_DROP_BAD_CHECKSUM] = {"bad_checksum", "The IPv4 header checksum is wrong."},
	[L3FWD_DROP_MARTIAN] = {"martian",
				"The source or destination is an address that belongs on "
				"no wire, or stays on one link."},
	[L3FWD_DROP_MULTICAST] = {"multicast", "The destination is a multicast address."},
	[L3FWD_DROP_SOURCE_ROUTE] = {"source_route", "The IPv4 options have a source route."},
	[L3FWD_DROP_NO_ROUTE] = {"no_route", "No route leads to the destination."},
	[L3FWD_DROP_TTL_EXPIRED] = {"ttl_expired",
				    "The TTL or hop limit would have become 0 here."},
	[L3FWD_DROP_TOO_BIG] = {"too_big", "The packet is longer than the MTU of the link."},
	[L3FWD_DROP_FOR_ROUTER] = {"for_router",
				   "The packet was for the router itself, which answered it or "
				   "had no use for it: ARP, neighbour discovery, an address of "
				   "its own."},
	[L3FWD_DROP_NEIGHBOUR_UNRESOLVED] = {"neighbour_unresolved",
					     "The next hop answered no ARP or neighbour "
					     "solicitation."},
	[L3FWD_DROP_NEIGHBOUR_QUEUE_FULL] = {"neighbour_queue_full",
					     "More packets than can wait came while the next hop "
					     "was being asked for."},
	[L3FWD_DROP_NEIGHBOUR_TABLE_FULL] = {"neighbour_table_full",
					     "More next hops than neighbours_max are in use."},
};

static void
fini(void *state)
{
	struct l3fwd *l3fwd = state;

	l3fwd_routing_free(l3fwd->routing);
	l3fwd_station_free(l3fwd->station);
}

static int
read_routes(struct l3fwd *l3fwd, const char *where, struct weir_error *error)
{
	if (l3fwd->routes[0] != '\0' && l3fwd->route_list[0] != '\0')
		return weir_fail(error, "bad_argument", where, "routes or route_list", NULL,
				 "l3fwd has both a file and a list of routes");
	if (l3fwd->route_list[0] != '\0') {
		l3fwd->routing = l3fwd_routing_read(l3fwd, l3fwd->route_list, where, error);
		return l3fwd->routing != NULL ? 0 : -1;
	}
	if (l3fwd->routes[0] == '\0' && l3fwd->station == NULL &&
	    (!l3fwd_is_station(&l3fwd->dst_mac) || !l3fwd_is_station(&l3fwd->inbound_dst_mac)))
		return weir_fail(error, "bad_argument", where,
				 "routes, or addresses of stations as dst_mac and inbound_dst_mac",
				 NULL, "l3fwd has nowhere to send packets to");
	l3fwd->routing = l3fwd->routes[0] != '\0'
				 ? l3fwd_routing_load(l3fwd, l3fwd->routes, where, error)
				 : l3fwd_routing_create(l3fwd, where, error);
	return l3fwd->routing != NULL ? 0 : -1;
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct l3fwd *l3fwd = state;

	if (rte_is_zero_ether_addr(&l3fwd->inbound_src_mac))
		l3fwd->inbound_src_mac = l3fwd->src_mac;
	if (rte_is_zero_ether_addr(&l3fwd->inbound_dst_mac))
		l3fwd->inbound_dst_mac = l3fwd->dst_mac;
	if (l3fwd_station_init(l3fwd, where, error) == 0 && read_routes(l3fwd, where, error) == 0)
		return 0;
	fini(l3fwd);
	return -1;
}

static bool
idle(const void *state)
{
	return ((const struct l3fwd *)state)->station == NULL;
}

static void
tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	const struct l3fwd *l3fwd = state;

	weir_neighbours_tick(l3fwd->station->neighbours, now_tsc, cache);
}

/* What neighbours say comes to one worker, and each would need it. */
static int
share(void *state, unsigned int worker, unsigned int workers, const char *where,
      struct weir_error *error)
{
	(void)worker;
	if (idle(state))
		return 0;
	return weir_fail(error, "bad_argument", where, "one worker, or one state core",
			 "run it to completion, in a pipeline or with one state core",
			 "l3fwd with addresses cannot be shared by %u workers: each would have to "
			 "hear every neighbour",
			 workers);
}

static void
report(const void *state, struct weir_report *report)
{
	const struct l3fwd_station *station = ((const struct l3fwd *)state)->station;

	report->figure(report, "icmp_errors_sent",
		       station != NULL ? weir_counted(&station->errors_sent) : 0);
	report->figure(report, "icmp_errors_suppressed",
		       station != NULL ? weir_counted(&station->errors_suppressed) : 0);
	report->figure(report, "answers_lost",
		       station != NULL ? weir_counted(&station->answers_lost) : 0);
}

extern const struct weir_nf weir_nf_l3fwd;
/* Needs no steer(): every worker has all routes, and with addresses there is one. */
const struct weir_nf weir_nf_l3fwd = {
	.name = "l3fwd",
	.summary = "Forwards IPv4 and IPv6 by longest prefix match, as a router does.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.rewrites = true,
	.state_size = sizeof(struct l3fwd),
	.init = init,
	.fini = fini,
	.commands = l3fwd_commands,
	.command_count = RTE_DIM(l3fwd_commands),
	.decide = l3fwd_decide,
	.forward = l3fwd_forward,
	.take = l3fwd_take,
	.listen = l3fwd_listen,
	.release = l3fwd_release,
	.idle = idle,
	.tick = tick,
	.share = share,
	.report = report,
};
