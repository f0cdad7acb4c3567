import type { Context } from '../../kernel/contract/context.ts'
import type { CardNotice } from '../../ports/card-processor.ts'
import { excerpt } from '../../values/schemas.ts'
import type { CardNumber } from './card.ts'
import { announceChange } from './due.ts'
import { cardEvent } from './events.ts'
import { type LockedNumbers, lockNumbers } from './lock-card.ts'
import { cardEvents } from './schemas.ts'
import { closeCard } from './states.ts'

/** The events that a notice of the processor can bring about. */
export const noticeEvents = {
  'card.closed': cardEvents['card.closed'],
  'card.shipped': cardEvents['card.shipped'],
  'mobile_wallet.updated': cardEvents['mobile_wallet.updated'],
}

type Noticing = Pick<Context<never, typeof noticeEvents>, 'records' | 'tenant' | 'now' | 'emit' | 'wake'>

/**
 * Takes what the processor tells of a number of a card; a notice that comes again changes nothing. Locks the agent first,
 * so the caller has locked nothing behind it.
 */
export async function applyCardNotice(
  { id, cardId }: Pick<CardNumber, 'id' | 'cardId'>,
  notice: CardNotice,
  context: Noticing,
): Promise<void> {
  const locked = await lockNumbers(cardId, context)
  if (!locked) return
  const { card } = locked
  if (notice.kind === 'number_closed') return closeNumber(id, notice.reason, locked, context)
  if (notice.kind === 'shipped') {
    const [carrier, trackingNumber] = [notice.carrier, notice.trackingNumber].map(
      text => text && excerpt(text),
    )
    context.emit('card.shipped', {
      ...cardEvent(card),
      carrier: carrier ?? null,
      trackingNumber: trackingNumber ?? null,
    })
    return
  }
  const { tokenId, wallet, status } = notice
  const { agentId, last4 } = card
  context.emit('mobile_wallet.updated', { cardId, agentId, status, last4, wallet, tokenId: excerpt(tokenId) })
}

/** The processor has closed a number by itself: it is never active again. Without the one in use, the card is closed. */
function closeNumber(numberId: string, reason: string, locked: LockedNumbers, context: Noticing): void {
  const { card, numbers } = locked
  const number = numbers.find(({ id }) => id === numberId)
  if (!number || number.processorState === 'closed') return
  Object.assign(number, { processorState: 'closed', toldState: null })
  if (numberId !== card.numberId || card.nextNumberId !== null) {
    announceChange(card, context)
    return
  }
  card.processorProblem = excerpt(reason)
  closeCard(locked, 'closed_by_processor', context)
}
