/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTP-U, 3GPP TS 29.281 (Release 17): what is in front of a user's packet in a tunnel, behind
 * Ethernet, IPv4 and UDP; with the PDU session container of TS 38.415, which names the QoS flow.
 */
#ifndef WEIR_PACKET_GTPU_H
#define WEIR_PACKET_GTPU_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_gtp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "checksum.h"
#include "headers.h"

#define WEIR_GTPU_PORT 2152 /* section 4.4.2 */

/* Table 6.1-1. */
enum weir_gtpu_message {
	WEIR_GTPU_ECHO_REQUEST = 1,
	WEIR_GTPU_ECHO_RESPONSE = 2,
	WEIR_GTPU_ERROR_INDICATION = 26,
	WEIR_GTPU_SUPPORTED_EXTENSION_HEADERS = 31,
	WEIR_GTPU_END_MARKER = 254,
	WEIR_GTPU_G_PDU = 255,
};

/* The first byte: version 1, protocol type GTP (not GTP'), and flags; section 5.1. */
#define WEIR_GTPU_VERSION_AND_TYPE 0x30
#define WEIR_GTPU_HAS_EXTENSION 0x04

#define WEIR_GTPU_PDU_SESSION_CONTAINER 0x85 /* figure 5.2.1-3 */
#define WEIR_GTPU_QFI_MAX 63		     /* TS 38.415, section 5.5.3.3: six bits */
#define WEIR_GTPU_NO_QFI UINT8_MAX

/* Types of PDU session containers: TS 38.415, section 5.5.3.1. */
enum weir_gtpu_container { WEIR_GTPU_DOWNLINK = 0, WEIR_GTPU_UPLINK = 1 };

/* A message; host byte order. */
struct weir_gtpu {
	uint32_t teid;
	uint16_t sequence;	 /* 0: it has none, or that */
	uint16_t payload_offset; /* from the start of the GTP-U header */
	uint16_t payload_bytes;
	uint8_t message; /* enum weir_gtpu_message, or another */
	uint8_t qfi;	 /* WEIR_GTPU_NO_QFI: there is no PDU session container */
	/* The first extension header that must be comprehended (section 5.2.1) and is not; 0: none.
	 */
	uint8_t not_comprehended;
};

/* Reads the message in `bytes` bytes behind UDP. False: version, protocol type or lengths are not
 * those of a message that is all there. Never reads outside. */
bool weir_gtpu_parse(const uint8_t *at, uint32_t bytes, struct weir_gtpu *gtpu);

/* The same, for where users' packets are expected: one with a PDU session container and nothing
 * else costs no call and no walk. */
static inline bool
weir_gtpu_parse_user(const uint8_t *at, uint32_t bytes, struct weir_gtpu *gtpu)
{
	const uint16_t begin = RTE_BE16(
		(WEIR_GTPU_VERSION_AND_TYPE | WEIR_GTPU_HAS_EXTENSION) << 8 | WEIR_GTPU_G_PDU);
	const uint32_t behind = sizeof(struct rte_gtp_hdr); /* its length counts from there */
	const uint16_t extension = RTE_BE16(WEIR_GTPU_PDU_SESSION_CONTAINER << 8 | 1);
	struct {
		uint16_t begin, length;
		uint32_t teid;
		uint8_t option[3];
		uint8_t extension[2];
		uint8_t type, qfi, next;
	} __rte_packed const *header = (const void *)at;
	uint32_t length;

	static_assert(sizeof(*header) == 16, "as on the wire");
	if (unlikely(bytes < sizeof(*header) || header->begin != begin || header->next != 0 ||
		     memcmp(header->extension, &extension, sizeof(extension)) != 0))
		return weir_gtpu_parse(at, bytes, gtpu);
	length = rte_be_to_cpu_16(header->length);
	if (unlikely(length < sizeof(*header) - behind || length + behind > bytes))
		return false;
	*gtpu = (struct weir_gtpu){
		.teid = rte_be_to_cpu_32(header->teid),
		.payload_offset = sizeof(*header),
		.payload_bytes = (uint16_t)(length + behind - sizeof(*header)),
		.message = WEIR_GTPU_G_PDU,
		.qfi = header->qfi & WEIR_GTPU_QFI_MAX,
	};
	return true;
}

/*
 * What is put between the Ethernet header and a user's packet, all but the lengths and IPv4's
 * checksum: IPv4, UDP, GTP-U and, where there is a QFI, a PDU session container.
 */
struct weir_gtpu_outer {
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct rte_gtp_hdr gtp;
	struct rte_gtp_hdr_ext_word option;
	struct rte_gtp_psc_generic_hdr container;
	uint8_t next_ext;
} __rte_packed;
static_assert(sizeof(struct weir_gtpu_outer) == 44, "as on the wire");

/* Without the container. */
#define WEIR_GTPU_OUTER_PLAIN_BYTES offsetof(struct weir_gtpu_outer, option)

/* One end of tunnels. */
struct weir_gtpu_end {
	uint32_t ip;		/* its own; network byte order */
	bool container;		/* what it sends has a PDU session container */
	uint8_t container_type; /* enum weir_gtpu_container */
};

/* What all users' packets of one end have in front of them, but for what each tunnel has of its
 * own, lengths and checksum. */
struct weir_gtpu_prepared {
	struct weir_gtpu_outer outer;
	uint16_t bytes;	 /* that many of it, in front of a packet; Ethernet not counted */
	uint32_t ip_sum; /* of the IPv4 header's other words, to be folded */
};

/* A tunnel to another end. */
struct weir_gtpu_tunnel {
	uint32_t to_ip;	 /* network byte order */
	uint32_t teid;	 /* of the receiver; network byte order */
	uint16_t ip_sum; /* of all of the IPv4 header but its length */
	uint8_t qfi;	 /* for the container, where there is one */
};

/* Leads the tunnel to an address (network byte order) from the end that is prepared. */
static inline void
weir_gtpu_lead(struct weir_gtpu_tunnel *tunnel, const struct weir_gtpu_prepared *from,
	       uint32_t to_ip)
{
	tunnel->to_ip = to_ip;
	tunnel->ip_sum = weir_checksum_fold(from->ip_sum + (to_ip & 0xffff) + (to_ip >> 16));
}

/*
 * UDP's checksum is 0 (RFC 768); the IPv4 header says "don't fragment", with identification 0
 * (RFC 6864, section 4.1).
 */
struct weir_gtpu_prepared weir_gtpu_prepare(const struct weir_gtpu_end *end);

/* Writes `prepared->bytes` at `at`, in front of `payload_bytes` in that tunnel. */
static inline void
weir_gtpu_write_outer(const struct weir_gtpu_prepared *prepared,
		      const struct weir_gtpu_tunnel *tunnel, uint16_t payload_bytes, uint8_t *at)
{
	struct weir_gtpu_outer *outer = (void *)at;
	const uint16_t ip_bytes = prepared->bytes + payload_bytes;
	const uint16_t udp_bytes = ip_bytes - sizeof(outer->ip);
	const uint16_t gtp_bytes = udp_bytes - sizeof(outer->udp) - sizeof(outer->gtp);
	uint32_t sum;

	if (prepared->bytes == sizeof(*outer)) {
		memcpy(at, &prepared->outer, sizeof(*outer));
		outer->container.qfi = tunnel->qfi;
	} else {
		memcpy(at, &prepared->outer, WEIR_GTPU_OUTER_PLAIN_BYTES);
	}
	outer->ip.dst_addr = tunnel->to_ip;
	outer->ip.total_length = rte_cpu_to_be_16(ip_bytes);
	sum = (uint32_t)tunnel->ip_sum + outer->ip.total_length;
	outer->ip.hdr_checksum = (uint16_t) ~(sum + (sum >> 16)); /* two words: folded once */
	outer->udp.dgram_len = rte_cpu_to_be_16(udp_bytes);
	outer->gtp.plen = rte_cpu_to_be_16(gtp_bytes);
	outer->gtp.teid = tunnel->teid;
}

/* Section 8: information elements that answers have. */
#define WEIR_GTPU_IE_RECOVERY 14
#define WEIR_GTPU_IE_TEID_DATA 16
#define WEIR_GTPU_IE_PEER_ADDRESS 133
#define WEIR_GTPU_IE_EXTENSION_HEADER_TYPES 141
#define WEIR_GTPU_ELEMENTS_MAX 16

/* A message of tunnel or path management, all of which have a sequence number (section 5.1). */
struct weir_gtpu_signal {
	uint32_t from_ip, to_ip; /* network byte order */
	uint16_t to_port;	 /* network byte order */
	uint8_t message;	 /* enum weir_gtpu_message */
	uint8_t element_bytes;
	uint16_t sequence; /* host byte order */
	uint8_t elements[WEIR_GTPU_ELEMENTS_MAX];
};

/* Bytes of the message with the headers in front of it, Ethernet not counted. */
static inline uint16_t
weir_gtpu_signal_bytes(const struct weir_gtpu_signal *signal)
{
	return WEIR_GTPU_OUTER_PLAIN_BYTES + sizeof(struct rte_gtp_hdr_ext_word) +
	       signal->element_bytes;
}

void weir_gtpu_write_signal(const struct weir_gtpu_signal *signal, uint8_t *at);

/* Says that nothing comes in that tunnel any more (section 7.3.2): WEIR_GTPU_OUTER_PLAIN_BYTES. */
void weir_gtpu_write_end_marker(uint32_t from_ip, const struct weir_gtpu_tunnel *tunnel,
				uint8_t *at);

#endif
