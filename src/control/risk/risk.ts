import { area, reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { answered, given, lock } from '../../kernel/database/entity.ts'
import { AgentEvent, agentEvent, lockAgent, unfreeze } from '../agents/index.ts'
import { alertMachine, RiskAlert } from './alert.ts'
import { riskApi } from './api.ts'
import { RiskConfig, rowOf, settingsOf } from './config.ts'
import { forget } from './reset-profile.ts'
import { riskEvent } from './risk-events.ts'
import { RiskNote } from './risk-record.ts'

const shown = (config: RiskConfig | null) => answered(config ?? { updatedAt: null }, settingsOf(config))

/** The alert by which an agent is frozen; of a locked agent it stays as it is. */
const inForce = (em: Context['em'], agentId: string): Promise<RiskAlert | null> =>
  em.findOne(RiskAlert, { agentId, liftedAt: null })

/** Somebody has seen it; false where that was so before. */
function acknowledge(
  alert: RiskAlert,
  comment: string | null,
  { actor, now, emit }: Pick<ContextOf<typeof riskApi.acknowledge>, 'actor' | 'now' | 'emit'>,
): boolean {
  if (!alertMachine.move(alert, 'acknowledged')) return false
  Object.assign(alert, { acknowledgedAt: now, acknowledgedById: actor.id, comment })
  const { id: alertId, agentId, score, signals: parts } = alert
  emit('risk.alert_acknowledged', riskEvent(agentId, { score, parts }, { alertId }))
  return true
}

const risk = implement(riskApi, {
  config: async (_, { em }) => shown(await em.findOne(RiskConfig, {})),

  async configure({ body }, { em, tenant, emit }) {
    const known = await em.findOne(RiskConfig, {})
    const config = known ? Object.assign(known, rowOf(body)) : em.create(RiskConfig, rowOf(body))
    const { enabled, thresholds } = body
    emit('risk.config_updated', { ownerId: tenant.ownerId, enabled, thresholds })
    return shown(config)
  },

  async events({ query: { agentId, minScore, ...span } }, context) {
    const created = await createdWithin('riskevent', span, context)
    const score = minScore === undefined ? undefined : { $gte: minScore }
    return context.page(RiskNote, given({ agentId, score, ...created }))
  },

  alerts: ({ query: { status, agentId } }, { page }) => page(RiskAlert, given({ status, agentId })),

  async acknowledge({ params, body }, context) {
    const alert = await lock(context.em, RiskAlert, params.id)
    if (!alert) return context.refuse('alert_not_found')
    if (!acknowledge(alert, body.comment, context)) return context.refuse('alert_acknowledged')
    return alert
  },

  async unfreeze({ params, body }, context) {
    const { em, sql, tenant, emit, refuse } = context
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const alert = await inForce(em, agent.id)
    if (!alert || !unfreeze(agent)) return refuse('not_frozen_by_risk')
    await forget(sql, tenant, alert)
    em.create(RiskNote, {
      ...{ agentId: agent.id, outcome: 'unfreeze', score: 0, alertId: alert.id, comment: body.comment },
      ...{ subjectType: 'agent', subjectId: agent.id },
    })
    // What was said when it was looked at stays where nothing is said now.
    if (!acknowledge(alert, body.comment, context)) alert.comment = body.comment ?? alert.comment
    emit('agent.unfrozen', agentEvent(agent))
    return agent
  },
})

/** The agent goes on: no alert holds it any more. */
const onAgentUnfrozen = reaction(AgentEvent, {}, async ({ agentId }, { em, now }) => {
  const alert = await inForce(em, agentId)
  if (alert) alert.liftedAt = now
})

export const riskArea = area(
  'Risk',
  'What is unusual about a spend, and what follows from that: a person is asked, it is refused, the agent is frozen.',
  risk,
  {
    entities: [RiskConfig, RiskNote, RiskAlert],
    machines: [alertMachine],
    reactions: { 'agent.unfrozen': onAgentUnfrozen },
  },
)
