/* SPDX-License-Identifier: Apache-2.0 */
/* weir-dp: reads its arguments, starts DPDK, serves the control socket. */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "control/dataplane.h"
#include "control/verbs.h"

#define EXIT_USAGE 2
#define EXIT_ENVIRONMENT 3

static const char usage[] =
	"weir-dp: Weir's data plane. It forwards, generates and counts packets, and is told what "
	"to do over a socket.\n"
	"usage: weir-dp --socket PATH --cores CPU[,CPU...] [--memory-mb N] [--no-huge] [--pci "
	"ADDRESS]...\n"
	"       weir-dp --describe | --version | --help\n"
	"  --socket PATH    control socket to listen on (JSON lines)\n"
	"  --cores LIST     CPUs that poll, one loop each\n"
	"  --memory-mb N    memory for packets, in MiB (default 512)\n"
	"  --no-huge        do without hugepages; also the fall-back when too few are free\n"
	"  --pci ADDRESS    a PCI device that may be opened (none by default)\n"
	"  --describe       print network functions, options, drop reasons and commands as JSON\n"
	"exit status: 0 ended as asked, 2 usage, 3 this machine lacks something\n";

struct arguments {
	const char *socket;
	unsigned int cpus[WEIR_CORES_MAX];
	unsigned int cpu_count;
	unsigned int memory_mb;
	bool no_huge;
	const char *pci[16];
	unsigned int pci_count;
};

static bool
parse_cpus(char *text, struct arguments *arguments)
{
	for (char *rest, *word = strtok_r(text, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		char *end;
		unsigned long cpu = strtoul(word, &end, 10);

		if (*word < '0' || *word > '9' || *end != '\0' || cpu >= CPU_SETSIZE ||
		    arguments->cpu_count == WEIR_CORES_MAX)
			return false;
		for (unsigned int i = 0; i < arguments->cpu_count; i++) {
			if (arguments->cpus[i] == cpu)
				return false;
		}
		arguments->cpus[arguments->cpu_count++] = cpu;
	}
	return arguments->cpu_count > 0;
}

static void
parse(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'},
		{"cores", required_argument, NULL, 'c'},
		{"memory-mb", required_argument, NULL, 'm'},
		{"no-huge", no_argument, NULL, 'n'},
		{"pci", required_argument, NULL, 'p'},
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
			if (!parse_cpus(optarg, arguments)) {
				fprintf(stderr, "weir-dp: --cores takes different CPU numbers such "
						"as 0,1\n");
				exit(EXIT_USAGE);
			}
			break;
		case 'm':
			arguments->memory_mb = strtoul(optarg, NULL, 10);
			if (arguments->memory_mb < 64) {
				fprintf(stderr, "weir-dp: --memory-mb takes a number from 64\n");
				exit(EXIT_USAGE);
			}
			break;
		case 'n':
			arguments->no_huge = true;
			break;
		case 'p':
			if (arguments->pci_count < RTE_DIM(arguments->pci))
				arguments->pci[arguments->pci_count++] = optarg;
			break;
		case 'd':
			description = weir_describe();
			json_dumpf(description, stdout, JSON_INDENT(2));
			json_decref(description);
			puts("");
			exit(EXIT_SUCCESS);
		case 'v':
			puts("weir-dp " WEIR_VERSION);
			exit(EXIT_SUCCESS);
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs(usage, stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind != argc || arguments->socket == NULL || arguments->cpu_count == 0) {
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
}

/* Free hugepages of 2 MiB, in MiB. */
static unsigned int
free_huge_mb(void)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
	unsigned int pages = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%u", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * 2;
}

/*
 * The main lcore (0) is the control thread: it may run on every CPU that this process may use, and
 * sleeps in poll(). Lcore i + 1 polls on the i-th CPU of --cores.
 */
static int
start_dpdk(const struct arguments *arguments)
{
	char lcores[2048], memory[16], limit[32];
	unsigned int lcore_of[WEIR_CORES_MAX];
	char *argv[32];
	int argc = 0;
	size_t used;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	used = snprintf(lcores, sizeof(lcores), "--lcores=0@(");
	for (unsigned int cpu = 0, listed = 0; cpu < CPU_SETSIZE && used < sizeof(lcores); cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			used += snprintf(lcores + used, sizeof(lcores) - used, "%s%u",
					 listed++ ? "," : "", cpu);
	}
	used += snprintf(lcores + used, sizeof(lcores) - used, ")");
	for (unsigned int i = 0; i < arguments->cpu_count && used < sizeof(lcores); i++) {
		lcore_of[i] = i + 1;
		used += snprintf(lcores + used, sizeof(lcores) - used, ",%u@%u", i + 1,
				 arguments->cpus[i]);
	}
	weir_memory_is_huge = !arguments->no_huge && free_huge_mb() >= arguments->memory_mb;
	snprintf(memory, sizeof(memory), "%u", arguments->memory_mb);

	argv[argc++] = (char *)"weir-dp";
	argv[argc++] = lcores;
	argv[argc++] = (char *)"--no-telemetry";
	argv[argc++] = (char *)"--log-level=warning";
	/* No file outlives this process either way; DPDK refuses --in-memory with --no-huge. */
	if (weir_memory_is_huge) {
		argv[argc++] = (char *)"--in-memory";
		argv[argc++] = (char *)"--single-file-segments";
	} else {
		argv[argc++] = (char *)"--no-shconf";
		argv[argc++] = (char *)"--no-huge";
	}
	/*
	 * All memory now: a heap that grows later makes virtio-user tell its vhost peer, in this
	 * process, which waits for the heap's lock: a deadlock.
	 */
	/* And not one page more: packet buffers that do not fit are refused, clearly. */
	if (weir_memory_is_huge) {
		snprintf(limit, sizeof(limit), "--socket-limit=%u", arguments->memory_mb);
		argv[argc++] = limit;
	}
	argv[argc++] = (char *)"-m";
	argv[argc++] = memory;
	if (arguments->pci_count == 0)
		argv[argc++] = (char *)"--no-pci";
	for (unsigned int i = 0; i < arguments->pci_count && argc + 3 < (int)RTE_DIM(argv); i++) {
		argv[argc++] = (char *)"-a";
		argv[argc++] = (char *)arguments->pci[i];
	}
	argv[argc] = NULL;
	if (rte_eal_init(argc, argv) < 0)
		return -1;
	return weir_cores_set(arguments->cpus, lcore_of, arguments->cpu_count);
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {.memory_mb = 512};
	struct weir_error error;
	sigset_t signals;
	int status;

	parse(argc, argv, &arguments);
	/* Before any thread starts: the server takes these from a descriptor. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (start_dpdk(&arguments) < 0) {
		fprintf(stderr,
			"weir-dp: DPDK does not start: %s. Polling CPUs must exist and be allowed "
			"to this process; "
			"memory needs %u MiB of free hugepages or --no-huge.\n",
			rte_strerror(rte_errno), arguments.memory_mb);
		return EXIT_ENVIRONMENT;
	}
	status = weir_serve(arguments.socket, &error);
	if (status < 0)
		fprintf(stderr, "weir-dp: %s (%s)\n", error.message, error.expected);
	weir_dataplane_reset();
	rte_eal_cleanup();
	return status < 0 ? EXIT_ENVIRONMENT : EXIT_SUCCESS;
}
