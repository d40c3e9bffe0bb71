/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tester: streams that generators send and receivers count. Control thread API; plain C, no
 * JSON.
 *
 * A stream is one direction of traffic with its own sequence numbers. A run sends every stream at a
 * rate for a duration; intended = floor(rate x duration) packets, or what a Poisson process draws
 * in it, or fewer where the run limits their number. `offered` packets were built on time and
 * handed to the port; those of them that the port did not take are `tx_refused` (the queue of the
 * system under test was full) and freed. intended - offered is the shortfall: the tester's fault,
 * except what a run skips. Frame sizes are L2 bytes with FCS (RFC 2544).
 */
#ifndef WEIR_TRAFFIC_TRAFFIC_H
#define WEIR_TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "address_map.h"
#include "engine/area.h"
#include "engine/arrival_clock.h"
#include "engine/error.h"
#include "engine/queue.h"

#define WEIR_STREAMS_MAX 64	   /* ids 0 … 63 */
#define WEIR_FRAME_SEQUENCE_MAX 64 /* sizes in one IMIX genome */
#define WEIR_FLOWS_MAX 1000000
#define WEIR_CAPTURE_FILTER_BYTES 256
#define WEIR_CAPTURE_PATH_BYTES 1024
/* With FCS, without a VLAN tag; with one 4 more. */
#define WEIR_FRAME_BYTES_MAX 9216
#define WEIR_RATE_MAX_PPS 1e10	/* of one stream */
#define WEIR_NOWHERE UINT16_MAX /* no port */
#define WEIR_SLICES_MAX 16384

enum weir_vary {
	WEIR_VARY_SRC_IP = 1,
	WEIR_VARY_DST_IP = 2,
	WEIR_VARY_SRC_PORT = 4,
	WEIR_VARY_DST_PORT = 8
};

struct weir_template {
	uint8_t ip_version; /* 4 or 6 */
	bool tcp;	    /* else UDP */
	struct rte_ether_addr src_mac, dst_mac;
	bool tagged;
	uint16_t vlan;
	uint8_t src_ip[16], dst_ip[16]; /* network order; IPv4 in the first 4 bytes */
	uint16_t src_port, dst_port;
};

/* What may change from packet to packet, in the order in which it is written. */
enum weir_packet_field {
	WEIR_PACKET_SRC_IP, /* of IPv6 the last four bytes */
	WEIR_PACKET_DST_IP,
	WEIR_PACKET_SRC_PORT,
	WEIR_PACKET_DST_PORT,
	WEIR_PACKET_VLAN,
	WEIR_PACKET_PRIORITY, /* of the tag */
	WEIR_PACKET_DSCP,
	WEIR_PACKET_TTL,	  /* of IPv6 the hop limit */
	WEIR_PACKET_PAYLOAD_BYTE, /* each one behind the stamp */
	WEIR_PACKET_FIELDS
};
/* As requests name them; NULL behind the last. */
extern const char *const weir_packet_field_names[];

#define WEIR_PACKET_VALUES_MAX 64
/* The values of one field: from, from + step, …, `count` of them, or those listed. */
struct weir_packet_values {
	uint64_t count; /* 2^32 at most; 0: the field is as flows and template say */
	uint32_t from, step;
	bool random; /* else in turn, packet n of a run with value n mod count */
	uint64_t seed;
	uint16_t listed; /* in place of the range, if not 0 */
	uint32_t value[WEIR_PACKET_VALUES_MAX];
	uint32_t weight[WEIR_PACKET_VALUES_MAX]; /* at random: how often, to each other */
};

struct weir_stream_config {
	uint16_t id;
	uint16_t port_id;    /* sends here */
	uint16_t to_port_id; /* expected here; WEIR_NOWHERE: sent only */
	uint16_t frame_count;
	uint16_t frame_bytes[WEIR_FRAME_SEQUENCE_MAX]; /* sent in turn */
	struct weir_template template;
	uint32_t flow_count;
	unsigned int vary; /* of enum weir_vary */
	/* They answer the flows of a stream with the ends exchanged: what it varies is varied here
	 * at the other end, alike. */
	bool exchanged;
	bool zipf;
	double zipf_s;
	uint64_t seed;
	bool poisson;
	/* The frames of that file, in its order and again from its beginning, in place of those of
	 * the template; each run begins with the first. "": none. */
	char capture[WEIR_CAPTURE_PATH_BYTES];
	/* Its frames are stamped; else they are counted where they are expected, and nothing else
	 * is known of them. */
	bool stamped;
	bool template_macs; /* in place of the file's */
	bool recorded;	    /* the file's gaps, at the rate of the run in the mean */
	/* A run ends with the file's last frame, and begins as late as the frames that the filter
	 * left out before the first make it, where gaps are recorded and the run has a rate. */
	bool once;
	char capture_filter[WEIR_CAPTURE_FILTER_BYTES]; /* pcap-filter(7); "": all frames */
	uint16_t capture_frame_bytes_max; /* that ports carry, with FCS, untagged; 0: all */
	struct weir_address_map maps[WEIR_ADDRESS_MAPS_MAX];
	unsigned int map_count;
	struct weir_packet_values fields[WEIR_PACKET_FIELDS]; /* over what flows say */
	/* Its flow n goes to where flow n of that stream is seen to come from, once a run has
	 * learned it. */
	bool answers;
	uint16_t answered_id;
};

/*
 * Areas, one of each kind a port at most; created by `configure`. `queue` is the port's, `port_id`
 * the number by which streams name it. NULL with `error`.
 */
struct weir_area *weir_generator_create(const char *name, unsigned int core,
					const struct weir_queue *queue, uint16_t port_id,
					struct weir_error *error);
void weir_generator_destroy(struct weir_area *area);
struct weir_area *weir_receiver_create(const char *name, unsigned int core,
				       const struct weir_queue *queue, uint16_t port_id,
				       struct weir_error *error);
void weir_receiver_destroy(struct weir_area *area);

/* Replaces all streams. Not while a run goes on. */
int weir_streams_configure(const struct weir_stream_config *configs, unsigned int count,
			   struct weir_error *error);
unsigned int weir_stream_count(void);
uint16_t weir_stream_id(unsigned int index);

/* What a stream sends of its capture, or of any. */
struct weir_capture_facts {
	uint32_t frames;
	double mean_frame_bytes;   /* with FCS */
	uint16_t frame_bytes_most; /* the same of the longest */
	double recorded_pps;	   /* 0: one frame, or all at one time */
	double lead_ns;		   /* from the file's first frame to the first of these */
	double span_ns;		   /* from that one to the last */
};

/* False: its frames are no capture's. */
bool weir_stream_captured(unsigned int index, struct weir_capture_facts *facts);
/* Of a file, whose frames pass the filter, as they are, or `stamped`: each has room for a stamp. -1
 * with `error`. */
int weir_capture_facts_of(const char *path, const char *filter, bool stamped,
			  struct weir_capture_facts *facts, struct weir_error *error);

/* From `after_ns` on every stream has `factor` x the rate that it is given, which is not 0; 0: a
 * pause. */
struct weir_rate_change {
	uint64_t after_ns;
	double factor;
};

/* Less than a client waits for an end that is late (`LATE_S` of weir.protocol.tester). */
#define WEIR_LONGEST_DRAIN_NS 8000000000ull

struct weir_run_options {
	/* Stream i (index, not id) at rates_pps[i], WEIR_RATE_MAX_PPS at most, 0 meaning as fast as
	 * its core can. */
	const double *rates_pps;
	uint64_t duration_ns;
	/* The run ends so long after the last arrival behind the last packet that was sent; but a
	 * system that is far too slow does not hold it up for longer than both together. 0:
	 * WEIR_LONGEST_DRAIN_NS. */
	uint64_t drain_ns, longest_drain_ns;
	/* Each stream ends after that many packets, or with the duration; 0: with the duration. */
	uint64_t packets;
	/* Other rates, from time to time; WEIR_SCHEDULE_PARTS - 1 of them at most. */
	const struct weir_rate_change *then;
	uint32_t then_count;
	/* Packets whose delay is measured: packets sent from this time on; or of these the first of
	 * each flow alone, where flows are sent in turn. */
	uint64_t settle_ns;
	bool first_packets;
	/* The run's time in slices of so many nanoseconds, WEIR_SLICES_MAX at most; 0: none. */
	uint64_t slice_ns;
	/* What is due at a constant rate while the host has the generator's core is skipped, if the
	 * run is in slices. */
	bool skip;
	bool delay_variation; /* IPDV and jitter too, which costs the receiver a little */
	/* The first packet sent from tag_ns on is tagged (RFC 2544, section 26.2). */
	bool tags;
	uint64_t tag_ns;
	/* Of each stream that another one answers each flow is sent once, in turn, for the answers
	 * of the runs that follow; other streams send nothing. */
	bool learns;
};

/* Whether a run can start: -1 with `error` if not, and nothing has changed. */
int weir_run_check(const struct weir_run_options *options, struct weir_error *error);
/* Starts a run. The loops must run. Returns its number (1 … 65535), or -1 with `error`. */
int weir_run_start(const struct weir_run_options *options, struct weir_error *error);

enum weir_run_state { WEIR_RUN_NONE, WEIR_RUN_RUNNING, WEIR_RUN_DONE, WEIR_RUN_STOPPED };
/* Looks at the counters; ends the drain. Call it every few milliseconds while a run goes on. */
enum weir_run_state weir_run_poll(void);
/* Ends the sending of a run that goes on, as if its duration were over now: it drains, and has
 * counts. -1 with `error`: none goes on. */
int weir_run_finish(struct weir_error *error);
/* Ends a run that goes on, without counts; the loops have stopped. */
void weir_run_stop(void);
unsigned int weir_run_number(void);
/* When the last run began, by the time-stamp counter and by CLOCK_MONOTONIC_RAW. */
uint64_t weir_run_start_tsc(void);
uint64_t weir_run_start_raw_ns(void);
/* That clock now, with the counter's time of its reading. */
uint64_t weir_raw_ns(uint64_t *tsc);
/* From the start to the last packet that was offered. */
uint64_t weir_run_tx_duration_ns(void);

struct weir_latency_ns {
	uint64_t count;
	double min, mean, p50, p90, p99, p999, p9999, max;
};

/* IPDV of RFC 5481: pairs of packets sent one after the other that also arrived so. Quantiles and
 * mean are of its size, without the sign. And the jitter of RFC 3550, in order of arrival. */
struct weir_variation_ns {
	uint64_t pairs;
	double min, max;
	double mean_size, p50_size, p90_size, p99_size, p999_size, p9999_size;
	double jitter_mean, jitter_max, jitter_last;
};

/* What differed first in a frame that arrived: the length of its payload, in bytes; a byte of the
 * payload; or bytes behind the IP packet, which a frame of up to 60 bytes may have. */
enum weir_change { WEIR_CHANGED_LENGTH, WEIR_CHANGED_PAYLOAD, WEIR_CHANGED_TRAILER };

/*
 * Frames of a stream that the receiver compared with what was sent: one of WEIR_SAMPLE_EVERY in the
 * mean, at drawn gaps (seeded: the stream's seed and the run's number), the first one too. Lengths
 * and bytes of the payload of UDP or TCP alone: functions may change every header.
 */
#define WEIR_SAMPLE_EVERY 67
struct weir_frame_sample {
	uint64_t sampled, changed;
	struct {
		enum weir_change what;
		uint64_t sequence;
		uint32_t offset_bytes; /* in the payload; of a length the shorter one */
		uint32_t expected, received;
	} first; /* of those that changed */
	uint32_t until_next;
	uint64_t random;
};

struct weir_stream_count {
	struct weir_frame_sample frame_sample;
	uint64_t intended, offered, tx_refused;
	uint64_t offered_bytes; /* with FCS, of a capture's frames; 0: of others it is known */
	uint64_t delivered, duplicates, reordered;
	uint64_t stale;			 /* stamped by an earlier run */
	uint64_t too_late;		 /* after the drain, or after 65,536 later ones: lost */
	struct weir_latency_ns latency;	 /* from when a packet was due to its arrival */
	struct weir_latency_ns lateness; /* from when it was due until it was built; not without a
					    rate */
	uint64_t negative; /* arrived before they were sent, as the clocks have it: no delay */
	bool has_variation;
	struct weir_variation_ns variation;
	bool has_tagged;
	double tagged_ns; /* delay of the tagged packet */
	/* Gaps in the sequence that arrived: how many; when, from the start, the last lost packet
	 * can have been sent at latest; the longest time between the arrivals around one. Reordered
	 * packets make gaps, too. */
	uint64_t gaps;
	double last_lost_ns, longest_gap_ns;
};

/* Flows of a stream that a run learned: all; those that arrived; those of them that arrived with
 * another address or port, of either end, than they were sent with. */
struct weir_learned {
	uint32_t flows, arrived, translated;
};
/* False: the last run did not learn that stream's flows. */
bool weir_stream_learned(unsigned int index, struct weir_learned *learned);

struct weir_receiver_count {
	uint64_t foreign; /* whole packets that carry no stamp of ours, or of another port's stream
			   */
	uint64_t malformed; /* truncated, or lengths that contradict each other */
	uint64_t stale;
	/* Of those that count for a stream, where a network card times arrivals: by a stamp that
	 * can be true, or without one and so without a delay. */
	uint64_t timed, untimed;
	unsigned int clock_steps; /* how often the card's clock was set */
};

/* Counts of the last run; while it goes on, those of now: the arrivals at one moment, then the
 * packets sent, so that none has arrived that is not offered. Packets under way are no gap then,
 * and `intended` is not known. */
void weir_stream_counted(unsigned int index, struct weir_stream_count *count);

/* Packets missing at one time: `at_ns` from the start of the run. */
struct weir_loss_ns {
	uint64_t at_ns, packets;
};
#define WEIR_INTERVAL_LOSSES_MAX 64
/*
 * A stream up to now, in a run that goes on or has ended, at one moment of its receiver. Of the
 * time since the last call, or the start of the run: least and greatest values, and losses.
 */
struct weir_stream_interval {
	uint64_t offered, tx_refused;
	uint64_t delivered, duplicates, reordered, too_late;
	uint64_t missing; /* sent before one that arrived, and not arrived (yet) */
	struct {
		uint64_t count;
		double mean, min, max; /* only the last two are of the interval */
	} latency_ns;
	bool has_variation;
	double ipdv_min_ns, ipdv_max_ns; /* 0 without packets */
	uint64_t jitter_count;
	double jitter_mean_ns, jitter_max_ns; /* the mean is of the whole run */
	unsigned int loss_count;
	struct weir_loss_ns losses[WEIR_INTERVAL_LOSSES_MAX];
	uint64_t losses_left_out_packets;
};
void weir_stream_interval(unsigned int index, struct weir_stream_interval *interval);

/* The packets of a stream that were due in one slice of the run's time, of a run that has ended. */
struct weir_slice_count {
	uint64_t due, offered, delivered;
	double delay_ns; /* mean, from when they were due; 0 where none was delivered */
	/* Mean of the same packets when they were sent, after they were due; 0 with Poisson gaps.
	 */
	double late_ns;
};
/* How many slices the last run had. */
unsigned int weir_run_slices(uint64_t *slice_ns);
void weir_stream_slice(unsigned int index, unsigned int slice, struct weir_slice_count *count);

/* One bucket of a histogram that is not empty: from_ns <= value < to_ns. */
struct weir_bucket_ns {
	double from, to;
	uint64_t count;
};
#define WEIR_DELAY_BUCKETS_MAX 5120
enum weir_delay_histogram { WEIR_DELAY_LATENCY, WEIR_DELAY_IPDV };
/* Up to `room` of a stream's buckets, smallest first, into `buckets`; returns how many there are.
 */
unsigned int weir_stream_buckets(unsigned int index, enum weir_delay_histogram which,
				 struct weir_bucket_ns *buckets, unsigned int room);
unsigned int weir_receiver_count(void);
const char *weir_receiver_port(unsigned int index);
/* Packets since the port was opened that are foreign to its receiver; 0: it has none. */
uint64_t weir_port_foreign(uint16_t port_id);
/* Of these: such as functions make themselves (weir_parse_signal() of parser.h). */
uint64_t weir_port_signals(uint16_t port_id);
void weir_receiver_counted(unsigned int index, struct weir_receiver_count *count);
/* From now on the receiver at that port times arrivals by the stamps of its network card; NULL: by
 * the counter, at the poll that takes them. Nothing if there is no receiver. */
void weir_receiver_follow(uint16_t port_id, const struct weir_arrival_clock *clock);

/*
 * Gives the first `count` frames of a stream, without FCS, to `take`: the same bytes each time,
 * their stamps without a time of sending. Uses no port and disturbs no run. -1 with `error`: no
 * memory.
 */
typedef void (*weir_sample_fn)(void *argument, const uint8_t *frame, uint16_t length);
int weir_stream_sample(const struct weir_stream_config *config, uint32_t count, weir_sample_fn take,
		       void *argument, struct weir_error *error);

/* Forgets streams and runs; before the areas are destroyed. */
void weir_streams_clear(void);

#endif
