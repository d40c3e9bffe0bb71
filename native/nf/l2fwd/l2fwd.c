/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l2fwd: forwards every frame from one port to the other, as testpmd's mac and macswap modes do.
 *
 * Modes: `mac-rewrite` writes src_mac and dst_mac into each frame (what a VM in a PVP chain does so
 * that learning bridges deliver); `mac-swap` exchanges source and destination (IEEE 802.3
 * clause 3.2). Nothing else of the frame is looked at or changed. A frame shorter than an Ethernet
 * header is dropped. Limits: one direction a stage; each path of an area has a stage of its own.
 * Example: {"nf": "l2fwd", "options": {"mode": "mac-swap"}}
 */
#include <assert.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_vect.h>

#include "engine/nf.h"

enum mode { MODE_MAC_REWRITE, MODE_MAC_SWAP };
static const char *const mode_names[] = {"mac-rewrite", "mac-swap", NULL};

struct l2fwd {
	unsigned int mode;
	struct rte_ether_addr src_mac;
	struct rte_ether_addr dst_mac;
	uint8_t addresses[2 * RTE_ETHER_ADDR_LEN]; /* destination, source: as in the frame */
};
static_assert(sizeof(struct l2fwd) <= RTE_CACHE_LINE_SIZE, "the state is one cache line");

static const struct weir_option options[] = {
	{
		.name = "mode",
		.type = WEIR_OPTION_ENUM,
		.default_text = "mac-rewrite",
		.values = mode_names,
		.help = "mac-rewrite: write src_mac and dst_mac; mac-swap: exchange source and "
			"destination.",
		.offset = offsetof(struct l2fwd, mode),
	},
	{
		.name = "src_mac",
		.type = WEIR_OPTION_MAC,
		.help = "With mac-rewrite: the source address of forwarded frames. A lab fills it "
			"in.",
		.offset = offsetof(struct l2fwd, src_mac),
	},
	{
		.name = "dst_mac",
		.type = WEIR_OPTION_MAC,
		.help = "With mac-rewrite: the destination address of forwarded frames. A lab "
			"fills it in.",
		.offset = offsetof(struct l2fwd, dst_mac),
	},
};

enum { DROP_TRUNCATED };
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_TRUNCATED] = {"truncated", "The frame is shorter than an Ethernet header."},
};

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct l2fwd *l2fwd = state;

	if (l2fwd->mode == MODE_MAC_REWRITE && rte_is_zero_ether_addr(&l2fwd->dst_mac))
		return weir_fail(error, "bad_argument", where, "src_mac and dst_mac",
				 "give both addresses, or choose mode mac-swap",
				 "l2fwd in mode mac-rewrite has no dst_mac");
	memcpy(l2fwd->addresses, &l2fwd->dst_mac, RTE_ETHER_ADDR_LEN);
	memcpy(l2fwd->addresses + RTE_ETHER_ADDR_LEN, &l2fwd->src_mac, RTE_ETHER_ADDR_LEN);
	return 0;
}

/* Both addresses are 12 bytes at the start of the frame: one 16-byte load, shuffle and store. */
static inline void
swap_addresses(uint8_t *frame)
{
	const __m128i order = _mm_setr_epi8(6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15);
	__m128i header = _mm_loadu_si128((const __m128i *)frame);

	_mm_storeu_si128((__m128i *)frame, _mm_shuffle_epi8(header, order));
}

static inline void
swap_addresses_short(uint8_t *frame)
{
	uint8_t destination[RTE_ETHER_ADDR_LEN];

	memcpy(destination, frame, RTE_ETHER_ADDR_LEN);
	memcpy(frame, frame + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	memcpy(frame + RTE_ETHER_ADDR_LEN, destination, RTE_ETHER_ADDR_LEN);
}

/* Removes frames without an Ethernet header; rare, so it is out of the loop. */
static void
drop_truncated(struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < batch->count; i++) {
		struct rte_mbuf *packet = batch->packet[i];

		if (packet->data_len >= RTE_ETHER_HDR_LEN) {
			batch->egress[kept] = batch->egress[i];
			batch->packet[kept++] = packet;
		} else {
			rte_pktmbuf_free(packet);
		}
	}
	weir_count(&ledger->drops[DROP_TRUNCATED], batch->count - kept);
	batch->count = kept;
}

static void
process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	const struct l2fwd *l2fwd = state;
	uint16_t shortest = UINT16_MAX;

	for (uint16_t i = 0; i < batch->count; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(batch->packet[i], void *));
		shortest = RTE_MIN(shortest, batch->packet[i]->data_len);
	}
	if (unlikely(shortest < RTE_ETHER_HDR_LEN))
		drop_truncated(batch, ledger);

	if (l2fwd->mode == MODE_MAC_REWRITE) {
		for (uint16_t i = 0; i < batch->count; i++)
			memcpy(rte_pktmbuf_mtod(batch->packet[i], void *), l2fwd->addresses,
			       sizeof(l2fwd->addresses));
	} else if (likely(shortest >= 16)) {
		for (uint16_t i = 0; i < batch->count; i++)
			swap_addresses(rte_pktmbuf_mtod(batch->packet[i], uint8_t *));
	} else {
		for (uint16_t i = 0; i < batch->count; i++)
			swap_addresses_short(rte_pktmbuf_mtod(batch->packet[i], uint8_t *));
	}
}

extern const struct weir_nf weir_nf_l2fwd;
const struct weir_nf weir_nf_l2fwd = {
	.name = "l2fwd",
	.summary = "Forwards frames, rewriting or swapping the MAC addresses.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.rewrites = true,
	.state_size = sizeof(struct l2fwd),
	.init = init,
	.process = process,
};
