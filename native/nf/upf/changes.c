/* SPDX-License-Identifier: Apache-2.0 */
#include "changes.h"

static struct upf_ue_name
name_of(const struct upf_change *change)
{
	return upf_ue_name(&change->ue);
}

/* Both directions of a session are one worker's. */
static int
check_worker(const struct upf *upf, const struct upf_change *change, const char *where,
	     struct weir_error *error)
{
	const uint32_t wanted = upf_steer_ue(upf, &change->ue) % upf->workers;
	const uint64_t step = upf->place_mask + 1ul;
	uint64_t other = change->teid;

	if (change->ue.ip != 0 && change->ue.prefix_bits != 0 &&
	    upf_steer_prefix(upf, &change->ue.prefix) % upf->workers != wanted)
		return weir_fail(error, "bad_argument", where,
				 "an address and a prefix that lead to one worker", NULL,
				 "the prefix of %s leads to another of %u workers",
				 name_of(change).text, upf->workers);
	if (upf_steer_teid(upf, (uint32_t)change->teid) % upf->workers == wanted)
		return 0;
	for (unsigned int i = 0; i < 2 * upf->workers; i++) {
		other = (other + step) & UINT32_MAX;
		if (other != 0 && upf_steer_teid(upf, (uint32_t)other) % upf->workers == wanted)
			break;
	}
	return weir_fail(error, "bad_argument", where,
			 "a TEID that leads to the worker of the UE's address", NULL,
			 "teid=%lu leads to another of %u workers than %s; teid=%lu would not",
			 change->teid, upf->workers, name_of(change).text, other);
}

static int
check_added(const struct upf *upf, struct upf_change *change, const char *where,
	    struct weir_error *error)
{
	const struct upf_ue_name ue = name_of(change);
	struct upf_ue there;

	if (!upf_gives(change, UPF_GIVEN_TEID))
		return weir_fail(error, "bad_argument", where, "teid=, from 1 to 4294967295", NULL,
				 "%s has no TEID", ue.text);
	/* Either of both. */
	if (change->place != WEIR_FLOW_NONE)
		return weir_fail(error, "bad_argument", where, "an address that no session has",
				 "modify that session, or remove it first",
				 "there is a session of %s", ue.text);
	change->place = upf_place_of_teid(upf, (uint32_t)change->teid);
	if (change->place >= upf->capacity)
		return weir_fail(error, "bad_argument", where,
				 "a TEID that leads to a place below sessions_max", NULL,
				 "teid=%lu of %s leads to place %u, and there are %u", change->teid,
				 ue.text, change->place, upf->capacity);
	there = upf_session_ue(upf, change->place);
	if (upf_place_is_taken(upf, change->place))
		return weir_fail(error, "bad_argument", where,
				 "a TEID that leads to a place where no session is", NULL,
				 "teid=%lu of %s leads to place %u, where the session of %s "
				 "is",
				 change->teid, ue.text, change->place, upf_ue_name(&there).text);
	if (upf_n4_has(upf, change->place))
		return weir_fail(error, "bad_argument", where, "a TEID that leads to another place",
				 "have the control plane function delete that session, or release "
				 "its association",
				 "teid=%lu of %s leads to place %u, which is that of a session by "
				 "N4 until that is deleted there, too",
				 change->teid, ue.text, change->place);
	if (upf_forwards_down(change) && !upf_gives(change, UPF_GIVEN_GNB_TEID))
		return weir_fail(error, "bad_argument", where, "gnb_teid=, or downlink=drop", NULL,
				 "what is for %s has no tunnel to enter", ue.text);
	return check_worker(upf, change, where, error);
}

/* Of a direction that goes by rules of its flows, each has a gate, an action and a tunnel of its
 * own, which whoever made the rules changes; the rate of all together is the session's. */
static int
check_ruled(const struct upf *upf, const struct upf_change *change, const char *where,
	    struct weir_error *error)
{
	const struct upf_session *session = &upf->sessions[change->place];
	uint32_t of_flows = 0;

	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		const bool out_of_tunnel = way == upf->out_of_way;

		if (session->rules[out_of_tunnel] == 0 ||
		    change->action[way] == UPF_ACTION_BY_RULES)
			continue;
		of_flows |= (uint32_t)(UPF_GIVEN_ACTION | UPF_GIVEN_GATE) << way;
		if (!out_of_tunnel)
			of_flows |= UPF_GIVEN_GNB | UPF_GIVEN_GNB_TEID | UPF_GIVEN_QFI;
	}
	if (!upf_gives(change, of_flows) || upf_gives(change, UPF_GIVEN_RULES))
		return 0;
	return weir_fail(error, "bad_argument", where,
			 "of a direction with rules mbr_uplink_bps= or mbr_downlink_bps= alone",
			 "change the rules by N4, or remove the session",
			 "packets of %s go by rules of their flows", name_of(change).text);
}

static int
check_modified(const struct upf *upf, const struct upf_change *change, const char *where,
	       struct weir_error *error)
{
	if (upf_gives(change, UPF_GIVEN_TEID))
		return weir_fail(error, "bad_argument", where,
				 "no teid=", "remove the session and add it again",
				 "the TEID of %s at this end stays", name_of(change).text);
	if (upf_gives(change, UPF_GIVEN_ACTION << WEIR_INBOUND) &&
	    change->action[WEIR_INBOUND] == UPF_ACTION_FORWARD &&
	    !upf_gives(change, UPF_GIVEN_GNB_TEID) && upf->sessions[change->place].tunnel.teid == 0)
		return weir_fail(error, "bad_argument", where, "gnb_teid= with downlink=forward",
				 NULL, "what is for %s has no tunnel to enter",
				 name_of(change).text);
	return check_ruled(upf, change, where, error);
}

/* Rules that all changes up to `change` need, but for those that their sessions have. */
static int
check_rules(const struct upf *upf, const struct upf_changes *changes,
	    const struct upf_change *change, const char *where, struct weir_error *error)
{
	uint64_t used = upf->rules_used;

	for (const struct upf_change *one = changes->change; one <= change; one++) {
		if (!upf_gives(one, UPF_GIVEN_RULES))
			continue;
		used += one->rule_count;
		if (changes->kind == UPF_MODIFY)
			used -= upf_rules_of(upf, &upf->sessions[one->place]);
	}
	if (used <= upf->rules_max || !upf_gives(change, UPF_GIVEN_RULES))
		return 0;
	return weir_fail(error, "bad_argument", where, "room for rules", "raise rules_max",
			 "%lu rules are needed with those of %s, and there is room for %lu", used,
			 name_of(change).text, upf->rules_max);
}

/* `change` and the ones before it are about different sessions. */
static int
check_once(const struct upf_changes *changes, const struct upf_change *change, const char *where,
	   struct weir_error *error)
{
	for (const struct upf_change *other = changes->change; other < change; other++) {
		if (upf_ue_meets(&other->ue, &change->ue) || other->place == change->place)
			return weir_fail(error, "bad_argument", where, "each session once",
					 "make the second change with a command of its own",
					 "%s and %s are one session, or lead to one place",
					 name_of(other).text, name_of(change).text);
	}
	return 0;
}

/* What names a session is of one, if it is two things. */
static bool
is_all_of(const struct upf *upf, const struct upf_change *change)
{
	const struct upf_ue ue = upf_session_ue(upf, change->place);

	return (change->ue.ip == 0 || change->ue.ip == ue.ip) &&
	       (change->ue.prefix_bits == 0 || upf_prefix_is(&change->ue.prefix, &ue.prefix));
}

static int
check(const struct upf *upf, const struct upf_changes *changes, struct upf_change *change,
      const char *where, struct weir_error *error)
{
	if (!upf_ue_is_named(&change->ue))
		return weir_fail(error, "bad_argument", where,
				 "ue=, the address of a UE, or ue_prefix=", NULL,
				 "a session is not named");
	if (change->ue.prefix_bits != 0 && change->ue.prefix_bits != upf->prefix_bits)
		return weir_fail(error, "bad_argument", where, "the length that all prefixes have",
				 "have another one in ue_first_prefix",
				 "the prefix of %s is a /%u, and those of this function are /%u",
				 name_of(change).text, change->ue.prefix_bits, upf->prefix_bits);
	if (upf_gives(change, UPF_GIVEN_GNB) && !upf_gives(change, UPF_GIVEN_GNB_TEID))
		return weir_fail(error, "bad_argument", where, "gnb_teid= with gnb=", NULL,
				 "%s goes to a gNB without a TEID there", name_of(change).text);
	if (upf_gives(change, UPF_GIVEN_GNB) && change->gnb_ip == 0)
		return weir_fail(error, "bad_argument", where, "gnb=, the address of a gNB", NULL,
				 "%s goes to a gNB at 0.0.0.0", name_of(change).text);
	if (upf_gives(change, UPF_GIVEN_END_MARKER) && !upf_gives(change, UPF_GIVEN_GNB_TEID))
		return weir_fail(error, "bad_argument", where, "gnb_teid= with end_marker=", NULL,
				 "%s has no other tunnel than the one to end",
				 name_of(change).text);
	change->place = upf_session_place_of_ue(upf, &change->ue);
	if (changes->kind == UPF_ADD) {
		if (check_added(upf, change, where, error) < 0)
			return -1;
	} else if (change->place == WEIR_FLOW_NONE || !is_all_of(upf, change)) {
		return weir_fail(error, "bad_argument", where, "the address of a session's UE",
				 NULL, "there is no session of %s", name_of(change).text);
	} else if (changes->kind == UPF_MODIFY && check_modified(upf, change, where, error) < 0) {
		return -1;
	}
	if (upf_gives(change, UPF_GIVEN_ACTION << upf->out_of_way) &&
	    change->action[upf->out_of_way] == UPF_ACTION_BUFFER)
		return weir_fail(error, "bad_argument", where, "uplink=forward or uplink=drop",
				 NULL, "what comes from %s does not wait", name_of(change).text);
	if (check_rules(upf, changes, change, where, error) < 0)
		return -1;
	return check_once(changes, change, where, error);
}

int
upf_changes_check(const struct upf *upf, struct upf_changes *changes, const char *where,
		  struct weir_error *error)
{
	for (unsigned int i = 0; i < changes->count; i++) {
		if (check(upf, changes, &changes->change[i], where, error) < 0)
			return -1;
	}
	return 0;
}
