/* SPDX-License-Identifier: Apache-2.0 */
/* Who connects to whom, and one run of it after the other. */
#include <string.h>

#include <rte_cycles.h>

#include "engine/loop.h"
#include "side.h"

const char *const weir_failure_names[WEIR_FAILURES] = {
	[WEIR_FAILED_NO_ANSWER] = "no_answer",	     [WEIR_FAILED_RESET] = "reset",
	[WEIR_FAILED_CLOSED_EARLY] = "closed_early", [WEIR_FAILED_BAD_PAYLOAD] = "bad_payload",
	[WEIR_FAILED_OUT_OF_PORTS] = "out_of_ports",
};

static struct {
	bool configured;
	enum weir_run_state state;
	struct weir_connections_run options;
	uint64_t start_tsc;
	uint64_t until_tsc;		       /* then what is open stays so */
	struct weir_connections_count counted; /* for the area's thread to fill */
} run;

static void
end_side(void *argument)
{
	((struct weir_side *)argument)->running = false;
}

static void
end_sides(void)
{
	weir_area_run(&weir_clients_side()->area, end_side, weir_clients_side());
	weir_area_run(&weir_servers_side()->area, end_side, weir_servers_side());
}

static int
check_sides(const struct weir_connections_config *config, struct weir_error *error)
{
	const struct weir_side *clients = weir_clients_side(), *servers = weir_servers_side();

	if (clients == NULL || servers == NULL)
		return weir_fail(error, "bad_state", NULL, "an area of clients and one of servers",
				 "configure areas of these kinds", "there are no %s",
				 clients == NULL ? "clients" : "servers");
	if (clients->port_id != config->clients.port_id ||
	    servers->port_id != config->servers.port_id)
		return weir_fail(error, "bad_argument", "port", "the ports of these areas", NULL,
				 "the %s are at another port",
				 clients->port_id != config->clients.port_id ? "clients"
									     : "servers");
	return 0;
}

static int
check_service(const struct weir_service *service, unsigned int number, bool ipv6,
	      struct weir_error *error)
{
	uint32_t most = service->udp ? weir_datagram_bytes_max(ipv6) : WEIR_MESSAGE_BYTES_MAX;

	if (service->request_bytes > most || service->answer_bytes > most)
		return weir_fail(error, "bad_argument", "services",
				 ipv6 ? "one datagram: 1452 bytes at most"
				      : "one datagram: 1472 bytes at most",
				 NULL, "service %u has a message that is too long", number);
	return 0;
}

int
weir_connections_configure(const struct weir_connections_config *config, struct weir_error *error)
{
	uint64_t sources = (uint64_t)config->source_count *
			   (config->source_port_last - config->source_port_first + 1u);

	if (run.state == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL, "wait for its end",
				 "connections are being made");
	if (check_sides(config, error) < 0)
		return -1;
	if (config->source_port_first > config->source_port_last || sources > WEIR_SOURCES_MAX)
		return weir_fail(error, "bad_argument", "sources",
				 "1 to 16,777,216 addresses and ports", NULL,
				 "too many clients, or none");
	if (config->ipv6 && config->mss > WEIR_CONNECTION_IPV6_MSS_MAX)
		return weir_fail(error, "bad_argument", "mss", "1440 at most over IPv6", NULL,
				 "a segment of %u bytes does not fit a packet of 1,500",
				 config->mss);
	for (unsigned int i = 0; i < config->service_count; i++) {
		if (check_service(&config->services[i], i, config->ipv6, error) < 0)
			return -1;
	}
	weir_pattern_make();
	run.configured = false;
	run.state = WEIR_RUN_NONE;
	/* No loop may look at what is replaced. */
	end_sides();
	if (weir_clients_prepare(config, error) < 0 || weir_servers_prepare(config, error) < 0) {
		weir_connections_clear();
		return -1;
	}
	run.configured = true;
	return 0;
}

static void
begin_clients(void *unused)
{
	(void)unused;
	weir_clients_begin(&run.options, run.start_tsc);
}

static void
begin_servers(void *unused)
{
	(void)unused;
	weir_servers_begin(rte_rdtsc());
}

int
weir_connections_start(const struct weir_connections_run *options, struct weir_error *error)
{
	if (!run.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send connections.configure first",
				 "no connections are configured");
	if (weir_connections_poll() == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", NULL, NULL, "wait for its end",
				 "connections are being made already");
	if (options->transaction_rate > 0 &&
	    (!options->hold || options->transactions_after_ns >= options->duration_ns))
		return weir_fail(error, "bad_argument", "transaction_rate",
				 "with `hold`, and time for them", NULL,
				 "no connection is open for these transactions");
	run.options = *options;
	weir_area_run(&weir_servers_side()->area, begin_servers, NULL);
	run.start_tsc = rte_rdtsc();
	weir_area_run(&weir_clients_side()->area, begin_clients, NULL);
	run.until_tsc =
		run.start_tsc + (uint64_t)((double)(options->duration_ns + options->drain_ns) *
					   1e-9 * (double)rte_get_tsc_hz());
	run.state = WEIR_RUN_RUNNING;
	return 0;
}

enum weir_run_state
weir_connections_poll(void)
{
	if (run.state != WEIR_RUN_RUNNING || !weir_clients_have_opened())
		return run.state;
	if (weir_counted(&weir_clients_side()->count.open) > 0 && rte_rdtsc() < run.until_tsc)
		return run.state;
	end_sides();
	run.state = WEIR_RUN_DONE;
	return run.state;
}

void
weir_connections_stop(void)
{
	if (run.state == WEIR_RUN_RUNNING) {
		end_sides();
		run.state = WEIR_RUN_STOPPED;
	}
}

void
weir_connections_clear(void)
{
	weir_clients_forget();
	weir_servers_forget();
	run.configured = false;
	run.state = WEIR_RUN_NONE;
}

static void
count_clients(void *unused)
{
	(void)unused;
	weir_clients_counted(&run.counted);
}

static void
count_servers(void *unused)
{
	(void)unused;
	run.counted.servers = weir_servers_side()->count;
}

void
weir_connections_counted(struct weir_connections_count *count)
{
	memset(&run.counted, 0, sizeof(run.counted));
	if (weir_clients_side() != NULL && weir_servers_side() != NULL && run.configured) {
		weir_area_run(&weir_clients_side()->area, count_clients, NULL);
		weir_area_run(&weir_servers_side()->area, count_servers, NULL);
	}
	if (run.state != WEIR_RUN_DONE)
		run.counted.intended = run.counted.transactions_intended = 0;
	*count = run.counted;
}
