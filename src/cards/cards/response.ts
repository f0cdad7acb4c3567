import { CardTerms } from '../../control/card-terms/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { type Balance, balancesOf } from '../../money/ledger/index.ts'
import type { Card } from './card.ts'

type Reading = Pick<Context, 'records' | 'sql' | 'tenant'>

const EMPTY: Balance = { availableEuros: 0n, heldEuros: 0n }

/** A card with its terms and the balance of its purse. Terms are their own limits and controls: they have the members. */
function withTerms(card: Card, terms: CardTerms, balances: ReadonlyMap<string, Balance>) {
  const { walletId } = card
  return withBalance({ card, terms }, walletId === null ? null : (balances.get(walletId) ?? EMPTY))
}

interface CardWithTerms {
  readonly card: Card
  readonly terms: CardTerms
}

export const withBalance = ({ card, terms }: CardWithTerms, balance: Balance | null) =>
  withMembers(card, { limits: terms, controls: terms, balance })

/** A locked card as an operation answers with it. */
export async function cardResponse(
  { card, terms }: CardWithTerms,
  { sql, tenant }: Pick<Reading, 'sql' | 'tenant'>,
) {
  const balances = card.walletId === null ? new Map() : await balancesOf(sql, tenant, [card.walletId])
  return withTerms(card, terms, balances)
}

/** Reads the terms and the purses of all cards together. */
export async function cardResponses(cards: readonly Card[], { records, sql, tenant }: Reading) {
  const purses = cards.flatMap(({ walletId }) => walletId ?? [])
  const [terms, balances] = await Promise.all([
    cards.length === 0 ? [] : records.find(CardTerms, { id: { $in: cards.map(({ id }) => id) } }),
    purses.length === 0 ? new Map<string, Balance>() : balancesOf(sql, tenant, purses),
  ])
  const byId = new Map(terms.map(one => [one.id, one]))
  return cards.map(card => withTerms(card, byId.get(card.id) as CardTerms, balances))
}

/** A card that was only read, as an operation answers with it. */
export async function storedCardResponse(card: Card, context: Reading) {
  const [response] = await cardResponses([card], context)
  return response as NonNullable<typeof response>
}
