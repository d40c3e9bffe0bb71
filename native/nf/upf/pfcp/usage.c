/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <assert.h>
#include <stdlib.h>

bool
pfcp_slots_init(struct pfcp_slots *slots, uint64_t count)
{
	slots->slot = calloc(count + 1, sizeof(slots->slot[0]));
	if (slots->slot == NULL)
		return false;
	while (slots->count < count) {
		slots->slot[slots->count] = (uint32_t)count - slots->count;
		slots->count++;
	}
	return true;
}

static void
read_bytes(const struct pfcp_way *way, const struct pfcp_urr *urr, uint64_t bytes[2])
{
	struct weir_counter sum[2] = {0};

	way->count(way->of, urr->meter.slot, sum);
	bytes[WEIR_OUTBOUND] = sum[WEIR_OUTBOUND].bytes;
	bytes[WEIR_INBOUND] = sum[WEIR_INBOUND].bytes;
}

bool
pfcp_meters_begin(struct pfcp_slots *slots, const struct pfcp_way *way, struct pfcp_urr *urr,
		  unsigned int count, struct pfcp_fault *fault)
{
	const uint64_t now_ms = way->now_ms(way->of);

	for (struct pfcp_urr *end = urr + count; urr < end; urr++) {
		if (urr->meter.slot != 0)
			continue;
		if (slots->count == 0)
			return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_CREATE_URR);
		urr->meter = (struct pfcp_meter){.slot = slots->slot[--slots->count],
						 .began_ms = now_ms,
						 .period_began_ms = now_ms};
		if (urr->starts_at_once)
			urr->meter.time_began_ms = now_ms;
		read_bytes(way, urr, urr->meter.reported_bytes);
	}
	return true;
}

unsigned int
pfcp_meters_grant(const struct pfcp_way *way, struct pfcp_urr *urr, unsigned int count,
		  struct upf_quota quotas[PFCP_URRS_MAX])
{
	const uint64_t now_ms = way->now_ms(way->of);
	unsigned int granted = 0;

	static_assert(PFCP_TOTAL == (int)UPF_TOTAL && PFCP_DOWNLINK == (int)UPF_DOWNLINK,
		      "one order");
	for (struct pfcp_urr *end = urr + count; urr < end; urr++) {
		struct upf_quota *quota = &quotas[granted];

		if (!urr->is_granted)
			continue;
		granted++;
		urr->is_granted = false;
		urr->meter.used_up = 0;
		urr->meter.quota_told = false;
		urr->meter.quota_began_ms = urr->meter.time_began_ms != 0 ? now_ms : 0;
		*quota = (struct upf_quota){.usage = urr->meter.slot,
					    .is_limited =
						    urr->has_volume_quota || urr->has_time_quota};
		for (unsigned int i = 0; i < UPF_VOLUMES; i++)
			quota->bytes[i] =
				urr->has_volume_quota ? urr->volume_quota_bytes[i] : UINT64_MAX;
	}
	return granted;
}

bool
pfcp_is_among(const struct pfcp_urr *urr, const struct pfcp_urr *others, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (others[i].meter.slot == urr->meter.slot)
			return true;
	}
	return false;
}

void
pfcp_meters_end(struct pfcp_slots *slots, const struct pfcp_urr *urr, unsigned int count,
		const struct pfcp_urr *others, unsigned int other_count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (urr[i].meter.slot != 0 && !pfcp_is_among(&urr[i], others, other_count))
			slots->slot[slots->count++] = urr[i].meter.slot;
	}
}

/* Bytes since the last report, by enum pfcp_volume. Time counts from the first packet on. */
static void
look(const struct pfcp_way *way, struct pfcp_urr *urr, uint64_t now_ms,
     uint64_t volume_bytes[PFCP_VOLUMES])
{
	struct pfcp_meter *meter = &urr->meter;
	uint64_t bytes[2];

	read_bytes(way, urr, bytes);
	volume_bytes[PFCP_UPLINK] = bytes[WEIR_OUTBOUND] - meter->reported_bytes[WEIR_OUTBOUND];
	volume_bytes[PFCP_DOWNLINK] = bytes[WEIR_INBOUND] - meter->reported_bytes[WEIR_INBOUND];
	volume_bytes[PFCP_TOTAL] = volume_bytes[PFCP_UPLINK] + volume_bytes[PFCP_DOWNLINK];
	if (meter->time_began_ms == 0 && volume_bytes[PFCP_TOTAL] > 0)
		meter->time_began_ms = now_ms;
	if (meter->quota_began_ms == 0 && meter->time_began_ms != 0)
		meter->quota_began_ms = now_ms;
}

static uint32_t
whole_seconds(const struct pfcp_meter *meter, uint64_t now_ms)
{
	return meter->time_began_ms == 0 ? 0 : (uint32_t)((now_ms - meter->time_began_ms) / 1000);
}

/* Until one is told, and then not before there is a new one. Where the time is used up nothing
 * passes, which does not say that the volume is. */
static uint32_t
look_at_quotas(const struct pfcp_way *way, struct pfcp_urr *urr, uint64_t now_ms)
{
	struct pfcp_meter *meter = &urr->meter;

	if (meter->quota_told)
		return 0;
	if (urr->has_volume_quota && meter->used_up == 0 && way->is_exhausted(way->of, meter->slot))
		meter->used_up |= PFCP_AT_VOLUME_QUOTA;
	if (urr->has_time_quota && meter->quota_began_ms != 0 &&
	    now_ms - meter->quota_began_ms >= 1000ull * urr->time_quota_s)
		meter->used_up |= PFCP_AT_TIME_QUOTA;
	return meter->used_up;
}

uint32_t
pfcp_meter_looks(const struct pfcp_way *way, struct pfcp_urr *urr)
{
	const uint64_t now_ms = way->now_ms(way->of);
	uint64_t volume_bytes[PFCP_VOLUMES];
	uint32_t met = 0;

	look(way, urr, now_ms, volume_bytes);
	if ((urr->triggers & PFCP_AT_VOLUME) != 0) {
		for (unsigned int i = 0; i < PFCP_VOLUMES; i++) {
			/* One of nothing is passed by the first byte. */
			if (volume_bytes[i] > 0 &&
			    volume_bytes[i] >= urr->volume_threshold_bytes[i])
				met |= PFCP_AT_VOLUME;
		}
	}
	if ((urr->triggers & PFCP_AT_TIME) != 0 &&
	    whole_seconds(&urr->meter, now_ms) >= urr->time_threshold_s)
		met |= PFCP_AT_TIME;
	if ((urr->triggers & PFCP_PERIODIC) != 0 &&
	    now_ms - urr->meter.period_began_ms >= 1000ull * urr->period_s)
		met |= PFCP_PERIODIC;
	return met | look_at_quotas(way, urr, now_ms);
}

void
pfcp_meter_reports(const struct pfcp_way *way, struct pfcp_urr *urr, uint32_t triggers,
		   struct pfcp_usages *usages)
{
	const uint64_t now_ms = way->now_ms(way->of);
	struct pfcp_usage *usage = &usages->usage[usages->count++];
	struct pfcp_meter *meter = &urr->meter;

	assert(usages->count <= PFCP_URRS_MAX);
	*usage = (struct pfcp_usage){
		.urr_id = urr->id,
		.sequence = meter->sequence++,
		.triggers = triggers,
		.method = urr->method,
		.start_s = (uint32_t)(meter->began_ms / 1000),
		.end_s = (uint32_t)(now_ms / 1000),
	};
	look(way, urr, now_ms, usage->volume_bytes);
	usage->duration_s = whole_seconds(meter, now_ms);
	meter->reported_bytes[WEIR_OUTBOUND] += usage->volume_bytes[PFCP_UPLINK];
	meter->reported_bytes[WEIR_INBOUND] += usage->volume_bytes[PFCP_DOWNLINK];
	meter->time_began_ms += 1000ull * usage->duration_s; /* the rest of a second is kept */
	meter->began_ms = now_ms;
	if ((triggers & PFCP_PERIODIC) != 0) /* of several periods that went by at once, one */
		meter->period_began_ms += (now_ms - meter->period_began_ms) /
					  (1000ull * urr->period_s) * (1000ull * urr->period_s);
}

static void
put_volume(struct pfcp_writer *writer, const uint64_t volume_bytes[PFCP_VOLUMES])
{
	uint8_t value[1 + 8 * PFCP_VOLUMES] = {(1 << PFCP_VOLUMES) - 1}; /* clause 8.2.44 */

	for (unsigned int i = 0; i < 8 * PFCP_VOLUMES; i++)
		value[1 + i] = (uint8_t)(volume_bytes[i / 8] >> 8 * (7 - i % 8));
	pfcp_put_bytes(writer, PFCP_IE_VOLUME_MEASUREMENT, value, sizeof(value));
}

void
pfcp_put_usages(struct pfcp_writer *writer, enum pfcp_ie_type ie, const struct pfcp_usages *usages)
{
	for (unsigned int i = 0; i < usages->count; i++) {
		const struct pfcp_usage *usage = &usages->usage[i];
		const size_t group = pfcp_group_begin(writer, ie);

		pfcp_put_number(writer, PFCP_IE_URR_ID, usage->urr_id, 4);
		pfcp_put_number(writer, PFCP_IE_UR_SEQN, usage->sequence, 4);
		pfcp_put_number(writer, PFCP_IE_USAGE_REPORT_TRIGGER, usage->triggers, 3);
		pfcp_put_number(writer, PFCP_IE_START_TIME, usage->start_s, 4);
		pfcp_put_number(writer, PFCP_IE_END_TIME, usage->end_s, 4);
		if ((usage->method & PFCP_VOLUME) != 0)
			put_volume(writer, usage->volume_bytes);
		if ((usage->method & PFCP_DURATION) != 0)
			pfcp_put_number(writer, PFCP_IE_DURATION_MEASUREMENT, usage->duration_s, 4);
		pfcp_group_end(writer, group);
	}
}
