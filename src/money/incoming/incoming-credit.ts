import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import { creditSources, unmatchedCreditReasons } from '../../iso20022/credit.ts'
import type { Mode, Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { centsColumn, nullable, timestampColumns, zeroCentsColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { tableOf } from '../../kernel/database/table.ts'
import { newId } from '../../values/ids.ts'
import { payableTypes } from '../references/index.ts'

/**
 * A credit that is handed over remains a record of the platform, or of the paying owner. The owner of its
 * wallet gets a record of the same id, which is matched or assigned.
 */
export const incomingCreditMachine = stateMachine('incoming_credit', {
  unmatched: ['matched', 'assigned', 'handed_over', 'returned'],
  matched: [],
  assigned: [],
  handed_over: [],
  returned: [],
})

export const platformTenantInMode = (mode: Mode): Tenant => ({ ownerId: PLATFORM_OWNER_ID, mode })

/**
 * The operator sees the credits of all owners, so there is no tenant filter, and each query names the owner.
 * The platform owns the record of the bank's booking; each owner owns the record of its credit.
 */
const schema = defineEntity({
  name: 'IncomingCredit',
  tableName: 'incoming_credits',
  ...personalTable({ plain: ['own_wallet_id'], about: { payer: ['id', 'payable_id'] } }),
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('credit')),
    ...timestampColumns(),
    mode: p.enum(['test', 'live'] as const).primary(),
    /** The owner whose ledger holds the money. After a hand-over, it is still the platform or the paying owner. */
    ownerId: p.text().primary(),
    status: p.enum(incomingCreditMachine.states).onCreate(() => incomingCreditMachine.initial),
    reason: plain(nullable.enum(unmatchedCreditReasons)),
    walletId: nullable.string(),
    /** The receiving owner, and that owner's name if another owner paid. */
    toOwnerId: plain(nullable.string()),
    recipientName: personal(nullable.string(), 'name', 'vouchers', 'word'),
    /** When the sweep books the hand-over; null once it is booked. */
    dueAt: nullable.instant(),
    /** When the bank returned it, and under which reference; null unless `returned`. */
    returnedAt: nullable.instant(),
    returnReference: personal(nullable.string(), 'payment', 'vouchers', 'word'),
    payableType: plain(nullable.enum(payableTypes)),
    payableId: plain(nullable.string()),
    fromOwnerId: plain(nullable.string()),
    fromWalletId: plain(nullable.string()),
    amountCents: centsColumn('amount_cents'),
    refundedCents: zeroCentsColumn('refunded_cents'),
    source: plain(p.enum(creditSources)),
    /**
     * The scope in which a bank reference is unique: the account of the statement, the owner of the sandbox,
     * or `owners`.
     */
    origin: plain(p.text()),
    bankReference: personal(p.text(), 'payment', 'vouchers', 'pseudonym'),
    part: p.integer(),
    iban: personal(nullable.string(), 'account', 'vouchers', 'word'),
    reference: personal(nullable.string(), 'words', 'vouchers', 'word'),
    senderName: personal(nullable.string(), 'name', 'vouchers', 'word'),
    senderIban: personal(nullable.string(), 'account', 'vouchers', 'word'),
    endToEndId: personal(nullable.string(), 'payment', 'vouchers', 'word'),
    valueDate: p.date().$type<string>(),
  },
})

export class IncomingCredit extends schema.class {}
schema.setClass(IncomingCredit)

/**
 * Money that has arrived. This excludes handed-over records, which belong to the platform, or to an owner who
 * paid another one.
 */
export const arrivedCreditStatuses = ['unmatched', 'matched', 'assigned', 'returned'] as const
export const ARRIVED_CREDIT_CONDITION = { status: { $in: arrivedCreditStatuses } }

export const incomingCreditCause = ({ id, valueDate }: IncomingCredit) => ({
  type: 'incoming_credit',
  id,
  valueDate,
})

export const incomingCreditEvent = (credit: IncomingCredit) => {
  const { id, walletId, status, amountCents, reason, source, payableType, payableId } = credit
  return { creditId: id, walletId, status, amountCents, reason, source, payableType, payableId }
}

export const isCreditFromOwner = ({ source }: Pick<IncomingCredit, 'source'>): boolean =>
  source === 'owner' || source === 'refund'

const insertCredits = insertInto(tableOf(IncomingCredit))

const UNSET = {
  reason: null,
  walletId: null,
  toOwnerId: null,
  recipientName: null,
  dueAt: null,
  returnedAt: null,
  returnReference: null,
  payableType: null,
  payableId: null,
  fromOwnerId: null,
  fromWalletId: null,
  refundedCents: 0n,
}

export class NewCreditRows implements Pick<EntityManager, 'create'> {
  readonly #made: IncomingCredit[] = []
  readonly #now: Date

  constructor({ now }: Pick<TenantNow, 'now'>) {
    this.#now = now
  }

  readonly create: EntityManager['create'] = (entity, members) => {
    if (entity !== (IncomingCredit as object)) throw new Error('these are rows of incoming credits')
    const status = incomingCreditMachine.initial
    const row = { ...UNSET, status, createdAt: this.#now, updatedAt: this.#now, ...members }
    this.#made.push(row as unknown as IncomingCredit)
    return row as never
  }

  insert(sql: Sql): Promise<void> {
    return insertCredits(sql, this.#made)
  }
}
