import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { requireFirst } from '../../values/collections.ts'
import { readTokenUses } from '../agent-tokens/index.ts'
import { readBudgetUse } from '../budgets/index.ts'
import { findMandates } from '../mandates/index.ts'
import { assistantsApi } from './assistants-api.ts'
import { endGrant, lockGrant } from './end.ts'
import { grantMachine, OauthGrant } from './grant.ts'

const idsOf = (ids: readonly (string | null)[]): string[] => ids.filter(id => id !== null)

async function assistantResponses(grants: readonly OauthGrant[], context: ReadContext) {
  const tokenIds = idsOf(grants.map(({ tokenId }) => tokenId))
  const maySeeMandates = context.actor.scopes.has('mandates:read')
  const mandateIds = maySeeMandates ? idsOf(grants.map(({ mandateId }) => mandateId)) : []
  const [mandates, useOf, lastUses] = await Promise.all([
    findMandates(mandateIds, context),
    readBudgetUse(context.sql, context.tenant, tokenIds),
    readTokenUses(tokenIds, context),
  ])
  return grants.map(grant => {
    const { heldCents, spentCents } = useOf(grant.tokenId ?? '')
    const mandate = mandates.get(grant.mandateId ?? '') ?? null
    const lastUsedAt = lastUses.get(grant.tokenId ?? '') ?? null
    return withMembers(grant, { mandate, heldCents, spentCents, lastUsedAt })
  })
}

const assistantResponse = async (grant: OauthGrant, context: ReadContext) =>
  requireFirst(await assistantResponses([grant], context))

const assistants = bindHandlers(assistantsApi, {
  async list({ query: { status, agentId } }, context) {
    const page = await context.page(OauthGrant, definedOnly({ status, agentId }))
    return { ...page, data: await assistantResponses(page.data, context) }
  },

  get: getRecordAs(OauthGrant, 'assistant_not_found', assistantResponse),

  async disconnect({ params }, context) {
    const grant = await lockGrant(params.id, context)
    if (!grant) return context.refuse('assistant_not_found')
    if (grantMachine.isFinal(grant.status)) return context.refuse('assistant_ended')
    await endGrant(grant, 'disconnected', context)
    return assistantResponse(grant, context)
  },
})

export const connectedAssistantsArea = area(
  'Connected Assistants',
  'Assistants that people have connected by OAuth, with budget, last use and what they bought.',
  assistants,
)
