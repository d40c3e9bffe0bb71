/* SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#define ETHER_BYTES 14
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58
#define GTPU_PORT 2152
#define GTPU_G_PDU 255

static uint16_t
read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Where the transport header begins, its protocol, and where the packet ends by its own IP length.
 */
struct network {
	size_t header; /* where its own begins */
	size_t at;
	size_t end;
	uint8_t protocol;
	bool fragment;
};

static enum weir_parsed
parse_ipv4(const uint8_t *head, size_t head_length, size_t frame_length, size_t at,
	   struct network *network)
{
	size_t header, total;

	if (head_length < at + 20 || head[at] >> 4 != 4)
		return WEIR_PARSED_MALFORMED;
	header = (size_t)(head[at] & 15) * 4;
	total = read16(head + at + 2);
	if (header < 20 || total < header || at + total > frame_length)
		return WEIR_PARSED_MALFORMED;
	network->protocol = head[at + 9];
	/* More fragments, or an offset: the payload's start is not a stamp. */
	network->fragment = (read16(head + at + 6) & 0x3fff) != 0;
	network->header = at;
	network->at = at + header;
	network->end = at + total;
	return WEIR_PARSED_STAMP;
}

static enum weir_parsed
parse_ipv6(const uint8_t *head, size_t head_length, size_t frame_length, size_t at,
	   struct network *network)
{
	size_t payload;

	if (head_length < at + IPV6_BYTES || head[at] >> 4 != 6)
		return WEIR_PARSED_MALFORMED;
	payload = read16(head + at + 4);
	if (at + IPV6_BYTES + payload > frame_length)
		return WEIR_PARSED_MALFORMED;
	network->protocol = head[at + 6]; /* an extension header is no protocol of ours: foreign */
	network->fragment = false;
	network->header = at;
	network->at = at + IPV6_BYTES;
	network->end = network->at + payload;
	return WEIR_PARSED_STAMP;
}

/* The EtherType behind up to two tags, and where the packet begins behind it; 0: it is cut off. */
static uint16_t
ether_type(const uint8_t *head, size_t head_length, size_t *at)
{
	uint16_t type;

	*at = ETHER_BYTES;
	if (head_length < ETHER_BYTES)
		return 0;
	type = read16(head + 12);
	for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8); tags++) {
		if (head_length < *at + 4)
			return 0;
		type = read16(head + *at + 2);
		*at += 4;
	}
	return type;
}

static enum weir_parsed
parse_network(const uint8_t *head, size_t head_length, size_t frame_length, struct network *network)
{
	size_t at;
	uint16_t type = ether_type(head, head_length, &at);

	if (type == 0)
		return WEIR_PARSED_MALFORMED;
	if (type == 0x0800)
		return parse_ipv4(head, head_length, frame_length, at, network);
	if (type == 0x86dd)
		return parse_ipv6(head, head_length, frame_length, at, network);
	return WEIR_PARSED_FOREIGN;
}

static inline enum weir_parsed
parse_payload(const uint8_t *head, size_t head_length, size_t frame_length,
	      struct weir_payload *payload)
{
	struct network network = {0};
	enum weir_parsed found = parse_network(head, head_length, frame_length, &network);
	size_t left, header;

	if (found != WEIR_PARSED_STAMP)
		return found;
	if (network.fragment ||
	    (network.protocol != PROTOCOL_UDP && network.protocol != PROTOCOL_TCP))
		return WEIR_PARSED_FOREIGN;
	left = network.end - network.at;
	header = network.protocol == PROTOCOL_UDP ? UDP_BYTES : 20;
	if (left < header || head_length < network.at + header)
		return WEIR_PARSED_MALFORMED;
	if (network.protocol == PROTOCOL_UDP) {
		if (read16(head + network.at + 4) != left)
			return WEIR_PARSED_MALFORMED;
	} else {
		header = (size_t)(head[network.at + 12] >> 4) * 4;
		if (header < 20 || header > left)
			return WEIR_PARSED_MALFORMED;
	}
	payload->network = network.header;
	payload->transport = network.at;
	payload->protocol = network.protocol;
	payload->at = network.at + header;
	payload->end = network.end;
	return WEIR_PARSED_STAMP;
}

enum weir_parsed
weir_parse(const uint8_t *head, size_t head_length, size_t frame_length, struct weir_stamp *stamp)
{
	struct weir_payload payload;
	enum weir_parsed found = parse_payload(head, head_length, frame_length, &payload);

	if (found != WEIR_PARSED_STAMP)
		return found;
	if (payload.end - payload.at < sizeof(*stamp) || head_length < payload.at + sizeof(*stamp))
		return WEIR_PARSED_FOREIGN;
	memcpy(stamp, head + payload.at, sizeof(*stamp));
	return weir_stamp_valid(stamp) ? WEIR_PARSED_STAMP : WEIR_PARSED_FOREIGN;
}

bool
weir_parse_payload(const uint8_t *head, size_t head_length, size_t frame_length,
		   struct weir_payload *payload)
{
	return parse_payload(head, head_length, frame_length, payload) == WEIR_PARSED_STAMP;
}

bool
weir_parse_signal(const uint8_t *head, size_t head_length, size_t frame_length)
{
	struct network network = {0};
	size_t at;

	if (ether_type(head, head_length, &at) == 0x0806)
		return true;
	if (parse_network(head, head_length, frame_length, &network) != WEIR_PARSED_STAMP ||
	    network.fragment)
		return false;
	if (network.protocol == PROTOCOL_ICMP || network.protocol == PROTOCOL_ICMPV6)
		return true;
	at = network.at;
	if (network.protocol != PROTOCOL_UDP || head_length < at + UDP_BYTES + 2 ||
	    network.end < at + UDP_BYTES + 2)
		return false;
	return (read16(head + at) == GTPU_PORT || read16(head + at + 2) == GTPU_PORT) &&
	       head[at + UDP_BYTES] >> 5 == 1 && head[at + UDP_BYTES + 1] != GTPU_G_PDU;
}
