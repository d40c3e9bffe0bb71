/* SPDX-License-Identifier: Apache-2.0 */
/* The FCS that the frames of a capture file end in: a pcap says by its link type whether they do.
 * What a pcapng says of it, libpcap does not tell. */
#ifndef WEIR_TRAFFIC_PCAP_FCS_H
#define WEIR_TRAFFIC_PCAP_FCS_H

#include <pcap/pcap.h>

/* 0: none, or not said. */
static inline uint32_t
weir_pcap_fcs_bytes(pcap_t *file)
{
	const uint32_t said = (uint32_t)pcap_datalink_ext(file);

	return LT_FCS_LENGTH_PRESENT(said) ? 2 * LT_FCS_LENGTH(said) : 0;
}

/* What libpcap says of a frame, as it is without so many bytes of FCS. */
static inline struct pcap_pkthdr
weir_pcap_without_fcs(const struct pcap_pkthdr *frame, uint32_t fcs_bytes)
{
	struct pcap_pkthdr without = *frame;

	if (fcs_bytes == 0)
		return without;
	without.len = frame->len > fcs_bytes ? frame->len - fcs_bytes : 0;
	if (without.caplen > without.len && frame->caplen <= frame->len)
		without.caplen = without.len;
	return without;
}

#endif
