import { findForgottenOwners, PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { DEBT_ACCOUNTS, lockBook, type PostingTemplate } from '../ledger/index.ts'
import {
  type PayableReference,
  type PayableType,
  payableColumns,
  payableFromColumns,
  referenceNumbersIn,
  resolveReferences,
} from '../references/index.ts'
import {
  findPayableWallets,
  isPurse,
  type PayableWallet,
  walletEvent,
  walletsById,
} from '../wallets/index.ts'
import type { incomingApi, ownCreditsApi } from './api.ts'
import { bookHandedOverCredits, handOverCredit } from './hand-over.ts'
import {
  ARRIVED_CREDIT_CONDITION,
  IncomingCredit,
  incomingCreditCause,
  incomingCreditEvent,
  incomingCreditMachine,
} from './incoming-credit.ts'
import { payableNamedInText } from './match.ts'
import { repayWalletDebt } from './receive.ts'

interface NamedCredit extends Tenant {
  readonly reference: string | null
  readonly payableType: PayableType | null
  readonly payableId: string | null
}

/**
 * An owner may have a record of the same id as the platform, which means that the credit has arrived. If it
 * arrived for a closed wallet, the record of the platform still says what it pays.
 */
const NAMED_CREDIT = `
select c.owner_id as "ownerId", c.mode, c.reference, h.payable_type as "payableType", h.payable_id as "payableId"
from incoming_credits c
left join lateral (select payable_type, payable_id from incoming_credits
  where id = c.id and status = 'handed_over' and c.status <> 'handed_over' limit 1) as h on true
where c.id = $1 order by c.status = 'handed_over' limit 1`

async function namedCredit(sql: Sql, creditId: string): Promise<NamedCredit | undefined> {
  const [credit] = await sql<NamedCredit & Row>(NAMED_CREDIT, [creditId])
  return credit
}

interface Destination {
  readonly wallet: PayableWallet
  readonly payable: PayableReference | null
}

interface Target {
  readonly walletId?: string | undefined
  readonly reference?: string | undefined
}

/** A given reference also names the wallet. With a given wallet, the reference in the payer's text counts. */
async function destinationOf(
  { reference, walletId }: Target,
  credit: NamedCredit,
  { sql, refuse }: ContextOf<typeof incomingApi.assign> | ContextOf<typeof ownCreditsApi.assignOwn>,
) {
  const { mode, ownerId } = credit
  const scope = { mode, ownerId: ownerId === PLATFORM_OWNER_ID ? null : ownerId }
  const named = await resolveReferences(sql, scope, referenceNumbersIn(reference ?? credit.reference ?? ''))
  const [first] = named
  if (reference && !first) return refuse('reference_not_found')
  const [wallet] = await findPayableWallets(sql, scope, { ids: [walletId ?? String(first?.walletId)] })
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  const handedOver = reference === undefined ? payableFromColumns(credit) : null
  return { wallet, payable: handedOver ?? payableNamedInText(named, wallet) }
}

type Assigning = ContextOf<typeof incomingApi.assign>
type AssigningOwn = ContextOf<typeof ownCreditsApi.assignOwn>

/**
 * Moves a credit from suspense into a wallet. A credit on an owner's ledger stays with that owner. A credit
 * on the platform's ledger may go to any owner: the platform hands it over, and the owner books it.
 */
export const assignCredit: HandlerOf<typeof incomingApi.assign> = async ({ params, body }, context) => {
  const credit = await namedCredit(context.sql, params.id)
  if (!credit) return context.refuse('credit_not_found')
  const destination = await destinationOf(body, credit, context)
  if (destination instanceof Refusal) return destination
  const { ownerId, mode } = credit
  context.switchTenant({ ownerId, mode })
  const move = ownerId === PLATFORM_OWNER_ID ? handOver : moveWithin
  return move(params.id, destination, context)
}

/** Moves a credit from the owner's own suspense account into one of the owner's wallets. Searches no other ledger. */
export const assignOwnCredit: HandlerOf<typeof ownCreditsApi.assignOwn> = async (
  { params, body },
  context,
) => {
  const { em, tenant, refuse } = context
  const credit = await em.findOne(IncomingCredit, {
    ...tenant,
    ...ARRIVED_CREDIT_CONDITION,
    id: params.id,
  })
  if (!credit) return refuse('credit_not_found')
  const destination = await destinationOf(body, { ...credit, ...tenant }, context)
  return destination instanceof Refusal ? destination : moveWithin(params.id, destination, context)
}

async function handOver(creditId: string, { wallet, payable }: Destination, context: Assigning) {
  const { em, sql, tenant, emit, refuse, queueStatement } = context
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const otherOwners = [{ ownerId: wallet.ownerId, walletIds: [wallet.id] }]
  const [book, credit] = await Promise.all([
    lockBook(sql, context, { wallets: [], others: ['bank', 'suspense'], otherOwners }),
    em.findOne(IncomingCredit, { ...tenant, id: creditId }, FOR_UPDATE),
  ])
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  book.move('hand_over', 'suspense', 'bank', credit.amountCents, incomingCreditCause(credit))
  incomingCreditMachine.move(credit, 'handed_over')
  const paid = { walletId: wallet.id, ...payableColumns(payable) }
  Object.assign(credit, { ...paid, toOwnerId: wallet.ownerId })
  emit('incoming.handed_over', incomingCreditEvent(credit))
  queueStatement(book.post(sql))
  await bookHandedOverCredits([handOverCredit(credit)], context.runForOwner, context.requestId)
  const arrived = await em.findOneOrFail(IncomingCredit, {
    ...tenant,
    ownerId: wallet.ownerId,
    id: creditId,
  })
  return arrived.status === 'unmatched' ? closedMeanwhile(refuse) : arrived
}

const assignments: Readonly<Record<IncomingCredit['source'], PostingTemplate>> = {
  bank: 'assignment',
  simulation: 'assignment',
  funding: 'fund_assignment',
  acquirer: 'collect_assignment',
  owner: 'charge_assignment',
  refund: 'charge_refunded_assignment',
}

async function moveWithin(creditId: string, { wallet: to, payable }: Destination, context: AssigningOwn) {
  const walletId = to.id
  const { em, sql, tenant, emit, refuse, queueStatement } = context
  const others = ['bank', 'suspense'] as const
  const [book, wallets, credit] = await Promise.all([
    lockBook(sql, context, { wallets: [walletId], others, ifExists: DEBT_ACCOUNTS }),
    walletsById(sql, tenant, [walletId]),
    em.findOne(IncomingCredit, { ...tenant, id: creditId }, FOR_UPDATE),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet || wallet.status === 'closed') return refuse('wallet_closed')
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  const { amountCents } = credit
  book.move(assignments[credit.source], 'suspense', walletId, amountCents, incomingCreditCause(credit))
  incomingCreditMachine.move(credit, 'assigned')
  Object.assign(credit, { walletId, ...payableColumns(payable) })
  emit('incoming.assigned', incomingCreditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(walletId).posted, amountCents))
  repayWalletDebt(wallet, amountCents, incomingCreditCause(credit), book, emit)
  queueStatement(book.post(sql))
  return credit
}

/** The wallet was read before its account was locked, and may be closed by now. */
const closedMeanwhile = (refuse: Assigning['refuse']): Refusal =>
  refuse(
    'wallet_closed',
    'The wallet was closed in the meantime. The money is on its owner’s suspense account.',
  )

/** Books a credit that the bank has returned. The money leaves the suspense account of the platform or of the owner. */
export const returnIncomingCredit: HandlerOf<typeof incomingApi.returnCredit> = async (
  { params, body },
  context,
) => {
  const { em, sql, emit, refuse, queueStatement } = context
  const holder = await namedCredit(sql, params.id)
  if (!holder) return refuse('credit_not_found')
  const { ownerId, mode } = holder
  const isOwners = ownerId !== PLATFORM_OWNER_ID && !(await findForgottenOwners(sql, [ownerId])).has(ownerId)
  if (isOwners) return refuse('credit_of_owner')
  context.switchTenant({ ownerId, mode })
  const [book, credit] = await Promise.all([
    lockBook(sql, context, { wallets: [], others: ['bank', 'suspense'] }),
    em.findOne(IncomingCredit, { ownerId, mode, id: params.id }, FOR_UPDATE),
  ])
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  const { returnedAt = context.now } = body
  if (body.returnedAt && (returnedAt > context.now || returnedAt < new Date(credit.valueDate)))
    return refuse('time_to_come')
  book.move('credit_return', 'suspense', 'bank', credit.amountCents, incomingCreditCause(credit))
  incomingCreditMachine.move(credit, 'returned')
  Object.assign(credit, { returnedAt, returnReference: body.reference })
  emit('incoming.returned', incomingCreditEvent(credit))
  queueStatement(book.post(sql))
  return credit
}
