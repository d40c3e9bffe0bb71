/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl: permits or denies each IP packet by ordered rules over addresses, ports and protocol; the
 * first that matches decides, and `default` if none does.
 *
 * It has no sessions: an answer needs a rule of its own (firewall has them). Rules are of a file
 * (syntax: toolkit/rule_set.h) and apply to both directions, or to one. Packets are not changed.
 * Fragments: later ones, which have no ports, follow the first, for which they wait if they come
 * before it, and if any rule names ports. A packet whose TCP, UDP or ICMP header is not all there
 * is dropped (RFC 1858, section 4). IPv6 has its own rules in the same file; `ipv6` and
 * `neighbor_discovery` let it pass or not without them. What is not IP is dropped or forwarded as
 * `arp`, `other` and `not_ipv4` say. Commands: reload, change. Example: {"nf": "acl", "options":
 * {"rules": "edge.rules"}}
 */
#include "acl.h"

#include <stdio.h>
#include <string.h>

#include "engine/report.h"
#include "toolkit/option_rows.h"

enum scope { SCOPE_BOTH, SCOPE_OUTBOUND, SCOPE_INBOUND };
static const char *const scope_names[] = {"both", "outbound", "inbound", NULL};

static const struct weir_option options[] = {
	WEIR_RULES_ROW(struct acl),
	{
		.name = "rule_list",
		.type = WEIR_OPTION_TEXT,
		.help = "In place of a file: its lines, joined by commas.",
		.offset = offsetof(struct acl, rule_list),
	},
	WEIR_DEFAULT_ROW(struct acl, "packets"),
	{
		.name = "index",
		.type = WEIR_OPTION_BOOL,
		.default_text = "true",
		.help = "Whether rules for IPv4 are found by an index; false: they are looked "
			"through one by one, for measuring what the index brings.",
		.offset = offsetof(struct acl, index),
	},
	{
		.name = "direction",
		.type = WEIR_OPTION_ENUM,
		.default_text = "both",
		.values = scope_names,
		.help = "Which packets the rules are for; all others are forwarded.",
		.offset = offsetof(struct acl, scope),
	},
	WEIR_RULED_FRAMES_ROWS(struct acl),
	WEIR_FRAGMENT_ROWS(struct acl),
};

enum {
	DROP_DENIED,
	DROP_NOT_IPV4,
	DROP_MALFORMED,
	DROP_TRUNCATED,
	DROP_FRAGMENT_TIMEOUT,
	DROP_FRAGMENTS_FULL,
};
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_DENIED] = {"denied", "A rule, or the default, denies it."},
	[DROP_NOT_IPV4] = WEIR_NOT_IPV4_REASON,
	[DROP_MALFORMED] = WEIR_MALFORMED_REASON,
	[DROP_TRUNCATED] = WEIR_TRUNCATED_REASON,
	[DROP_FRAGMENT_TIMEOUT] = WEIR_FRAGMENT_TIMEOUT_REASON,
	[DROP_FRAGMENTS_FULL] = WEIR_FRAGMENTS_FULL_REASON,
};

static void
fini(void *state)
{
	struct acl *acl = state;

	weir_rule_set_free(acl->rules);
	weir_fragments_free(acl->fragments);
}

static struct weir_rule_set *
read_list(const struct acl *acl, bool permits, const char *where, struct weir_error *error)
{
	char lines[WEIR_OPTION_TEXT_BYTES];

	snprintf(lines, sizeof(lines), "%s", acl->rule_list);
	for (char *comma = lines; (comma = strchr(comma, ',')) != NULL;)
		*comma = '\n';
	return weir_rule_set_parse(lines, strlen(lines), "rule_list", permits, where, error);
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct acl *acl = state;
	bool permits = acl->default_verdict == WEIR_DEFAULT_PERMIT;

	if (acl->path[0] != '\0' && acl->rule_list[0] != '\0')
		return weir_fail(error, "bad_argument", where, "rules or rule_list", NULL,
				 "acl has both a file and a list of rules");
	acl->rules = acl->rule_list[0] != '\0'
			     ? read_list(acl, permits, where, error)
			     : weir_rule_set_of_option(acl->path, permits, where, error);
	if (acl->rules == NULL)
		return -1;
	if (!acl->index && weir_rule_set_one_by_one(acl->rules, where, error) != 0) {
		fini(acl);
		return -1;
	}
	acl->fragments = weir_fragments_of(&acl->fragment_options);
	if (acl->fragments != NULL)
		return 0;
	fini(acl);
	return weir_fail(error, "no_memory", where, NULL, "give weir-dp more memory",
			 "no memory for %lu fragmented packets", acl->fragment_options.datagrams);
}

/* What is remembered of a first fragment that passes; of another one, why it was dropped. */
#define PERMITTED UINT8_MAX

/* The verdict of a first fragment is remembered; later fragments get the same, and wait for it,
 * unless no rule names ports: then all fragments look alike to the rules, and `action` is right. */
static void
follow_fragment(struct acl *acl, const struct weir_batch *batch, uint16_t i,
		struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	uint64_t remembered;

	if ((headers->flags & WEIR_HEADER_LATER_FRAGMENT) == 0) {
		remembered = action->verdict == WEIR_FORWARD ? PERMITTED : action->drop_reason;
		weir_fragments_remember(acl->fragments, batch->packet[i], headers, batch->now_tsc,
					remembered);
		return;
	}
	if (!weir_fragments_recall(acl->fragments, batch->packet[i], headers, batch->now_tsc,
				   &remembered)) {
		if (acl->rules->names_ports)
			weir_fragment_hold(action, DROP_FRAGMENTS_FULL);
		return;
	}
	action->verdict = WEIR_FORWARD;
	if (remembered != PERMITTED)
		weir_action_drop_once(action, (uint8_t)remembered);
}

/* What is not IPv4 with its headers whole: IPv6 by its rules, others as the options say. */
static void
decide_rare(struct acl *acl, const struct weir_batch *batch, uint16_t i, struct weir_action *action)
{
	const struct weir_headers *headers = &batch->headers[i];
	const struct rte_mbuf *packet = batch->packet[i];
	enum weir_ruled ruled = WEIR_RULED;

	if (headers->network == WEIR_NETWORK_MALFORMED) {
		weir_action_drop_once(action, DROP_MALFORMED);
		return;
	}
	if (headers->network != WEIR_NETWORK_IPV4)
		ruled = weir_ruled_frame(&acl->frames, packet, headers);
	if (ruled == WEIR_UNRULED_DROP) {
		weir_action_drop_once(action, DROP_NOT_IPV4);
	} else if (ruled == WEIR_RULED && (headers->flags & WEIR_HEADER_L4_CUT) != 0) {
		weir_action_drop_once(action, DROP_TRUNCATED);
		if ((headers->flags & (WEIR_HEADER_FRAGMENT | WEIR_HEADER_LATER_FRAGMENT)) ==
		    WEIR_HEADER_FRAGMENT)
			follow_fragment(acl, batch, i, action);
	} else if (ruled == WEIR_RULED) {
		const struct weir_ipv6_tuple tuple = weir_ipv6_packet_tuple(packet, headers);

		if (!weir_rule_set_permits_ipv6(acl->rules, &tuple))
			weir_action_drop_once(action, DROP_DENIED);
		if ((headers->flags & WEIR_HEADER_FRAGMENT) != 0)
			follow_fragment(acl, batch, i, action);
	}
	action->once = true;
}

static void
decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct acl *acl = state;
	struct weir_tuple tuples[WEIR_BURST];
	bool permits[WEIR_BURST];
	uint16_t packet[WEIR_BURST];
	unsigned int count = 0;

	if ((acl->scope == SCOPE_OUTBOUND && batch->direction != WEIR_OUTBOUND) ||
	    (acl->scope == SCOPE_INBOUND && batch->direction != WEIR_INBOUND))
		return;
	for (uint16_t i = 0; i < batch->count; i++) {
		const struct weir_headers *headers = &batch->headers[i];

		if (likely(headers->network == WEIR_NETWORK_IPV4 &&
			   (headers->flags & WEIR_HEADER_L4_CUT) == 0)) {
			tuples[count] = weir_classifier_packet_tuple(batch->packet[i], headers);
			packet[count++] = i;
		} else {
			decide_rare(acl, batch, i, &actions[i]);
		}
	}
	if (count == 0)
		return;
	weir_rule_set_permits(acl->rules, tuples, permits, count);
	for (unsigned int i = 0; i < count; i++) {
		struct weir_action *action = &actions[packet[i]];

		action->verdict = permits[i] ? WEIR_FORWARD : WEIR_DROP;
		action->drop_reason = DROP_DENIED;
		if (unlikely((batch->headers[packet[i]].flags & WEIR_HEADER_FRAGMENT) != 0)) {
			follow_fragment(acl, batch, packet[i], action);
			action->once = true;
		}
		/* The fast path does not tell types of messages apart, which rules may name. */
		if (unlikely(tuples[i].protocol == IPPROTO_ICMP))
			action->once = true;
	}
}

static void
report(const void *state, struct weir_report *report)
{
	const struct acl *acl = state;

	report->figure(report, "rules", acl->rules->count);
}

extern const struct weir_nf weir_nf_acl;

static void
take(void *state, const struct weir_batch *batch, uint16_t index, const struct weir_action *action,
     struct weir_stage_ledger *ledger)
{
	const struct acl *acl = state;

	weir_held_fragments_take(acl->fragments, batch, index, action, ledger);
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct acl *acl = state;

	weir_held_fragments_release(&weir_nf_acl, state, acl->fragments, batch,
				    DROP_FRAGMENT_TIMEOUT, ledger);
}

const struct weir_nf weir_nf_acl = {
	.name = "acl",
	.summary = "Permits or denies packets by ordered five-tuple rules.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.state_size = sizeof(struct acl),
	.init = init,
	.fini = fini,
	.commands = acl_commands,
	.command_count = RTE_DIM(acl_commands),
	.decide = decide,
	.take = take,
	.release = release,
	.releases_held_only = true,
	.report = report,
};
