import { z } from 'zod'
import { type Cents, moneySchema, signedMoneySchema, subtractCents, sumOf } from '../../values/money.ts'

export interface SpendFigures {
  readonly count: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly netCents: Cents
}

export const spendFigureMembers = {
  count: z.int().min(0).meta({ description: 'The number of payments.' }),
  spentCents: moneySchema.meta({
    description: 'Payments, each on the day on which it began, once its money has left.',
  }),
  refundedCents: signedMoneySchema.meta({
    description:
      'Refunds, each on the day on which it arrived, including those of earlier payments. Negative if refunds were reversed.',
  }),
  netCents: signedMoneySchema.meta({ description: '`spentEuros` less `refundedEuros`.' }),
}

interface Summed {
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
}

export function computeSpendFigures(sums: readonly Summed[]): SpendFigures {
  const add = (of: (sum: Summed) => Cents): Cents => sumOf(sums.map(of))
  const [spentCents, refundedCents] = [add(sum => sum.spentCents), add(sum => sum.refundedCents)]
  const count = sums.reduce((total, { payments }) => total + payments, 0)
  return { count, spentCents, refundedCents, netCents: subtractCents(spentCents, refundedCents) }
}

export const ratioOf = (part: Cents, whole: Cents): number | null =>
  whole > 0n ? Math.round((Number(part) / Number(whole)) * 10_000) / 10_000 : null

export const relativeChange = (now: Cents, before: Cents): number | null =>
  ratioOf(subtractCents(now, before), before)

export const shareSchema = z
  .number()
  .nullable()
  .meta({ description: 'Share of the total net spend. Null unless that is positive.', examples: [0.25] })
