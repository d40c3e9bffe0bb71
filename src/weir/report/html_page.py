# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML file with plots and pictures. It needs no network and makes no request."""

from __future__ import annotations

from weir.report.format import Format
from weir.report.page.document import document

FORMAT = Format("html", ".html", "one page with plots and pictures that needs no network", document)
