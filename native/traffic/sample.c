/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a stream without a run: what a program wants that has no port and no clock. */
#include <string.h>

#include <rte_mbuf.h>

#include "stamp.h"
#include "stream.h"

/* The time of sending would make the bytes differ from one sample to the next. */
static void
clear_time(uint8_t *frame, uint16_t stamp_offset)
{
	struct weir_stamp stamp;

	memcpy(&stamp, frame + stamp_offset, sizeof(stamp));
	stamp.tx_tsc = 0;
	stamp.check = weir_stamp_check(&stamp);
	memcpy(frame + stamp_offset, &stamp, sizeof(stamp));
}

int
weir_stream_sample(const struct weir_stream_config *config, uint32_t count, weir_sample_fn take,
		   void *argument, struct weir_error *error)
{
	struct weir_sender sender;
	int status = 0;

	if (weir_sender_prepare(&sender, config, true, error) < 0)
		return -1;
	weir_sender_ready(&sender, 1, (struct weir_pacing){0});
	while (status == 0 && sender.offered < count) {
		struct rte_mbuf *packets[WEIR_SEND_BURST];
		uint16_t burst = RTE_MIN(count - sender.offered, (uint64_t)WEIR_SEND_BURST);

		if (!weir_sender_fill(&sender, packets, burst)) {
			status = weir_fail(error, "no_memory", NULL, NULL, NULL,
					   "no packet buffers for the stream");
			break;
		}
		for (uint16_t i = 0; i < burst; i++) {
			uint8_t *frame = rte_pktmbuf_mtod(packets[i], uint8_t *);

			clear_time(frame, sender.at.stamp);
			take(argument, frame, packets[i]->data_len);
		}
		rte_pktmbuf_free_bulk(packets, burst);
	}
	weir_sender_free(&sender);
	return status;
}
