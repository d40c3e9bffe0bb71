/* SPDX-License-Identifier: Apache-2.0 */
#include "app/lean_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_random.h>

#include "control/dataplane.h"
#include "engine/lcore_wait.h"
#include "lean/json.h"
#include "lean/slowdown.h"
#include "port/port.h"

#define LCORE 1 /* the first of --cores */

static struct weir_lean lean;
static struct weir_probe probe;

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
	weir_lcore_wait(LCORE);
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
	weir_lean_print(
		json_pack("{s:s}", "error",
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
		weir_lean_print(weir_lean_timed_json(&lean, &task->timed));
	} else if (strcmp(word, "step") == 0 && task->ready.steps) {
		task->run = step_path;
		measure(task);
		weir_lean_print(weir_lean_stepped_json(&lean, &task->stepped));
	} else if (strcmp(word, "count") == 0) {
		task->run = count_path;
		measure(task);
		weir_lean_print(weir_lean_counted_json(&probe, task->counted, task->counted_count));
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
	weir_lean_print(json_pack("{s:s, s:s, s:s, s:s, s:s}", "code", error.code, "error",
				  error.message, "where", error.where, "expected", error.expected,
				  "fix", error.fix));
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
int
lean_measure_path(const struct lean_arguments *arguments)
{
	static struct task task = {.run = run_first, .cost_percent = NAN};
	struct weir_frames frames = {0};
	struct weir_path *path;
	char line[64];

	rte_srand(1); /* the same request does the same work each time */
	if (begin_path(arguments->request, &path, &frames) < 0)
		return LEAN_EXIT_USAGE;
	if (injection(arguments->inject, path, &task) < 0)
		lean_arguments_refuse();
	task.first_batches = arguments->first_batches;
	if (!arguments->step) {
		measure(&task);
		end_path(&frames);
		weir_dataplane_reset();
		rte_srand(1);
		if (begin_path(arguments->request, &path, &frames) < 0)
			return LEAN_EXIT_USAGE;
	}
	task.step = arguments->step;
	task.run = get_ready;
	measure(&task);
	weir_lean_print(weir_lean_ready_json(&lean, &task.ready));
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(line, &task);
	weir_probe_close(&probe);
	end_path(&frames);
	return EXIT_SUCCESS;
}
