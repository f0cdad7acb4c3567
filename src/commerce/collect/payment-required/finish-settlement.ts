import type { Context } from '../../../kernel/contract/context.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { accountsToCollect, collectCharge } from '../../../money/incoming/index.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { writeReceipt } from '../../../mpp/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { addPayment, failPayment, type LockedRequest, lockRequest, writeRequests } from '../payments.ts'
import { chargeOf } from './begin-settlement.ts'
import type { settledEvents } from './settled-events.ts'
import { askAgainLater, externalIdOf, Settlement, settlementMachine } from './settlement.ts'

type FinishContext = Context<never, typeof settledEvents>

/**
 * Records how a charge has ended: the money is in the wallet and the request is paid, or nothing has happened. Nothing
 * changes where that is recorded already; where it is not known, the acquirer is asked again later.
 */
export async function finishSettlement(
  { id, requestId, walletId }: Paying,
  outcome: ChargeOutcome,
  context: FinishContext,
): Promise<Settlement> {
  if (requestId !== null && walletId !== null)
    return finishOfRequest({ id, requestId, walletId }, outcome, context)
  const settlement = await context.records.lock(Settlement, id)
  if (!settlement) throw new Error(`${id}: the settlement is gone`)
  if (settlement.status === 'charging') await end(settlement, outcome, context)
  return settlement
}

/** A settlement, and what it pays. */
export type Paying = Pick<Settlement, 'id' | 'requestId' | 'walletId'>

interface PayingRequest extends Paying {
  readonly requestId: string
  readonly walletId: string
}

/** Locks in the order of all: the accounts, the request, the settlement. */
async function finishOfRequest(
  { id, requestId, walletId }: PayingRequest,
  outcome: ChargeOutcome,
  context: FinishContext,
): Promise<Settlement> {
  const { records, sql, tenant, sendAlong } = context
  const [book, wallets, locked, settlement] = await Promise.all([
    openBook(sql, context, accountsToCollect(walletId)),
    walletsById(sql, tenant, [walletId]),
    lockRequest(requestId, context),
    records.lock(Settlement, id),
  ])
  const wallet = wallets.get(walletId)
  if (!settlement || !locked || !wallet) throw new Error(`${id}: the request or its wallet is gone`)
  if (settlement.status !== 'charging') return settlement
  if (outcome.outcome === 'approved') {
    takeCharge(settlement, { wallet, locked, book }, context)
    sendAlong(book.post(sql))
  } else if (outcome.outcome === 'declined') failPayment(locked, id, context)
  sendAlong(writeRequests(sql, tenant, [locked]))
  await end(settlement, outcome, context)
  return settlement
}

interface Paid {
  readonly wallet: WalletRow
  readonly locked: LockedRequest
  readonly book: Book
}

/** Takes what was charged into the wallet, and counts it for the request. The caller writes book and request. */
export function takeCharge(
  settlement: Settlement,
  { wallet, locked, book }: Paid,
  context: Pick<FinishContext, 'records' | 'tenant' | 'now' | 'emit' | 'wake'>,
): void {
  const { id, amountEuros } = settlement
  const charge = { amountEuros, cause: { type: 'settlement', id }, reference: locked.request.reference }
  collectCharge(wallet, charge, book, context)
  const { handle, reference, descriptor } = chargeOf(settlement)
  const paid = { way: 'card', amountEuros, sourceId: id, walletId: wallet.id } as const
  addPayment(locked, { ...paid, charge: { handle, reference, descriptor } }, context)
}

export function endPaid(settlement: Settlement, receipt: string, now: Date): void {
  settlementMachine.move(settlement, 'paid')
  Object.assign(settlement, { settledAt: now, dueAt: null, receipt })
}

/** How the settlement itself ends; a charge whose outcome is open stays as it is. */
async function end(settlement: Settlement, outcome: ChargeOutcome, context: FinishContext): Promise<void> {
  if (outcome.outcome === 'approved')
    endPaid(settlement, await receiptFor(settlement, context.ports), context.now)
  else if (outcome.outcome === 'declined') {
    settlementMachine.move(settlement, 'declined')
    const { code: declineCode, reason: declineReason } = outcome
    Object.assign(settlement, { declineCode, declineReason, dueAt: null })
  } else askAgainLater(settlement, context.now)
}

/** The type of the statement by which a receipt is proved. */
export const RECEIPT_TYPE = 'mpp-receipt+jwt'

/** A receipt that is signed, which anybody can check offline. Its time is the real one: payers compare it with their own. */
export async function receiptFor(
  { id, requestId, scenario, challengeId, amountEuros, network, ownerId, mode }: Settlement,
  { signer }: Pick<Ports, 'signer'>,
): Promise<string> {
  const timestamp = clock.real().toISOString()
  const externalId = externalIdOf({ requestId, scenario })
  const members = {
    status: 'success',
    method: 'card',
    timestamp,
    reference: id,
    challengeId,
    externalId,
  } as const
  const paid = { amount: String(amountEuros), currency: 'eur', network }
  const proof = await signer.sign(RECEIPT_TYPE, { ownerId, mode, ...members, ...paid })
  return writeReceipt({ ...members, proof })
}
