/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firewall: permits connections by ordered rules over addresses, ports and protocol, and whatever
 * belongs to a permitted one, both ways, without asking the rules again.
 *
 * The first packet of a connection (of TCP a SYN, RFC 9293; of ICMP an echo request) is matched
 * against the rules, whichever side it comes from; the first rule that matches decides, and
 * `default` if none does. A permitted one begins a session, which ends when it was idle for so long
 * as RFC 4787, 5382, 5508 and 7857 have it, or at once when rules are reloaded that refuse it. ICMP
 * errors about a packet of a session pass to who sent that packet. Rules are of a file (syntax:
 * toolkit/rule_set.h) and for both families. Packets are not changed.
 *
 * Fragments: later ones follow the first, for which they wait if they come before it: none passes
 * that no first one answers for. Headers of TCP, UDP and ICMP that are not all there are dropped
 * (RFC 1858, section 4). What is not IP is dropped or forwarded as `arp`, `other` and `not_ipv4`
 * say, IPv6 too where `ipv6` or `neighbor_discovery` say so. Limits: IPv6 has no fast path. TCP
 * sequence numbers are not followed. A refused packet is decided on each time. Commands: reload,
 * change, flush. Example: {"nf": "firewall", "options": {"rules": "edge.rules", "sessions":
 * 1000000}}
 */
#include "firewall.h"

#include "toolkit/option_rows.h"
#include "engine/report.h"

static const struct weir_option options[] = {
	WEIR_RULES_ROW(struct firewall),
	WEIR_DEFAULT_ROW(struct firewall, "connections"),
	{
		.name = "sessions",
		.type = WEIR_OPTION_INT,
		.unit = "sessions",
		.default_text = "65536",
		.min = 1,
		.max = 16000000,
		.help = "Sessions at a time, 100 bytes each; of each worker.",
		.offset = offsetof(struct firewall, session_count),
	},
	{
		.name = "ipv6_addresses",
		.type = WEIR_OPTION_INT,
		.unit = "addresses",
		.default_text = "16384",
		.min = 2,
		.max = 16000000,
		.help = "Addresses that sessions of IPv6 can have at a time, 40 bytes each; of "
			"each worker.",
		.offset = offsetof(struct firewall, ipv6_address_count),
	},
	{
		.name = "tcp_syn_first",
		.type = WEIR_OPTION_BOOL,
		.default_text = "true",
		.help = "Whether a TCP session begins with a SYN alone, or with any segment but "
			"RST: connections that were there before the firewall go on.",
		.offset = offsetof(struct firewall, syn_first),
	},
	WEIR_TCP_TIMEOUT_ROWS(struct firewall, timeouts_s, "an established TCP connection",
			      "a TCP connection that is not answered yet, was reset, or was "
			      "closed by both sides"),
	WEIR_UDP_TIMEOUT_ROW(struct firewall, timeouts_s, "session"),
	WEIR_ICMP_TIMEOUT_ROW(struct firewall, timeouts_s, "session"),
	WEIR_TIMEOUT_ROW(struct firewall, other_timeout_s, "600", 86400,
			 "Idle time of a session of any other protocol."),
	WEIR_RULED_FRAMES_ROWS(struct firewall),
	WEIR_FRAGMENT_ROWS(struct firewall),
};

static const struct weir_drop_reason drop_reasons[] = {
	[FIREWALL_DROP_DENIED] = {"denied", "A rule, or the default, denies it."},
	[FIREWALL_DROP_NO_SESSION] = {"no_session",
				      "It belongs to no session and cannot begin one: a TCP "
				      "segment that is no SYN, an ICMP echo reply, a fragment of a "
				      "session that ended."},
	[FIREWALL_DROP_TABLE_FULL] = {"session_table_full",
				      "There are as many sessions as `sessions` says, or as "
				      "many addresses as `ipv6_addresses`."},
	[FIREWALL_DROP_NOT_IPV4] = WEIR_NOT_IPV4_REASON,
	[FIREWALL_DROP_MALFORMED] = WEIR_MALFORMED_REASON,
	[FIREWALL_DROP_TRUNCATED] = WEIR_TRUNCATED_REASON,
	[FIREWALL_DROP_FRAGMENT_TIMEOUT] = WEIR_FRAGMENT_TIMEOUT_REASON,
	[FIREWALL_DROP_FRAGMENTS_FULL] = WEIR_FRAGMENTS_FULL_REASON,
};

static bool
default_permits(const struct firewall *firewall)
{
	return firewall->default_verdict == WEIR_DEFAULT_PERMIT;
}

static void
fini(void *state)
{
	struct firewall *firewall = state;

	weir_fragments_free(firewall->fragments);
	weir_ipv6_numbers_free(firewall->addresses);
	firewall_sessions_fini(firewall);
	weir_rule_set_free(firewall->rules);
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct firewall *firewall = state;
	bool permits = default_permits(firewall);

	firewall->timeouts = weir_session_timeouts_of_s(&firewall->timeouts_s);
	firewall->other_timeout = weir_session_time_of_s(firewall->other_timeout_s);
	firewall->rules = weir_rule_set_of_option(firewall->path, permits, where, error);
	if (firewall->rules == NULL)
		return -1;
	firewall->fragments = weir_fragments_of(&firewall->fragment_options);
	firewall->addresses = weir_ipv6_numbers_create((uint32_t)firewall->ipv6_address_count);
	if (firewall->fragments != NULL && firewall->addresses != NULL &&
	    firewall_sessions_init(firewall) == 0)
		return 0;
	fini(firewall);
	return weir_fail(error, "no_memory", where, NULL,
			 "give weir-dp more memory, or firewall fewer `sessions`",
			 "no memory for %lu sessions", firewall->session_count);
}

static int
reload_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct firewall *firewall = state;

	return weir_rule_reload_prepare(arguments, firewall->path, default_permits(firewall), where,
					prepared, error);
}

/* Sessions are checked against the new rules at their next packet, or in the next ticks; those in
 * the fast path at once. */
static void
reload_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct firewall *firewall = state;
	struct weir_rule_reload *reload = prepared;
	struct weir_rule_set *before = firewall->rules;
	struct firewall_judging judging = {.firewall = firewall, .rules = reload->rules};

	weir_flow_cache_forget_if(cache, firewall, firewall_is_refused, &judging);
	firewall->rules = reload->rules;
	firewall->generation++;
	reload->rules = before;
}

static int
change_prepare(const void *state, const void *arguments, const char *where, void **prepared,
	       struct weir_error *error)
{
	const struct firewall *firewall = state;

	return weir_rule_change_prepare(arguments, firewall->rules, where, prepared, error);
}

/* As reload, but for what the change can have refused. More rules that permit, or fewer that deny,
 * end no session, and none that is refused is in the fast path. */
static void
change_commit(void *state, void *change, struct weir_flow_cache *cache)
{
	struct firewall *firewall = state;
	struct firewall_judging judging = {.firewall = firewall, .change = change};

	firewall->rules = weir_rule_change_commit(change);
	if (!weir_rule_change_may_refuse(change))
		return;
	judging.rules = firewall->rules;
	weir_flow_cache_forget_if(cache, firewall, firewall_is_refused, &judging);
	firewall->generation++;
}

static bool
is_any(const struct weir_tuple *tuple, enum weir_direction direction, void *argument)
{
	(void)tuple;
	(void)direction;
	(void)argument;
	return true;
}

static void
flush_commit(void *state, void *prepared, struct weir_flow_cache *cache)
{
	struct firewall *firewall = state;

	(void)prepared;
	weir_flow_cache_forget_if(cache, firewall, is_any, NULL);
	firewall->flushed = ++firewall->generation;
}

static const struct weir_command commands[] = {
	WEIR_RULE_RELOAD_ROW(reload_prepare, reload_commit,
			     "Reads rules and puts them in place of those there are. Sessions that "
			     "the new ones refuse end. An error leaves all as it is."),
	WEIR_RULE_CHANGE_ROW(change_prepare, change_commit,
			     "Adds and removes rules, as its lines say one after another: all of "
			     "them, or none where one cannot be done. Sessions that the rules "
			     "refuse then end."),
	{
		.name = "flush",
		.help = "Ends all sessions that there are now: at their next packet, and the idle "
			"ones within 4 seconds.",
		.prepare = weir_command_prepares_nothing,
		.commit = flush_commit,
	},
};

static void
report(const void *state, struct weir_report *report)
{
	const struct firewall *firewall = state;

	report->figure(report, "sessions", weir_counted(&firewall->sessions_used));
	report->figure(report, "sessions_max", firewall->session_count);
	report->figure(report, "ipv6_addresses", weir_ipv6_numbers_used(firewall->addresses));
	report->figure(report, "ipv6_addresses_max", firewall->ipv6_address_count);
	report->figure(report, "rules", firewall->rules->count);
}

extern const struct weir_nf weir_nf_firewall;

static void
take(void *state, const struct weir_batch *batch, uint16_t index, const struct weir_action *action,
     struct weir_stage_ledger *ledger)
{
	const struct firewall *firewall = state;

	weir_held_fragments_take(firewall->fragments, batch, index, action, ledger);
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct firewall *firewall = state;

	weir_held_fragments_release(&weir_nf_firewall, state, firewall->fragments, batch,
				    FIREWALL_DROP_FRAGMENT_TIMEOUT, ledger);
}

const struct weir_nf weir_nf_firewall = {
	.name = "firewall",
	.summary = "Permits connections by ordered five-tuple rules, and their answers.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.flow_bytes = 100,
	.state_size = sizeof(struct firewall),
	.init = init,
	.fini = fini,
	.commands = commands,
	.command_count = RTE_DIM(commands),
	.decide = firewall_decide,
	.take = take,
	.release = release,
	.releases_held_only = true,
	.tick = firewall_tick,
	.report = report,
};
