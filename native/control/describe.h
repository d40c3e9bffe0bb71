/* SPDX-License-Identifier: Apache-2.0 */
/* What this program can do, from the tables that the code itself runs on. */
#ifndef WEIR_CONTROL_DESCRIBE_H
#define WEIR_CONTROL_DESCRIBE_H

#include <jansson.h>

/* Version of the control protocol, in the answer to `hello`. Increment on any change that breaks
 * older clients or answers. */
#define WEIR_PROTOCOL_VERSION 4

/* What --describe prints and `describe` answers, a new reference; `verbs`, which it takes, are
 * weir_verbs_json(). */
json_t *weir_describe(json_t *verbs);

#endif
