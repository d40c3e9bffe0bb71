/* SPDX-License-Identifier: Apache-2.0 */
#include "packet_fields.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "random.h"
#include "stamp.h"

#define BURST_MAX 64
#define ONE (1ull << 32)
#define GOLDEN 0x9e3779b97f4a7c15ull /* of splitmix64 */

const char *const weir_packet_field_names[] = {
	"src_ip",   "dst_ip", "src_port", "dst_port",	  "vlan",
	"priority", "dscp",   "ttl",	  "payload_byte", NULL,
};

static const uint32_t most[WEIR_PACKET_FIELDS] = {
	[WEIR_PACKET_SRC_IP] = UINT32_MAX,
	[WEIR_PACKET_DST_IP] = UINT32_MAX,
	[WEIR_PACKET_SRC_PORT] = UINT16_MAX,
	[WEIR_PACKET_DST_PORT] = UINT16_MAX,
	[WEIR_PACKET_VLAN] = 4094,
	[WEIR_PACKET_PRIORITY] = 7,
	[WEIR_PACKET_DSCP] = 63,
	[WEIR_PACKET_TTL] = UINT8_MAX,
	[WEIR_PACKET_PAYLOAD_BYTE] = UINT8_MAX,
};

/* --- values ------------------------------------------------------------------------------------
 */

static void
make_alias(const struct weir_packet_values *values, struct weir_packet_draw *draw)
{
	uint16_t small[WEIR_PACKET_VALUES_MAX], large[WEIR_PACKET_VALUES_MAX];
	unsigned int smalls = 0, larges = 0;
	double scaled[WEIR_PACKET_VALUES_MAX], total = 0;

	for (uint16_t i = 0; i < values->listed; i++)
		total += values->weight[i];
	for (uint16_t i = 0; i < values->listed; i++) {
		scaled[i] = values->weight[i] * values->listed / total;
		if (scaled[i] < 1)
			small[smalls++] = i;
		else
			large[larges++] = i;
		draw->share[i] = ONE;
		draw->alias[i] = i;
	}
	while (smalls > 0 && larges > 0) {
		uint16_t less = small[--smalls], more = large[larges - 1];

		draw->share[less] = (uint64_t)(scaled[less] * (double)ONE);
		draw->alias[less] = more;
		scaled[more] -= 1 - scaled[less];
		if (scaled[more] < 1) {
			larges--;
			small[smalls++] = more;
		}
	}
}

static inline uint32_t
random_value(const struct weir_packet_draw *draw, uint64_t sequence)
{
	uint64_t drawn = weir_mix(draw->seed + sequence * GOLDEN);
	uint64_t at = (drawn >> 32) * draw->count >> 32;

	if (!draw->listed)
		return draw->from + (uint32_t)at * draw->step;
	return draw->value[(uint32_t)drawn < draw->share[at] ? at : draw->alias[at]];
}

static inline uint32_t
value_at(const struct weir_packet_draw *draw, uint64_t at)
{
	return draw->listed ? draw->value[at] : draw->from + (uint32_t)at * draw->step;
}

uint32_t
weir_packet_value(const struct weir_packet_draw *draw, uint64_t sequence)
{
	return draw->random ? random_value(draw, sequence) : value_at(draw, sequence % draw->count);
}

static void
take_values(const struct weir_packet_draw *draw, uint64_t sequence, uint32_t *values,
	    uint16_t count)
{
	uint64_t at = sequence % draw->count;

	if (draw->random) {
		for (uint16_t i = 0; i < count; i++)
			values[i] = random_value(draw, sequence + i);
		return;
	}
	for (uint16_t i = 0; i < count; i++) {
		values[i] = value_at(draw, at);
		at = at + 1 == draw->count ? 0 : at + 1;
	}
}

/* --- a stream's fields -------------------------------------------------------------------------
 */

static int
check(const struct weir_stream_config *config, enum weir_packet_field field,
      struct weir_error *error)
{
	const struct weir_packet_values *values = &config->fields[field];
	const bool listed = values->listed > 0;
	uint64_t first = listed ? UINT64_MAX : values->from;
	uint64_t last = listed ? 0 : values->from + (values->count - 1) * (uint64_t)values->step;
	double weights = 0;

	for (uint16_t i = 0; i < values->listed; i++) {
		first = RTE_MIN(first, (uint64_t)values->value[i]);
		last = RTE_MAX(last, (uint64_t)values->value[i]);
		weights += values->weight[i];
	}
	if (config->capture[0] != '\0')
		return weir_fail(error, "bad_argument", "fields", "absent", NULL,
				 "a capture's frames have fields of their own");
	if (!config->template.tagged &&
	    (field == WEIR_PACKET_VLAN || field == WEIR_PACKET_PRIORITY))
		return weir_fail(error, "bad_argument", "fields", "a template with `vlan`", NULL,
				 "frames without a tag have neither VLAN nor priority");
	if (last > most[field] || (field == WEIR_PACKET_VLAN && first == 0))
		return weir_fail(error, "bad_argument", "fields",
				 "values that fit their field, in 32 bits at most", NULL,
				 "a value of %s cannot be %llu", weir_packet_field_names[field],
				 (unsigned long long)(last > most[field] ? last : first));
	if (values->listed > 0 && weights == 0)
		return weir_fail(error, "bad_argument", "fields", "a weight above 0", NULL,
				 "all values of %s weigh nothing", weir_packet_field_names[field]);
	return 0;
}

static void
ready(const struct weir_packet_values *values, enum weir_packet_field field,
      struct weir_packet_draw *draw)
{
	*draw = (struct weir_packet_draw){
		.field = field,
		.random = values->random,
		.from = values->from,
		.step = values->step,
		.count = values->listed > 0 ? values->listed : values->count,
		.seed = weir_mix(values->seed + GOLDEN),
		.listed = values->listed > 0,
	};
	memcpy(draw->value, values->value, sizeof(draw->value));
	if (draw->listed)
		make_alias(values, draw);
}

int
weir_packet_fields_make(const struct weir_stream_config *config, struct weir_packet_fields **fields,
			struct weir_error *error)
{
	struct weir_packet_fields *made = NULL;

	*fields = NULL;
	for (unsigned int i = 0; i < WEIR_PACKET_FIELDS; i++) {
		if (config->fields[i].count == 0)
			continue;
		if (check(config, i, error) < 0) {
			free(made);
			return -1;
		}
		if (made == NULL)
			made = calloc(1, sizeof(*made));
		if (made == NULL)
			return weir_fail(error, "no_memory", "fields", NULL, NULL,
					 "no memory for the fields");
		ready(&config->fields[i], i, &made->draw[made->count++]);
	}
	if (made != NULL) {
		made->at = weir_frame_offsets(&config->template);
		made->tcp = config->template.tcp;
		made->v4 = config->template.ip_version == 4;
	}
	*fields = made;
	return 0;
}

uint8_t
weir_packet_fields_payload(const struct weir_packet_fields *fields, uint64_t sequence)
{
	/* The payload is the last of the fields. */
	if (fields == NULL || fields->draw[fields->count - 1].field != WEIR_PACKET_PAYLOAD_BYTE)
		return 0;
	return (uint8_t)weir_packet_value(&fields->draw[fields->count - 1], sequence);
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* What changed, in ones' complement, to be added to the sums of one packet. */
struct change {
	uint32_t ip, l4;
};

/* Replaces the word; returns what that adds to a sum over it. */
static inline uint32_t
put16(uint8_t *at, uint16_t value)
{
	uint16_t was;

	memcpy(&was, at, sizeof(was));
	memcpy(at, &value, sizeof(value));
	return (uint32_t)(uint16_t)~was + value;
}

static inline uint32_t
put32(uint8_t *at, uint32_t value)
{
	return put16(at, (uint16_t)value) + put16(at + 2, (uint16_t)(value >> 16));
}

static inline uint32_t
put_bits(uint8_t *at, uint16_t mask, uint16_t bits)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return put16(at, htons((uint16_t)((ntohs(word) & ~mask) | bits)));
}

static inline uint32_t
fill(uint8_t *frame, uint16_t from, uint16_t length, uint8_t byte)
{
	uint32_t bytes = length > from ? length - from : 0;
	/* Of zero bytes before. The last one of an odd number is the first of its word. */
	uint64_t sum = (uint64_t)(bytes / 2) * (byte * 0x101u);
	uint16_t odd = bytes % 2 != 0 ? htons((uint16_t)(byte << 8)) : 0;

	memset(frame + from, byte, bytes);
	return weir_sum_fold(sum + odd);
}

static void
write_one(const struct weir_packet_fields *fields, enum weir_packet_field field,
	  struct rte_mbuf *packet, uint32_t value, struct change *change)
{
	const struct weir_offsets *at = &fields->at;
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	uint8_t *l3 = frame + at->ports - (fields->v4 ? 20 : 40);
	uint32_t changed;

	switch (field) {
	case WEIR_PACKET_SRC_IP:
	case WEIR_PACKET_DST_IP:
		changed = put32(frame + at->addresses - 4 +
					at->address_bytes * (field == WEIR_PACKET_DST_IP ? 2 : 1),
				htonl(value));
		change->ip += changed;
		change->l4 += changed;
		break;
	case WEIR_PACKET_SRC_PORT:
	case WEIR_PACKET_DST_PORT:
		change->l4 += put16(frame + at->ports + (field == WEIR_PACKET_DST_PORT ? 2 : 0),
				    htons((uint16_t)value));
		break;
	case WEIR_PACKET_VLAN:
		put_bits(frame + 2 * RTE_ETHER_ADDR_LEN + 2, 0x0fff, (uint16_t)value);
		break;
	case WEIR_PACKET_PRIORITY:
		put_bits(frame + 2 * RTE_ETHER_ADDR_LEN + 2, 0xe000, (uint16_t)(value << 13));
		break;
	case WEIR_PACKET_DSCP: /* the six bits above ECN, in IPv6 behind the version */
		if (fields->v4)
			change->ip += put_bits(l3, 0x00fc, (uint16_t)(value << 2));
		else
			put_bits(l3, 0x0fc0, (uint16_t)(value << 6));
		break;
	case WEIR_PACKET_TTL:
		if (fields->v4)
			change->ip += put_bits(l3 + 8, 0xff00, (uint16_t)(value << 8));
		else
			l3[7] = (uint8_t)value;
		break;
	case WEIR_PACKET_PAYLOAD_BYTE:
		change->l4 += fill(frame, at->stamp + sizeof(struct weir_stamp), packet->data_len,
				   (uint8_t)value);
		break;
	case WEIR_PACKET_FIELDS:
		break;
	}
}

static inline void
put_sum(uint8_t *at, uint32_t change, bool zero_means_none)
{
	uint16_t was, now;

	memcpy(&was, at, sizeof(was));
	now = (uint16_t)~weir_sum_fold((uint64_t)(uint16_t)~was + change);
	if (zero_means_none && now == 0)
		now = 0xffff;
	memcpy(at, &now, sizeof(now));
}

void
weir_packet_fields_write(const struct weir_packet_fields *fields, uint64_t sequence,
			 struct rte_mbuf **packets, uint16_t count)
{
	struct change changes[BURST_MAX] = {0};
	uint32_t values[BURST_MAX];

	for (unsigned int f = 0; f < fields->count; f++) {
		take_values(&fields->draw[f], sequence, values, count);
		for (uint16_t i = 0; i < count; i++)
			write_one(fields, fields->draw[f].field, packets[i], values[i],
				  &changes[i]);
	}
	for (uint16_t i = 0; i < count; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(packets[i], uint8_t *);

		if (fields->at.ip_checksum != 0 && changes[i].ip != 0)
			put_sum(frame + fields->at.ip_checksum, changes[i].ip, false);
		if (changes[i].l4 != 0)
			put_sum(frame + fields->at.l4_checksum, changes[i].l4, true);
	}
}
