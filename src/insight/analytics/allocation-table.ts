import { type CsvColumns, csvText } from '../../values/csv.ts'
import { decimal } from '../../values/money.ts'
import { shownSpan } from '../reports/index.ts'
import type { Span } from '../spend/index.ts'
import type { Allocation } from './allocation.ts'

type Line = Omit<Allocation['data'][number], 'share'> & { readonly from: string; readonly to: string }

export const allocationColumns: CsvColumns<Line> = {
  from: ({ from }) => from,
  to: ({ to }) => to,
  label: ({ label }) => csvText(label ?? '(no label)'),
  name: ({ name }) => csvText(name),
  count: ({ count }) => String(count),
  spentEuros: ({ spentEuros }) => decimal(spentEuros),
  refundedEuros: ({ refundedEuros }) => decimal(refundedEuros),
  netEuros: ({ netEuros }) => decimal(netEuros),
  sharedEuros: ({ sharedEuros }) => decimal(sharedEuros),
  allocatedEuros: ({ allocatedEuros }) => decimal(allocatedEuros),
}

export const allocationLines = ({ data, other }: Allocation, span: Span): Line[] => {
  const lines = other ? [...data, { ...other, label: '(all others)', name: null }] : data
  return lines.map(line => ({ ...line, ...shownSpan(span) }))
}
