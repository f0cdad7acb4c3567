import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import {
  AgentEvent,
  agentEvent,
  lockAgent,
  unfreezeAgent,
  unfreezing,
  wideningsOfAgent,
} from '../agents/index.ts'
import { riskApi } from './api.ts'
import { riskEvent } from './risk-events.ts'
import { RiskAlert, RiskRecord, riskAlertMachine, riskPersonalData } from './risk-record.ts'
import { RiskConfig, riskConfigRow, riskSettingsFromRow } from './score.ts'
import { wideningsOfRisk } from './widening.ts'

const DELETE_PROFILE = 'delete from risk_profiles where (owner_id, mode, agent_id) = ($1, $2, $3)'

const ADD_KNOWN_MERCHANT = `
insert into risk_merchants (owner_id, mode, agent_id, merchant) values ($1, $2, $3, $4) on conflict do nothing`

/**
 * Clears the profile of an agent and makes the alert's merchant a known one, so that the same spend does not
 * freeze the agent again. The caller has locked the agent.
 */
async function resetProfile(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { agentId, merchantKey }: Pick<RiskAlert, 'agentId' | 'merchantKey'>,
): Promise<void> {
  await Promise.all([
    sql(DELETE_PROFILE, [ownerId, mode, agentId]),
    sql(ADD_KNOWN_MERCHANT, [ownerId, mode, agentId, merchantKey]),
  ])
}

const configResponse = (config: RiskConfig | null) =>
  withMembers(config ?? { updatedAt: null }, riskSettingsFromRow(config))

/** Locks the alert that keeps an agent frozen, after the agent: a person may acknowledge it meanwhile. */
const lockFreezingAlert = (em: Context['em'], agentId: string): Promise<RiskAlert | null> =>
  em.findOne(RiskAlert, { agentId, liftedAt: null }, FOR_UPDATE)

function acknowledge(
  alert: RiskAlert,
  comment: string | null,
  { actor, now, emit }: WriteContext<(typeof riskApi.acknowledge)['emits']>,
): boolean {
  if (!riskAlertMachine.move(alert, 'acknowledged')) return false
  Object.assign(alert, { acknowledgedAt: now, acknowledgedById: actor.id, comment })
  const { id: alertId, agentId, score, signals: parts } = alert
  emit('risk.alert_acknowledged', riskEvent(agentId, { score, parts }, { alertId }))
  return true
}

const risk = bindHandlers(riskApi, {
  config: async (_, { em }) => configResponse(await em.findOne(RiskConfig, {})),

  async configure({ body: { webauthnAssertion, ...body } }, context) {
    const { em, tenant, emit } = context
    const row = riskConfigRow(body)
    await lockTenant(context, 'risk')
    const storedConfig = await em.findOne(RiskConfig, {})
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => wideningsOfRisk(riskSettingsFromRow(storedConfig), body, tenant),
      context,
    )
    if (unsigned) return unsigned
    const config = storedConfig ? Object.assign(storedConfig, row) : em.create(RiskConfig, row)
    const { enabled, thresholds } = body
    emit('risk.config_updated', { ownerId: tenant.ownerId, enabled, thresholds })
    return configResponse(config)
  },

  async events({ query: { agentId, minScore, ...range } }, context) {
    const created = await createdWithinCondition('riskevent', range, context)
    const score = minScore === undefined ? undefined : inRange({ gte: minScore })
    return context.page(RiskRecord, definedOnly({ agentId, score, ...created }))
  },

  alerts: ({ query: { status, agentId } }, { page }) => page(RiskAlert, definedOnly({ status, agentId })),

  async acknowledge({ params, body }, context) {
    const alert = await context.em.findOne(RiskAlert, { id: params.id }, FOR_UPDATE)
    if (!alert) return context.refuse('alert_not_found')
    if (!acknowledge(alert, body.comment, context)) return context.refuse('alert_acknowledged')
    return alert
  },

  async unfreeze({ params, body }, context) {
    const { em, sql, tenant, emit, refuse, queueStatement } = context
    const [agent, alert] = await Promise.all([lockAgent(em, params.id), lockFreezingAlert(em, params.id)])
    if (!agent) return refuse('agent_not_found')
    if (!alert || agent.status !== 'frozen') return refuse('not_frozen_by_risk')
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () => wideningsOfAgent(agent, [unfreezing]),
      context,
    )
    if (unsigned) return unsigned
    unfreezeAgent(agent)
    queueStatement(resetProfile(sql, tenant, alert))
    em.create(RiskRecord, {
      agentId: agent.id,
      outcome: 'unfreeze',
      score: 0,
      subjectType: 'agent',
      subjectId: agent.id,
      alertId: alert.id,
      comment: body.comment,
    })
    // The comment of an earlier acknowledgement stays unless a new one is given.
    if (!acknowledge(alert, body.comment, context)) alert.comment = body.comment ?? alert.comment
    emit('agent.unfrozen', agentEvent(agent))
    return agent
  },
})

const onAgentUnfrozen = reaction(AgentEvent, {}, async ({ agentId }, { em, now }) => {
  const alert = await lockFreezingAlert(em, agentId)
  if (alert) alert.liftedAt = now
})

export const riskArea = area(
  'Risk',
  'Scores unusual spends: a person reviews the spend, it is denied, or the agent is frozen.',
  risk,
  {
    personal: riskPersonalData,
    entities: [RiskConfig, RiskRecord, RiskAlert],
    machines: [riskAlertMachine],
    reactions: { 'agent.unfrozen': onAgentUnfrozen },
  },
)
