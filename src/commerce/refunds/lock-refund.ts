import { lockSpenders } from '../../control/policies/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { openRefunds, Refund, type RefundRow, type Refunds } from '../../money/refunds/index.ts'
import { lockTransactions } from '../../money/transactions/index.ts'

export type Ending = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

/** A refund with the lock under which its money comes; `row` is undefined where it is not awaited any more. */
export interface LockedRefund {
  readonly known: Refund
  readonly row: RefundRow | undefined
  readonly refunds: Refunds
}

export async function lockRefund(
  id: string,
  { records, sql, tenant, now }: Ending,
): Promise<LockedRefund | null> {
  const known = await records.findOne(Refund, { id })
  if (!known) return null
  const { agentId, transactionId } = known
  const transactionIds = transactionId ? [transactionId] : []
  // The agent before the payment: money of cards comes under its lock.
  const [, , refunds] = await Promise.all([
    agentId ? lockSpenders(sql, tenant, [agentId]) : undefined,
    lockTransactions(sql, tenant, transactionIds),
    openRefunds(sql, { tenant, now }, { transactionIds }),
  ])
  return { known, row: refunds.find(id), refunds }
}
