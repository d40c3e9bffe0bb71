/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/random.h>

#include <rte_common.h>

#include "agent.h"
#include "state.h"

#define PLACE_BITS 24
static_assert(UPF_SESSIONS_MAX <= 1 << PLACE_BITS, "a place fits");

static uint64_t
draw(struct pfcp_dice *dice)
{
	if (dice->left == 0) {
		/* Of 256 bytes at most it gives all at once (getrandom(2)). */
		if (getrandom(dice->bits, sizeof(dice->bits), 0) != (ssize_t)sizeof(dice->bits))
			abort();
		dice->left = RTE_DIM(dice->bits);
	}
	return dice->bits[--dice->left];
}

/* Where the UE's number says the place, and that the TEID. */
static bool
are_consecutive(const struct upf *upf)
{
	return upf->n4_teids == UPF_N4_TEIDS_CONSECUTIVE;
}

bool
pfcp_places_init(struct pfcp_places *places, const struct upf *upf)
{
	*places = (struct pfcp_places){.capacity = upf->capacity,
				       .emptied_before = upf->changed.removed};
	places->place = malloc(upf->capacity * sizeof(places->place[0]));
	if (places->place == NULL)
		return false;
	for (uint32_t place = 0; place < upf->capacity && !are_consecutive(upf); place++) {
		if (!upf_place_is_taken(upf, place))
			places->place[places->count++] = place;
	}
	return true;
}

void
pfcp_place_give_back(struct pfcp_agent *agent, uint32_t place)
{
	struct pfcp_places *places = &agent->places;

	if (are_consecutive(agent->upf))
		return;
	places->place[(places->first + places->count++) % places->capacity] = place;
}

/* What a command took from a control plane function stays that one's until it deletes it. */
static bool
is_free(const struct pfcp_agent *agent, uint32_t place)
{
	return !upf_place_is_taken(agent->upf, place) && !pfcp_agent_has(agent, place);
}

/* One that had a session of a command's, or from the beginning, and is empty since. Behind the last
 * one, and only if a command has removed some since there was none. */
static bool
find_emptied(struct pfcp_agent *agent, uint32_t *place)
{
	struct pfcp_places *places = &agent->places;
	const uint64_t emptied = agent->upf->changed.removed - places->removed;

	if (emptied == places->emptied_before)
		return false;
	for (uint32_t looked = 0; looked < places->capacity; looked++) {
		*place = places->look_at++;
		if (places->look_at == places->capacity)
			places->look_at = 0;
		if (is_free(agent, *place))
			return true;
	}
	places->emptied_before = emptied;
	return false;
}

/* One where a command has put a session meanwhile is for later. */
bool
pfcp_place_choose(struct pfcp_agent *agent, const struct upf_ue *ue, uint32_t *place)
{
	struct pfcp_places *places = &agent->places;

	if (are_consecutive(agent->upf)) {
		*place = upf_steer_ue(agent->upf, ue);
		return *place < agent->upf->capacity && is_free(agent, *place);
	}
	if (agent->upf->live == places->capacity)
		return false;
	for (uint32_t tried = places->count; tried > 0; tried--) {
		*place = places->place[places->first];
		places->first = (places->first + 1) % places->capacity;
		places->count--;
		if (!upf_place_is_taken(agent->upf, *place))
			return true;
		pfcp_place_give_back(agent, *place);
	}
	return find_emptied(agent, place);
}

uint32_t
pfcp_teid_choose(struct pfcp_agent *agent, uint32_t place, const struct upf_ue *ue)
{
	const struct upf *upf = agent->upf;
	const uint32_t workers = upf->workers, wanted = upf_steer_ue(upf, ue) % workers;

	if (are_consecutive(upf))
		return (uint32_t)upf->own_teid_first + place;
	for (;;) {
		const uint32_t above = (uint32_t)draw(&agent->dice) & ~upf->place_mask;
		const uint32_t teid = (uint32_t)upf->own_teid_first + (above | place);

		if (teid != 0 && upf_steer_teid(upf, teid) % workers == wanted)
			return teid;
	}
}

uint64_t
pfcp_seid_choose(struct pfcp_agent *agent, uint32_t place)
{
	uint64_t seid;

	do {
		seid = draw(&agent->dice) << PLACE_BITS;
	} while (seid == 0);
	return seid | place;
}

uint32_t
pfcp_place_of_seid(uint64_t seid)
{
	return (uint32_t)seid & ((1u << PLACE_BITS) - 1);
}
