import type { z } from 'zod'
import { type Reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { TransferEvent } from '../../transfers/index.ts'
import { recordedEvents, refundEvents } from './events.ts'
import { completeRefund, failRefund, openRefunding, returnRefund, writeRefunding } from './move-refund.ts'
import { type RefundFailure, RequestRefund } from './request-refund.ts'

type Transferred = z.output<typeof TransferEvent>
type Reacting = Context<never, typeof refundEvents & typeof recordedEvents>
type Move = (refund: RequestRefund, failure: RefundFailure, ...rest: Tail) => void
type Tail = [Parameters<typeof completeRefund>[1], Reacting]

/** Only money that goes back to its sender has no payee of the owner's: all other transfers cost nothing here. */
const goesBack = ({ toWalletId, beneficiaryId }: Readonly<Record<string, unknown>>): boolean =>
  toWalletId === null && beneficiaryId === null

/** The refund follows the transfer that takes it back. */
async function follow(events: readonly Transferred[], move: Move, context: Reacting): Promise<void> {
  const { records, sql, tenant, sendAlong } = context
  for (const { transferId, status, reason } of events) {
    const known = await records.findOne(RequestRefund, { transferId })
    if (!known) continue
    const moving = await openRefunding(known.requestId, [known], context)
    const refund = (await records.lock(RequestRefund, known.id)) ?? known
    move(refund, { code: status, message: reason ?? `The transfer was ${status}.` }, moving, context)
    sendAlong(writeRefunding(sql, tenant, moving))
  }
}

const followed = (move: Move): Reaction => ({
  ...reactionToAll(TransferEvent, { ...refundEvents, ...recordedEvents }, (events, context) =>
    follow(events, move, context),
  ),
  concerns: goesBack,
})

export const refundReactions = {
  'transfer.completed': followed((refund, _failure, ...rest) => completeRefund(refund, ...rest)),
  'transfer.failed': followed(failRefund),
  'transfer.returned': followed(returnRefund),
}
