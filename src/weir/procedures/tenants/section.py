from weir.report.sections import Section
SECTION = Section(kind=lambda result: None)
