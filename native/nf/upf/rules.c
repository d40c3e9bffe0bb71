/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of sessions that have several in a direction: where they are kept, and which one a
 * packet fits. */
#include <string.h>

#include <rte_malloc.h>

#include "one_packet.h"

int
upf_rules_init(struct upf *upf)
{
	if (upf->rules_max == 0)
		return 0;
	upf->rules = rte_zmalloc("upf rules", (upf->rules_max + 1) * sizeof(*upf->rules),
				 RTE_CACHE_LINE_SIZE);
	upf->usages = rte_zmalloc("upf usages", (upf->rules_max + 1) * sizeof(*upf->usages),
				  RTE_CACHE_LINE_SIZE);
	if (upf->rules == NULL || upf->usages == NULL)
		return -1;
	for (uint32_t at = 1; at < upf->rules_max; at++)
		upf->rules[at].next = at + 1;
	upf->rules_free = 1;
	return 0;
}

unsigned int
upf_rules_of(const struct upf *upf, const struct upf_session *session)
{
	unsigned int count = 0;

	for (unsigned int out = 0; out <= 1; out++) {
		for (uint32_t at = session->rules[out]; at != 0; at = upf->rules[at].next)
			count++;
	}
	return count;
}

/* Takes the rule of that number out of a list; 0: it is not there. */
static uint32_t
take_out(struct upf *upf, uint32_t *list, uint16_t id)
{
	for (uint32_t *at = list; *at != 0; at = &upf->rules[*at].next) {
		const uint32_t found = *at;

		if (upf->rules[found].id != id)
			continue;
		*at = upf->rules[found].next;
		return found;
	}
	return 0;
}

static uint32_t
take_free(struct upf *upf)
{
	const uint32_t at = upf->rules_free;

	upf->rules_free = upf->rules[at].next;
	upf->rules_used++;
	return at;
}

static void
give_back(struct upf *upf, uint32_t at, unsigned int direction)
{
	struct upf_rule *rule = &upf->rules[at];

	upf->ended[direction].packets += rule->flow.passed.packets;
	upf->ended[direction].bytes += rule->flow.passed.bytes;
	upf_buffer_end(&upf->buffer, &rule->queue);
	memset(rule, 0, sizeof(*rule));
	rule->next = upf->rules_free;
	upf->rules_free = at;
	upf->rules_used--;
}

/* Its counts stay, and what has passed at a rate that stays. */
static void
write_rule(struct upf *upf, const struct upf_rule_wanted *wanted, bool is_served,
	   struct upf_rule *rule)
{
	const struct weir_gtpu_tunnel tunnel = rule->tunnel;
	const struct upf_flow before = rule->flow;

	rule->id = wanted->id;
	rule->match = wanted->match;
	upf_flow_set_mbr(&rule->flow, wanted->mbr_bps);
	if (before.cycles_per_byte == rule->flow.cycles_per_byte) {
		rule->flow.due_tsc = before.due_tsc;
		rule->flow.due_fraction = before.due_fraction;
	}
	rule->flow.held_by &= UPF_HELD_BY_MBR | UPF_HELD_BY_BUFFER;
	if (wanted->drops)
		rule->flow.held_by |= UPF_HELD_BY_ACTION;
	if (wanted->is_closed)
		rule->flow.held_by |= UPF_HELD_BY_GATE;
	if (wanted->of_session)
		rule->flow.held_by |= UPF_HELD_BY_SESSION;
	upf_flow_keep(upf, &rule->flow, rule->queue, wanted->keeps);
	if (wanted->notifies)
		rule->flow.held_by |= UPF_NOTIFIES;
	rule->flow.kept_most =
		wanted->kept_most != 0 ? wanted->kept_most : (uint16_t)upf->buffer_packets;
	weir_gtpu_lead(&rule->tunnel, &upf->outer, wanted->gnb_ip);
	rule->tunnel.teid = rte_cpu_to_be_32(wanted->gnb_teid);
	if (wanted->ends_tunnel && tunnel.teid != 0 && is_served)
		upf_end_tunnel(upf, &tunnel);
	rule->tunnel.qfi = wanted->has_qfi_given ? wanted->qfi : (uint8_t)upf->qfi;
	memcpy(rule->usage, wanted->usage, sizeof(rule->usage));
}

void
upf_quotas_set(struct upf *upf, const struct upf_quota *quotas, unsigned int count)
{
	for (const struct upf_quota *quota = quotas; quota < quotas + count; quota++) {
		struct upf_usage *usage = &upf->usages[quota->usage];
		const uint64_t up = usage->passed[WEIR_OUTBOUND].bytes;
		const uint64_t down = usage->passed[WEIR_INBOUND].bytes;
		const uint64_t passed[UPF_VOLUMES] = {up + down, up, down};

		for (unsigned int i = 0; i < UPF_VOLUMES; i++)
			usage->limit_bytes[i] =
				passed[i] + RTE_MIN(quota->bytes[i], UINT64_MAX / 2);
		usage->is_limited = quota->is_limited;
		__atomic_store_n(&usage->is_exhausted, quota->is_exhausted, __ATOMIC_RELAXED);
	}
}

static bool
has_room(const struct upf_usage *usage, enum weir_direction direction, uint32_t bytes)
{
	const uint64_t up = usage->passed[WEIR_OUTBOUND].bytes;
	const uint64_t down = usage->passed[WEIR_INBOUND].bytes;
	const bool is_up = direction == WEIR_OUTBOUND;

	return up + down + bytes <= usage->limit_bytes[UPF_TOTAL] &&
	       (is_up ? up : down) + bytes <= usage->limit_bytes[is_up ? UPF_UPLINK : UPF_DOWNLINK];
}

/* One packet that is above a quota ends it, though shorter ones would not be; but not one that
 * another quota, which had ended before, stops. */
bool
upf_rule_is_within_quotas(struct upf *upf, const struct upf_rule *rule,
			  enum weir_direction direction, uint32_t bytes)
{
	unsigned int above = 0; /* bits: of which */

	for (unsigned int i = 0; i < UPF_USAGES_OF_RULE_MAX && rule->usage[i] != 0; i++) {
		const struct upf_usage *usage = &upf->usages[rule->usage[i]];

		if (!usage->is_limited)
			continue;
		if (usage->is_exhausted)
			return false;
		if (!has_room(usage, direction, bytes))
			above |= 1u << i;
	}
	if (likely(above == 0))
		return true;
	for (unsigned int i = 0; i < UPF_USAGES_OF_RULE_MAX; i++) {
		if ((above & 1u << i) != 0)
			__atomic_store_n(&upf->usages[rule->usage[i]].is_exhausted, true,
					 __ATOMIC_RELAXED);
	}
	return false;
}

/* Whether one of its usages may have nothing more. */
static bool
is_used_up(const struct upf *upf, const struct upf_rule *rule)
{
	bool any = false;

	for (unsigned int i = 0; i < UPF_USAGES_OF_RULE_MAX && rule->usage[i] != 0; i++)
		any |= upf->usages[rule->usage[i]].is_exhausted;
	return any;
}

void
upf_rules_replace(struct upf *upf, struct upf_session *session,
		  const struct upf_rule_wanted *wanted, unsigned int count)
{
	uint32_t before[2] = {session->rules[0], session->rules[1]};
	uint32_t kept[UPF_RULES_OF_SESSION_MAX];
	uint32_t *end[2] = {&session->rules[0], &session->rules[1]};
	const bool is_served = upf_serves(upf, session);

	for (unsigned int i = 0; i < count; i++)
		kept[i] = take_out(upf, &before[wanted[i].direction == upf->out_of_way],
				   wanted[i].id);
	/* First what goes, so that there is room for what comes. */
	for (unsigned int out = 0; out <= 1; out++) {
		while (before[out] != 0) {
			const uint32_t at = before[out];

			before[out] = upf->rules[at].next;
			give_back(upf, at, out ? upf->out_of_way : !upf->out_of_way);
		}
	}
	session->rules[0] = session->rules[1] = 0;
	for (unsigned int i = 0; i < count; i++) {
		const uint32_t at = kept[i] != 0 ? kept[i] : take_free(upf);
		const unsigned int out = wanted[i].direction == upf->out_of_way;

		write_rule(upf, &wanted[i], is_served, &upf->rules[at]);
		upf->rules[at].next = 0;
		*end[out] = at;
		end[out] = &upf->rules[at].next;
	}
}

static bool
fits(const struct upf_rule_match *match, const struct upf_filtered *packet, uint8_t qfi)
{
	if ((match->families & (packet->ue_ip.ipv6 ? UPF_IPV6 : UPF_IPV4)) == 0)
		return false;
	if (match->qfi != WEIR_GTPU_NO_QFI && match->qfi != qfi)
		return false;
	for (unsigned int i = 0; i < match->filter_count; i++) {
		if (upf_filter_fits(&match->filter[i], packet))
			return true;
	}
	return match->filter_count == 0;
}

void
upf_rule_count(struct upf *upf, struct upf_rule *rule, enum weir_direction direction,
	       uint32_t bytes)
{
	weir_count(&rule->flow.passed.packets, 1);
	weir_count(&rule->flow.passed.bytes, bytes);
	for (unsigned int i = 0; i < UPF_USAGES_OF_RULE_MAX && rule->usage[i] != 0; i++) {
		struct weir_counter *passed = &upf->usages[rule->usage[i]].passed[direction];

		weir_count(&passed->packets, 1);
		weir_count(&passed->bytes, bytes);
	}
}

/* Both rates, its own and the session's, and the quotas are asked before any has the packet. Of
 * quotas is what leaves: not what an action, a gate or a rate holds back, and what waits later; but
 * nothing begins to wait for one that is used up. */
static enum upf_drop
admit(struct upf *upf, struct upf_rule *rule, struct upf_flow *of_session,
      enum weir_direction direction, uint32_t bytes, uint64_t now_tsc)
{
	struct upf_flow *flow = &rule->flow;
	const bool waits = (flow->held_by & UPF_HELD_BY_BUFFER) != 0;
	const bool own = (flow->held_by & UPF_HELD_BY_MBR) != 0;
	const bool shared = (flow->held_by & UPF_HELD_BY_SESSION) != 0 &&
			    (of_session->held_by & UPF_HELD_BY_MBR) != 0;
	double ahead_cycles = 0, ahead_cycles_of_session = 0;

	if ((flow->held_by & UPF_HELD_BY_ACTION) != 0)
		return UPF_DROP_BY_ACTION;
	if ((flow->held_by & UPF_HELD_BY_GATE) != 0)
		return UPF_DROP_GATE;
	if ((own && !upf_is_below_mbr(upf, flow, bytes, now_tsc, &ahead_cycles)) ||
	    (shared &&
	     !upf_is_below_mbr(upf, of_session, bytes, now_tsc, &ahead_cycles_of_session)))
		return UPF_DROP_ABOVE_MBR;
	if (waits ? is_used_up(upf, rule) : !upf_rule_is_within_quotas(upf, rule, direction, bytes))
		return UPF_DROP_QUOTA;
	if (own)
		upf_spend(flow, now_tsc, ahead_cycles);
	if (shared)
		upf_spend(of_session, now_tsc, ahead_cycles_of_session);
	return waits ? UPF_WAITS : UPF_PASSES;
}

enum upf_drop
upf_rules_admit(struct upf *upf, struct upf_session *session, bool out_of_tunnel,
		const uint8_t *user, uint32_t bytes, uint8_t qfi, uint64_t now_tsc,
		struct upf_rule **by)
{
	const bool from_ue = out_of_tunnel == (upf->out_of_way == WEIR_OUTBOUND);
	const enum weir_direction direction = from_ue ? WEIR_OUTBOUND : WEIR_INBOUND;
	const struct upf_filtered packet = upf_filtered_read(user, bytes, from_ue);

	for (uint32_t at = session->rules[out_of_tunnel]; at != 0; at = upf->rules[at].next) {
		struct upf_rule *rule = &upf->rules[at];
		enum upf_drop reason;

		if (!fits(&rule->match, &packet, qfi))
			continue;
		if (by != NULL)
			*by = rule;
		reason = admit(upf, rule, upf_session_flow(session, out_of_tunnel), direction,
			       bytes, now_tsc);
		if (reason == UPF_PASSES)
			upf_rule_count(upf, rule, direction, bytes);
		return reason;
	}
	return UPF_DROP_NO_RULE;
}
