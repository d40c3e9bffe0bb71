/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_NF_UPF_PFCP_SPAN_TEST_H
#define WEIR_NF_UPF_PFCP_SPAN_TEST_H

#include "read.h"

/* An array that holds a message, as what is read. */
#define SPAN(message) ((struct pfcp_span){.at = (message), .bytes = sizeof(message)})

#endif
