/* SPDX-License-Identifier: Apache-2.0 */
/* What the function itself says to the other end of N3. */
#include <string.h>

#include "engine/made_packet.h"
#include "packet/icmp_message.h"
#include "upf.h"

/* A frame with that Ethernet header and room for so many bytes behind it, which leaves with the
 * next poll. NULL: it cannot be, and that is counted. */
static uint8_t *
make(struct upf *upf, struct rte_mempool *pool, const void *ethernet, uint16_t l3_offset,
     uint16_t l3_bytes)
{
	struct upf_answers *answers = &upf->answers;
	const uint16_t room = RTE_MAX(l3_offset + l3_bytes, RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN);
	struct rte_mbuf *made =
		answers->count < UPF_ANSWERS_MAX && pool != NULL ? weir_made_packet(pool) : NULL;
	uint8_t *frame = made != NULL ? (uint8_t *)rte_pktmbuf_append(made, room) : NULL;

	if (frame == NULL) {
		weir_count(&upf->answers_lost, 1);
		rte_pktmbuf_free(made);
		return NULL;
	}
	memset(frame, 0, room);
	memcpy(frame, ethernet, l3_offset);
	answers->packet[(answers->first + answers->count++) % UPF_ANSWERS_MAX] = made;
	return frame;
}

static void
turn(uint8_t *frame)
{
	struct rte_ether_hdr *ethernet = (struct rte_ether_hdr *)frame;

	RTE_SWAP(ethernet->src_addr, ethernet->dst_addr);
}

/* One other station alone is told something, as with ICMP errors (RFC 1122, 3.2.2). */
static bool
may_be_told(const struct upf *upf, const struct rte_mbuf *packet,
	    const struct weir_headers *headers)
{
	return headers->tuple.src_ip != upf->own_ip && weir_icmp_error_may_be_sent(packet, headers);
}

/* Sends `signal` to whom `packet` came from; from here to there is turned. */
static void
answer(struct upf *upf, const struct rte_mbuf *packet, const struct weir_headers *headers,
       struct weir_gtpu_signal *signal)
{
	uint8_t *frame = make(upf, packet->pool, rte_pktmbuf_mtod(packet, const void *),
			      headers->l3_offset, weir_gtpu_signal_bytes(signal));

	if (frame == NULL)
		return;
	turn(frame);
	signal->from_ip = headers->tuple.dst_ip;
	signal->to_ip = headers->tuple.src_ip;
	weir_gtpu_write_signal(signal, frame + headers->l3_offset);
}

void
upf_learn_link_back(struct upf_link *link, const struct weir_batch *batch)
{
	upf_learn_link(link, batch);
	if (link->went_there)
		turn(link->ethernet);
	link->went_there = false;
}

void
upf_end_tunnel(struct upf *upf, const struct weir_gtpu_tunnel *tunnel)
{
	const struct upf_link *link = &upf->link;
	const uint16_t type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	uint8_t *frame =
		make(upf, link->pool, link->ethernet, link->l3_offset, WEIR_GTPU_OUTER_PLAIN_BYTES);

	if (frame == NULL)
		return;
	memcpy(frame + link->l3_offset - sizeof(type), &type, sizeof(type));
	weir_gtpu_write_end_marker(upf->own_ip, tunnel, frame + link->l3_offset);
	weir_count(&upf->end_markers, 1);
}

void
upf_answer_echo(struct upf *upf, const struct rte_mbuf *packet, const struct weir_headers *headers,
		const struct weir_gtpu *gtpu)
{
	struct weir_gtpu_signal signal = {
		.to_port = headers->tuple.src_port,
		.message = WEIR_GTPU_ECHO_RESPONSE,
		.sequence = gtpu->sequence,
		.element_bytes = 2,
		/* Section 8.2: the restart counter is 0 from its sender and not looked at. */
		.elements = {WEIR_GTPU_IE_RECOVERY, 0},
	};

	if (may_be_told(upf, packet, headers))
		answer(upf, packet, headers, &signal);
}

void
upf_indicate_error(struct upf *upf, const struct rte_mbuf *packet,
		   const struct weir_headers *headers, const struct weir_gtpu *gtpu,
		   uint64_t now_tsc)
{
	const uint32_t teid = rte_cpu_to_be_32(gtpu->teid), ip = headers->tuple.dst_ip;
	struct weir_gtpu_signal signal = {
		.to_port = RTE_BE16(WEIR_GTPU_PORT),
		.message = WEIR_GTPU_ERROR_INDICATION,
		.element_bytes = 12,
		.elements = {[0] = WEIR_GTPU_IE_TEID_DATA,
			     [5] = WEIR_GTPU_IE_PEER_ADDRESS,
			     [7] = sizeof(ip)},
	};

	if (!may_be_told(upf, packet, headers) ||
	    !weir_error_rate_admits(&upf->answers.errors, upf->error_indications_pps, now_tsc))
		return;
	memcpy(&signal.elements[1], &teid, sizeof(teid));
	memcpy(&signal.elements[8], &ip, sizeof(ip));
	answer(upf, packet, headers, &signal);
}

void
upf_notify_extensions(struct upf *upf, const struct rte_mbuf *packet,
		      const struct weir_headers *headers, uint64_t now_tsc)
{
	struct weir_gtpu_signal signal = {
		.to_port = headers->tuple.src_port,
		.message = WEIR_GTPU_SUPPORTED_EXTENSION_HEADERS,
		.element_bytes = 3,
		.elements = {WEIR_GTPU_IE_EXTENSION_HEADER_TYPES, 1,
			     WEIR_GTPU_PDU_SESSION_CONTAINER},
	};

	if (may_be_told(upf, packet, headers) &&
	    weir_error_rate_admits(&upf->answers.errors, upf->error_indications_pps, now_tsc))
		answer(upf, packet, headers, &signal);
}

void
upf_answers_release(struct upf_answers *answers, struct weir_batch *batch,
		    struct weir_stage_ledger *ledger)
{
	while (answers->count > 0 && batch->count < WEIR_BURST) {
		batch->egress[batch->count] = 0;
		batch->packet[batch->count++] = answers->packet[answers->first];
		answers->first = (answers->first + 1) % UPF_ANSWERS_MAX;
		answers->count--;
		weir_count(&ledger->originated, 1);
	}
}

void
upf_answers_free(struct upf_answers *answers)
{
	for (; answers->count > 0; answers->count--) {
		rte_pktmbuf_free(answers->packet[answers->first]);
		answers->first = (answers->first + 1) % UPF_ANSWERS_MAX;
	}
}
