import { loadTokenBudgets } from '../../control/agent-tokens/index.ts'
import { lockAgent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { atLeastZero, type Cents, formatMoney } from '../../values/money.ts'
import { Card } from '../cards/index.ts'
import { accessSubjectRefusals } from './api.ts'
import { type AccessSubject, loadAccessSubject, type SubjectQuery } from './subject.ts'

type TokenCard = Pick<AccessSubject, 'beyondToken' | 'countedCard'>

const [, beyond] = accessSubjectRefusals.card_exceeds_token

const beyondToken = (left?: Cents): TokenCard => ({
  beyondToken: {
    code: 'card_exceeds_token',
    message: left === undefined ? beyond : `${beyond} It has ${formatMoney(atLeastZero(left))} left.`,
  },
  countedCard: null,
})

const UNLIMITED: TokenCard = { beyondToken: null, countedCard: null }

/**
 * A merchant may charge more than the intent, or something else. Such a charge would not count towards the maximum of the
 * token, delegation or assistant that has the card’s data, so that the card’s own limits must hold it to that.
 */
async function cardOfToken({ card, intent }: AccessSubject, context: WriteContext): Promise<TokenCard> {
  const { actor, em, sql, tenant, service } = context
  const { budgetId, delegationId, onlyAt } = actor
  if (!budgetId && !delegationId && !onlyAt) return UNLIMITED
  if (!card || !intent || card.intentId === intent.id) return UNLIMITED
  if (!budgetId || delegationId) return beyondToken()
  // Spends of the token wait for this lock, so none of them passes the maximum meanwhile.
  await lockAgent(em, card.agentId)
  const [terms, locked] = await Promise.all([
    em.findOne(CardTerms, { id: card.id }, FOR_UPDATE),
    em.findOne(Card, { id: card.id }, FOR_UPDATE),
  ])
  if (locked?.tokenId === budgetId) return UNLIMITED
  const most = locked?.usage === 'single' && !locked.tokenId ? terms?.maxTransactionCents : null
  const left = (await loadTokenBudgets([budgetId], { sql, tenant, service })).leftOf(budgetId)
  return most == null || most > left ? beyondToken(left) : { beyondToken: null, countedCard: locked }
}

/** Like `loadAccessSubject`, for the card’s own data. A network token needs no such check, since its own limits hold it. */
export async function loadCardDataSubject(
  query: Pick<SubjectQuery, 'cardId' | 'intentId'>,
  context: WriteContext,
): Promise<AccessSubject> {
  const subject = await loadAccessSubject(query, context)
  return { ...subject, ...(await cardOfToken(subject, context)) }
}
