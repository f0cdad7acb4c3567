import { z } from 'zod'
import { type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import { id } from '../../values/ids.ts'
import { Dispute } from './dispute.ts'
import { disputeEvents } from './events.ts'
import { lockDispute } from './lock-dispute.ts'
import { settle } from './settle.ts'

const Refunded = z.object({ transactionId: id('txn') })

const { 'dispute.created': _, ...laterEvents } = disputeEvents

/** What the merchant refunds makes the disputes of the payment smaller, and what was given back for them. */
const follow: Reaction = {
  ...reactionToAll(Refunded, laterEvents, async (events, context) => {
    const transactionIds = [...new Set(events.map(({ transactionId }) => transactionId))]
    const disputes = await context.records.find(
      Dispute,
      { transactionId: { $in: transactionIds } },
      { orderBy: { id: 'asc' } },
    )
    for (const dispute of disputes) {
      const locked = await lockDispute(dispute.id, context)
      if (locked) settle(locked, context)
    }
  }),
  // Only payments by card are disputed; many others are given back in one transaction.
  concerns: ({ type }) => type !== 'transfer' && type !== 'collect',
}

export const disputeReactions: Readonly<Record<string, Reaction>> = {
  'transaction.refunded': follow,
}
