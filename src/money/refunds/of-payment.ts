import type { Records } from '../../kernel/contract/records.ts'
import { Refund } from './refund.ts'

/** A payment has hardly ever more than a few. */
const MOST = 100

/** The refunds of a payment, the oldest first: what was asked back, and what has come back by itself. */
export const refundsOf = (transactionId: string, records: Records): Promise<Refund[]> =>
  records.find(Refund, { transactionId }, { orderBy: { id: 'asc' }, limit: MOST })
