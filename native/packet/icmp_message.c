/* SPDX-License-Identifier: Apache-2.0 */
#include "icmp_message.h"

#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>

#include "ipv6_extensions.h"

#define IPV4_ERROR_BYTES_MAX 576
#define IPV6_ERROR_BYTES_MAX 1280
#define TTL 64
#define INTERNETWORK_CONTROL 0xc0 /* RFC 1812, 4.3.2.5 */
#define DONT_FRAGMENT 0x4000
#define ICMPV6_REDIRECT 137

/* Type, code, checksum, and a word that depends on them. */
struct error_head {
	uint8_t type;
	uint8_t code;
	uint16_t checksum;
	uint32_t word; /* network byte order */
} __rte_packed;
static_assert(sizeof(struct error_head) == 8, "as on the wire");

/* By enum weir_icmp_cause: RFC 792; RFC 4443, 3. */
static const struct error_head ipv4_heads[] = {
	[WEIR_ICMP_TIME_EXCEEDED] = {.type = 11, .code = 0},
	[WEIR_ICMP_NO_ROUTE] = {.type = 3, .code = 0},
	[WEIR_ICMP_HOST_UNREACHABLE] = {.type = 3, .code = 1},
	[WEIR_ICMP_PORT_UNREACHABLE] = {.type = 3, .code = 3},
	[WEIR_ICMP_TOO_BIG] = {.type = 3, .code = 4},
};
static const struct error_head ipv6_heads[] = {
	[WEIR_ICMP_TIME_EXCEEDED] = {.type = 3, .code = 0},
	[WEIR_ICMP_NO_ROUTE] = {.type = 1, .code = 0},
	[WEIR_ICMP_HOST_UNREACHABLE] = {.type = 1, .code = 3},
	[WEIR_ICMP_PORT_UNREACHABLE] = {.type = 1, .code = 4},
	[WEIR_ICMP_TOO_BIG] = {.type = 2, .code = 0},
	[WEIR_ICMP_ROUTE_UNKNOWN] = {.type = 4, .code = 0},
	[WEIR_ICMP_OPTION_UNKNOWN] = {.type = 4, .code = 2},
};

bool
weir_icmp_packet_is_plain(const struct rte_mbuf *packet)
{
	return packet->nb_segs == 1 && RTE_MBUF_DIRECT(packet) && rte_mbuf_refcnt_read(packet) == 1;
}

/* Over the message, behind so many bytes of extension headers, and its pseudo header (RFC 8200,
 * 8.1), complete with a checksum or not. */
static uint16_t
icmpv6_sum(const struct rte_ipv6_hdr *ip, uint16_t extension_bytes)
{
	const uint16_t bytes = rte_be_to_cpu_16(ip->payload_len) - extension_bytes;
	struct rte_ipv6_hdr bare = *ip;
	uint32_t sum;

	bare.proto = IPPROTO_ICMPV6;
	bare.payload_len = rte_cpu_to_be_16(bytes);
	sum = rte_ipv6_phdr_cksum(&bare, 0);
	sum += rte_raw_cksum((const uint8_t *)(ip + 1) + extension_bytes, bytes);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

bool
weir_icmpv6_checksum_right(const struct rte_ipv6_hdr *ip)
{
	return icmpv6_sum(ip, 0) == 0xffff;
}

void
weir_icmpv6_checksum_set(struct rte_ipv6_hdr *ip)
{
	struct error_head *head = (struct error_head *)(ip + 1);

	head->checksum = 0;
	head->checksum = (uint16_t)~icmpv6_sum(ip, 0);
}

/* Not an error, and its type is there. */
static bool
is_query(const uint8_t *frame, const struct weir_headers *headers)
{
	uint8_t type;

	if (headers->l4_offset == 0)
		return false;
	type = frame[headers->l4_offset];
	if (headers->network == WEIR_NETWORK_IPV6)
		return type >= WEIR_ICMPV6_ECHO_REQUEST && type != ICMPV6_REDIRECT;
	switch (type) {
	case 3:	 /* destination unreachable */
	case 4:	 /* source quench */
	case 5:	 /* redirect */
	case 11: /* time exceeded */
	case 12: /* parameter problem */
		return false;
	default:
		return true;
	}
}

static bool
is_between_stations(const uint8_t *frame, const struct weir_headers *headers)
{
	if (headers->network == WEIR_NETWORK_IPV6) {
		const struct rte_ipv6_hdr *ip = (const void *)(frame + headers->l3_offset);
		const struct weir_ip_address source = weir_ip_address(ip->src_addr, true);

		return ip->src_addr[0] != 0xff && ip->dst_addr[0] != 0xff &&
		       !weir_ip_address_is_none(&source);
	} else {
		const struct rte_ipv4_hdr *ip = (const void *)(frame + headers->l3_offset);
		uint8_t from, to;

		memcpy(&from, &ip->src_addr, 1);
		memcpy(&to, &ip->dst_addr, 1);
		return from != 0 && from != 127 && from < 224 && to < 224;
	}
}

bool
weir_icmp_error_may_be_sent(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const bool ipv6 = headers->network == WEIR_NETWORK_IPV6;

	if ((!ipv6 && headers->network != WEIR_NETWORK_IPV4) ||
	    (headers->flags & (WEIR_HEADER_LATER_FRAGMENT | WEIR_HEADER_GROUP)) != 0 ||
	    !is_between_stations(frame, headers))
		return false;
	if (ipv6 && (headers->flags & WEIR_HEADER_L4_CUT) != 0)
		return false; /* it may be an error behind the extension headers */
	return headers->tuple.protocol != (ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) ||
	       is_query(frame, headers);
}

static void
put_ipv4(uint8_t *at, const uint8_t *about, uint16_t quoted, const struct weir_ip_address *source)
{
	struct error_head *icmp = (struct error_head *)(at + sizeof(struct rte_ipv4_hdr));
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = INTERNETWORK_CONTROL,
		.total_length = rte_cpu_to_be_16(sizeof(ip) + sizeof(*icmp) + quoted),
		.fragment_offset =
			rte_cpu_to_be_16(DONT_FRAGMENT), /* so it needs no ID: RFC 6864 */
		.time_to_live = TTL,
		.next_proto_id = IPPROTO_ICMP,
	};

	memcpy(&ip.src_addr, source->bytes, 4);
	memcpy(&ip.dst_addr, about + offsetof(struct rte_ipv4_hdr, src_addr), 4);
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(at, &ip, sizeof(ip));
	icmp->checksum = (uint16_t)~rte_raw_cksum(icmp, sizeof(*icmp) + quoted);
}

static void
put_ipv6(uint8_t *at, const uint8_t *about, uint16_t quoted, const struct weir_ip_address *source)
{
	struct rte_ipv6_hdr ip = {
		.vtc_flow = rte_cpu_to_be_32(6U << 28 | INTERNETWORK_CONTROL << 20),
		.payload_len = rte_cpu_to_be_16(sizeof(struct error_head) + quoted),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = TTL,
	};

	memcpy(ip.src_addr, source->bytes, sizeof(ip.src_addr));
	memcpy(ip.dst_addr, about + offsetof(struct rte_ipv6_hdr, src_addr), sizeof(ip.dst_addr));
	memcpy(at, &ip, sizeof(ip));
	weir_icmpv6_checksum_set((struct rte_ipv6_hdr *)at);
}

bool
weir_icmp_error_make(struct rte_mbuf *packet, const struct weir_headers *headers,
		     enum weir_icmp_cause cause, uint32_t detail,
		     const struct weir_ip_address *source)
{
	const bool ipv6 = headers->network == WEIR_NETWORK_IPV6;
	const uint16_t head_bytes =
		(ipv6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr)) +
		sizeof(struct error_head);
	const uint16_t bytes_max = ipv6 ? IPV6_ERROR_BYTES_MAX : IPV4_ERROR_BYTES_MAX;
	const uint16_t quoted = RTE_MIN(headers->l3_bytes, (unsigned int)(bytes_max - head_bytes));
	struct error_head head = ipv6 ? ipv6_heads[cause] : ipv4_heads[cause];
	uint8_t *frame, *at;

	if (!weir_icmp_packet_is_plain(packet) || rte_pktmbuf_headroom(packet) < head_bytes)
		return false;
	frame = (uint8_t *)rte_pktmbuf_prepend(packet, (uint16_t)head_bytes);
	memmove(frame, frame + head_bytes, headers->l3_offset);
	at = frame + headers->l3_offset;
	head.word = rte_cpu_to_be_32(detail);
	memcpy(at + head_bytes - sizeof(head), &head, sizeof(head));
	rte_pktmbuf_trim(packet,
			 (uint16_t)(packet->data_len - (headers->l3_offset + head_bytes + quoted)));
	if (ipv6)
		put_ipv6(at, at + head_bytes, quoted, source);
	else
		put_ipv4(at, at + head_bytes, quoted, source);
	return true;
}

static uint16_t
extension_bytes(const struct weir_headers *headers)
{
	return headers->l4_offset - headers->l3_offset - sizeof(struct rte_ipv6_hdr);
}

static bool
is_ipv6_echo_request(const uint8_t *frame, const struct weir_headers *headers)
{
	const struct rte_ipv6_hdr *ip = (const void *)(frame + headers->l3_offset);
	const uint8_t *l4 = frame + headers->l4_offset;
	uint32_t pointer;

	return headers->network == WEIR_NETWORK_IPV6 && headers->tuple.protocol == IPPROTO_ICMPV6 &&
	       l4[0] == WEIR_ICMPV6_ECHO_REQUEST && l4[1] == 0 &&
	       weir_ipv6_extensions_read(ip, headers, &pointer) == WEIR_IPV6_EXTENSIONS_KNOWN &&
	       icmpv6_sum(ip, extension_bytes(headers)) == 0xffff;
}

/* Takes the extension headers out from between the IPv6 header and the message. */
static void
take_extensions_out(struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint16_t bytes = extension_bytes(headers);
	uint8_t *frame = rte_pktmbuf_mtod(packet, uint8_t *);
	struct rte_ipv6_hdr *ip = (void *)(frame + headers->l3_offset);

	ip->proto = IPPROTO_ICMPV6;
	ip->payload_len = rte_cpu_to_be_16(rte_be_to_cpu_16(ip->payload_len) - bytes);
	memmove(frame + bytes, frame, headers->l3_offset + sizeof(*ip));
	rte_pktmbuf_adj(packet, bytes);
}

bool
weir_icmp_is_echo_request(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const uint8_t *l4 = frame + headers->l4_offset;
	uint32_t bytes = headers->l3_offset + headers->l3_bytes - headers->l4_offset;

	if (headers->l4_offset == 0 || bytes < sizeof(struct error_head) ||
	    (headers->flags & (WEIR_HEADER_FRAGMENT | WEIR_HEADER_BAD_CHECKSUM)) != 0 ||
	    !is_between_stations(frame, headers))
		return false;
	if (headers->network == WEIR_NETWORK_IPV4)
		return headers->tuple.protocol == IPPROTO_ICMP &&
		       l4[0] == RTE_IP_ICMP_ECHO_REQUEST && l4[1] == 0 &&
		       rte_raw_cksum(l4, bytes) == 0xffff;
	return is_ipv6_echo_request(frame, headers);
}

void
weir_icmp_echo_reply(struct rte_mbuf *packet, const struct weir_headers *headers)
{
	uint32_t bytes = headers->l3_offset + headers->l3_bytes - headers->l4_offset;
	uint8_t other[16], *frame;
	struct error_head *icmp;

	if (headers->network == WEIR_NETWORK_IPV6) {
		struct rte_ipv6_hdr *ip;

		take_extensions_out(packet, headers);
		frame = rte_pktmbuf_mtod(packet, uint8_t *);
		ip = (void *)(frame + headers->l3_offset);
		icmp = (struct error_head *)(ip + 1);
		memcpy(other, ip->src_addr, sizeof(other));
		memcpy(ip->src_addr, ip->dst_addr, sizeof(other));
		memcpy(ip->dst_addr, other, sizeof(other));
		ip->hop_limits = TTL;
		icmp->type = WEIR_ICMPV6_ECHO_REPLY;
		weir_icmpv6_checksum_set(ip);
	} else {
		struct rte_ipv4_hdr *ip;

		frame = rte_pktmbuf_mtod(packet, uint8_t *);
		ip = (void *)(frame + headers->l3_offset);
		icmp = (struct error_head *)(frame + headers->l4_offset);
		ip->src_addr = headers->tuple.dst_ip;
		ip->dst_addr = headers->tuple.src_ip;
		ip->time_to_live = TTL;
		ip->hdr_checksum = 0;
		ip->hdr_checksum =
			(uint16_t)~rte_raw_cksum(ip, (uint32_t)(ip->version_ihl & 0xf) * 4);
		icmp->type = RTE_IP_ICMP_ECHO_REPLY;
		icmp->checksum = 0;
		icmp->checksum = (uint16_t)~rte_raw_cksum(icmp, bytes);
	}
}
