import type { z } from 'zod'
import { type AgentEvent, agentEvent, type FrozenAgent } from '../agents/index.ts'
import type { Decision } from '../policies/index.ts'
import type { Risk } from '../rules/index.ts'
import type { RiskEvent } from './api.ts'
import type { Spend } from './profile.ts'
import type { ScorePart } from './risk-record.ts'
import type { SignalName } from './signals.ts'

type RiskEventName =
  | 'risk.review_required'
  | 'risk.denied'
  | 'risk.agent_frozen'
  | 'risk.alert_created'
  | 'risk.velocity_alert'
  | 'risk.geo_impossible'

export type EventToEmit =
  | readonly [event: RiskEventName, data: z.output<typeof RiskEvent>]
  | readonly [event: 'agent.frozen', data: z.output<typeof AgentEvent>]

export interface DecidedSpend extends Spend {
  readonly type: string
  readonly id: string
  readonly decision: Decision
}

interface RiskOutcome {
  readonly risk: Risk
  readonly alertId: string | null
  readonly frozen: FrozenAgent | undefined
}

const hasSignal = ({ parts }: Risk, name: SignalName): boolean => parts.some(({ signal }) => signal === name)

/** Risks that had consequences, or are rare, are recorded. New merchants and odd hours are too common. */
export const isNoteworthy = (risk: Risk): boolean =>
  risk.outcome !== 'pass' || hasSignal(risk, 'amountOutlier') || hasSignal(risk, 'impossibleTravel')

export const riskEvent = (
  agentId: string,
  { score, parts }: { readonly score: number; readonly parts: readonly ScorePart[] },
  ids: { readonly intentId?: string; readonly alertId?: string },
): z.output<typeof RiskEvent> => ({
  agentId,
  ...ids,
  score,
  signals: parts.map(({ signal, points }) => ({ signal, points })),
})

export function riskEventsOf(
  { type, id, decision }: DecidedSpend,
  agentId: string,
  { risk, alertId, frozen }: RiskOutcome,
): EventToEmit[] {
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
  const events = names.flatMap((name): EventToEmit[] => (name ? [[name, data]] : []))
  return frozen ? [...events, ['agent.frozen', agentEvent(frozen)]] : events
}
