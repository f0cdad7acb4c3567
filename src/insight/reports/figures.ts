import { z } from 'zod'
import { type Euros, euros, signedEuros } from '../../values/money.ts'

export interface Figures {
  readonly count: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  readonly netEuros: Euros
}

export const figureMembers = {
  count: z.int().min(0).meta({ description: 'How many payments.' }),
  spentEuros: euros.meta({
    description: 'What was paid: each payment on the day on which it began, once its money has left.',
  }),
  refundedEuros: signedEuros.meta({
    description:
      'What has come back, each on the day on which it did, also of earlier payments. Negative where more was sent back again.',
  }),
  netEuros: signedEuros.meta({ description: '`spentEuros` less `refundedEuros`.' }),
}

interface Summed {
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
}

export function figuresOf(sums: readonly Summed[]): Figures {
  const add = (of: (sum: Summed) => Euros): Euros => sums.reduce((total, sum) => total + of(sum), 0n)
  const [spentEuros, refundedEuros] = [add(sum => sum.spentEuros), add(sum => sum.refundedEuros)]
  const count = sums.reduce((total, { payments }) => total + payments, 0)
  return { count, spentEuros, refundedEuros, netEuros: spentEuros - refundedEuros }
}

export const shareOf = (part: Euros, whole: Euros): number | null =>
  whole > 0n ? Math.round((Number(part) / Number(whole)) * 10_000) / 10_000 : null

export const changeOf = (now: Euros, before: Euros): number | null => shareOf(now - before, before)

export const share = z
  .number()
  .nullable()
  .meta({ description: 'Of the net spend of all; null where that is not above nothing.', examples: [0.25] })
