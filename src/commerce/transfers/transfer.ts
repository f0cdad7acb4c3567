import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/machine.ts'
import type { Euros } from '../../kernel/money.ts'
import { maybe, record, tenantTable } from '../../kernel/record.ts'

export const transferMachine = machine('transfer', {
  created: ['completed'],
  completed: [],
})

export const transferKinds = ['internal', 'split'] as const

export interface Part {
  walletId: string
  amountEuros: Euros
}

const schema = defineEntity({
  ...tenantTable('Transfer', 'transfers'),
  properties: {
    ...record('transfer'),
    fromWalletId: p.text(),
    toWalletId: maybe.string(),
    kind: p.enum(transferKinds),
    amountEuros: p.bigint().name('amount_cents'),
    parts: p
      .json<{ walletId: string; cents: string }[] | null>()
      .strictNullable()
      .onCreate(() => null),
    reference: maybe.string(),
    status: p.enum(transferMachine.states).onCreate(() => transferMachine.initial),
    completedAt: maybe.instant(),
  },
})

export class Transfer extends schema.class {}
schema.setClass(Transfer)

/** How an amount is divided: by shares, the cents that are left over going to those who have lost most by rounding. */
export function divide(amount: Euros, shares: readonly number[]): Euros[] {
  const weights = shares.map(share => BigInt(Math.round(share * SCALE)))
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const parts = weights.map(weight => (amount * weight) / total)
  const left = amount - parts.reduce((sum, part) => sum + part, 0n)
  const byLoss = weights
    .map((weight, index) => ({ index, lost: (amount * weight) % total }))
    .toSorted((one, other) => Number(other.lost - one.lost) || one.index - other.index)
  for (const { index } of byLoss.slice(0, Number(left))) parts[index] = (parts[index] as Euros) + 1n
  return parts
}

/** A share may have so many decimals. */
const SCALE = 10_000
