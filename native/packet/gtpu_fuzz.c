/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of GTP-U: any bytes behind UDP. The payload lies within them, and a packet that is
 * put into a tunnel is read as what it was. */
#include <stdlib.h>
#include <string.h>

#include "gtpu.h"
#include "testing/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool
same(const struct weir_gtpu *one, const struct weir_gtpu *other)
{
	return one->teid == other->teid && one->sequence == other->sequence &&
	       one->payload_offset == other->payload_offset &&
	       one->payload_bytes == other->payload_bytes && one->message == other->message &&
	       one->qfi == other->qfi && one->not_comprehended == other->not_comprehended;
}

static void
write_and_read(const struct weir_gtpu *first, const uint8_t *bytes)
{
	const struct weir_gtpu_end end = {.container = first->qfi != WEIR_GTPU_NO_QFI};
	const struct weir_gtpu_prepared prepared = weir_gtpu_prepare(&end);
	struct weir_gtpu_tunnel tunnel = {
		.teid = rte_cpu_to_be_32(first->teid),
		.qfi = first->qfi,
	};
	const uint16_t outer = prepared.bytes;
	const uint16_t before = sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr);
	static uint8_t again[sizeof(struct weir_gtpu_outer) + WEIR_FUZZ_FRAME_BYTES];
	struct weir_gtpu second;

	weir_gtpu_lead(&tunnel, &prepared, first->teid); /* any address */
	memcpy(again + outer, bytes + first->payload_offset, first->payload_bytes);
	weir_gtpu_write_outer(&prepared, &tunnel, first->payload_bytes, again);
	if (!weir_gtpu_parse(again + before, outer - before + first->payload_bytes, &second))
		abort();
	if (rte_ipv4_cksum((const void *)again) != 0)
		abort();
	if (second.teid != first->teid || second.qfi != first->qfi ||
	    second.payload_bytes != first->payload_bytes ||
	    second.payload_offset != outer - before || second.not_comprehended != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rte_mbuf *packet;
	struct weir_gtpu gtpu, user;
	bool read;

	if (size > WEIR_FUZZ_FRAME_BYTES)
		return 0;
	packet = weir_fuzz_packet(bytes, size);
	read = weir_gtpu_parse(rte_pktmbuf_mtod(packet, const uint8_t *), (uint32_t)size, &gtpu);
	if (weir_gtpu_parse_user(rte_pktmbuf_mtod(packet, const uint8_t *), (uint32_t)size,
				 &user) != read ||
	    (read && !same(&gtpu, &user)))
		abort();
	if (read) {
		if ((uint32_t)gtpu.payload_offset + gtpu.payload_bytes > size ||
		    gtpu.payload_offset < sizeof(struct rte_gtp_hdr))
			abort();
		write_and_read(&gtpu, rte_pktmbuf_mtod(packet, const uint8_t *));
	}
	rte_pktmbuf_free(packet);
	return 0;
}
