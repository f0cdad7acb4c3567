import type { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { mainWallet, openWallet, walletEvent, walletsById } from '../../money/wallets/index.ts'
import { after, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { Card } from './card.ts'
import { schedule } from './due.ts'
import { lockAgentOfCard, lockNumbers } from './lock-card.ts'
import { cardProcess } from './process.ts'
import { ACTED, NOTHING } from './processor-step.ts'
import type { purseEvents } from './schemas.ts'
import type { stepsApi } from './steps-api.ts'

/** How long after a look the purse of a closed card is looked at again, while it cannot give everything back. */
const HELD_AGAIN_MS = days(1)

type Returning = Pick<
  Context<never, typeof purseEvents>,
  'records' | 'sql' | 'tenant' | 'now' | 'ports' | 'emit' | 'sendAlong'
>

/** Where purses give back what they have: the accounts are locked. */
export interface ReturnBook {
  readonly book: Book
  readonly toWallet: { readonly id: string; readonly status: 'active' | 'frozen' | 'closed' }
}

/** Opens these purses, and the agent's wallet; the owner's oldest open one where the agent's is closed. */
export async function openReturn(
  purses: readonly string[],
  { walletId }: Pick<Agent, 'walletId'>,
  context: Returning,
): Promise<ReturnBook> {
  const { sql, tenant } = context
  const [wallets, main] = await Promise.all([walletsById(sql, tenant, [walletId]), mainWallet(context)])
  const own = wallets.get(walletId)
  const toWallet =
    own && own.status !== 'closed' ? own : (main ?? (await openWallet({ name: 'Main' }, context)))
  return { toWallet, book: await openBook(sql, context, { wallets: [...purses, toWallet.id] }) }
}

/** Gives back what the purse of a closed card has and nothing holds. What is held is looked for again. */
export function returnPurse(
  card: Card,
  { book, toWallet }: ReturnBook,
  { now, emit }: Pick<Returning, 'now' | 'emit'>,
): void {
  const { walletId } = card
  if (walletId === null) return
  const isFrozen = book.isFrozen(walletId)
  const amountEuros = isFrozen ? 0n : book.available(walletId)
  if (amountEuros > 0n) {
    book.move('purse_return', walletId, toWallet.id, amountEuros, { type: 'card', id: newId('return') })
    emit('wallet.credited', walletEvent(toWallet, book.balance(toWallet.id).posted, amountEuros))
  }
  card.purseDueAt = book.balance(walletId).posted > 0n ? after(now, HELD_AGAIN_MS) : null
}

export const returnStep: HandlerOf<typeof stepsApi.returnPurse> = async ({ params }, context) => {
  const { records, sql, now, refuse, sendAlong, wake } = context
  const [agent, known] = await Promise.all([
    lockAgentOfCard(params.id, context),
    records.findOne(Card, { id: params.id }),
  ])
  if (!agent || !known) return refuse('card_not_found')
  const isDue = [known.purseDueAt, known.dueAt].some(at => at !== null && at <= now)
  if (known.status !== 'closed' || known.walletId === null || !isDue) return NOTHING
  const opened = await openReturn([known.walletId], agent, context)
  const locked = await lockNumbers(params.id, context)
  if (!locked) return NOTHING
  returnPurse(locked.card, opened, context)
  sendAlong(opened.book.post(sql))
  schedule(locked, now)
  wake(cardProcess, locked.card)
  return ACTED
}
