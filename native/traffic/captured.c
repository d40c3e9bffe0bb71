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
	const struct weir_capture_wanted wanted = {
		.frame_bytes_max = WEIR_FRAME_BYTES_MAX + RTE_VLAN_HLEN,
		.stamp = config->stamped,
		.src_mac = config->template_macs ? &config->template.src_mac : NULL,
		.dst_mac = config->template_macs ? &config->template.dst_mac : NULL,
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
