/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nat: translates addresses and ports between an inside and an outside (NAPT44), for UDP, TCP and
 * ICMP echo, with the ICMP errors about them.
 *
 * Mapping is endpoint-independent: one external endpoint for an inside one, whomever it talks to
 * (RFC 4787, REQ-1; RFC 5382, REQ-1; RFC 5508, REQ-1a). Filtering is endpoint-independent unless
 * another is chosen. Also: hairpinning (RFC 4787, REQ-9), ICMP errors both ways (RFC 5508), time-
 * outs of RFC 4787, 5382 and 5508, waiting after a RST (RFC 7857), a limit of ports for each
 * subscriber (RFC 6888, REQ-4). Which port an endpoint gets: port_pool.h.
 *
 * Ports: outbound is from inside to outside. MAC addresses and TTL are left alone: put l3fwd behind
 * it. Fragments follow their first one; those that come before it wait. Limits: no application
 * gateways; other protocols, other ICMP and frames that are not IPv4 are dropped. With several
 * workers a fragment that overtakes its first one may wait at another worker in vain, and
 * hairpinning works within a worker only. Example: {"nf": "nat", "options": {"external":
 * "203.0.113.0/28", "sessions": 1000000}}
 */
#include "nat.h"

#include "toolkit/option_rows.h"

#define PREFIX_LENGTH_MIN 22

static const char *const filtering_names[] = {
	"endpoint-independent",
	"address-dependent",
	"address-and-port-dependent",
	NULL,
};

static const struct weir_option options[] = {
	{
		.name = "external",
		.type = WEIR_OPTION_PREFIX,
		.help = "External addresses: all of this prefix, of length 22 or more.",
		.offset = offsetof(struct nat, external),
	},
	{
		.name = "port_min",
		.type = WEIR_OPTION_INT,
		.default_text = "1",
		.min = 1,
		.max = UINT16_MAX,
		.help = "Lowest external port of each address. Those below 1024 are for inside "
			"ports below 1024 (RFC 4787, REQ-3a).",
		.offset = offsetof(struct nat, port_min),
	},
	{
		.name = "port_max",
		.type = WEIR_OPTION_INT,
		.default_text = "65535",
		.min = 1,
		.max = UINT16_MAX,
		.help = "Highest external port of each address.",
		.offset = offsetof(struct nat, port_max),
	},
	{
		.name = "sessions",
		.type = WEIR_OPTION_INT,
		.unit = "mappings",
		.default_text = "65536",
		.min = 1,
		.max = 16000000,
		.help = "Mappings at a time, 140 bytes each; of each worker.",
		.offset = offsetof(struct nat, session_count),
	},
	{
		.name = "remotes",
		.type = WEIR_OPTION_INT,
		.default_text = "65536",
		.min = 8,
		.max = 16000000,
		.help = "TCP connections, and with filtering remote endpoints, that are known at a "
			"time; 120 bytes each.",
		.offset = offsetof(struct nat, remote_count),
	},
	WEIR_FRAGMENT_ROWS(struct nat),
	{
		.name = "filtering",
		.type = WEIR_OPTION_ENUM,
		.default_text = "endpoint-independent",
		.values = filtering_names,
		.help = "Who may send to a mapping: everybody; addresses, or addresses and ports, "
			"that its inside endpoint sent to.",
		.offset = offsetof(struct nat, filtering),
	},
	WEIR_UNKNOWN_IPV6_ROW(struct nat, "translated"),
	WEIR_UDP_TIMEOUT_ROW(struct nat, timeouts_s, "mapping"),
	WEIR_TCP_TIMEOUT_ROWS(struct nat, timeouts_s,
			      "a TCP mapping with an established connection",
			      "any other TCP mapping"),
	WEIR_ICMP_TIMEOUT_ROW(struct nat, timeouts_s, "mapping"),
	{
		.name = "inbound_refresh",
		.type = WEIR_OPTION_BOOL,
		.default_text = "true",
		.help = "Whether inbound packets keep a mapping alive, as outbound ones do (RFC "
			"4787, REQ-6a).",
		.offset = offsetof(struct nat, inbound_refresh),
	},
	{
		.name = "subscriber_ports",
		.type = WEIR_OPTION_INT,
		.default_text = "0",
		.max = UINT32_MAX,
		.help = "External ports that one inside address may have, all protocols together; "
			"of each worker; 0: no limit.",
		.offset = offsetof(struct nat, subscriber_ports),
	},
	{
		.name = "lanes",
		.type = WEIR_OPTION_INT,
		.default_text = "16",
		.min = 1,
		.max = NAT_LANES_MAX,
		.help = "Groups into which ports are divided among workers, a power of two. "
			"Whatever the number of workers, the same lanes give the same "
			"translations.",
		.offset = offsetof(struct nat, lanes),
	},
	{
		.name = "hairpin_output",
		.type = WEIR_OPTION_INT,
		.default_text = "0",
		.max = 15,
		.help = "Output of the outbound path that leads back inside, for hairpinned "
			"packets; "
			"0: a later function knows.",
		.offset = offsetof(struct nat, hairpin_output),
	},
	{
		.name = "untranslated",
		.type = WEIR_OPTION_TEXT,
		.help = "Prefixes, joined by commas: what goes out to them is forwarded as it is. "
			"For networks that a router joins inside.",
		.offset = offsetof(struct nat, untranslated_list),
	},
	{
		.name = "forwards",
		.type = WEIR_OPTION_TEXT,
		.help = "Static mappings, joined by commas: tcp or udp, external and inside "
			"endpoint, such as tcp 203.0.113.1:80 10.0.0.1:8080.",
		.offset = offsetof(struct nat, forwards),
	},
	{
		.name = "addresses",
		.type = WEIR_OPTION_TEXT,
		.help = "Pairs of an external and an inside address, joined by commas, such as "
			"203.0.113.5 10.0.0.5: each is translated to the other, whatever the "
			"protocol and port (floating addresses).",
		.offset = offsetof(struct nat, pair_list),
	},
	{
		.name = "seed",
		.type = WEIR_OPTION_INT,
		.default_text = "1",
		.max = INT64_MAX,
		.help = "Of the choice of ports and addresses. The same seed repeats a run; keep "
			"it "
			"secret where ports are not to be guessed (RFC 6056).",
		.offset = offsetof(struct nat, seed),
	},
};

static const struct weir_drop_reason drop_reasons[] = {
	[NAT_DROP_NOT_IPV4] = WEIR_NOT_IPV4_REASON,
	[NAT_DROP_MALFORMED] = WEIR_MALFORMED_REASON,
	[NAT_DROP_TRUNCATED] = WEIR_TRUNCATED_REASON,
	[NAT_DROP_PROTOCOL] = {"protocol", "Neither TCP nor UDP nor ICMP."},
	[NAT_DROP_NO_MAPPING] = {"no_mapping",
				 "No inside endpoint has this external one; or a TCP RST of an "
				 "inside endpoint without a mapping."},
	[NAT_DROP_FILTERED] = {"filtered", "The inside endpoint has not sent to this remote one."},
	[NAT_DROP_PORTS_EXHAUSTED] = {"ports_exhausted",
				      "No external port is left for the inside endpoint."},
	[NAT_DROP_SESSIONS_EXHAUSTED] = {"sessions_exhausted",
					 "There are as many mappings as `sessions` says."},
	[NAT_DROP_REMOTES_EXHAUSTED] = {"remotes_exhausted",
					"With filtering: as many remote endpoints are known as "
					"`remotes` says."},
	[NAT_DROP_SUBSCRIBER_LIMIT] = {"subscriber_limit",
				       "The inside address has as many ports as "
				       "`subscriber_ports` says."},
	[NAT_DROP_FRAGMENT_UNKNOWN] = {"fragment_unknown",
				       "A later fragment of a mapping that has ended."},
	[NAT_DROP_FRAGMENT_TIMEOUT] = WEIR_FRAGMENT_TIMEOUT_REASON,
	[NAT_DROP_FRAGMENTS_FULL] = WEIR_FRAGMENTS_FULL_REASON,
	[NAT_DROP_ICMP] = {"icmp", "ICMP that is neither echo nor an error about a packet of a "
				   "mapping, or is damaged."},
	[NAT_DROP_OTHER_WORKER] = {"other_worker",
				   "The endpoint, or the one it is hairpinned to, belongs to "
				   "another worker."},
};

static int
check_options(const struct nat *nat, const char *where, struct weir_error *error)
{
	if (!nat->external.given)
		return weir_fail(error, "bad_argument", where, "external",
				 "give a prefix such as 203.0.113.0/28",
				 "nat has no external address");
	if (nat->external.length < PREFIX_LENGTH_MIN)
		return weir_fail(error, "bad_argument", where, "a prefix of length 22 or more",
				 NULL, "nat: `external` has too many addresses");
	if (nat->port_min > nat->port_max)
		return weir_fail(error, "bad_argument", where, "port_min up to port_max", NULL,
				 "nat: port_min is above port_max");
	if (!rte_is_power_of_2(nat->lanes))
		return weir_fail(error, "bad_argument", where, "1, 2, 4, 8, 16, 32 or 64", NULL,
				 "nat: `lanes` is no power of two");
	return 0;
}

static void
fini(void *state)
{
	struct nat *nat = state;

	weir_fragments_free(nat->fragments);
	nat_remotes_fini(nat);
	nat_sessions_fini(nat);
}

/* `untranslated` must hold no external address: packets to it would leave untranslated and reach no
 * host. */
static int
check_untranslated(const struct nat *nat, const char *where, struct weir_error *error)
{
	uint32_t first = rte_be_to_cpu_32(nat->external.address);
	uint32_t last = first | ~rte_be_to_cpu_32(nat->external.mask);

	for (uint32_t i = 0; i < nat->untranslated.count; i++) {
		const struct nat_span *span = &nat->untranslated.span[i];

		if (span->first <= last && span->last >= first)
			return weir_fail(error, "bad_argument", where,
					 "prefixes without an external address", NULL,
					 "nat: `untranslated` holds addresses of `external`");
	}
	return 0;
}

/* What is in a pair is shared with nobody. */
static int
check_pairs(const struct nat *nat, const char *where, struct weir_error *error)
{
	for (uint32_t i = 0; i < nat->pairs.count; i++) {
		uint32_t external = nat->pairs.of_external[i].from;

		if (nat_is_external(nat, external) ||
		    nat_spans_hold(&nat->untranslated, external) ||
		    nat_leads_inside(nat, nat->pairs.of_inside[i].from))
			return weir_fail(error, "bad_argument", where,
					 "external addresses that are neither in `external` nor in "
					 "`untranslated`, and inside ones that are not external",
					 NULL,
					 "nat: an address of `addresses` has another use already");
	}
	return 0;
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct nat *nat = state;

	if (check_options(nat, where, error) < 0 ||
	    nat_spans_read(&nat->untranslated, nat->untranslated_list, "nat: untranslated", where,
			   error) < 0 ||
	    check_untranslated(nat, where, error) < 0 ||
	    nat_pairs_read(&nat->pairs, nat->pair_list, where, error) < 0 ||
	    check_pairs(nat, where, error) < 0)
		return -1;
	nat->lane_bits = __builtin_ctzl(nat->lanes);
	nat->workers = 1;
	nat->timeouts = weir_session_timeouts_of_s(&nat->timeouts_s);
	nat->fragments = weir_fragments_of(&nat->fragment_options);
	if (nat_sessions_init(nat) == 0 && nat_remotes_init(nat) == 0 && nat->fragments != NULL) {
		if (nat_forwards_init(nat, where, error) == 0)
			return 0;
		fini(nat);
		return -1;
	}
	fini(nat);
	return weir_fail(error, "no_memory", where, NULL,
			 "give weir-dp more memory, or nat fewer `sessions` and `remotes`",
			 "no memory for %lu mappings and %lu remotes", nat->session_count,
			 nat->remote_count);
}

/* The lane of the endpoint, whichever side it is seen from. */
static uint32_t
steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
      enum weir_direction direction)
{
	const struct nat *nat = state;
	const struct weir_tuple *tuple = &headers->tuple;
	uint32_t lane;

	(void)packet;
	if (direction == WEIR_INBOUND) {
		uint32_t inside = nat_paired_inside(&nat->pairs, tuple->dst_ip);

		return inside != 0 ? nat_inside_lane(nat, inside, tuple->dst_port)
				   : nat_external_lane(nat, tuple->dst_ip, tuple->dst_port);
	}
	lane = nat_inside_lane(nat, tuple->src_ip, tuple->src_port);
	/* Both directions are outbound, and other functions must see them at one worker: both ends
	 * count alike. */
	if (nat_spans_hold(&nat->untranslated, tuple->dst_ip))
		lane ^= nat_inside_lane(nat, tuple->dst_ip, tuple->dst_port);
	return lane;
}

static int
share(void *state, unsigned int worker, unsigned int workers, const char *where,
      struct weir_error *error)
{
	struct nat *nat = state;

	if (workers > nat->lanes)
		return weir_fail(error, "bad_argument", where, "lanes",
				 "give nat as many `lanes` as there are workers, or more",
				 "nat: %u workers cannot share %lu lanes", workers, nat->lanes);
	nat->worker = worker;
	nat->workers = workers;
	return 0;
}

extern const struct weir_nf weir_nf_nat;
const struct weir_nf weir_nf_nat = {
	.name = "nat",
	.summary = "Translates addresses and ports between inside and outside (NAPT44).",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.rewrites = true,
	.flow_bytes = 140,
	.stand_in = "external=203.0.113.0/24",
	.state_size = sizeof(struct nat),
	.init = init,
	.fini = fini,
	.commands = nat_commands,
	.command_count = NAT_COMMANDS,
	.decide = nat_decide,
	.take = nat_take,
	.release = nat_release,
	.releases_held_only = true,
	.tick = nat_tick,
	.steer = steer,
	.share = share,
	.report = nat_report,
};
