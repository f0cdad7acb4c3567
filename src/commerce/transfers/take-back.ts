import type { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement, post } from '../../kernel/contract/operation.ts'
import {
  arrivalEvents,
  arrivals,
  IncomingEvent,
  ownRefunds,
  receiveHandedOver,
} from '../../money/incoming/index.ts'
import { arrivedEvents } from '../../money/refunds/index.ts'
import { countGivenBack, openGivenBack } from './given-back.ts'

export const takeBackApi = {
  takeBack: post('/transfers/given-back', {
    ...arrivals,
    summary: 'Book what another owner has given back',
    emits: { ...arrivalEvents, ...arrivedEvents },
  }),
}

/** Locks what a refund of these payments changes with the owner who paid: to be called before any account is locked. */
export const lockTakeBacks = (
  tenant: Tenant,
  paymentIds: readonly string[],
  { sql, now }: Pick<Context, 'sql' | 'now'>,
): Promise<unknown> => openGivenBack(paymentIds, { sql, tenant, now })

/** Books a refund as every credit that was handed over: the transfer that had paid says what comes back. */
export const takeBack = implement(takeBackApi, {
  async takeBack({ body }, context) {
    const paymentIds = body.credits.flatMap(({ payableId }) => payableId ?? [])
    const opened = await openGivenBack(paymentIds, context)
    const paidBy = new Map(body.credits.map(({ id, payableId }) => [id, payableId]))
    const credits = await receiveHandedOver(body, context)
    // In suspense it is back as well: the record there does not say of what.
    const givenBack = credits.map(({ id, walletId, amountEuros }) => ({
      id,
      walletId,
      paymentId: paidBy.get(id) ?? null,
      amountEuros,
    }))
    await countGivenBack(opened, givenBack, context)
    return { done: true }
  },
})

type Credit = z.output<typeof IncomingEvent>

/** Between two wallets of one owner nothing is handed over: the refund is received with the transaction that makes it. */
async function countOwn(
  events: readonly Credit[],
  context: Context<never, typeof arrivedEvents>,
): Promise<void> {
  const { sql, tenant } = context
  const ids = events.map(({ creditId }) => creditId)
  const givenBack = await ownRefunds(sql, tenant, ids)
  if (givenBack.length === 0) return
  const opened = await openGivenBack(
    givenBack.flatMap(({ paymentId }) => paymentId ?? []),
    context,
  )
  await countGivenBack(opened, givenBack, context)
}

export const takeBackReactions: Readonly<Record<string, Reaction>> = {
  'incoming.received': {
    ...reactionToAll(IncomingEvent, arrivedEvents, countOwn),
    concerns: ({ payableType }) => payableType === 'payment',
  },
}
