import type { z } from 'zod'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { payableOf } from '../references/index.ts'
import { creditEvent, type IncomingCredit, isFromOwner } from './incoming-credit.ts'
import { receive } from './receive.ts'
import type { arrivals, incomingSteps } from './steps-api.ts'

type Arrivals = z.output<(typeof arrivals)['body']>

/** Books in the owner's own transaction what the platform, or another owner, has handed over. */
export const arrive: HandlerOf<typeof incomingSteps.arrive> = async ({ body }, context) => {
  await receiveHandedOver(body, context)
  return { done: true }
}

/** Books what was handed over, and gives what was not booked before. */
export function receiveHandedOver(
  { credits }: Arrivals,
  context: ContextOf<typeof incomingSteps.arrive>,
): Promise<IncomingCredit[]> {
  const incoming = credits.map(({ walletId, payableType, payableId, ...received }) => ({
    received: { ...received, valueDate: valueDateOf(received, context.now) },
    walletId,
    payable: payableOf({ payableType, payableId }),
    reason: 'wallet_closed' as const,
  }))
  return receive(incoming, context, credit =>
    context.emit(credit.reason ? 'incoming.assigned' : 'incoming.received', creditEvent(credit)),
  )
}

/** Money of another owner was at no bank: its day is that of its booking, also where the clocks of the two owners differ. */
const valueDateOf = (credit: Pick<IncomingCredit, 'source' | 'valueDate'>, now: Date): string =>
  isFromOwner(credit) ? now.toISOString().slice(0, 10) : credit.valueDate
