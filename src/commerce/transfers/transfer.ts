import { defineEntity, p } from '@mikro-orm/core'
import type { Reason } from '../../iso20022/reason-codes.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { maybe, record, tenantTable } from '../../kernel/database/entity.ts'
import { type PayeeCheck, schemes } from '../../ports/sepa-rail.ts'
import type { Euros } from '../../values/money.ts'

/** Between wallets: completed at once. By SEPA: all the rest. */
export const transferMachine = machine('transfer', {
  created: ['verifying', 'completed', 'cancelled'],
  verifying: ['submitted', 'cancelled'],
  submitted: ['completed', 'rejected'],
  completed: ['returned'],
  rejected: [],
  cancelled: [],
  returned: [],
})

export const transferKinds = ['internal', 'sepa', 'split'] as const

export interface Part {
  walletId: string
  amountEuros: Euros
}

/** As the beneficiary was when the transfer was made: what is changed later is not paid to. */
export interface PayeeOf {
  name: string
  sepaName: string
  iban: string
  bic: string | null
}

/** What the payee's bank said, and when. */
export interface Checked extends PayeeCheck {
  at: string
}

export const recallStates = ['requested', 'accepted', 'refused'] as const

/** That it is asked back, why, and what came of it. */
export interface Recall {
  status: (typeof recallStates)[number]
  at: string
  reason: string
  answeredAt: string | null
  answer: Reason | null
}

const json = <T>() =>
  p
    .json<T | null>()
    .strictNullable()
    .onCreate(() => null)

const schema = defineEntity({
  ...tenantTable('Transfer', 'transfers', 'agentId', 'delegationId'),
  properties: {
    ...record('transfer'),
    agentId: maybe.string(),
    fromWalletId: p.text(),
    toWalletId: maybe.string(),
    beneficiaryId: maybe.string(),
    intentId: maybe.string(),
    /** With which it was paid, where that has a budget and the intent was not declared with it. */
    tokenId: maybe.string(),
    /** Under which its intent was declared. */
    delegationId: maybe.string(),
    kind: p.enum(transferKinds),
    scheme: p
      .enum(schemes)
      .$type<(typeof schemes)[number] | null>()
      .strictNullable()
      .onCreate(() => null),
    amountEuros: p.bigint().name('amount_cents'),
    parts: json<{ walletId: string; cents: string }[]>(),
    reference: maybe.string(),
    endToEndId: maybe.string(),
    payee: json<PayeeOf>(),
    status: p.enum(transferMachine.states).onCreate(() => transferMachine.initial),
    payeeCheck: json<Checked>(),
    payeeConfirmedAt: maybe.instant(),
    reason: json<Reason>(),
    recall: json<Recall>(),
    /** The day of whose limit it was taken. */
    countedOn: p
      .date()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
    submittedAt: maybe.instant(),
    /** The rail has told that it has it. */
    acknowledgedAt: maybe.instant(),
    /** How often the rail has been asked since how it stands. */
    inquiries: p.integer().onCreate(() => 0),
    /** When it is looked after, by its process or without it. */
    dueAt: maybe.instant(),
    completedAt: maybe.instant(),
    transactionId: maybe.string(),
    workflowId: maybe.string(),
  },
})

export class Transfer extends schema.class {
  /** The bank knows the payee otherwise, and nobody has said yet to pay all the same. */
  isToBeConfirmed(): boolean {
    const result = this.payeeCheck?.result
    return (result === 'close_match' || result === 'no_match') && this.payeeConfirmedAt === null
  }

  /** Nothing is left for it but to go out. */
  isReady(): boolean {
    return this.status === 'verifying' && this.payeeCheck !== null && !this.isToBeConfirmed()
  }
}
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
