import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { numberMachine } from './card.ts'
import { schedule } from './due.ts'
import { type LockedNumbers, lockNumbers } from './lock-card.ts'
import { cardProcess } from './process.ts'
import { closeCard } from './states.ts'
import type { stepsApi } from './steps-api.ts'

export const endStep: HandlerOf<typeof stepsApi.end> = async ({ params }, context) => {
  const { now, refuse, wake } = context
  const locked = await lockNumbers(params.id, context)
  if (!locked) return refuse('card_not_found')
  const acted = endNumbers(locked, now) || endCard(locked, context)
  schedule(locked, now)
  if (acted) wake(cardProcess, locked.card)
  return { acted }
}

/** Numbers that were replaced pay no more once their time is over; true if there were any. */
function endNumbers({ numbers }: LockedNumbers, now: Date): boolean {
  const over = numbers.filter(
    ({ status, retiresAt }) => status === 'retiring' && retiresAt !== null && retiresAt <= now,
  )
  for (const number of over) numberMachine.move(number, 'replaced')
  return over.length > 0
}

/** Closes a card whose one payment has ended, or whose printed end has come; false if neither is so. */
function endCard(locked: LockedNumbers, context: Parameters<typeof closeCard>[2]): boolean {
  const { card, numbers } = locked
  const { now } = context
  if (card.spentAt && card.spentAt <= now) return closeCard(locked, 'spent', context)
  const current = numbers.find(({ id }) => id === card.numberId)
  return current && current.endsAt <= now ? closeCard(locked, 'expired', context) : false
}
