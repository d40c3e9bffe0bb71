/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>

#include "packet/headers.h"

#define WORD_BYTES_MAX 64

/* What is not read yet. */
struct rest {
	const char *at;
	size_t bytes;
	char word[WORD_BYTES_MAX];
};

/* The next word; false: there is none, or it is none of a flow description. */
static bool
next_word(struct rest *rest)
{
	size_t bytes = 0;

	while (rest->bytes > 0 && (*rest->at == ' ' || *rest->at == '\t')) {
		rest->at++;
		rest->bytes--;
	}
	while (bytes < rest->bytes && rest->at[bytes] != ' ' && rest->at[bytes] != '\t')
		bytes++;
	if (bytes == 0 || bytes >= sizeof(rest->word) || memchr(rest->at, 0, bytes) != NULL)
		return false;
	memcpy(rest->word, rest->at, bytes);
	rest->word[bytes] = '\0';
	rest->at += bytes;
	rest->bytes -= bytes;
	return true;
}

static bool
next_is(struct rest *rest, const char *word)
{
	return next_word(rest) && strcmp(rest->word, word) == 0;
}

/* A number up to `most`, which ends with the text or with `end`; moves behind it. */
static bool
read_number(const char **text, uint32_t most, char end, uint32_t *number)
{
	const char *at = *text;

	*number = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		*number = *number * 10 + (uint32_t)(*at - '0');
		if (*number > most)
			return false;
	}
	if (at == *text || (*at != '\0' && *at != end))
		return false;
	*text = *at == '\0' ? at : at + 1;
	return true;
}

/* A byte of an address, of which so many bits from the first on are compared. */
static uint8_t
byte_mask(unsigned int bits, unsigned int byte)
{
	const unsigned int before = 8 * byte;

	return bits <= before ? 0 : (uint8_t)(0xff00 >> (bits < before + 8 ? bits - before : 8));
}

/* "any", "assigned", "192.0.2.0/24", "2001:db8::/32". */
static bool
read_address(char *word, bool of_ue, struct upf_filter_end *end)
{
	const bool ipv6 = strchr(word, ':') != NULL;
	const unsigned int bytes = weir_ip_address_bytes(ipv6);
	char *slash = strchr(word, '/');
	uint32_t bits = 8 * bytes;

	if (strcmp(word, "any") == 0 || (of_ue && strcmp(word, "assigned") == 0))
		return true;
	if (slash != NULL) {
		const char *length = slash + 1;

		*slash = '\0';
		if (!read_number(&length, 8 * bytes, '\0', &bits))
			return false;
	}
	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, word, end->ip.bytes) != 1)
		return false;
	end->ip.ipv6 = ipv6;
	end->is_given = true;
	end->bits = (uint8_t)bits;
	for (unsigned int i = 0; i < bytes; i++)
		end->ip.bytes[i] &= byte_mask(bits, i);
	return true;
}

/* "53", "80,443,8000-8080". */
static bool
read_ports(const char *word, struct upf_filter_end *end)
{
	while (*word != '\0') {
		struct upf_port_range *range = &end->range[end->range_count];
		const char *dash = word + strspn(word, "0123456789");
		uint32_t first, last;

		if (end->range_count == UPF_PORT_RANGES_MAX ||
		    !read_number(&word, UINT16_MAX, *dash == '-' ? '-' : ',', &first))
			return false;
		last = first;
		if (*dash == '-' && !read_number(&word, UINT16_MAX, ',', &last))
			return false;
		/* Another one follows a comma. */
		if (last < first || (*word == '\0' && word[-1] == ','))
			return false;
		range->first = (uint16_t)first;
		range->last = (uint16_t)last;
		end->range_count++;
	}
	return end->range_count > 0;
}

static bool
read_end(struct rest *rest, bool of_ue, struct upf_filter_end *end)
{
	struct rest before;

	if (!next_word(rest) || !read_address(rest->word, of_ue, end))
		return false;
	before = *rest;
	if (!next_word(rest))
		return rest->bytes == 0;
	if (rest->word[0] < '0' || rest->word[0] > '9') {
		*rest = before;
		return true;
	}
	return read_ports(rest->word, end);
}

static bool
read_protocol(const char *word, uint16_t *protocol)
{
	uint32_t number;

	if (strcmp(word, "ip") == 0)
		return true;
	if (!read_number(&word, UINT8_MAX, '\0', &number))
		return false;
	*protocol = (uint16_t)number;
	return true;
}

const char *
upf_filter_read(const char *text, size_t bytes, struct upf_filter *filter)
{
	struct rest rest = {.at = text, .bytes = bytes};

	*filter = UPF_FILTER_OF_ALL;
	if (!next_is(&rest, "permit") || !next_is(&rest, "out"))
		return "it does not begin with \"permit out\"";
	if (!next_word(&rest) || !read_protocol(rest.word, &filter->protocol))
		return "its protocol is neither \"ip\" nor a number up to 255";
	if (!next_is(&rest, "from") || !read_end(&rest, false, &filter->network))
		return "no \"from\" with an address or \"any\", and ports or not, follows the "
		       "protocol";
	if (!next_is(&rest, "to") || !read_end(&rest, true, &filter->ue))
		return "no \"to\" with an address, \"any\" or \"assigned\", and ports or not, ends "
		       "it";
	if (filter->network.is_given && filter->ue.is_given &&
	    filter->network.ip.ipv6 != filter->ue.ip.ipv6)
		return "its ends are of IPv4 and of IPv6";
	return next_word(&rest) || rest.bytes > 0 ? "it has options behind its ends" : NULL;
}

/* The addresses of a header, source first. */
static void
take_addresses(const uint8_t *addresses, bool ipv6, bool from_ue, struct upf_filtered *found)
{
	const struct weir_ip_address source = weir_ip_address(addresses, ipv6);
	const struct weir_ip_address destination =
		weir_ip_address(addresses + weir_ip_address_bytes(ipv6), ipv6);

	found->network_ip = from_ue ? destination : source;
	found->ue_ip = from_ue ? source : destination;
}

/* What an IP packet carries, at `at`, of which so many bytes are there. */
static void
take_carried(const uint8_t *at, uint32_t room, bool from_ue, struct upf_filtered *found)
{
	/* RFC 4302, section 2; RFC 4303, section 2. */
	const uint32_t spi_at = found->protocol == IPPROTO_AH ? 4 : 0;
	uint16_t ports[2]; /* source, destination */

	if (found->protocol == IPPROTO_AH || found->protocol == IPPROTO_ESP) {
		found->has_spi = room >= spi_at + sizeof(found->spi);
		if (found->has_spi)
			memcpy(&found->spi, at + spi_at, sizeof(found->spi));
		found->spi = rte_be_to_cpu_32(found->spi);
	}
	if ((found->protocol != IPPROTO_TCP && found->protocol != IPPROTO_UDP &&
	     found->protocol != IPPROTO_SCTP) ||
	    room < sizeof(ports))
		return;
	memcpy(ports, at, sizeof(ports));
	found->has_ports = true;
	found->network_port = rte_be_to_cpu_16(ports[from_ue]);
	found->ue_port = rte_be_to_cpu_16(ports[!from_ue]);
}

static struct upf_filtered
read_ipv6(const uint8_t *ip, uint32_t room, bool from_ue)
{
	const struct rte_ipv6_hdr *header = (const void *)ip;
	const uint32_t begin = rte_be_to_cpu_32(header->vtc_flow);
	struct upf_filtered found = {.protocol = header->proto,
				     .tos = (uint8_t)(begin >> RTE_IPV6_HDR_TC_SHIFT),
				     .flow_label = begin & RTE_IPV6_HDR_FL_MASK};
	uint32_t offset = sizeof(*header);
	uint8_t flags = 0;

	take_addresses(header->src_addr, true, from_ue, &found);
	if (weir_ipv6_skip_extensions(ip, room, &offset, &found.protocol, &flags) &&
	    (flags & WEIR_HEADER_LATER_FRAGMENT) == 0)
		take_carried(ip + offset, room - offset, from_ue, &found);
	return found;
}

struct upf_filtered
upf_filtered_read(const uint8_t *ip, uint32_t room, bool from_ue)
{
	const struct rte_ipv4_hdr *header = (const void *)ip;
	const uint32_t header_bytes = rte_ipv4_hdr_len(header);
	struct upf_filtered found = {.protocol = header->next_proto_id,
				     .tos = header->type_of_service,
				     .flow_label = UINT32_MAX};

	if (ip[0] >> 4 == 6)
		return read_ipv6(ip, room, from_ue);
	take_addresses((const uint8_t *)&header->src_addr, false, from_ue, &found);
	if ((header->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0 &&
	    room > header_bytes)
		take_carried(ip + header_bytes, room - header_bytes, from_ue, &found);
	return found;
}

static bool
end_fits(const struct upf_filter_end *end, const struct weir_ip_address *ip, uint16_t port,
	 bool has_ports)
{
	if (end->is_given && end->ip.ipv6 != ip->ipv6)
		return false;
	for (unsigned int i = 0; i < (end->bits + 7u) / 8; i++) {
		if ((ip->bytes[i] & byte_mask(end->bits, i)) != end->ip.bytes[i])
			return false;
	}
	if (end->range_count == 0)
		return true;
	for (unsigned int i = 0; has_ports && i < end->range_count; i++) {
		if (port >= end->range[i].first && port <= end->range[i].last)
			return true;
	}
	return false;
}

bool
upf_filter_fits(const struct upf_filter *filter, const struct upf_filtered *packet)
{
	return (filter->protocol == UPF_ANY_PROTOCOL || filter->protocol == packet->protocol) &&
	       (packet->tos & filter->tos_mask) == filter->tos &&
	       (!filter->has_spi || (packet->has_spi && packet->spi == filter->spi)) &&
	       (!filter->has_flow_label || packet->flow_label == filter->flow_label) &&
	       end_fits(&filter->network, &packet->network_ip, packet->network_port,
			packet->has_ports) &&
	       end_fits(&filter->ue, &packet->ue_ip, packet->ue_port, packet->has_ports);
}
