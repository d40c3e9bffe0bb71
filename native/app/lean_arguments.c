/* SPDX-License-Identifier: Apache-2.0 */
#include "app/lean_arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/processor.h"

static const char usage[] =
	"weir-lean: what forwarding code costs: packets from memory through weir-dp's functions.\n"
	"usage: weir-lean --request FILE --cores CPU [--memory-mb N] [--no-huge] [--inject "
	"STAGE=PERCENT]\n"
	"                 [--step | --first-batches N]\n"
	"       weir-lean --machine BYTES[,BYTES...] --cores CPU[,CPU]\n"
	"       weir-lean --distance --cores CPU,CPU\n"
	"       weir-lean --version | --help\n"
	"  --request FILE   JSON: configure, area, path, traffic\n"
	"  --cores CPU      where it measures; with --machine and --distance also the other core\n"
	"  --memory-mb N    memory for packets and tables, in MiB (default 1024)\n"
	"  --no-huge        do without hugepages; also the fall-back when too few are free\n"
	"  --inject S=P[:C] make stage S slower by P percent, to try a detector; C: the\n"
	"                   `inject_cost_percent` of an earlier launch, else measured anew\n"
	"  --step           count instructions, one by one, instead of timing; takes seconds\n"
	"  --first-batches N  of first packets of flows, time only so many: as many as --step "
	"took\n"
	"  --machine SIZES  cycles of a load, over so many bytes of memory and from another core\n"
	"  --distance       how far the cores are from each other at this moment, and how fast\n"
	"Prints a line of JSON when it is ready, with what first packets of flows cost. Then lines "
	"of standard\ninput: `time N` and `count N` run N batches of 32 packets and print what "
	"they "
	"cost, by time-stamp\ncounter or by hardware counters; `plain N` is `time N` without what "
	"--inject adds; `step N` counts\ntheir instructions, with --step.\n"
	"exit status: 0 ended as asked, 2 usage or a bad request, 3 this machine lacks something\n";

void
lean_arguments_refuse(void)
{
	fputs(usage, stderr);
	exit(LEAN_EXIT_USAGE);
}

void
lean_arguments_parse(int argc, char **argv, struct lean_arguments *arguments)
{
	static const struct option options[] = {
		{"request", required_argument, NULL, 'r'},
		{"machine", required_argument, NULL, 'M'},
		{"distance", no_argument, NULL, 'd'},
		{"cores", required_argument, NULL, 'c'},
		{"memory-mb", required_argument, NULL, 'm'},
		{"no-huge", no_argument, NULL, 'n'},
		{"inject", required_argument, NULL, 'i'},
		{"step", no_argument, NULL, 's'},
		{"first-batches", required_argument, NULL, 'f'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			arguments->request = optarg;
			break;
		case 'M':
			arguments->machine = optarg;
			break;
		case 'd':
			arguments->distance = true;
			break;
		case 'c':
			if (!weir_start_cpus(optarg, &arguments->start))
				lean_arguments_refuse();
			break;
		case 'm':
			if (!weir_start_memory(optarg, &arguments->start))
				lean_arguments_refuse();
			break;
		case 'n':
			arguments->start.no_huge = true;
			break;
		case 'i':
			arguments->inject = optarg;
			break;
		case 's':
			arguments->step = true;
			break;
		case 'f':
			arguments->first_batches = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			weir_print_version("weir-lean");
			exit(EXIT_SUCCESS);
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			lean_arguments_refuse();
		}
	}
	if (optind != argc || arguments->start.cpu_count == 0 ||
	    (arguments->request != NULL) + (arguments->machine != NULL) + arguments->distance !=
		    1 ||
	    (arguments->distance && arguments->start.cpu_count < 2))
		lean_arguments_refuse();
}
