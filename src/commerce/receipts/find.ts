import type { Context } from '../../kernel/contract/context.ts'
import { Receipt } from './receipt.ts'

const MOST = 100

/** The receipts of these payments that the caller sees, oldest first. */
export const receiptsOf = (
  transactionIds: readonly string[],
  { records }: Pick<Context, 'records'>,
): Promise<Receipt[]> =>
  records.find(
    Receipt,
    { transactionId: { $in: [...new Set(transactionIds)] } },
    { orderBy: { id: 'asc' }, limit: MOST },
  )
