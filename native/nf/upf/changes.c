/* SPDX-License-Identifier: Apache-2.0 */
#include "changes.h"

#include <arpa/inet.h>

#include <rte_prefetch.h>

struct address {
	char text[INET_ADDRSTRLEN];
};

static struct address
text_of(uint32_t ip)
{
	struct address address;

	inet_ntop(AF_INET, &ip, address.text, sizeof(address.text));
	return address;
}

static bool
gives(const struct upf_change *change, uint32_t given)
{
	return (change->given & given) != 0;
}

/* Whether what is added forwards to the UE: where nothing says so, if it is known to which gNB. */
static bool
forwards_down(const struct upf_change *change)
{
	return gives(change, UPF_GIVEN_ACTION << WEIR_INBOUND)
		       ? change->action[WEIR_INBOUND] == UPF_ACTION_FORWARD
		       : gives(change, UPF_GIVEN_GNB_TEID);
}

/* Both directions of a session are one worker's. */
static int
check_worker(const struct upf *upf, const struct upf_change *change, const char *where,
	     struct weir_error *error)
{
	const uint32_t wanted = upf_steer_ue(upf, change->ue_ip) % upf->workers;
	const uint64_t step = upf->place_mask + 1ul;
	uint64_t other = change->teid;

	if (upf_steer_teid(upf, (uint32_t)change->teid) % upf->workers == wanted)
		return 0;
	for (unsigned int i = 0; i < 2 * upf->workers; i++) {
		other = (other + step) & UINT32_MAX;
		if (other != 0 && upf_steer_teid(upf, (uint32_t)other) % upf->workers == wanted)
			break;
	}
	return weir_fail(error, "bad_argument", where,
			 "a TEID that leads to the worker of the UE's address", NULL,
			 "teid=%lu leads to another of %u workers than ue=%s; teid=%lu would not",
			 change->teid, upf->workers, text_of(change->ue_ip).text, other);
}

static int
check_added(const struct upf *upf, struct upf_change *change, const char *where,
	    struct weir_error *error)
{
	const struct address ue = text_of(change->ue_ip);

	if (!gives(change, UPF_GIVEN_TEID))
		return weir_fail(error, "bad_argument", where, "teid=, from 1 to 4294967295", NULL,
				 "ue=%s has no TEID", ue.text);
	if (change->place != WEIR_FLOW_NONE)
		return weir_fail(error, "bad_argument", where, "an address that no session has",
				 "modify that session, or remove it first",
				 "there is a session of ue=%s", ue.text);
	change->place = upf_place_of_teid(upf, (uint32_t)change->teid);
	if (change->place >= upf->capacity)
		return weir_fail(error, "bad_argument", where,
				 "a TEID that leads to a place below sessions_max", NULL,
				 "teid=%lu of ue=%s leads to place %u, and there are %u",
				 change->teid, ue.text, change->place, upf->capacity);
	if (upf_place_is_taken(upf, change->place))
		return weir_fail(error, "bad_argument", where,
				 "a TEID that leads to a place where no session is", NULL,
				 "teid=%lu of ue=%s leads to place %u, where the session of ue=%s "
				 "is",
				 change->teid, ue.text, change->place,
				 text_of(upf->sessions[change->place].ue_ip).text);
	if (forwards_down(change) && !gives(change, UPF_GIVEN_GNB_TEID))
		return weir_fail(error, "bad_argument", where, "gnb_teid=, or downlink=drop", NULL,
				 "what is for ue=%s has no tunnel to enter", ue.text);
	return check_worker(upf, change, where, error);
}

static int
check_modified(const struct upf *upf, const struct upf_change *change, const char *where,
	       struct weir_error *error)
{
	if (gives(change, UPF_GIVEN_TEID))
		return weir_fail(error, "bad_argument", where,
				 "no teid=", "remove the session and add it again",
				 "the TEID of ue=%s at this end stays",
				 text_of(change->ue_ip).text);
	if (gives(change, UPF_GIVEN_ACTION << WEIR_INBOUND) &&
	    change->action[WEIR_INBOUND] == UPF_ACTION_FORWARD &&
	    !gives(change, UPF_GIVEN_GNB_TEID) && upf->sessions[change->place].tunnel.teid == 0)
		return weir_fail(error, "bad_argument", where, "gnb_teid= with downlink=forward",
				 NULL, "what is for ue=%s has no tunnel to enter",
				 text_of(change->ue_ip).text);
	return 0;
}

/* Rules that all changes up to `change` need, but for those that their sessions have. */
static int
check_rules(const struct upf *upf, const struct upf_changes *changes,
	    const struct upf_change *change, const char *where, struct weir_error *error)
{
	uint64_t used = upf->rules_used;

	for (const struct upf_change *one = changes->change; one <= change; one++) {
		if (!gives(one, UPF_GIVEN_RULES))
			continue;
		used += one->rule_count;
		if (changes->kind == UPF_MODIFY)
			used -= upf_rules_of(upf, &upf->sessions[one->place]);
	}
	if (used <= upf->rules_max || !gives(change, UPF_GIVEN_RULES))
		return 0;
	return weir_fail(error, "bad_argument", where, "room for rules", "raise rules_max",
			 "%lu rules are needed with those of ue=%s, and there is room for %lu",
			 used, text_of(change->ue_ip).text, upf->rules_max);
}

/* `change` and the ones before it are about different sessions. */
static int
check_once(const struct upf_changes *changes, const struct upf_change *change, const char *where,
	   struct weir_error *error)
{
	for (const struct upf_change *other = changes->change; other < change; other++) {
		if (other->ue_ip == change->ue_ip || other->place == change->place)
			return weir_fail(error, "bad_argument", where, "each session once",
					 "make the second change with a command of its own",
					 "ue=%s and ue=%s are one session, or lead to one place",
					 text_of(other->ue_ip).text, text_of(change->ue_ip).text);
	}
	return 0;
}

static int
check(const struct upf *upf, const struct upf_changes *changes, struct upf_change *change,
      const char *where, struct weir_error *error)
{
	if (!gives(change, UPF_GIVEN_UE) || change->ue_ip == 0)
		return weir_fail(error, "bad_argument", where, "ue=, the address of a UE", NULL,
				 "a session is not named");
	if (gives(change, UPF_GIVEN_GNB) && !gives(change, UPF_GIVEN_GNB_TEID))
		return weir_fail(error, "bad_argument", where, "gnb_teid= with gnb=", NULL,
				 "ue=%s goes to a gNB without a TEID there",
				 text_of(change->ue_ip).text);
	if (gives(change, UPF_GIVEN_GNB) && change->gnb_ip == 0)
		return weir_fail(error, "bad_argument", where, "gnb=, the address of a gNB", NULL,
				 "ue=%s goes to a gNB at 0.0.0.0", text_of(change->ue_ip).text);
	change->place = upf_session_place_of_ue(upf, change->ue_ip);
	if (changes->kind == UPF_ADD) {
		if (check_added(upf, change, where, error) < 0)
			return -1;
	} else if (change->place == WEIR_FLOW_NONE) {
		return weir_fail(error, "bad_argument", where, "the address of a session's UE",
				 NULL, "there is no session of ue=%s", text_of(change->ue_ip).text);
	} else if (changes->kind == UPF_MODIFY && check_modified(upf, change, where, error) < 0) {
		return -1;
	}
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

static void
set_held(struct upf_flow *flow, uint8_t by, bool is)
{
	flow->held_by = is ? flow->held_by | by : flow->held_by & (uint8_t)~by;
}

static void
set_action(struct upf_flow *flow, unsigned int action)
{
	set_held(flow, UPF_HELD_BY_ACTION, action == UPF_ACTION_DROP);
	set_held(flow, UPF_HELD_BY_RULES, action == UPF_ACTION_BY_RULES);
}

/* What the change says of a session that is there. */
static void
write_given(struct upf *upf, const struct upf_change *change, struct upf_session *session)
{
	if (gives(change, UPF_GIVEN_GNB_TEID)) {
		session->tunnel.teid = rte_cpu_to_be_32((uint32_t)change->gnb_teid);
		if (gives(change, UPF_GIVEN_GNB))
			weir_gtpu_lead(&session->tunnel, &upf->outer, change->gnb_ip);
	}
	if (gives(change, UPF_GIVEN_QFI))
		session->tunnel.qfi = (uint8_t)change->qfi;
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
		struct upf_flow *flow = upf_session_flow(session, way == upf->out_of_way);

		if (gives(change, UPF_GIVEN_ACTION << way))
			set_action(flow, change->action[way]);
		if (gives(change, UPF_GIVEN_GATE << way))
			set_held(flow, UPF_HELD_BY_GATE, change->gate[way] == UPF_GATE_CLOSED);
		if (gives(change, UPF_GIVEN_MBR << way))
			upf_flow_set_mbr(flow, change->mbr_bps[way]);
	}
	if (gives(change, UPF_GIVEN_RULES))
		upf_rules_replace(upf, session, change->rules, change->rule_count);
}

static void
add(struct upf *upf, const struct upf_change *change)
{
	struct upf_session *session = &upf->sessions[change->place];

	weir_gtpu_lead(&session->tunnel, &upf->outer, upf->peer_ip);
	session->tunnel.qfi = (uint8_t)upf->qfi;
	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++)
		upf_flow_set_mbr(upf_session_flow(session, way == upf->out_of_way),
				 upf->mbr_bps[way]);
	set_held(&session->into, UPF_HELD_BY_ACTION, !forwards_down(change));
	write_given(upf, change, session);
	upf_session_begin(upf, change->place, change->ue_ip, (uint32_t)change->teid);
	upf->changed.added++;
}

void
upf_changes_apply(struct upf *upf, const struct upf_changes *changes)
{
	/* Their memory comes together, and not one after the other. */
	for (unsigned int i = 0; i < changes->count; i++) {
		rte_prefetch0(&upf->sessions[changes->change[i].place]);
		rte_prefetch0(&upf->sessions[changes->change[i].place].ue);
	}
	for (unsigned int i = 0; i < changes->count; i++) {
		const struct upf_change *change = &changes->change[i];

		switch (changes->kind) {
		case UPF_ADD:
			add(upf, change);
			break;
		case UPF_MODIFY:
			write_given(upf, change, &upf->sessions[change->place]);
			upf->changed.modified++;
			break;
		case UPF_REMOVE:
			upf_session_end(upf, change->place);
			upf->changed.removed++;
			break;
		}
	}
}
