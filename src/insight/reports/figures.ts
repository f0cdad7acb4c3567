import { z } from 'zod'
import { type Cents, minus, money, signedMoney, sumOf } from '../../values/money.ts'

export interface Figures {
  readonly count: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly netCents: Cents
}

export const figureMembers = {
  count: z.int().min(0).meta({ description: 'The number of payments.' }),
  spentCents: money.meta({
    description: 'Payments, each on the day on which it began, once its money has left.',
  }),
  refundedCents: signedMoney.meta({
    description:
      'Refunds, each on the day on which it arrived, including those of earlier payments. Negative if refunds were reversed.',
  }),
  netCents: signedMoney.meta({ description: '`spentEuros` less `refundedEuros`.' }),
}

interface Summed {
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
}

export function figuresOf(sums: readonly Summed[]): Figures {
  const add = (of: (sum: Summed) => Cents): Cents => sumOf(sums.map(of))
  const [spentCents, refundedCents] = [add(sum => sum.spentCents), add(sum => sum.refundedCents)]
  const count = sums.reduce((total, { payments }) => total + payments, 0)
  return { count, spentCents, refundedCents, netCents: minus(spentCents, refundedCents) }
}

export const shareOf = (part: Cents, whole: Cents): number | null =>
  whole > 0n ? Math.round((Number(part) / Number(whole)) * 10_000) / 10_000 : null

export const changeOf = (now: Cents, before: Cents): number | null => shareOf(minus(now, before), before)

export const share = z
  .number()
  .nullable()
  .meta({ description: 'Of the net spend of all; null where that is not above nothing.', examples: [0.25] })
