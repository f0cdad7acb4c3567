import { defineEntity, p } from '@mikro-orm/core'
import type { IsoReason } from '../../iso20022/reason-codes.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { type PayeeCheck, sepaSchemes } from '../../ports/sepa-rail.ts'
import { newId } from '../../values/ids.ts'
import {
  addCents,
  type Cents,
  cents,
  fractionOf,
  NO_CENTS,
  subtractCents,
  sumOf,
} from '../../values/money.ts'
import type { PersonalAdditions, PersonalData } from '../../values/personal.ts'
import { truncateText } from '../../values/schemas.ts'
import { transferProcess } from './process.ts'

/**
 * A transfer between wallets is completed at once. All other states belong to transfers by SEPA. One that did not leave
 * is submitted after all if the bank has debited it.
 */
export const transferMachine = stateMachine('transfer', {
  created: ['verifying', 'submitted', 'completed', 'cancelled'],
  verifying: ['submitted', 'cancelled'],
  submitted: ['completed', 'rejected'],
  completed: ['returned'],
  rejected: ['submitted'],
  cancelled: ['submitted'],
  returned: [],
})

export const transferKinds = ['internal', 'sepa', 'split'] as const

export interface SplitPart {
  walletId: string
  amountCents: Cents
}

/** A snapshot of the beneficiary, so that a later change does not change who is paid. */
export interface PayeeSnapshot {
  name: string
  sepaName: string
  iban: string
  bic: string | null
}

export interface StoredPayeeCheck extends PayeeCheck {
  at: string
  code?: string | null
}

/**
 * Results on which a person decides. Before the submission, `not_possible` is not one of them, as most banks
 * could not answer.
 */
const doubtful: readonly StoredPayeeCheck['result'][] = ['close_match', 'no_match']

/**
 * Whether a transfer waits for a person to confirm its payee, either before its submission or because of the
 * bank's later report.
 */
export const awaitsPayeeConfirmation = ({
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
 * Whether a report on the payee replaces the known one. Any report replaces the rail's own answer. Among
 * reports the more doubtful one wins, so that they may come in any order and repeatedly.
 */
export const isWorsePayeeCheck = (
  reported: Pick<StoredPayeeCheck, 'result'>,
  known: StoredPayeeCheck | null,
): boolean => !known?.code || doubt[reported.result] > doubt[known.result]

export const transferRecallStates = ['requested', 'accepted', 'refused'] as const

export interface TransferRecall {
  status: (typeof transferRecallStates)[number]
  at: string
  reason: string
  answeredAt: string | null
  answer: IsoReason | null
}

const json = <T>() => nullable.json<T>()

const schema = defineEntity({
  ...tenantTable('Transfer', 'transfers', 'agentId', 'delegationId'),
  ...personalTable({
    about: { beneficiary: ['beneficiary_id'] },
    keptWhile: {
      where: "t.status <> 'cancelled' or t.submitted_at is not null",
      words: 'it was not cancelled before its submission',
    },
  }),
  properties: {
    ...recordColumns('transfer'),
    agentId: nullable.string(),
    fromWalletId: plain(p.text()),
    toWalletId: plain(nullable.string()),
    beneficiaryId: nullable.string(),
    creditId: plain(nullable.string()),
    intentId: nullable.string(),
    /** The token whose budget paid; null if there is none, or if the intent had reserved the amount. */
    tokenId: nullable.string(),
    delegationId: nullable.string(),
    kind: plain(p.enum(transferKinds)),
    scheme: plain(nullable.enum(sepaSchemes)),
    amountCents: centsColumn('amount_cents'),
    parts: personal(json<{ walletId: string; cents: string }[]>(), 'payment', 'vouchers', { value: '[]' }),
    reference: personal(nullable.string(), 'words', 'vouchers', { value: 'Forgotten' }),
    endToEndId: plain(nullable.string()),
    payee: personal(json<PayeeSnapshot>(), 'name', 'vouchers', {
      members: '{"name":"[forgotten]","sepaName":"Forgotten","iban":"ZZ00FORGOTTEN000","bic":null}',
    }),
    status: p.enum(transferMachine.states).onCreate(() => transferMachine.initial),
    payeeCheck: personal(json<StoredPayeeCheck>(), 'name', 'vouchers', 'null'),
    payeeConfirmedAt: nullable.instant(),
    reason: personal(json<IsoReason>(), 'payment', 'vouchers', 'null'),
    recall: personal(json<TransferRecall>(), 'payment', 'vouchers', 'null'),
    countedOn: p
      .date()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
    submittedAt: nullable.instant(),
    acknowledgedAt: nullable.instant(),
    inquiries: p.integer().onCreate(() => 0),
    dueAt: nullable.instant(),
    completedAt: nullable.instant(),
    transactionId: nullable.string(),
    workflowId: nullable.string(),
  },
})

export class Transfer extends schema.class {}
schema.setClass(Transfer)

export const isReadyToSubmit = (
  transfer: Pick<Transfer, 'status' | 'payeeCheck' | 'payeeConfirmedAt'>,
): boolean =>
  transfer.status === 'verifying' && transfer.payeeCheck !== null && !awaitsPayeeConfirmation(transfer)

/** A plain row: group commits write thousands a second without the entity. */
export type TransferRow = RowOf<Transfer>

export const transferTable = tableOf(Transfer)
export const insertTransfers = insertInto(transferTable)

const blankTransfer = {
  agentId: null,
  toWalletId: null,
  beneficiaryId: null,
  creditId: null,
  intentId: null,
  tokenId: null,
  delegationId: null,
  kind: 'internal',
  scheme: null,
  parts: null,
  reference: null,
  endToEndId: null,
  payee: null,
  status: transferMachine.initial,
  payeeCheck: null,
  payeeConfirmedAt: null,
  reason: null,
  recall: null,
  countedOn: null,
  submittedAt: null,
  acknowledgedAt: null,
  inquiries: 0,
  dueAt: null,
  completedAt: null,
  transactionId: null,
  workflowId: null,
} as const

type NewTransfer = Pick<TransferRow, 'fromWalletId' | 'amountCents'> & Partial<TransferRow>

export const newTransfer = ({ tenant, now }: TenantNow, members: NewTransfer): TransferRow => ({
  ...blankTransfer,
  ...{ ...tenant, id: newId('transfer'), createdAt: now, updatedAt: now },
  ...members,
})

type NewSepaTransfer = NewTransfer & Pick<TransferRow, 'scheme' | 'payee' | 'countedOn'>

export function newSepaTransfer(
  tenantNow: TenantNow,
  members: NewSepaTransfer,
  id = newId('transfer'),
): TransferRow {
  const bySepa = { id, kind: 'sepa', endToEndId: id.replace('transfer_', '') } as const
  return newTransfer(tenantNow, {
    ...members,
    ...bySepa,
    ...{ dueAt: tenantNow.now, workflowId: workflowIdOf(transferProcess, id) },
  })
}

export const transferResponse = (transfer: TransferRow) =>
  withMembers(transfer, {
    parts: transfer.parts?.map(part => ({ walletId: part.walletId, amountCents: cents(part.cents) })) ?? null,
    payeeCheck: transfer.payeeCheck && { code: null, ...transfer.payeeCheck },
  })

export function transferEvent(transfer: TransferRow, comment = transfer.reason?.message ?? null) {
  const { id: transferId, fromWalletId, toWalletId, beneficiaryId, status, amountCents } = transfer
  const waits = awaitsPayeeConfirmation(transfer) ? ({ waitsFor: 'payee' } as const) : {}
  const data = { transferId, fromWalletId, toWalletId, beneficiaryId, status, amountCents, ...waits }
  return comment ? { ...data, reason: truncateText(comment) } : data
}

/** In cents: a hundred million euros. */
export const MAX_TRANSFER_CENTS = cents(10_000_000_000n)

interface SplitRequest {
  readonly amountCents?: Cents | undefined
  readonly parts: readonly {
    walletId: string
    amountCents?: Cents | undefined
    share?: number | undefined
  }[]
}

export function splitParts({ amountCents, parts }: SplitRequest): SplitPart[] {
  const amounts =
    amountCents === undefined
      ? parts.map(part => part.amountCents ?? NO_CENTS)
      : divideByShares(
          amountCents,
          parts.map(({ share = 0 }) => share),
        )
  return parts.map(({ walletId }, index) => ({ walletId, amountCents: amounts[index] ?? NO_CENTS }))
}

export function splitPartsRefusal(parts: readonly SplitPart[]): 'too_much' | 'part_of_nothing' | undefined {
  if (sumOf(parts.map(({ amountCents }) => amountCents)) > MAX_TRANSFER_CENTS) return 'too_much'
  return parts.some(({ amountCents }) => amountCents === 0n) ? 'part_of_nothing' : undefined
}

/** Divides an amount by shares. Leftover cents go to the parts that lost most by rounding. */
export function divideByShares(amount: Cents, shares: readonly number[]): Cents[] {
  const weights = shares.map(share => BigInt(Math.round(share * SCALE)))
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const roundedDown = weights.map(weight => fractionOf(amount, [weight, total]))
  const leftOver = subtractCents(amount, sumOf(roundedDown))
  const byLoss = weights
    .map((weight, index) => ({ index, lost: (amount * weight) % total }))
    .toSorted((one, other) => Number(other.lost - one.lost) || one.index - other.index)
  const aCentMore = new Set(byLoss.slice(0, Number(leftOver)).map(({ index }) => index))
  return roundedDown.map((part, index) => (aCentMore.has(index) ? addCents(part, CENT) : part))
}

const SCALE = 10_000
const CENT = cents(1n)

export const transfersPersonalData = {
  transfer_days: {
    personal: {},
    plain: [],
  },
  transfer_limits: {
    personal: {},
    plain: [],
  },
} as const satisfies PersonalData

export const transfersPersonalAdditions: PersonalAdditions = {
  transactions: {
    about: {
      beneficiary: [
        '(select f.beneficiary_id from transfers f where (f.owner_id, f.mode, f.id) = (t.owner_id, t.mode, t.transfer_id))',
      ],
    },
  },
}
