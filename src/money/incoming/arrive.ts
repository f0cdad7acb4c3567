import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { creditEvent } from './incoming-credit.ts'
import { receive } from './receive.ts'
import type { incomingSteps } from './steps-api.ts'

/** Books in the owner's own transaction what the platform has handed over. */
export const arrive: HandlerOf<typeof incomingSteps.arrive> = async ({ body }, context) => {
  const incoming = body.credits.map(({ walletId, ...received }) => ({
    received,
    walletId,
    reason: 'wallet_closed' as const,
  }))
  await receive(incoming, context, credit =>
    context.emit(credit.reason ? 'incoming.assigned' : 'incoming.received', creditEvent(credit)),
  )
  return { done: true }
}
