import { defineEntity, p } from '@mikro-orm/core'
import type { Reason } from '../../iso20022/reason-codes.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { type PayeeCheck, schemes } from '../../ports/sepa-rail.ts'
import type { Euros } from '../../values/money.ts'

/** A transfer between wallets is completed at once; all other states are those of a transfer by SEPA. */
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

/** The beneficiary as it was when the transfer was made: a later change of it does not change who is paid. */
export interface PayeeOf {
  name: string
  sepaName: string
  iban: string
  bic: string | null
}

/** The answer of the payee's bank to the verification of payee, and its time. */
export interface StoredPayeeCheck extends PayeeCheck {
  at: string
  /** The status of the bank's report that gave it; the rail's own answer before the submission has none. */
  code?: string | null
}

/** The results that a person decides on. Before the submission `not_possible` is none: most banks could not answer. */
const doubtful: readonly StoredPayeeCheck['result'][] = ['close_match', 'no_match']

/**
 * Whether a transfer waits for a person to confirm its payee: before its submission, or with the bank, which has reported
 * on the payee since.
 */
export const waitsForPayee = ({
  status,
  payeeCheck,
  payeeConfirmedAt,
}: {
  readonly status: Transfer['status']
  readonly payeeCheck: Pick<StoredPayeeCheck, 'result' | 'code'> | null
  readonly payeeConfirmedAt: Date | string | null
}): boolean =>
  (status === 'verifying' || status === 'submitted') &&
  payeeCheck !== null &&
  payeeConfirmedAt === null &&
  (doubtful.includes(payeeCheck.result) || (payeeCheck.result === 'not_possible' && Boolean(payeeCheck.code)))

const doubt: Readonly<Record<StoredPayeeCheck['result'], number>> = {
  not_possible: 1,
  match: 2,
  close_match: 3,
  no_match: 4,
}

/**
 * Whether a report on the payee takes the place of what is known: any does of the rail's own answer, and of reports the
 * more doubtful one, so that they may come in any order and more than once.
 */
export const isNewDoubt = (
  reported: Pick<StoredPayeeCheck, 'result'>,
  known: StoredPayeeCheck | null,
): boolean => !known?.code || doubt[reported.result] > doubt[known.result]

export const recallStates = ['requested', 'accepted', 'refused'] as const

/** The request for the money back, and the answer to it. */
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
    agentId: nullable.string(),
    fromWalletId: p.text(),
    toWalletId: nullable.string(),
    beneficiaryId: nullable.string(),
    /** The credit by which the holder of a payment request or a token gets the money. */
    creditId: nullable.string(),
    intentId: nullable.string(),
    /** The token whose budget has paid; null if it has none, or if the intent had reserved it. */
    tokenId: nullable.string(),
    /** The delegation under which its intent was declared. */
    delegationId: nullable.string(),
    kind: p.enum(transferKinds),
    scheme: nullable.enum(schemes),
    amountEuros: p.bigint().name('amount_cents'),
    parts: json<{ walletId: string; cents: string }[]>(),
    reference: nullable.string(),
    endToEndId: nullable.string(),
    payee: json<PayeeOf>(),
    status: p.enum(transferMachine.states).onCreate(() => transferMachine.initial),
    payeeCheck: json<StoredPayeeCheck>(),
    payeeConfirmedAt: nullable.instant(),
    reason: json<Reason>(),
    recall: json<Recall>(),
    /** The day whose limit the transfer has used. */
    countedOn: p
      .date()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
    submittedAt: nullable.instant(),
    /** When the rail first confirmed that it has the payment. */
    acknowledgedAt: nullable.instant(),
    /** How often the rail was asked for the status since the submission or the recall. */
    inquiries: p.integer().onCreate(() => 0),
    /** When the next step is due, by the process or, if that is down, by the sweep. */
    dueAt: nullable.instant(),
    completedAt: nullable.instant(),
    transactionId: nullable.string(),
    workflowId: nullable.string(),
  },
})

export class Transfer extends schema.class {
  /** Whether the transfer can be submitted. */
  isReady(): boolean {
    return this.status === 'verifying' && this.payeeCheck !== null && !waitsForPayee(this)
  }
}
schema.setClass(Transfer)

/** Divides an amount by shares; the cents that are left over go to the parts that lost most by rounding. */
export function divide(amount: Euros, shares: readonly number[]): Euros[] {
  const weights = shares.map(share => BigInt(Math.round(share * SCALE)))
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const parts = weights.map(weight => (amount * weight) / total)
  const leftOver = amount - parts.reduce((sum, part) => sum + part, 0n)
  const byLoss = weights
    .map((weight, index) => ({ index, lost: (amount * weight) % total }))
    .toSorted((one, other) => Number(other.lost - one.lost) || one.index - other.index)
  for (const { index } of byLoss.slice(0, Number(leftOver))) parts[index] = (parts[index] as Euros) + 1n
  return parts
}

/** A share has at most four decimals. */
const SCALE = 10_000
