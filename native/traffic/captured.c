/* SPDX-License-Identifier: Apache-2.0 */
/* What a sender does where its frames are a capture's. */
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "stamp.h"
#include "stream.h"

int
weir_captured_read(const struct weir_stream_config *config, struct weir_capture *capture,
		   struct weir_error *error)
{
	uint16_t most = config->capture_frame_bytes_max;
	const struct weir_capture_wanted wanted = {
		.frame_bytes_max = (most != 0 ? most : WEIR_FRAME_BYTES_MAX) + RTE_VLAN_HLEN,
		.stamp = config->stamped,
		.src_mac = config->template_macs ? &config->template.src_mac : NULL,
		.dst_mac = config->template_macs ? &config->template.dst_mac : NULL,
		.filter = config->capture_filter,
		.maps = config->maps,
		.map_count = config->map_count,
	};

	if (weir_capture_open(config->capture, &wanted, capture, error) < 0)
		return -1;
	if (!config->recorded || capture->mean_gap_ns > 0)
		return 0;
	weir_capture_free(capture);
	return weir_fail(error, "bad_argument", "pacing", "frames at different times",
			 "send them at a constant rate", "%s records no gap between frames",
			 config->capture);
}

static struct weir_capture_facts
facts_of(const struct weir_capture *capture)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < capture->count; i++) {
		uint64_t length = capture->offset[i + 1] - capture->offset[i];

		longest = length > longest ? length : longest;
	}
	return (struct weir_capture_facts){
		.frames = capture->count,
		.mean_frame_bytes = (double)capture->offset[capture->count] / capture->count +
				    RTE_ETHER_CRC_LEN,
		.frame_bytes_most = (uint16_t)(longest + RTE_ETHER_CRC_LEN),
		.recorded_pps = capture->mean_gap_ns > 0 ? 1e9 / capture->mean_gap_ns : 0,
		.lead_ns = capture->lead_ns,
		.span_ns = capture->mean_gap_ns * (capture->count - 1),
	};
}

bool
weir_stream_captured(unsigned int index, struct weir_capture_facts *facts)
{
	const struct weir_capture *capture = &weir_stream_at(index)->sender.capture;

	if (capture->count == 0)
		return false;
	*facts = facts_of(capture);
	return true;
}

int
weir_capture_facts_of(const char *path, const char *filter, bool stamped,
		      struct weir_capture_facts *facts, struct weir_error *error)
{
	/* What ports carry: nobody tells them of a capture's frames. */
	const struct weir_capture_wanted wanted = {
		.frame_bytes_max = RTE_ETHER_MAX_LEN + RTE_VLAN_HLEN,
		.stamp = stamped,
		.filter = filter,
	};
	struct weir_capture capture;

	if (weir_capture_open(path, &wanted, &capture, error) < 0)
		return -1;
	*facts = facts_of(&capture);
	weir_capture_free(&capture);
	return 0;
}

void
weir_captured_fill(struct weir_sender *sender, struct rte_mbuf **packets, uint16_t count,
		   uint64_t now_tsc)
{
	const struct weir_capture *capture = &sender->capture;

	for (uint16_t i = 0; i < count; i++) {
		uint64_t sequence = sender->sequence + i;
		uint32_t at = sender->next_frame;
		uint16_t length = capture->offset[at + 1] - capture->offset[at];
		uint8_t *data = rte_pktmbuf_mtod(packets[i], uint8_t *);
		uint64_t tx_tsc = sender->pacing.poisson
					  ? weir_pacing_drawn_tsc(&sender->pacing, sequence)
					  : now_tsc;

		sender->next_frame = at + 1 == capture->count ? 0 : at + 1;
		sender->offered_bytes += length + RTE_ETHER_CRC_LEN;
		packets[i]->data_len = length;
		packets[i]->pkt_len = length;
		memcpy(data, capture->bytes + capture->offset[at], length);
		if (capture->stamp_at != NULL) {
			struct weir_stamp stamp = {
				.epoch = sender->epoch,
				.stream = sender->config->id,
				.sequence = (uint32_t)sequence,
				.tx_tsc = tx_tsc,
			};

			stamp.check = weir_stamp_check(&stamp);
			memcpy(data + capture->stamp_at[at], &stamp, sizeof(stamp));
		}
		if (unlikely(sender->slices.by_time))
			weir_slices_add(&sender->slices, sequence, tx_tsc, tx_tsc);
	}
}
