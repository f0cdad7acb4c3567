import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { type Book, openBook, shortfallText } from '../../money/ledger/index.ts'
import { openWallet, walletsById } from '../../money/wallets/index.ts'
import { newId } from '../../values/ids.ts'
import type { cardsApi } from './api.ts'
import { Card } from './card.ts'
import { cardEvent } from './events.ts'
import { lockAgentOfCard, lockCard } from './lock-card.ts'
import { withBalance } from './response.ts'

type FundContext = ContextOf<typeof cardsApi.fund>

export const fund: HandlerOf<typeof cardsApi.fund> = async ({ params, body }, context) => {
  const { records, sql, tenant, emit, refuse, sendAlong } = context
  const { amountEuros } = body
  // The agent is locked, so the card stays as it was read; its row is locked behind the accounts.
  const [agent, known] = await Promise.all([
    lockAgentOfCard(params.id, context),
    records.findOne(Card, { id: params.id }),
  ])
  if (!agent || !known) return refuse('card_not_found')
  const from = body.fromWalletId ?? agent.walletId
  if (from === known.walletId) return refuse('same_wallet')
  const [opened, wallets, locked] = await Promise.all([
    openBook(sql, context, { wallets: [from, known.walletId ?? from] }),
    walletsById(sql, tenant, [from]),
    lockCard(params.id, context),
  ])
  if (!locked || locked.card.status === 'closed') return refuse(locked ? 'card_closed' : 'card_not_found')
  const payer = wallets.get(from)
  if (!payer) return refuse('wallet_not_found')
  if (payer.kind === 'card') return refuse('wallet_of_card')
  if (payer.status !== 'active') return refuse('wallet_not_active')
  if (!opened.canPay(from, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, opened.available(from)))
  const { book, walletId } = await withPurse(locked.card, opened, from, context)
  book.move('purse_fund', from, walletId, amountEuros, { type: 'card', id: newId('funding') })
  sendAlong(book.post(sql))
  const { posted, held } = book.balance(walletId)
  const moved = { walletId, fromWalletId: from, amountEuros, balanceEuros: posted }
  emit('card.funded', { ...cardEvent(locked.card), ...moved })
  return withBalance(locked, { availableEuros: posted - held, heldEuros: held })
}

/** The purse and a book that has it. It is opened with the first money; its agent's tokens see it through the card alone. */
async function withPurse(
  card: Card,
  book: Book,
  from: string,
  context: FundContext,
): Promise<{ readonly book: Book; readonly walletId: string }> {
  if (card.walletId !== null) return { book, walletId: card.walletId }
  const { id } = await openWallet({ kind: 'card', cardId: card.id, name: card.displayName }, context)
  card.walletId = id
  return { book: await openBook(context.sql, context, { wallets: [from, id] }), walletId: id }
}
