/* SPDX-License-Identifier: Apache-2.0 */
#include "meter.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>

#define FCS_BYTES 4
#define PREAMBLE_AND_GAP_BYTES 20
#define RATE_BPS_MIN 8 /* meters count whole bytes a second */
#define RATE_BPS_MAX 1000000000000
#define SIZE_BYTES_MAX UINT32_MAX
#define PERIOD_CYCLES_MIN 256

const char *const layer_names[] = {"ip", "l2", "l1", NULL};

struct ip_part
ip_part_of(const struct rte_mbuf *packet)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	struct weir_headers headers;
	struct ip_part part = {0};

	weir_headers_parse(packet, &headers);
	if (headers.l3_offset == 0) {
		part.bytes = packet->pkt_len - RTE_MIN(packet->pkt_len, RTE_ETHER_HDR_LEN);
		return part;
	}
	part.bytes = headers.l3_bytes;
	if (headers.network == WEIR_NETWORK_IPV4)
		part.dscp = frame[headers.l3_offset + 1] >> 2;
	else
		part.dscp =
			(frame[headers.l3_offset] & 0xf) << 2 | frame[headers.l3_offset + 1] >> 6;
	return part;
}

uint32_t
layer_bytes(const struct rte_mbuf *packet, enum layer layer)
{
	switch (layer) {
	case LAYER_L2:
		return packet->pkt_len + FCS_BYTES;
	case LAYER_L1:
		return packet->pkt_len + FCS_BYTES + PREAMBLE_AND_GAP_BYTES;
	default:
		return ip_part_of(packet).bytes;
	}
}

/* A rate in bytes a second, from bits a second. */
static int
read_rate(const struct tenant_words *words, const char *name, uint64_t *bytes_a_s,
	  const char *where, struct weir_error *error)
{
	if (tenant_number(words, name, RATE_BPS_MIN, RATE_BPS_MAX, 0, bytes_a_s, where, error) < 0)
		return -1;
	*bytes_a_s /= 8;
	return 0;
}

static int
read_size(const struct tenant_words *words, const char *name, uint64_t *bytes, const char *where,
	  struct weir_error *error)
{
	return tenant_number(words, name, 0, SIZE_BYTES_MAX, 0, bytes, where, error);
}

/*
 * rte_meter adds whole bytes each whole number of cycles, and takes periods from 100 cycles up,
 * cut: its rates are up to 1 % too high. From 256 cycles up, and rounded to the nearest, they are
 * within 0.2 % of what was asked.
 */
static void
set_period(uint64_t bytes_a_s, uint64_t *cycles, uint64_t *bytes)
{
	uint64_t hz = rte_get_tsc_hz();

	*bytes = (PERIOD_CYCLES_MIN * bytes_a_s + hz - 1) / hz;
	*cycles = (hz * *bytes + bytes_a_s / 2) / bytes_a_s;
}

static int
read_srtcm(const struct tenant_words *words, struct meter_profile *profile, const char *where,
	   struct weir_error *error)
{
	static const char *const known[] = {"cir_bps", "cbs_bytes", "ebs_bytes", NULL};
	struct rte_meter_srtcm_params params;
	int status;

	profile->kind = METER_SRTCM;
	if (tenant_refuse_unknown(words, known, where, error) < 0 ||
	    read_rate(words, "cir_bps", &params.cir, where, error) < 0 ||
	    read_size(words, "cbs_bytes", &params.cbs, where, error) < 0 ||
	    read_size(words, "ebs_bytes", &params.ebs, where, error) < 0)
		return -1;
	status = rte_meter_srtcm_profile_config(&profile->srtcm, &params);
	set_period(params.cir, &profile->srtcm.cir_period, &profile->srtcm.cir_bytes_per_period);
	return status;
}

static int
read_trtcm(const struct tenant_words *words, struct meter_profile *profile, const char *where,
	   struct weir_error *error)
{
	static const char *const known[] = {"cir_bps", "pir_bps", "cbs_bytes", "pbs_bytes", NULL};
	struct rte_meter_trtcm_params params;
	int status;

	profile->kind = METER_TRTCM;
	if (tenant_refuse_unknown(words, known, where, error) < 0 ||
	    read_rate(words, "cir_bps", &params.cir, where, error) < 0 ||
	    read_rate(words, "pir_bps", &params.pir, where, error) < 0 ||
	    read_size(words, "cbs_bytes", &params.cbs, where, error) < 0 ||
	    read_size(words, "pbs_bytes", &params.pbs, where, error) < 0)
		return -1;
	status = rte_meter_trtcm_profile_config(&profile->trtcm, &params);
	set_period(params.cir, &profile->trtcm.cir_period, &profile->trtcm.cir_bytes_per_period);
	set_period(params.pir, &profile->trtcm.pir_period, &profile->trtcm.pir_bytes_per_period);
	return status;
}

static int
read_rfc4115(const struct tenant_words *words, struct meter_profile *profile, const char *where,
	     struct weir_error *error)
{
	static const char *const known[] = {"cir_bps", "eir_bps", "cbs_bytes", "ebs_bytes", NULL};
	struct rte_meter_trtcm_rfc4115_params params;
	int status;

	profile->kind = METER_TRTCM_RFC4115;
	if (tenant_refuse_unknown(words, known, where, error) < 0 ||
	    read_rate(words, "cir_bps", &params.cir, where, error) < 0 ||
	    read_rate(words, "eir_bps", &params.eir, where, error) < 0 ||
	    read_size(words, "cbs_bytes", &params.cbs, where, error) < 0 ||
	    read_size(words, "ebs_bytes", &params.ebs, where, error) < 0)
		return -1;
	status = rte_meter_trtcm_rfc4115_profile_config(&profile->rfc4115, &params);
	set_period(params.cir, &profile->rfc4115.cir_period,
		   &profile->rfc4115.cir_bytes_per_period);
	set_period(params.eir, &profile->rfc4115.eir_period,
		   &profile->rfc4115.eir_bytes_per_period);
	return status;
}

int
meter_profile_read(const struct tenant_words *words, struct meter_profile *profile,
		   const char *where, struct weir_error *error)
{
	int status;

	if (strcmp(words->word, "srtcm") == 0)
		status = read_srtcm(words, profile, where, error);
	else if (strcmp(words->word, "trtcm") == 0)
		status = read_trtcm(words, profile, where, error);
	else if (strcmp(words->word, "trtcm-4115") == 0)
		status = read_rfc4115(words, profile, where, error);
	else
		return weir_fail(error, "bad_argument", where, "srtcm, trtcm or trtcm-4115", NULL,
				 "tenant %s has no meter '%s'", words->name, words->word);
	if (status < -1) /* of rte_meter: what the RFC does not allow */
		return weir_fail(error, "bad_argument", where,
				 "bursts of more than 0 bytes; with trtcm PIR not below CIR", NULL,
				 "tenant %s has a meter that cannot work", words->name);
	return status;
}

void
meter_start(struct meter *meter, const struct meter_profile *profile)
{
	meter->profile = profile;
	switch (profile->kind) {
	case METER_SRTCM:
		rte_meter_srtcm_config(&meter->srtcm, (void *)(uintptr_t)&profile->srtcm);
		break;
	case METER_TRTCM:
		rte_meter_trtcm_config(&meter->trtcm, (void *)(uintptr_t)&profile->trtcm);
		break;
	case METER_TRTCM_RFC4115:
		rte_meter_trtcm_rfc4115_config(&meter->rfc4115,
					       (void *)(uintptr_t)&profile->rfc4115);
		break;
	}
}

/* rte_meter begins with the time of its set-up: the buckets are full, so it may as well begin with
 * the first packet's, which a test chooses. */
static void
begin(struct meter *meter, uint64_t now_tsc)
{
	switch (meter->profile->kind) {
	case METER_SRTCM:
		meter->srtcm.time = now_tsc;
		break;
	case METER_TRTCM:
		meter->trtcm.time_tc = meter->trtcm.time_tp = now_tsc;
		break;
	case METER_TRTCM_RFC4115:
		meter->rfc4115.time_tc = meter->rfc4115.time_te = now_tsc;
		break;
	}
}

/* Coloured packets that come green are metered as those without colour are: RFC 2697 and 2698,
 * section 3; RFC 4115, section 2.2. */
enum rte_color
meter_check(struct meter *meter, uint64_t now_tsc, uint32_t bytes, enum rte_color before)
{
	const struct meter_profile *profile = meter->profile;

	if (unlikely(meter->last_tsc == 0))
		begin(meter, now_tsc);
	now_tsc = RTE_MAX(now_tsc, meter->last_tsc);
	meter->last_tsc = now_tsc;
	switch (profile->kind) {
	case METER_SRTCM:
		return rte_meter_srtcm_color_aware_check(
			&meter->srtcm, (void *)(uintptr_t)&profile->srtcm, now_tsc, bytes, before);
	case METER_TRTCM:
		return rte_meter_trtcm_color_aware_check(
			&meter->trtcm, (void *)(uintptr_t)&profile->trtcm, now_tsc, bytes, before);
	default:
		return rte_meter_trtcm_rfc4115_color_aware_check(
			&meter->rfc4115, (void *)(uintptr_t)&profile->rfc4115, now_tsc, bytes,
			before);
	}
}
