# SPDX-License-Identifier: Apache-2.0
"""What the suite `sanity` is made of: `table` has the scenarios, `task` makes Rally's task of one, `inside`
runs it under Rally, `report` reads what Rally says of it, `counterparts` does some of them by stacks, `times`
has their percentiles, `change` compares them with an earlier run's."""
