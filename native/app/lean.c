/* SPDX-License-Identifier: Apache-2.0 */
/* weir-lean: reads its arguments, starts DPDK, measures as often as its standard input says. */
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_random.h>

#include "app/processor.h"
#include "app/start.h"
#include "control/dataplane.h"
#include "lean/json.h"
#include "lean/slowdown.h"
#include "port/port.h"

#define EXIT_USAGE 2
#define EXIT_ENVIRONMENT 3
#define LCORE 1 /* the first of --cores */

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

struct arguments {
	const char *request;
	char *machine;
	bool distance;
	bool step;
	unsigned int first_batches;
	char *inject;
	struct weir_start start;
};

static struct weir_lean lean;
static struct weir_probe probe;

static void
print(json_t *answer)
{
	json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(answer);
	puts("");
	fflush(stdout);
}

static void
refuse(void)
{
	fputs(usage, stderr);
	exit(EXIT_USAGE);
}

static void
parse(int argc, char **argv, struct arguments *arguments)
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
				refuse();
			break;
		case 'm':
			if (!weir_start_memory(optarg, &arguments->start))
				refuse();
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
			puts("weir-lean " WEIR_VERSION);
			exit(EXIT_SUCCESS);
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			refuse();
		}
	}
	if (optind != argc || arguments->start.cpu_count == 0 ||
	    (arguments->request != NULL) + (arguments->machine != NULL) + arguments->distance !=
		    1 ||
	    (arguments->distance && arguments->start.cpu_count < 2))
		refuse();
}

/* --- the machine -------------------------------------------------------------------------------
 */

static int
run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "weir-lean: this process may not run on CPU %u\n", cpu);
	return EXIT_ENVIRONMENT;
}

#define PRIORITY 2 /* above polling loops, of which `weir tune` makes realtime threads */

/* Of cores on which others poll: they stand still for that time, if this process may do that. */
static int
measure_distance(const struct weir_start *start)
{
	const struct sched_param priority = {.sched_priority = PRIORITY};
	struct weir_machine_distance found;

	if (run_on(start->cpus[0]) != EXIT_SUCCESS)
		return EXIT_ENVIRONMENT;
	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
	if (weir_machine_distance(start->cpus[1], &found) != 0) {
		fprintf(stderr, "weir-lean: this process may not run on CPU %u\n", start->cpus[1]);
		return EXIT_ENVIRONMENT;
	}
	print(weir_machine_distance_json(&found));
	return EXIT_SUCCESS;
}

static int
measure_machine(const struct arguments *arguments)
{
	const struct weir_start *start = &arguments->start;
	struct weir_machine_transfer transfer;

	if (run_on(start->cpus[0]) != EXIT_SUCCESS)
		return EXIT_ENVIRONMENT;
	for (char *rest, *word = strtok_r(arguments->machine, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		size_t bytes = strtoull(word, NULL, 10);
		struct weir_machine_series series;
		bool huge;

		if (bytes < 4096)
			refuse();
		if (weir_machine_chase(bytes, &series, &huge) == 0)
			print(weir_machine_chase_json(bytes, &series, huge));
	}
	if (start->cpu_count > 1 && weir_machine_transfers(start->cpus[1], &transfer) == 0)
		print(weir_machine_transfer_json(&transfer));
	return EXIT_SUCCESS;
}

/* --- a path of functions -----------------------------------------------------------------------
 */

/* A command, on the lcore that measures. */
struct task {
	int (*run)(struct task *task);
	uint64_t batches;
	unsigned int stage;
	double percent;
	double cost_percent; /* of injecting; NAN: not known */
	bool step;
	unsigned int first_batches;
	struct weir_lean_ready ready;
	struct weir_lean_timed timed;
	struct weir_lean_stepped stepped;
	struct weir_lean_counted counted[WEIR_LEAN_TARGETS_MAX];
	unsigned int counted_count;
};

static int
run(void *argument)
{
	struct task *task = argument;

	return task->run(task);
}

static void
measure(struct task *task)
{
	rte_eal_remote_launch(run, task, LCORE);
	rte_eal_wait_lcore(LCORE);
}

static int
run_first(struct task *task)
{
	task->ready.first_batches = weir_lean_first(&lean, task->first_batches, &task->timed);
	task->ready.first_timed = &task->timed;
	return 0;
}

static void
step_first(struct task *task)
{
	task->ready.first_batches = weir_lean_step_first(&lean, &task->stepped);
	task->ready.first_stepped = &task->stepped;
}

static int
get_ready(struct task *task)
{
	struct weir_lean_ready *ready = &task->ready;

	weir_probe_open(&probe, weir_probe_hardware, weir_probe_hardware_count);
	ready->steps = task->step && weir_steps_open();
	if (ready->steps)
		step_first(task);
	else
		run_first(task);
	weir_lean_warm_up(&lean);
	ready->retires_most = weir_core_retires_most();
	if (task->percent != 0)
		ready->inject_cost_percent =
			weir_slowdown_begin(&lean, task->stage, task->percent, task->cost_percent);
	return 0;
}

static int
time_path(struct task *task)
{
	weir_lean_time(&lean, task->batches, &task->timed);
	return 0;
}

static int
step_path(struct task *task)
{
	weir_lean_step(&lean, task->batches, &task->stepped);
	return 0;
}

static int
count_path(struct task *task)
{
	memset(task->counted, 0, sizeof(task->counted));
	task->counted_count = weir_lean_count(&lean, &probe, task->batches, task->counted);
	return 0;
}

static void
refuse_line(void)
{
	print(json_pack("{s:s}", "error",
			"expected `time N`, `plain N`, `count N` or, where ready says `steps`, "
			"`step N`, N from 1 to 65536"));
}

static void
obey(const char *line, struct task *task)
{
	char word[16];
	unsigned long batches;

	if (sscanf(line, "%15s %lu", word, &batches) != 2 || batches == 0 ||
	    batches > WEIR_LEAN_BATCHES_MAX) {
		refuse_line();
		return;
	}
	task->batches = batches;
	weir_slowdown_switch(strcmp(word, "time") == 0);
	if (strcmp(word, "time") == 0 || strcmp(word, "plain") == 0) {
		task->run = time_path;
		measure(task);
		print(weir_lean_timed_json(&lean, &task->timed));
	} else if (strcmp(word, "step") == 0 && task->ready.steps) {
		task->run = step_path;
		measure(task);
		print(weir_lean_stepped_json(&lean, &task->stepped));
	} else if (strcmp(word, "count") == 0) {
		task->run = count_path;
		measure(task);
		print(weir_lean_counted_json(&probe, task->counted, task->counted_count));
	} else {
		refuse_line();
	}
}

/* "nat=2.5" or "nat=2.5:13.1" into the task. */
static int
injection(char *text, const struct weir_path *path, struct task *task)
{
	char *percent = text == NULL ? NULL : strchr(text, '=');
	char *end;
	int stage;

	if (text == NULL)
		return 0;
	if (percent == NULL)
		return -1;
	*percent++ = '\0';
	stage = weir_slowdown_stage(path, text);
	task->stage = stage;
	task->percent = strtod(percent, &end);
	if (*end == ':')
		task->cost_percent = strtod(end + 1, &end);
	return stage < 0 || task->percent < 0 || *end != '\0' ? -1 : 0;
}

/* The functions as they were never used. */
static int
begin_path(const char *request, struct weir_path **path, struct weir_frames *frames)
{
	struct weir_error error = {0};
	struct weir_chain *chain;

	if (weir_lean_request(request, &chain, path, frames, &error) == 0 &&
	    weir_lean_open(&lean, chain, *path, frames, weir_ports_mempool(), &error) == 0) {
		lean.probe = &probe;
		return 0;
	}
	print(json_pack("{s:s, s:s, s:s, s:s}", "error", error.message, "where", error.where,
			"expected", error.expected, "fix", error.fix));
	weir_frames_free(frames);
	return -1;
}

static void
end_path(struct weir_frames *frames)
{
	weir_lean_close(&lean);
	weir_frames_free(frames);
}

/* First packets pass twice, each time through new tables: what the machine does when memory is
 * used for the first time is no cost of theirs. */
static int
measure_path(const struct arguments *arguments)
{
	static struct task task = {.run = run_first, .cost_percent = NAN};
	struct weir_frames frames = {0};
	struct weir_path *path;
	char line[64];

	rte_srand(1); /* the same request does the same work each time */
	if (begin_path(arguments->request, &path, &frames) < 0)
		return EXIT_USAGE;
	if (injection(arguments->inject, path, &task) < 0)
		refuse();
	task.first_batches = arguments->first_batches;
	if (!arguments->step) {
		measure(&task);
		end_path(&frames);
		weir_dataplane_reset();
		rte_srand(1);
		if (begin_path(arguments->request, &path, &frames) < 0)
			return EXIT_USAGE;
	}
	task.step = arguments->step;
	task.run = get_ready;
	measure(&task);
	print(weir_lean_ready_json(&lean, &task.ready));
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(line, &task);
	weir_probe_close(&probe);
	end_path(&frames);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {.first_batches = WEIR_LEAN_FIRST_BATCHES,
				      .start = {.program = "weir-lean", .memory_mb = 1024}};
	int status;

	if (!weir_processor_serves("weir-lean"))
		return EXIT_ENVIRONMENT;
	parse(argc, argv, &arguments);
	if (arguments.machine != NULL)
		return measure_machine(&arguments);
	if (arguments.distance)
		return measure_distance(&arguments.start);
	if (weir_start_dpdk(&arguments.start) < 0)
		return EXIT_ENVIRONMENT;
	status = measure_path(&arguments);
	weir_dataplane_reset();
	rte_eal_cleanup();
	return status;
}
