import { cancellationSignal } from '@temporalio/activity'
import { followAcquirerReturns } from '../src/commerce/refunds/index.ts'
import { expireDeliveries } from '../src/delivery/webhooks/index.ts'
import { sweepFiles } from '../src/kernel/background/sweep-files.ts'
import type { Ports } from '../src/kernel/contract/ports.ts'
import { type Database, sqlOn } from '../src/kernel/database/prepared-sql.ts'
import { refreshRates } from '../src/money/exchange-rates/index.ts'
import { followReturns } from '../src/money/fundings/index.ts'

interface Parts {
  readonly database: Database
  readonly ports: Pick<Ports, 'systems' | 'service'>
  readonly removeEarlierRuns: () => Promise<void>
}

export type RecurringActivities = ReturnType<typeof recurringActivities>

/** What recurs for the whole installation. Each may be repeated at any time, and several workers may do it at once. */
export const recurringActivities = ({ database, ports, removeEarlierRuns }: Parts) => {
  const { systems } = ports
  const sql = sqlOn(database.pool)
  return {
    fetchRates: () => refreshRates({ sql, systems }),
    findReturnedFundings: () => followReturns(sql, ports),
    findReturnedPayments: () => followAcquirerReturns(sql, ports),
    removeOldDeliveries: () => expireDeliveries(database, cancellationSignal()),
    eraseUnusedFiles: () => sweepFiles(database, systems.files, cancellationSignal()),
    removeEarlierRuns,
  }
}
