import type { z } from 'zod'
import { type AgentEvent, agentEvent, type FrozenAgent } from '../agents/index.ts'
import type { PolicyDecision } from '../policies/index.ts'
import type { RiskResult } from '../rules/index.ts'
import type { RiskEvent } from './api.ts'
import type { RiskSpend } from './profile.ts'
import type { RiskScorePart } from './risk-record.ts'
import type { RiskSignalName } from './signals.ts'

type RiskEventName =
  | 'risk.review_required'
  | 'risk.denied'
  | 'risk.agent_frozen'
  | 'risk.alert_created'
  | 'risk.velocity_alert'
  | 'risk.geo_impossible'

export type RiskEventToEmit =
  | readonly [event: RiskEventName, data: z.output<typeof RiskEvent>]
  | readonly [event: 'agent.frozen', data: z.output<typeof AgentEvent>]

export interface RiskDecidedSpend extends RiskSpend {
  readonly type: string
  readonly id: string
  readonly decision: PolicyDecision
}

interface RiskOutcome {
  readonly risk: RiskResult
  readonly alertId: string | null
  readonly frozen: FrozenAgent | undefined
}

const hasSignal = ({ parts }: RiskResult, name: RiskSignalName): boolean =>
  parts.some(({ signal }) => signal === name)

/** Risks that had consequences, or are rare, are recorded. New merchants and odd hours are too common. */
export const isRecordableRisk = (risk: RiskResult): boolean =>
  risk.outcome !== 'pass' || hasSignal(risk, 'amountOutlier') || hasSignal(risk, 'impossibleTravel')

export const riskEvent = (
  agentId: string,
  { score, parts }: { readonly score: number; readonly parts: readonly RiskScorePart[] },
  ids: { readonly intentId?: string; readonly alertId?: string },
): z.output<typeof RiskEvent> => ({
  agentId,
  ...ids,
  score,
  signals: parts.map(({ signal, points }) => ({ signal, points })),
})

export function riskEventsOf(
  { type, id, decision }: RiskDecidedSpend,
  agentId: string,
  { risk, alertId, frozen }: RiskOutcome,
): RiskEventToEmit[] {
  const names: (RiskEventName | false)[] = [
    hasSignal(risk, 'velocity') && risk.outcome !== 'pass' && 'risk.velocity_alert',
    hasSignal(risk, 'impossibleTravel') && 'risk.geo_impossible',
    risk.outcome === 'review' && decision.requiresApproval && 'risk.review_required',
    risk.outcome === 'deny' && 'risk.denied',
    alertId !== null && 'risk.agent_frozen',
    alertId !== null && 'risk.alert_created',
  ]
  const data = riskEvent(agentId, risk, {
    ...(type === 'intent' ? { intentId: id } : {}),
    ...(alertId === null ? {} : { alertId }),
  })
  const events = names.flatMap((name): RiskEventToEmit[] => (name ? [[name, data]] : []))
  return frozen ? [...events, ['agent.frozen', agentEvent(frozen)]] : events
}
