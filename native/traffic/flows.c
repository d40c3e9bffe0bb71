/* SPDX-License-Identifier: Apache-2.0 */
#include "flows.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "random.h"
#include "stamp.h"

/* A Zipf stream repeats after this many packets: long enough for a million flows to show their
 * tail. */
#define ORDER_COUNT (1u << 21)

/*
 * The value of varied field number `field` (0, 1, …) in flow i. The first field takes i mod radix;
 * each further one steps by another odd number and by i / radix, so all fields change from flow to
 * flow and no two flows are alike.
 */
static uint32_t
digit(uint32_t i, unsigned int field)
{
	if (field == 0)
		return i % WEIR_FLOW_RADIX;
	return (i * (2 * field + 1) + i / WEIR_FLOW_RADIX) % WEIR_FLOW_RADIX;
}

static void
sum_up(const struct weir_stream_config *config, const struct weir_frame *frame,
       const struct weir_offsets *at, struct weir_flow *flow)
{
	uint8_t head[WEIR_HEAD_BYTES];
	uint16_t protocol = htons(config->template.tcp ? IPPROTO_TCP : IPPROTO_UDP);
	uint64_t sum;

	memcpy(head, frame->head, sizeof(head));
	memcpy(head + at->addresses + at->address_bytes - 4, &flow->src_ip, 4);
	memcpy(head + at->addresses + 2 * at->address_bytes - 4, &flow->dst_ip, 4);
	memcpy(head + at->ports, &flow->src_port, 2);
	memcpy(head + at->ports + 2, &flow->dst_port, 2);
	if (at->ip_checksum != 0) {
		uint16_t header = at->ip_checksum - 10;

		/* All but the length, which is added for each size. */
		flow->ip_sum =
			weir_sum_fold(weir_sum(head + header, 2) + weir_sum(head + header + 4, 16));
	}
	sum = weir_sum(head + at->addresses, 2 * at->address_bytes) + protocol + WEIR_STAMP_SUM;
	if (config->template.tcp)
		sum += weir_sum(head + at->ports, 20);
	else
		sum += weir_sum(head + at->ports,
				4); /* UDP: ports; the length is added for each size */
	flow->l4_sum = weir_sum_fold(sum);
}

static void
make_flow(const struct weir_stream_config *config, uint32_t i, struct weir_flow *flow)
{
	static const enum weir_vary in_order[][4] = {
		{WEIR_VARY_SRC_IP, WEIR_VARY_DST_IP, WEIR_VARY_SRC_PORT, WEIR_VARY_DST_PORT},
		/* That of the other direction. */
		{WEIR_VARY_DST_IP, WEIR_VARY_SRC_IP, WEIR_VARY_DST_PORT, WEIR_VARY_SRC_PORT},
	};
	const struct weir_template *template = &config->template;
	unsigned int last = template->ip_version == 4 ? 0 : 12;
	uint32_t more[WEIR_VARY_DST_PORT + 1] = {0};
	unsigned int field = 0;
	uint32_t src, dst;

	for (unsigned int j = 0; j < RTE_DIM(in_order[0]); j++) {
		enum weir_vary varied = in_order[config->exchanged][j];

		if (config->vary & varied)
			more[varied] = digit(i, field++);
	}
	memcpy(&src, template->src_ip + last, 4);
	memcpy(&dst, template->dst_ip + last, 4);
	*flow = (struct weir_flow){
		.src_ip = htonl(ntohl(src) + more[WEIR_VARY_SRC_IP]),
		.dst_ip = htonl(ntohl(dst) + more[WEIR_VARY_DST_IP]),
		.src_port = htons(template->src_port + more[WEIR_VARY_SRC_PORT]),
		.dst_port = htons(template->dst_port + more[WEIR_VARY_DST_PORT]),
	};
}

/* Ranks drawn by inverse transform from the cumulative weights 1 / rank^s. */
static int
draw_zipf(const struct weir_stream_config *config, struct weir_flows *flows)
{
	double *cumulative = calloc(flows->count, sizeof(*cumulative));
	uint64_t state = config->seed;
	double total = 0;

	flows->drawn = calloc(ORDER_COUNT, sizeof(*flows->drawn));
	if (cumulative == NULL || flows->drawn == NULL) {
		free(cumulative);
		return -1;
	}
	for (uint32_t i = 0; i < flows->count; i++) {
		total += pow(i + 1, -config->zipf_s);
		cumulative[i] = total;
	}
	for (uint32_t i = 0; i < ORDER_COUNT; i++) {
		double at = weir_random_unit(&state) * total;
		uint32_t low = 0, high = flows->count - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (cumulative[middle] > at)
				high = middle;
			else
				low = middle + 1;
		}
		flows->drawn[i] = low;
	}
	free(cumulative);
	return 0;
}

int
weir_flows_make(const struct weir_stream_config *config, struct weir_flows *flows,
		struct weir_error *error)
{
	memset(flows, 0, sizeof(*flows));
	if (config->flow_count > 1 && config->vary == 0)
		return weir_fail(error, "bad_argument", "flows.vary",
				 "src_ip, dst_ip, src_port, dst_port", NULL,
				 "%u flows, but no field to vary", config->flow_count);
	if (config->flow_count > WEIR_FLOW_RADIX && __builtin_popcount(config->vary) == 1)
		return weir_fail(error, "bad_argument", "flows.count",
				 "at most 32768 with one varied field", "vary two fields or more",
				 "%u flows are too many", config->flow_count);
	flows->count = config->flow_count;
	flows->flow = aligned_alloc(64, (flows->count * sizeof(*flows->flow) + 63) / 64 * 64);
	if (flows->flow == NULL || (config->zipf && draw_zipf(config, flows) < 0)) {
		weir_flows_free(flows);
		return weir_fail(error, "no_memory", "flows.count", NULL, NULL,
				 "no memory for %u flows", config->flow_count);
	}
	weir_flows_renew(config, flows);
	weir_flows_in_turn(flows, false);
	return 0;
}

void
weir_flows_renew(const struct weir_stream_config *config, struct weir_flows *flows)
{
	for (uint32_t i = 0; i < flows->count; i++)
		make_flow(config, i, &flows->flow[i]);
	weir_flows_sum(config, flows);
}

void
weir_flows_in_turn(struct weir_flows *flows, bool in_turn)
{
	flows->order = in_turn ? NULL : flows->drawn;
	flows->order_count = flows->order != NULL ? ORDER_COUNT : flows->count;
}

void
weir_flows_sum(const struct weir_stream_config *config, struct weir_flows *flows)
{
	struct weir_offsets at = weir_frame_offsets(&config->template);
	struct weir_frame frame;

	weir_frame_build(&config->template, config->frame_bytes[0], &frame);
	for (uint32_t i = 0; i < flows->count; i++)
		sum_up(config, &frame, &at, &flows->flow[i]);
}

void
weir_flows_free(struct weir_flows *flows)
{
	free(flows->flow);
	free(flows->drawn);
	memset(flows, 0, sizeof(*flows));
}
