import { type CsvColumns, csvText } from '../../values/csv.ts'
import { decimal } from '../../values/money.ts'
import type { Merchants } from './merchants.ts'

type Line = Omit<Merchants['data'][number], 'share'>

export const merchantColumns: CsvColumns<Line> = {
  merchant: ({ key }) => csvText(key),
  names: ({ names }) => csvText(names.join(' | ')),
  count: ({ count }) => String(count),
  spentEuros: ({ spentEuros }) => decimal(spentEuros),
  refundedEuros: ({ refundedEuros }) => decimal(refundedEuros),
  netEuros: ({ netEuros }) => decimal(netEuros),
  firstOn: ({ firstOn }) => firstOn ?? '',
  lastOn: ({ lastOn }) => lastOn ?? '',
  every: ({ rhythm }) => rhythm?.every ?? '',
  lastEuros: ({ rhythm }) => (rhythm ? decimal(rhythm.lastEuros) : ''),
}

/** The lines add up to the total. */
export const merchantLines = ({ data, other }: Merchants): Line[] =>
  other ? [...data, { ...other, key: 'other', names: [], firstOn: null, lastOn: null, rhythm: null }] : data
