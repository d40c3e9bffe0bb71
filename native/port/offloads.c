/* SPDX-License-Identifier: Apache-2.0 */
#include "offloads.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "interface_features.h"
#include "packet/checksum.h"
#include "veth_peer.h"

#define NAMES_BYTES 96

/* Merge what came in, before anybody sees it. */
static const char *const merging[] = {"rx-gro", "rx-lro", NULL};
/* Without a checksum that is left to the card nothing is left to be cut there either: the kernel
 * cuts first. */
static const char *const left_to_the_card[] = {"tx-checksum", NULL};

/* What is not in the frame that a program at the interface sees. */
static const char *const hidden[] = {"tx-checksum", "tx-vlan", NULL};

#define OR_PACKET_SOCKET ", or open the interface as packet_socket, which does the card's work"

static int
refuse_merging(const struct weir_port_config *config, struct weir_error *error)
{
	char found[NAMES_BYTES], fix[sizeof(error->fix)];

	weir_interface_features(config->interface, merging, found, sizeof(found));
	if (*found == '\0')
		return 0;
	snprintf(fix, sizeof(fix), "ethtool -K %s gro off lro off" OR_PACKET_SOCKET,
		 config->interface);
	return weir_fail(error, "port_failed", config->name, "frames as on a wire", fix,
			 "interface %s merges frames (%s), which a port of kind %s cannot undo",
			 config->interface, found, config->kind);
}

static int
refuse_unfinished(const struct weir_port_config *config, const struct weir_veth_peer *peer,
		  struct weir_error *error)
{
	const char *beside = *peer->netns != '\0' ? " in " : "";
	char found[NAMES_BYTES], fix[sizeof(error->fix)];
	int home;

	if (!weir_veth_peer_enter(peer, &home))
		return 0;
	weir_interface_features(peer->interface, left_to_the_card, found, sizeof(found));
	if (!weir_veth_peer_leave(home))
		return weir_fail(error, "port_failed", config->name, NULL, NULL,
				 "cannot come back from namespace %s", peer->netns);
	if (*found == '\0')
		return 0;
	snprintf(fix, sizeof(fix), "ethtool -K %s tx off%s%s" OR_PACKET_SOCKET, peer->interface,
		 beside, peer->netns);
	return weir_fail(error, "port_failed", config->name, "frames as on a wire", fix,
			 "%s, the other end of %s, leaves checksums and segments to a card (%s), "
			 "which a port of kind %s does not finish",
			 peer->interface, config->interface, found, config->kind);
}

int
weir_offloads_refuse(const struct weir_port_config *config, struct weir_error *error)
{
	struct weir_veth_peer peer;
	int status;

	if (refuse_merging(config, error) < 0)
		return -1;
	if (!weir_veth_peer_find(config->interface, &peer))
		return 0;
	status = refuse_unfinished(config, &peer, error);
	if (peer.netns_fd >= 0)
		close(peer.netns_fd);
	return status;
}

int
weir_offloads_refuse_hidden(const char *port, const char *interface, struct weir_error *error)
{
	char found[NAMES_BYTES] = "", own[NAMES_BYTES], fix[sizeof(error->fix)];
	struct weir_veth_peer peer;
	bool looked;
	int home;

	if (!weir_veth_peer_find(interface, &peer))
		return weir_fail(error, "port_failed", port, "an end of a veth pair",
				 "leave the offload out",
				 "the other end of %s is not known, so nobody knows what it leaves "
				 "to a card",
				 interface);
	weir_interface_features(interface, merging, own, sizeof(own));
	looked = weir_veth_peer_enter(&peer, &home);
	if (looked) {
		weir_interface_features(peer.interface, hidden, found, sizeof(found));
		looked = weir_veth_peer_leave(home);
	}
	if (peer.netns_fd >= 0)
		close(peer.netns_fd);
	if (!looked)
		return weir_fail(error, "port_failed", port, NULL, NULL,
				 "cannot look at %s in namespace %s", peer.interface, peer.netns);
	if (*own == '\0' && *found == '\0')
		return 0;
	snprintf(fix, sizeof(fix),
		 "ethtool -K %s gro off lro off; ethtool -K %s tx off txvlan off "
		 "tx-vlan-stag-hw-insert off",
		 interface, peer.interface);
	return weir_fail(error, "port_failed", port, "frames as on a wire", fix,
			 "a program at %s would not see frames as they are: %s%s%s", interface, own,
			 *own != '\0' && *found != '\0' ? ", " : "", found);
}

/* The field of the checksum in the L4 header; 0: a packet without one, or not all of it there. */
static uint32_t
checksum_offset(const struct weir_headers *headers)
{
	if (headers->l4_offset == 0 || (headers->flags & WEIR_HEADER_FRAGMENT) != 0)
		return 0;
	switch (headers->tuple.protocol) {
	case IPPROTO_TCP:
		return offsetof(struct rte_tcp_hdr, cksum);
	case IPPROTO_UDP:
		return offsetof(struct rte_udp_hdr, dgram_cksum);
	default:
		return 0;
	}
}

bool
weir_is_unfinished(const struct rte_mbuf *packet, const struct weir_headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const bool is_ipv6 = headers->network == WEIR_NETWORK_IPV6;
	const uint32_t offset = checksum_offset(headers);
	const uint32_t bytes = headers->l3_offset + headers->l3_bytes - headers->l4_offset;
	const uint8_t *addresses = frame + headers->l3_offset +
				   (is_ipv6 ? offsetof(struct rte_ipv6_hdr, src_addr)
					    : offsetof(struct rte_ipv4_hdr, src_addr));
	uint16_t field, pseudo;

	if (offset == 0)
		return false;
	memcpy(&field, frame + headers->l4_offset + offset, sizeof(field));
	pseudo = weir_checksum_fold((uint32_t)rte_raw_cksum(addresses, is_ipv6 ? 32 : 8) +
				    rte_cpu_to_be_16(headers->tuple.protocol) +
				    rte_cpu_to_be_16((uint16_t)bytes));
	if (likely(field != pseudo))
		return false;
	/* One in 65,536 whole packets has that very checksum. */
	return weir_checksum_fold((uint32_t)pseudo +
				  rte_raw_cksum(frame + headers->l4_offset, bytes)) != UINT16_MAX;
}
