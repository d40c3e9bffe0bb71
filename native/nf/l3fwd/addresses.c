/* SPDX-License-Identifier: Apache-2.0 */
/* A station's own addresses: from options to links. */
#include "station.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

static const char *const address_options[] = {"addresses", "inbound_addresses"};
static const char *const proxied_options[] = {"answers_for", "inbound_answers_for"};
static const char *const mtu_options[] = {"mtu_bytes", "inbound_mtu_bytes"};
static const char *const mac_options[] = {"src_mac", "inbound_src_mac"};

static bool
network_parse(const char *text, struct l3fwd_network *network)
{
	size_t address_length = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];
	const char *digits = text + address_length + 1;
	unsigned long length;
	char *end;

	memset(network, 0, sizeof(*network));
	if (address_length >= sizeof(address) || text[address_length] != '/' || *digits < '0' ||
	    *digits > '9')
		return false;
	memcpy(address, text, address_length);
	address[address_length] = '\0';
	network->address.ipv6 = strchr(address, ':') != NULL;
	if (inet_pton(network->address.ipv6 ? AF_INET6 : AF_INET, address,
		      network->address.bytes) != 1)
		return false;
	length = strtoul(digits, &end, 10);
	network->length = (uint8_t)length;
	return *end == '\0' && length >= 1 && length <= l3fwd_address_bits(&network->address);
}

/* Whether a station of that network can have the address. */
static bool
is_stations(const struct l3fwd_network *network)
{
	const struct weir_ip_address *address = &network->address;
	const struct weir_ip_address first = l3fwd_network_end(network, false);
	const struct weir_ip_address last = l3fwd_network_end(network, true);

	if (address->ipv6)
		return address->bytes[0] != 0xff && !l3fwd_is_link_local(address) &&
		       !weir_ip_address_is_none(address);
	if (address->bytes[0] == 0 || address->bytes[0] == 127 || address->bytes[0] >= 224)
		return false;
	return network->length > 30 ||
	       (!weir_ip_address_is(address, &first) && !weir_ip_address_is(address, &last));
}

/* "192.0.2.1/24, 2001:db8::1/64" */
static int
networks_read(const char *list, const char *option, bool own, struct l3fwd_networks *networks,
	      const char *where, struct weir_error *error)
{
	char text[WEIR_OPTION_TEXT_BYTES], *rest = text, *word, *after;

	snprintf(text, sizeof(text), "%s", list);
	while ((word = strsep(&rest, ",")) != NULL) {
		struct l3fwd_network *network;

		word = strtok_r(word, BLANKS, &after);
		if (word == NULL)
			continue;
		if (networks->count == L3FWD_ADDRESSES_MAX - 1) /* one is left for fe80:: */
			return weir_fail(error, "bad_argument", where, NULL, NULL,
					 "%s: more than %d of them", option,
					 L3FWD_ADDRESSES_MAX - 1);
		network = &networks->network[networks->count++];
		if (!network_parse(word, network) || strtok_r(NULL, BLANKS, &after) != NULL ||
		    (own && !is_stations(network)))
			return weir_fail(error, "bad_argument", where,
					 own ? "addresses of a station with the length of their "
					       "prefix, such as 192.0.2.1/24, 2001:db8::1/64"
					     : "prefixes such as 203.0.113.0/28",
					 NULL, "%s: '%s' is none", option, word);
	}
	return 0;
}

/* RFC 4291, appendix A: of the MAC address. */
static void
add_link_local(struct l3fwd_link *link)
{
	struct l3fwd_network *network = &link->own.network[link->own.count];
	const uint8_t *mac = link->mac.addr_bytes;
	const uint8_t bytes[16] = {0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2],
				   0xff, 0xfe, mac[3],		 mac[4], mac[5]};

	for (unsigned int i = 0; i < link->own.count; i++) {
		if (link->own.network[i].address.ipv6) {
			network->address = weir_ip_address(bytes, true);
			network->length = 64;
			link->own.count++;
			return;
		}
	}
}

static int
link_read(struct l3fwd *l3fwd, enum weir_direction side, const char *where,
	  struct weir_error *error)
{
	struct l3fwd_link *link = &l3fwd->station->links[side];

	link->mac = side == WEIR_OUTBOUND ? l3fwd->src_mac : l3fwd->inbound_src_mac;
	link->egress = side == WEIR_OUTBOUND ? 0 : (uint8_t)l3fwd->inside_output;
	link->mtu_bytes = l3fwd->mtu_bytes[side];
	if (networks_read(l3fwd->addresses[side], address_options[side], true, &link->own, where,
			  error) < 0 ||
	    networks_read(l3fwd->answers_for[side], proxied_options[side], false, &link->proxied,
			  where, error) < 0)
		return -1;
	if (!l3fwd_is_station(&link->mac))
		return weir_fail(error, "bad_argument", where, "the MAC address of a station", NULL,
				 "%s is not given, and the router has addresses",
				 mac_options[side]);
	add_link_local(link);
	return 0;
}

/* No address is on both links. */
static int
check_apart(const struct l3fwd_station *station, const char *where, struct weir_error *error)
{
	const struct l3fwd_networks *inner = &station->links[WEIR_INBOUND].own;
	const struct l3fwd_networks *outer = &station->links[WEIR_OUTBOUND].own;

	for (unsigned int i = 0; i < inner->count; i++) {
		for (unsigned int j = 0; j < outer->count; j++) {
			if (l3fwd_is_link_local(&inner->network[i].address) ||
			    (!l3fwd_network_has(&outer->network[j], &inner->network[i].address) &&
			     !l3fwd_network_has(&inner->network[i], &outer->network[j].address)))
				continue;
			return weir_fail(error, "bad_argument", where,
					 "networks that do not overlap", NULL,
					 "addresses and inbound_addresses: a network is on both "
					 "links");
		}
	}
	return 0;
}

int
l3fwd_station_init(struct l3fwd *l3fwd, const char *where, struct weir_error *error)
{
	struct weir_neighbours_owner owner = {
		.solicit = l3fwd_solicit, .resolved = l3fwd_resolved, .refused = l3fwd_refused};

	if (l3fwd->addresses[0][0] == '\0' && l3fwd->addresses[1][0] == '\0') {
		for (unsigned int side = 0; side < 2; side++) {
			if (l3fwd->mtu_bytes[side] != 0 || l3fwd->answers_for[side][0] != '\0')
				return weir_fail(
					error, "bad_argument", where,
					"addresses or inbound_addresses", NULL,
					"%s is of a router with addresses, and it has none",
					l3fwd->mtu_bytes[side] != 0 ? mtu_options[side]
								    : proxied_options[side]);
		}
		return 0;
	}
	if (l3fwd->inside_output == 0)
		return weir_fail(error, "bad_argument", where,
				 "inside_output, and outputs to both sides on each path", NULL,
				 "a router with addresses answers by the side that asks");
	l3fwd->station = calloc(1, sizeof(*l3fwd->station));
	owner.state = l3fwd->station;
	if (l3fwd->station != NULL) {
		l3fwd->station->l3fwd = l3fwd;
		l3fwd->station->neighbours =
			weir_neighbours_create((uint32_t)l3fwd->neighbours_max, &owner);
	}
	if (l3fwd->station == NULL || l3fwd->station->neighbours == NULL)
		return weir_fail(error, "no_memory", where, NULL,
				 "give weir-dp more with --memory-mb", "no memory for neighbours");
	if (link_read(l3fwd, WEIR_OUTBOUND, where, error) < 0 ||
	    link_read(l3fwd, WEIR_INBOUND, where, error) < 0)
		return -1;
	return check_apart(l3fwd->station, where, error);
}

void
l3fwd_station_free(struct l3fwd_station *station)
{
	if (station == NULL)
		return;
	for (unsigned int way = 0; way < RTE_DIM(station->outgoing); way++) {
		struct l3fwd_outgoing_queue *queue = &station->outgoing[way];

		for (uint32_t i = 0; i < queue->count; i++)
			rte_pktmbuf_free(
				queue->slot[(queue->first + i) % L3FWD_OUTGOING_MAX].packet);
	}
	weir_neighbours_free(station->neighbours);
	free(station);
}
