/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions, and the table that finds them by the address of the UE. */
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "flow_list.h"

uint32_t
upf_steer_ip(const struct upf *upf, uint32_t ue_ip)
{
	return rte_be_to_cpu_32(ue_ip) - rte_be_to_cpu_32(upf->ue_first_ip);
}

static struct upf_prefix
first_prefix(const struct upf *upf)
{
	return upf_prefix_of(upf->ue_first_prefix.address, &upf->prefix_mask);
}

uint32_t
upf_steer_prefix(const struct upf *upf, const struct upf_prefix *prefix)
{
	const struct upf_prefix first = first_prefix(upf);

	return upf_prefix_number(prefix, upf->prefix_bits) -
	       upf_prefix_number(&first, upf->prefix_bits);
}

uint32_t
upf_steer_ue(const struct upf *upf, const struct upf_ue *ue)
{
	return ue->ip != 0 ? upf_steer_ip(upf, ue->ip) : upf_steer_prefix(upf, &ue->prefix);
}

/* Of the options' sessions the number, as of the UE; of others any bits above the place make it
 * that of the UE's worker. */
uint32_t
upf_steer_teid(const struct upf *upf, uint32_t teid)
{
	const uint32_t above_first = teid - (uint32_t)upf->own_teid_first;

	return (above_first & upf->place_mask) +
	       (above_first >> __builtin_popcount(upf->place_mask));
}

static uint32_t
find(const struct weir_flow_table *table, const void *key)
{
	const void *asked[1] = {key};
	uint32_t place;

	weir_flow_table_find(table, asked, &place, 1);
	return place;
}

uint32_t
upf_session_place_of_ip(const struct upf *upf, uint32_t ue_ip)
{
	return find(upf->by_ue, &(struct upf_key){.ip = ue_ip});
}

uint32_t
upf_session_place_of_prefix(const struct upf *upf, const struct upf_prefix *prefix)
{
	return find(upf->by_prefix, prefix);
}

uint32_t
upf_session_place_of_ue(const struct upf *upf, const struct upf_ue *ue)
{
	const uint32_t place = ue->ip != 0 ? upf_session_place_of_ip(upf, ue->ip) : WEIR_FLOW_NONE;

	return place == WEIR_FLOW_NONE && ue->prefix_bits == upf->prefix_bits
		       ? upf_session_place_of_prefix(upf, &ue->prefix)
		       : place;
}

struct upf_ue
upf_session_ue(const struct upf *upf, uint32_t place)
{
	const struct upf_session *session = &upf->sessions[place];

	return (struct upf_ue){.prefix = session->prefix,
			       .ip = session->ue_ip,
			       .prefix_bits = upf_has_prefix(session) ? upf->prefix_bits : 0};
}

void
upf_flow_set_mbr(struct upf_flow *flow, uint64_t bps)
{
	flow->held_by &= (uint8_t)~UPF_HELD_BY_MBR;
	flow->due_tsc = 0;
	flow->due_fraction = 0;
	flow->cycles_per_byte = 0;
	if (bps == 0)
		return;
	flow->held_by |= UPF_HELD_BY_MBR;
	flow->cycles_per_byte = (float)(8.0 * (double)rte_get_tsc_hz() / (double)bps);
}

void
upf_flow_keep(struct upf *upf, struct upf_flow *flow, uint32_t queue, bool keeps)
{
	flow->held_by &= (uint8_t)~UPF_NOTIFIES;
	if (keeps)
		upf_buffer_stay(&upf->buffer, queue);
	if (keeps || upf_buffer_leave(&upf->buffer, queue))
		flow->held_by |= UPF_HELD_BY_BUFFER;
	else
		flow->held_by &= (uint8_t)~UPF_HELD_BY_BUFFER;
}

/* The next place's: packets with it are not looked for here. */
static uint32_t
teid_of_nobody(const struct upf *upf, uint32_t place)
{
	return (uint32_t)upf->own_teid_first + (place < upf->capacity ? place + 1 : 0);
}

void
upf_session_begin(struct upf *upf, uint32_t place, const struct upf_ue *ue, uint32_t teid)
{
	struct upf_session *session = &upf->sessions[place];

	session->ue_ip = ue->ip;
	session->ue.ip = ue->ip;
	session->prefix = ue->prefix;
	session->teid = teid;
	if (ue->ip != 0)
		weir_flow_table_put(upf->by_ue, place);
	if (upf_has_prefix(session))
		weir_flow_table_put(upf->by_prefix, place);
	upf->live++;
}

static void
add_passed(struct weir_counter *sum, const struct upf_flow *flow)
{
	sum->packets += flow->passed.packets;
	sum->bytes += flow->passed.bytes;
}

void
upf_session_end(struct upf *upf, uint32_t place)
{
	struct upf_session *session = &upf->sessions[place];

	upf_rules_replace(upf, session, NULL, 0);
	upf_buffer_end(&upf->buffer, &session->queue);
	add_passed(&upf->ended[upf->out_of_way], &session->out_of);
	add_passed(&upf->ended[!upf->out_of_way], &session->into);
	if (session->ue_ip != 0)
		weir_flow_table_take(upf->by_ue, place);
	if (upf_has_prefix(session))
		weir_flow_table_take(upf->by_prefix, place);
	memset(session, 0, sizeof(*session));
	session->teid = teid_of_nobody(upf, place);
	upf->live--;
}

/* Neither is one of them ::, nor the first again. */
static bool
prefixes_fit(const struct upf *upf, uint64_t count)
{
	const struct upf_prefix first = first_prefix(upf), mask = upf_prefix_mask(32);
	const struct upf_prefix last =
		upf_prefix_behind(&first, upf->prefix_bits, count > 0 ? (uint32_t)count - 1 : 0);
	const struct upf_prefix begin = upf_prefix_of((const uint8_t *)&first, &mask);
	const struct upf_prefix end = upf_prefix_of((const uint8_t *)&last, &mask);

	return upf->prefix_bits >= 32 && upf_prefix_is(&begin, &end) &&
	       (first.words[0] | first.words[1]) != 0;
}

static int
check_ranges(const struct upf *upf, const char *where, struct weir_error *error)
{
	/* Sessions that are, or can come to be, in a row. */
	const uint64_t count = upf->n4_teids == UPF_N4_TEIDS_CONSECUTIVE
				       ? RTE_MAX(upf->session_count, upf->sessions_max)
				       : upf->session_count;

	if (upf->sessions_max != 0 && upf->sessions_max < upf->session_count)
		return weir_fail(error, "bad_argument", where, "sessions_max not below sessions",
				 NULL, "there is room for %lu sessions, and %lu are asked for",
				 upf->sessions_max, upf->session_count);
	if (upf->sessions_max == 0 && count == 0)
		return weir_fail(error, "bad_argument", where, "sessions, or room for some", NULL,
				 "there are no sessions, and none can be added");
	if (count > 0 && rte_be_to_cpu_32(upf->ue_first_ip) + count - 1 > UINT32_MAX)
		return weir_fail(error, "bad_argument", where, NULL, "begin lower, or have fewer",
				 "%lu sessions from ue_first_address on are past 255.255.255.255",
				 count);
	if (upf->ue_first_prefix.given && !prefixes_fit(upf, count))
		return weir_fail(error, "bad_argument", where,
				 "prefixes of /32 or longer that share their first 32 bits",
				 "begin lower, or have fewer",
				 "%lu sessions from ue_first_prefix on, /%u each, do not fit",
				 count, upf->ue_first_prefix.length);
	if (count > 0 && RTE_MAX(upf->teid_first, upf->gnb_teid_first) + count - 1 > UINT32_MAX)
		return weir_fail(error, "bad_argument", where, NULL, "begin lower, or have fewer",
				 "%lu sessions need TEIDs past 4294967295", count);
	return 0;
}

static bool
take_room(struct upf *upf)
{
	const size_t bytes = (upf->capacity + 1ul) * sizeof(*upf->sessions);

	upf->asked = rte_zmalloc("upf asked", sizeof(*upf->asked), RTE_CACHE_LINE_SIZE);
	upf->sessions = rte_zmalloc("sessions", bytes, RTE_CACHE_LINE_SIZE);
	if (upf->asked == NULL || upf->sessions == NULL)
		return false;
	for (unsigned int i = 0; i < WEIR_BURST; i++)
		upf->asked->at[i] = &upf->asked->key[i];
	for (uint32_t place = 0; place <= upf->capacity; place++)
		upf->sessions[place].teid = teid_of_nobody(upf, place);
	upf->by_ue =
		weir_flow_table_create(upf->capacity, &upf->sessions->ue, sizeof(*upf->sessions));
	upf->by_prefix = weir_flow_table_create(upf->capacity, &upf->sessions->prefix,
						sizeof(*upf->sessions));
	return upf->by_ue != NULL && upf->by_prefix != NULL && upf_rules_init(upf) == 0 &&
	       upf_buffer_init(upf) == 0;
}

/* Session n has the n-th address and TEIDs: what the options say. */
static void
begin_first(struct upf *upf, struct upf_flow_list *flows)
{
	const uint32_t ue_first = rte_be_to_cpu_32(upf->ue_first_ip);
	const struct upf_prefix first = first_prefix(upf);
	struct upf_ue ue = {0};

	for (uint32_t i = 0; i < upf->session_count; i++) {
		struct upf_session *session = &upf->sessions[i];

		weir_gtpu_lead(&session->tunnel, &upf->outer, upf->peer_ip);
		session->tunnel.teid = rte_cpu_to_be_32((uint32_t)upf->peer_teid_first + i);
		session->tunnel.qfi = (uint8_t)upf->qfi;
		for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++)
			upf_flow_set_mbr(upf_session_flow(session, way == upf->out_of_way),
					 upf->mbr_bps[way]);
		ue.ip = rte_cpu_to_be_32(ue_first + i);
		if (upf->ue_first_prefix.given) {
			ue.prefix = upf_prefix_behind(&first, upf->prefix_bits, i);
			ue.prefix_bits = upf->prefix_bits;
		}
		upf_session_begin(upf, i, &ue, (uint32_t)upf->own_teid_first + i);
		upf_flow_list_apply(upf, flows, session);
	}
}

int
upf_sessions_init(struct upf *upf, const char *where, struct weir_error *error)
{
	struct upf_flow_list flows;

	upf->prefix_bits =
		upf->ue_first_prefix.given ? upf->ue_first_prefix.length : UPF_PREFIX_BITS;
	upf->prefix_mask = upf_prefix_mask(upf->prefix_bits);
	if (check_ranges(upf, where, error) < 0 ||
	    upf_flow_list_read(upf, &flows, where, error) < 0)
		return -1;
	upf->capacity = (uint32_t)RTE_MAX(upf->session_count, upf->sessions_max);
	/* Two places at least, so that there is a next one. */
	upf->place_mask = rte_align32pow2(RTE_MAX(upf->capacity, 2u)) - 1;
	if (take_room(upf)) {
		begin_first(upf, &flows);
		return 0;
	}
	return weir_fail(error, "no_memory", where, NULL,
			 "give weir-dp more --memory-mb, or ask for fewer sessions",
			 "no memory for %u sessions", upf->capacity);
}

void
upf_sessions_fini(struct upf *upf)
{
	weir_flow_table_free(upf->by_ue);
	weir_flow_table_free(upf->by_prefix);
	upf_buffer_fini(&upf->buffer);
	rte_free(upf->rules);
	rte_free(upf->usages);
	rte_free(upf->sessions);
	rte_free(upf->asked);
}
