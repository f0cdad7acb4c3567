import { findAgent } from '../../control/agents/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import type { protectApi } from './api.ts'
import { MAX_PROTECT_RULES, ProtectRule, parseProtectPattern } from './protect-rule.ts'

const ruleEvent = ({ id, type, merchant, agentId }: ProtectRule) => ({
  protectRuleId: id,
  type,
  merchant,
  agentId,
})

/** A rule without an agent is for every agent of the account. */
const wideningOfRule = (
  { agentId }: Pick<ProtectRule, 'agentId'>,
  field: string,
  from: string,
  to: string,
  { ownerId }: Tenant,
): StatedWidening => ({
  of: agentId === null ? 'account' : 'agent',
  id: agentId ?? ownerId,
  name: null,
  field: `${field} machine payments`,
  from,
  to,
})

export const createProtectRule: HandlerOf<typeof protectApi.protect> = async ({ body }, context) => {
  const { em, tenant, emit, refuse } = context
  const { type, merchant, agentId = null, reason = null } = body
  const read = parseProtectPattern(merchant)
  if ('problem' in read) return refuse('merchant_unclear', `merchant: ${merchant} ${read.problem}.`)
  await lockTenant(context, 'mpp-protect')
  if (agentId !== null && !(await findAgent(em, agentId))) return refuse('agent_not_found')
  const same = await em.findOne(ProtectRule, { type, pattern: read.pattern, agentId })
  if (same) return refuse('rule_exists', `The same rule already exists: ${same.id}.`)
  if ((await em.count(ProtectRule)) >= MAX_PROTECT_RULES) return refuse('too_many_rules')
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    () =>
      type === 'allow'
        ? [wideningOfRule({ agentId }, 'Rule to allow', 'none', quoted(merchant), tenant)]
        : [],
    context,
  )
  if (unsigned) return unsigned
  const rule = em.create(ProtectRule, { type, merchant, pattern: read.pattern, agentId, reason })
  emit('mpp.protect_rule.created', ruleEvent(rule))
  return rule
}

/** With any allow rule, only allowed addresses are paid: without the last one, all are. */
async function isOpenedWithout(rule: ProtectRule, { em }: ReadContext): Promise<boolean> {
  if (rule.type === 'deny') return true
  const others = await em.find(ProtectRule, { type: 'allow', id: { $ne: rule.id } })
  return !others.some(({ agentId }) => agentId === null || agentId === rule.agentId)
}

export const deleteProtectRule: HandlerOf<typeof protectApi.unprotect> = async (
  { params, body },
  context,
) => {
  const { em, emit, refuse } = context
  await lockTenant(context, 'mpp-protect')
  const rule = await em.findOne(ProtectRule, { id: params.id }, FOR_UPDATE)
  if (!rule) return refuse('protect_rule_not_found')
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    async () =>
      (await isOpenedWithout(rule, context))
        ? [wideningOfRule(rule, `Rule to ${rule.type}`, quoted(rule.merchant), 'none', context.tenant)]
        : [],
    context,
  )
  if (unsigned) return unsigned
  em.remove(rule)
  emit('mpp.protect_rule.deleted', ruleEvent(rule))
}

export const listProtectRules: HandlerOf<typeof protectApi.rules> = (
  { query: { type, agentId } },
  { actor, page },
) => {
  const own = actor.agentId ? { $or: [{ agentId: null }, { agentId: actor.agentId }] } : {}
  return page(ProtectRule, { ...definedOnly({ type, agentId }), ...own })
}

export const protectRulesForIntents = (
  intentIds: readonly string[],
  { em, tenant: { ownerId, mode } }: { readonly em: EntityReader; readonly tenant: Tenant },
): Promise<readonly ProtectRule[]> =>
  em.find(ProtectRule, sqlCondition(OF_INTENTS, [ownerId, mode, [...new Set(intentIds)]]))

const OF_INTENTS =
  'agent_id is null or agent_id = any(array(select i.agent_id from intents i where i.owner_id = ? and i.mode = ? and i.id = any(?::text[])))'
