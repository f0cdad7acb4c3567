import { CardAuthorization } from '../../cards/authorizations/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import { readCompleteFrom, timelineOfRecords, withAuditIds } from '../../kernel/journal/timeline.ts'
import { refundsOf } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import type { disputesApi } from './api.ts'
import { Dispute } from './dispute.ts'

export const timeline: HandlerOf<typeof disputesApi.timeline> = async ({ params }, context) => {
  const { sql, tenant, records, pageBy, refuse } = context
  const dispute = await records.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const [ids, completeFrom] = await Promise.all([recordsOf(dispute, records), readCompleteFrom(sql, tenant)])
  const page = await pageBy((after, most) => timelineOfRecords(sql, tenant, ids, after, most))
  return withAuditIds({ ...page, completeFrom })
}

async function recordsOf({ id, transactionId }: Dispute, records: Records): Promise<string[]> {
  const [transaction, payment, refunds] = await Promise.all([
    records.findOne(Transaction, { id: transactionId }),
    records.findOne(CardAuthorization, { transactionId }),
    refundsOf(transactionId, records),
  ])
  const ids = [id, transactionId, transaction?.intentId, payment?.id].flatMap(one => one ?? [])
  return [...ids, ...refunds.map(refund => refund.id)]
}
