import type { Euros } from '../../values/money.ts'
import { readSpend, type Span } from './read.ts'
import type { Spend } from './tail.ts'

export interface DayOfSpend {
  /** In UTC, by the tenant's time: `YYYY-MM-DD`. */
  readonly day: string
  readonly count: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  readonly feesEuros: Euros
}

interface DaysWanted extends Span {
  /** Left out: of all that is paid, by agents or by the owner. */
  readonly agentId?: string | undefined
}

/** What was spent on each day, as of now, the earliest day first; only days on which something was. */
export async function spendByDay(spend: Spend, wanted: DaysWanted): Promise<DayOfSpend[]> {
  const sums = await readSpend(spend, { ...wanted, views: ['agent'], by: ['day'] })
  return sums
    .map(({ day, payments, spentEuros, refundedEuros, feesEuros }) => ({
      day,
      count: payments,
      spentEuros,
      refundedEuros,
      feesEuros,
    }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}
