import { nameOfDescriptor, payableKeys } from '../../control/merchants/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { Card } from '../cards/index.ts'
import { answerRequest } from './answer-request.ts'
import type { authorizationsApi } from './api.ts'
import { remediesOf } from './explanation.ts'
import { readDecisionState } from './load-batch.ts'

/** Decides a payment that nobody has asked for, by the same code, and stores nothing. */
export const simulate: HandlerOf<typeof authorizationsApi.simulate> = async ({ params, body }, context) => {
  const { records, sql, tenant, now, refuse } = context
  const card = await records.findOne(Card, { id: params.id })
  if (!card) return refuse('card_not_found')
  const { id: cardId, agentId } = card
  const { amountEuros, merchant: descriptor, url, mcc, country, partialAllowed } = body
  const merchant = { descriptor, url, mcc, country, networkTokenId: null }
  const search = { agentId, cardId, merchantKeys: payableKeys(merchant), amountEuros }
  const numberId = card.numberId ?? ''
  const state = await readDecisionState(
    sql,
    { tenant, now },
    {
      agentIds: [agentId],
      cardIds: [cardId],
      numberIds: [numberId],
      messageIds: [],
      processorRefs: [],
      authorizationIds: [],
      intentIds: [],
      searches: [search],
      spends: [{ agentId, merchant: nameOfDescriptor(descriptor) }],
      tokenIds: [],
      movesMoney: false,
    },
  )
  const agent = state.agents.get(agentId)
  if (!agent) return refuse('card_not_found')
  const content = {
    kind: 'authorization' as const,
    authorizationId: '',
    ask: 0,
    amountEuros,
    partialAllowed,
    merchant,
  }
  const place = { agentId, cardId, numberId, isLate: false }
  const answered = answerRequest({ content, existing: undefined, search, place }, agent, state, '')
  const { decision, approvedEuros, source, intent, walletId } = answered
  return {
    approved: decision.allowed,
    approvedEuros,
    reason: decision.reason,
    source,
    intentId: intent?.id ?? null,
    walletId,
    decision: { ...decision, id: null },
    remedies: decision.allowed ? [] : remediesOf(decision.checks),
  }
}
