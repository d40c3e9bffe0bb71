/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lb: an L4 balancer. What clients send to a virtual service (an address, a port, TCP or UDP) goes
 * to one of its back-ends, and what the back-ends send comes from the service.
 *
 * A connection's back-end is chosen by Maglev's consistent hashing (NSDI 2016) over the client's
 * five-tuple and then remembered: it stays when others come and go. Outbound is from clients to
 * services: the destination is rewritten; inbound is from back-ends to clients: the source is.
 * ICMP errors about a connection are rewritten inside and outside (RFC 5508, section 4.2), later
 * fragments follow their first one, for which those wait that come before it, and ARP passes.
 * `other` says what becomes of IPv4 packets that are for no service, `ipv6` of IPv6. With more
 * connections than connections_max a new one is forwarded by the hash alone, as Maglev does, or
 * dropped: `when_full`.
 *
 * Back-ends are added, drained and removed by commands, while packets flow. An idle connection ends
 * between its time-out and some two seconds later.
 * Limits: IPv4; VLANs are not distinguished; a back-end's address and port belong to one service of
 * a protocol; all back-ends have equal shares; pings of a service's address are other traffic.
 * Example: {"nf": "lb", "options": {"services":
 *   "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8080"}}
 */
#include "lb.h"

#include "toolkit/option_rows.h"
#include "maglev.h"

static const char *const other_names[] = {"forward", "drop", NULL};
static const char *const when_full_names[] = {"stateless", "drop", NULL};

static const struct weir_option options[] = {
	{
		.name = "services",
		.type = WEIR_OPTION_TEXT,
		.help = "Entries \"VIP:port/protocol BACKEND:port\", separated by commas; one for "
			"each back-end of a service.",
		.offset = offsetof(struct lb, services),
	},
	{
		.name = "services_file",
		.type = WEIR_OPTION_FILE,
		.help = "A file of such entries, one a line, in place of services; # begins a "
			"remark.",
		.offset = offsetof(struct lb, services_file),
	},
	{
		.name = "table_size",
		.type = WEIR_OPTION_INT,
		.default_text = "65537",
		.min = 2,
		.max = 16777213,
		.help = "Places of Maglev's table of each service, a prime: 100 times the "
			"back-ends, or more, keep their shares within 1 %.",
		.offset = offsetof(struct lb, table_size),
	},
	{
		.name = "connections_max",
		.type = WEIR_OPTION_INT,
		.default_text = "65536",
		.min = 1,
		.max = 16777216,
		.help = "Connections that are remembered, about 100 bytes of memory each.",
		.offset = offsetof(struct lb, connections_max),
	},
	{
		.name = "when_full",
		.type = WEIR_OPTION_ENUM,
		.default_text = "stateless",
		.values = when_full_names,
		.help = "Packets of more connections than that: stateless, by the hash alone (they "
			"move when back-ends change); drop.",
		.offset = offsetof(struct lb, when_full),
	},
	{
		.name = "other",
		.type = WEIR_OPTION_ENUM,
		.default_text = "forward",
		.values = other_names,
		.help = "IPv4 packets that are for no service: forward them unchanged, or drop "
			"them.",
		.offset = offsetof(struct lb, other),
	},
	WEIR_UNKNOWN_IPV6_ROW(struct lb, "balanced"),
	WEIR_TIMEOUT_ROW(struct lb, tcp_timeout_s, "900", 86400,
			 "Idle time after which an open TCP connection is forgotten."),
	WEIR_TIMEOUT_ROW(struct lb, syn_timeout_s, "60", 86400,
			 "The same before the client has sent more than its SYN."),
	WEIR_TIMEOUT_ROW(struct lb, fin_timeout_s, "120", 86400,
			 "The same behind both FINs or an RST."),
	WEIR_TIMEOUT_ROW(struct lb, udp_timeout_s, "300", 86400, "The same for UDP."),
	WEIR_FRAGMENT_ROWS(struct lb),
};

static const struct weir_drop_reason drop_reasons[] = {
	[LB_DROP_MALFORMED] = {"malformed",
			       "The packet's lengths contradict each other, or its ports are cut "
			       "off."},
	[LB_DROP_NOT_FOR_SERVICE] = {"not_for_service",
				     "The packet is for no virtual service, and other is drop."},
	[LB_DROP_NO_BACKEND] = {"no_backend", "The service has no back-end that takes new "
					      "connections."},
	[LB_DROP_OTHER_BACKEND] = {"other_backend",
				   "A back-end sent to a client whose connection is with another "
				   "one."},
	[LB_DROP_TABLE_FULL] = {"table_full",
				"The table of connections is full, and when_full is drop."},
	[LB_DROP_IPV6] = {"ipv6", "IPv6 is not balanced, and ipv6 is drop."},
	[LB_DROP_FRAGMENT_TIMEOUT] = WEIR_FRAGMENT_TIMEOUT_REASON,
	[LB_DROP_FRAGMENTS_FULL] = WEIR_FRAGMENTS_FULL_REASON,
};

static int
init_services(struct lb *lb, const char *where, struct weir_error *error)
{
	if (!maglev_is_prime(lb->table_size))
		return weir_fail(error, "bad_argument", where, "a prime, such as 65537 or 655373",
				 NULL, "table_size %lu is not a prime", lb->table_size);
	lb->set = lb_set_create(lb->services, lb->services_file, lb->table_size, where, error);
	return lb->set != NULL ? 0 : -1;
}

static void
fini(void *state)
{
	struct lb *lb = state;

	weir_fragments_free(lb->fragments);
	lb_connections_fini(lb);
	lb_set_free(lb->set);
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct lb *lb = state;

	lb->timeouts.tcp = weir_session_time_of_s(lb->tcp_timeout_s);
	lb->timeouts.syn = weir_session_time_of_s(lb->syn_timeout_s);
	lb->timeouts.fin = weir_session_time_of_s(lb->fin_timeout_s);
	lb->timeouts.udp = weir_session_time_of_s(lb->udp_timeout_s);
	if (init_services(lb, where, error) < 0 || lb_connections_init(lb, where, error) < 0)
		goto failed;
	lb->fragments = weir_fragments_of(&lb->fragment_options);
	if (lb->fragments != NULL)
		return 0;
	weir_fail(error, "no_memory", where, NULL, NULL, "no memory for fragments");
failed:
	fini(lb);
	return -1;
}

static void
tick(void *state, uint64_t now_tsc, struct weir_flow_cache *cache)
{
	lb_connections_sweep(state, now_tsc, cache);
}

/* By the client, so that both directions meet. */
static uint32_t
steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
      enum weir_direction direction)
{
	const struct weir_tuple *tuple = &headers->tuple;
	bool outbound = direction == WEIR_OUTBOUND;
	uint64_t ip = outbound ? tuple->src_ip : tuple->dst_ip;
	uint64_t port = outbound ? tuple->src_port : tuple->dst_port;

	(void)state;
	(void)packet;
	return weir_mix(ip << 16 | port);
}

extern const struct weir_nf weir_nf_lb;

static void
take(void *state, const struct weir_batch *batch, uint16_t index, const struct weir_action *action,
     struct weir_stage_ledger *ledger)
{
	const struct lb *lb = state;

	weir_held_fragments_take(lb->fragments, batch, index, action, ledger);
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct lb *lb = state;

	weir_held_fragments_release(&weir_nf_lb, state, lb->fragments, batch,
				    LB_DROP_FRAGMENT_TIMEOUT, ledger);
}

const struct weir_nf weir_nf_lb = {
	.name = "lb",
	.summary = "Balances TCP and UDP over back-ends: Maglev's hashing, connections stay.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.rewrites = true,
	.flow_bytes = 100,
	.outbound_flows_only = true,
	.state_size = sizeof(struct lb),
	.init = init,
	.fini = fini,
	.commands = lb_commands,
	.command_count = RTE_DIM(lb_commands),
	.decide = lb_decide,
	.take = take,
	.release = release,
	.releases_held_only = true,
	.tick = tick,
	.steer = steer,
	.report = lb_report,
};
