import type { ProcessInput } from '../src/kernel/contract/process.ts'
import type { StatementRunInput } from '../src/money/statements/process.ts'
import type { RunOperation } from './shared/run-operation.ts'

interface Page {
  readonly due: readonly (Pick<ProcessInput, 'ownerId' | 'mode'> & {
    readonly walletId: string
    readonly period: string
  })[]
  readonly next: string | null
}

interface MonthlyStatementProgress {
  readonly made: number
  readonly next: string | null
}

export type StatementActivities = ReturnType<typeof statementActivities>

type MonthsDue = (of: StatementRunInput) => Promise<Page>

export const statementActivities = (run: RunOperation, monthsDue: MonthsDue) => ({
  /** One page of wallets, with each of their missing months. A failed one does not hold up the others. */
  async closeMonths(of: StatementRunInput): Promise<MonthlyStatementProgress> {
    let made = 0
    for (let page = await monthsDue(of); ; page = await monthsDue(of)) {
      const failures: unknown[] = []
      for (const one of page.due) await close(run, one).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} could not be made`)
      made += page.due.length
      if (page.due.length === 0) return { made, next: page.next }
    }
  },
})

async function close(
  run: RunOperation,
  { walletId, period, ownerId, mode }: Page['due'][number],
): Promise<void> {
  const of = { id: walletId, ownerId, mode, agentId: null }
  const body = { walletId, period }
  const requestId = `workflow:statements/${period}/${walletId}`
  const asked = { of, as: 'process', requestId, isScheduled: true, body } as const
  const { refused } = await run('statements.create', asked)
  if (refused) throw new Error(`${walletId} ${period}: ${refused}`)
}
