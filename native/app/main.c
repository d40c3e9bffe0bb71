/* SPDX-License-Identifier: Apache-2.0 */
/* weir-dp: reads its arguments, starts DPDK, serves the control socket. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>

#include "app/processor.h"
#include "app/start.h"
#include "control/capture_json.h"
#include "control/dataplane.h"
#include "control/describe.h"
#include "control/server.h"
#include "control/verbs.h"

#define EXIT_USAGE 2
#define EXIT_ENVIRONMENT 3

static const char usage[] =
	"weir-dp: Weir's data plane. It forwards, generates and counts packets, and is controlled "
	"over a unix socket.\n"
	"usage: weir-dp --socket PATH --cores CPU[,CPU...] [--memory-mb N] [--no-huge] "
	"[--unpinned] [--pci ADDRESS]...\n"
	"       weir-dp --capture FILE [--filter FILTER] [--stamp]\n"
	"       weir-dp --describe | --version | --help\n"
	"  --socket PATH    control socket to listen on (JSON lines)\n"
	"  --cores LIST     CPUs that poll, one loop each\n"
	"  --memory-mb N    memory for packets, in MiB (default 512)\n"
	"  --no-huge        do without hugepages; also the fall-back when too few are free\n"
	"  --unpinned       leave each loop to whoever started this: it may run on every CPU that\n"
	"                   this process may use\n"
	"  --pci ADDRESS    a PCI device that may be opened (none by default)\n"
	"  --capture FILE   print what a capture is as JSON: frames, their own rate, how long they "
	"take\n"
	"  --filter FILTER  of the frames that pass, as tcpdump says it\n"
	"  --stamp          refuse it where a frame has no room for a stamp\n"
	"  --describe       print network functions, options, drop reasons and commands as JSON\n"
	"exit status: 0 ended as asked, 2 usage, 3 this machine lacks something\n";

struct arguments {
	const char *socket, *capture, *filter;
	bool stamp;
	struct weir_start start;
};

/* The exit status; what is wrong with a file is said on stderr. */
static int
print_capture(const struct arguments *arguments)
{
	struct weir_capture_facts facts;
	struct weir_error error;
	json_t *said;

	if (weir_capture_facts_of(arguments->capture, arguments->filter, arguments->stamp, &facts,
				  &error) < 0) {
		fprintf(stderr, "%s; expected %s%s%s\n", error.message, error.expected,
			error.fix[0] != '\0' ? "; " : "", error.fix);
		return EXIT_USAGE;
	}
	said = weir_capture_facts_json(&facts);
	json_dumpf(said, stdout, JSON_COMPACT);
	json_decref(said);
	puts("");
	return EXIT_SUCCESS;
}

static void
parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'},
		{"cores", required_argument, NULL, 'c'},
		{"memory-mb", required_argument, NULL, 'm'},
		{"no-huge", no_argument, NULL, 'n'},
		{"unpinned", no_argument, NULL, 'u'},
		{"pci", required_argument, NULL, 'p'},
		{"capture", required_argument, NULL, 'f'},
		{"filter", required_argument, NULL, 'g'},
		{"stamp", no_argument, NULL, 't'},
		{"describe", no_argument, NULL, 'd'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	json_t *description;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 's':
			arguments->socket = optarg;
			break;
		case 'c':
			if (!weir_start_cpus(optarg, &arguments->start)) {
				fprintf(stderr, "weir-dp: --cores takes different CPU numbers such "
						"as 0,1\n");
				exit(EXIT_USAGE);
			}
			break;
		case 'm':
			if (!weir_start_memory(optarg, &arguments->start)) {
				fprintf(stderr,
					"weir-dp: --memory-mb takes a number from 64 to 1048576\n");
				exit(EXIT_USAGE);
			}
			break;
		case 'n':
			arguments->start.no_huge = true;
			break;
		case 'u':
			arguments->start.unpinned = true;
			break;
		case 'p':
			if (arguments->start.pci_count == RTE_DIM(arguments->start.pci)) {
				fprintf(stderr, "weir-dp: --pci may be given %u times\n",
					WEIR_PCI_MAX);
				exit(EXIT_USAGE);
			}
			arguments->start.pci[arguments->start.pci_count++] = optarg;
			break;
		case 'f':
			arguments->capture = optarg;
			break;
		case 'g':
			arguments->filter = optarg;
			break;
		case 't':
			arguments->stamp = true;
			break;
		case 'd':
			description = weir_describe(weir_verbs_json());
			json_dumpf(description, stdout, JSON_INDENT(2));
			json_decref(description);
			puts("");
			exit(EXIT_SUCCESS);
		case 'v':
			weir_print_version("weir-dp");
			exit(EXIT_SUCCESS);
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs(usage, stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind == argc && arguments->capture != NULL)
		exit(print_capture(arguments));
	if (optind != argc || arguments->socket == NULL || arguments->start.cpu_count == 0) {
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {.start = {.program = "weir-dp", .memory_mb = 512}};
	struct weir_error error;
	sigset_t signals;
	int status;

	if (!weir_processor_serves("weir-dp"))
		return EXIT_ENVIRONMENT;
	parse(argc, argv, &arguments);
	/* Before any thread starts: the server takes these from a descriptor. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	/* DPDK writes to a switch's socket that may have closed: an error of a port, not the end.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (weir_start_dpdk(&arguments.start) < 0)
		return EXIT_ENVIRONMENT;
	status = weir_serve(arguments.socket, &error);
	if (status < 0)
		fprintf(stderr, "weir-dp: %s (%s)\n", error.message, error.expected);
	weir_dataplane_reset();
	rte_eal_cleanup();
	return status < 0 ? EXIT_ENVIRONMENT : EXIT_SUCCESS;
}
