import type { Tenant } from '../../kernel/contract/actor.ts'
import type { RunForOwner } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { payableColumns, payableFromColumns } from '../references/index.ts'
import type { incomingStepsApi } from './api.ts'
import { IncomingCredit, isCreditFromOwner } from './incoming-credit.ts'

/** The owner of this installation who paid, and the paying wallet; null for payers outside. */
export type CreditPayer = Pick<IncomingCredit, 'fromOwnerId' | 'fromWalletId'>

/** A credit that leaves the ledger of the platform, or of a paying owner, with all that the receiving owner books. */
export interface HandedOverCredit {
  readonly to: Tenant
  readonly operation: 'incoming.arrive' | 'transfers.takeBack'
  readonly arrival: Arrival
}

type Arrival = Parameters<HandlerOf<typeof incomingStepsApi.arrive>>[0]['body']['credits'][number]

export function handOverCredit(credit: IncomingCredit): HandedOverCredit {
  const { id, mode, toOwnerId, walletId, amountCents } = credit
  if (toOwnerId === null || walletId === null) throw new Error(`${id} has no owner to hand it over to`)
  const { source, origin, bankReference, part, iban, reference, senderName, senderIban } = credit
  const { endToEndId, valueDate, reason, fromOwnerId, fromWalletId } = credit
  return {
    to: { ownerId: toOwnerId, mode },
    // A refund to the payer changes its payment and limits, so the transfers area books it.
    operation: source === 'refund' ? 'transfers.takeBack' : 'incoming.arrive',
    arrival: {
      ...{ id, walletId, amountCents, source, origin, bankReference, part, iban, reference, senderName },
      ...{ senderIban, endToEndId, valueDate, reason, fromOwnerId, fromWalletId },
      ...payableColumns(payableFromColumns(credit)),
    },
  }
}

/**
 * Books the handed-over money with each receiving owner, so that one commit writes both ledgers. A payer may
 * have chosen the request's id, so the payee's events have the credit's id, which both know. Events of money
 * from the platform have the request's id.
 */
export async function bookHandedOverCredits(
  handedOver: readonly HandedOverCredit[],
  runForOwner: RunForOwner,
  requestId?: string,
): Promise<void> {
  const byOwner = Map.groupBy(handedOver, ({ to, operation }) => `${to.ownerId} ${operation}`)
  // Follows the order of the owners' ids, in which their accounts are locked.
  for (const [, credits] of [...byOwner].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const [first] = credits as [HandedOverCredit]
    const body = { credits: credits.map(({ arrival }) => arrival) }
    await runForOwner(first.to, first.operation, { body }, requestId ?? `hand-over:${first.arrival.id}`)
  }
}

/** Books a credit that a version before 0.6.0 handed over and did not book, since it used two transactions. */
export const finishHandOver: HandlerOf<typeof incomingStepsApi.finish> = async ({ params }, context) => {
  const { em, tenant } = context
  const credit = await em.findOne(IncomingCredit, { ...tenant, id: params.id }, FOR_UPDATE)
  if (!credit?.dueAt) return DONE
  credit.dueAt = null
  const requestId = isCreditFromOwner(credit) ? undefined : context.requestId
  await bookHandedOverCredits([handOverCredit(credit)], context.runForOwner, requestId)
  return DONE
}

export const handOverDeadline: Deadline = {
  process: { name: 'incoming-credit' },
  table: 'incoming_credits',
  open: 'due_at is not null',
  operations: ['incoming.finish'],
}
