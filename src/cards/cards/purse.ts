import { type Agent, purses } from '../../control/agents/index.ts'
import { SpendLocks } from '../../control/intents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type LockedBook, shortfallMessage } from '../../money/ledger/index.ts'
import { findMainWallet, openWallet, walletEvent, walletsById } from '../../money/wallets/index.ts'
import { addMs, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { NO_CENTS, subtractCents } from '../../values/money.ts'
import type { cardsApi, purseEvents } from './api.ts'
import { Card, cardEvent } from './card.ts'
import { cardWithBalance, lockAgentOfCard, lockCard, lockCardNumbers } from './card-with-terms.ts'
import { scheduleCardStep } from './due.ts'
import { cardProcess } from './process.ts'

type FundContext = ContextOf<typeof cardsApi.fund>

export const fundCard: HandlerOf<typeof cardsApi.fund> = async ({ params, body }, context) => {
  const { em, sql, tenant, emit, refuse, queueStatement } = context
  const { amountCents } = body
  // The agent's lock keeps the card as it was read; its row is locked after the accounts.
  const [agent, known] = await Promise.all([
    lockAgentOfCard(params.id, context),
    em.findOne(Card, { id: params.id }),
  ])
  if (!agent || !known) return refuse('card_not_found')
  const from = body.fromWalletId ?? agent.walletId
  if (from === known.walletId) return refuse('same_wallet')
  const [{ book: opened }, wallets, locked] = await Promise.all([
    new SpendLocks(sql, context).take({ wallets: [from, known.walletId ?? from] }),
    walletsById(sql, tenant, [from]),
    lockCard(params.id, context),
  ])
  if (!locked || locked.card.status === 'closed') return refuse(locked ? 'card_closed' : 'card_not_found')
  const payer = wallets.get(from)
  if (!payer) return refuse('wallet_not_found')
  if (payer.kind === 'card') return refuse('wallet_of_card')
  if (payer.status !== 'active') return refuse('wallet_not_active')
  if (!opened.canPay(from, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, opened.available(from)))
  const { book, walletId } = await withPurse(locked.card, opened, from, context)
  book.move('purse_fund', from, walletId, amountCents, { type: 'card', id: newId('funding') })
  queueStatement(book.post(sql))
  const { posted, held } = book.balance(walletId)
  const moved = { walletId, fromWalletId: from, amountCents, balanceCents: posted }
  emit('card.funded', { ...cardEvent(locked.card), ...moved })
  return cardWithBalance(locked, { availableCents: subtractCents(posted, held), heldCents: held })
}

/** The purse is opened with the first money. The agent's tokens see it only through the card. */
async function withPurse(
  card: Card,
  book: LockedBook,
  from: string,
  context: FundContext,
): Promise<{ readonly book: LockedBook; readonly walletId: string }> {
  if (card.walletId !== null) return { book, walletId: card.walletId }
  const { id } = await openWallet({ kind: 'card', cardId: card.id, name: card.displayName }, context)
  card.walletId = id
  const opened = await new SpendLocks(context.sql, context).take({ wallets: [from, id] })
  return { book: opened.book, walletId: id }
}

const RETRY_HELD_MS = days(1)

type Returning = WriteContext<typeof purseEvents>

interface PurseReturn {
  readonly book: LockedBook
  readonly toWallet: { readonly id: string; readonly status: 'active' | 'frozen' | 'closed' }
}

/** Opens these purses and the agent's wallet, or the owner's oldest open wallet if the agent's is closed. */
export async function openPurseReturn(
  purses: readonly string[],
  { walletId }: Pick<Agent, 'walletId'>,
  context: Returning,
): Promise<PurseReturn> {
  const { sql, tenant } = context
  const [wallets, main] = await Promise.all([walletsById(sql, tenant, [walletId]), findMainWallet(context)])
  const own = wallets.get(walletId)
  const toWallet =
    own && own.status !== 'closed' ? own : (main ?? (await openWallet({ name: 'Main' }, context)))
  const { book } = await new SpendLocks(sql, context).take({ wallets: [...purses, toWallet.id] })
  return { toWallet, book }
}

/** Returns what the purse of a closed card has beyond its holds, and schedules another check for the held rest. */
export function returnPurse(
  card: Card,
  { book, toWallet }: PurseReturn,
  { now, emit }: EmitContext<typeof purseEvents>,
): void {
  const { walletId } = card
  if (walletId === null) return
  const isFrozen = book.isFrozen(walletId)
  const amountCents = isFrozen ? NO_CENTS : book.available(walletId)
  if (amountCents > 0n) {
    book.move('purse_return', walletId, toWallet.id, amountCents, { type: 'card', id: newId('return') })
    emit('wallet.credited', walletEvent(toWallet, book.balance(toWallet.id).posted, amountCents))
  }
  card.purseDueAt = book.balance(walletId).posted > 0n ? addMs(now, RETRY_HELD_MS) : null
}

/** Does nothing before the return is due, by the tenant's clock. */
export async function returnDuePurse(cardId: string, context: Returning): Promise<void> {
  const { em, sql, now, queueStatement, wake } = context
  const [agent, known] = await Promise.all([
    lockAgentOfCard(cardId, context),
    em.findOne(Card, { id: cardId }),
  ])
  if (!agent || known?.status !== 'closed' || known.walletId === null) return
  if (known.purseDueAt === null || known.purseDueAt > now) return
  const opened = await openPurseReturn([known.walletId], agent, context)
  const locked = await lockCardNumbers(cardId, context)
  if (!locked) return
  returnPurse(locked.card, opened, context)
  queueStatement(opened.book.post(sql))
  scheduleCardStep(locked, now)
  wake(cardProcess, locked.card)
}

const SCHEDULE_RETURN = `
update cards set due_at = least(due_at, $4::timestamptz), purse_due_at = least(purse_due_at, $4::timestamptz)
where owner_id = $1 and mode = $2 and id = any($3::text[]) and closed_at is not null and wallet_id is not null`

/**
 * Makes the purses of closed cards return what a reversal, an expiry or a refund freed. The caller holds the
 * agents' locks.
 */
export async function returnPurses(
  sql: Sql,
  { ownerId, mode }: Tenant,
  cardIds: readonly string[],
  at: Date,
): Promise<void> {
  if (cardIds.length > 0) await sql(SCHEDULE_RETURN, [ownerId, mode, [...new Set(cardIds)], at])
}

const PURSES = `
select w.id from cards c
cross join lateral (
  select id, status from wallets where (owner_id, mode, id) = (c.owner_id, c.mode, c.wallet_id) limit 1) as w
where c.owner_id = $1 and c.mode = $2 and c.agent_id = $3 and w.status <> 'closed'`

export const pursesOfAgent = answerTo(purses, async (agentId, { sql, tenant: { ownerId, mode } }) => {
  const found = await sql<{ id: string } & Row>(PURSES, [ownerId, mode, agentId])
  return found.map(({ id }) => id)
})
