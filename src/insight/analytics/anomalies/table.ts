import { type CsvColumns, csvText } from '../../../values/csv.ts'
import { decimal } from '../../../values/money.ts'
import type { Anomaly } from './anomaly.ts'

export const anomalyColumns: CsvColumns<Anomaly> = {
  day: ({ day }) => day,
  kind: ({ kind }) => kind,
  agentId: ({ agentId }) => agentId ?? '',
  merchant: ({ merchant }) => csvText(merchant),
  sentence: ({ sentence }) => csvText(sentence),
  amountEuros: ({ figures }) => decimal(figures.amountEuros),
  score: ({ score }) => String(score),
}
