import type { z } from 'zod'
import { type AgentEvent, agentEvent, type FrozenAgent } from '../agents/index.ts'
import type { Decision } from '../policies/index.ts'
import type { Risk } from '../rules/index.ts'
import type { RiskEvent } from './api.ts'
import type { Spend } from './profile.ts'
import type { Part } from './risk-record.ts'
import type { SignalName } from './signals.ts'

type RiskEventName =
  | 'risk.review_required'
  | 'risk.denied'
  | 'risk.agent_frozen'
  | 'risk.alert_created'
  | 'risk.velocity_alert'
  | 'risk.geo_impossible'

/** An event that follows from a risk. */
export type Told =
  | readonly [event: RiskEventName, data: z.output<typeof RiskEvent>]
  | readonly [event: 'agent.frozen', data: z.output<typeof AgentEvent>]

/** What has been decided about a spend whose risk was looked at. */
export interface Judged extends Spend {
  readonly type: string
  readonly id: string
  readonly decision: Decision
}

interface Consequence {
  readonly risk: Risk
  readonly alertId: string | null
  readonly frozen: FrozenAgent | undefined
}

const fired = ({ parts }: Risk, signal: SignalName): boolean => parts.some(part => part.signal === signal)

/** Worth remembering: what had consequences, and what is unusual by itself. New merchants and odd hours are everywhere. */
export const isOfNote = (risk: Risk): boolean =>
  risk.outcome !== 'pass' || fired(risk, 'amountOutlier') || fired(risk, 'impossibleTravel')

/** What the world is told of a risk. */
export const riskEvent = (
  agentId: string,
  { score, parts }: { readonly score: number; readonly parts: readonly Part[] },
  others: { readonly intentId?: string; readonly alertId?: string },
): z.output<typeof RiskEvent> => ({
  agentId,
  ...others,
  score,
  signals: parts.map(({ signal, points }) => ({ signal, points })),
})

/** Everything that is to be told of a spend's risk. */
export function told(
  { type, id, decision }: Judged,
  agentId: string,
  { risk, alertId, frozen }: Consequence,
): Told[] {
  const names: (RiskEventName | false)[] = [
    fired(risk, 'velocity') && risk.outcome !== 'pass' && 'risk.velocity_alert',
    fired(risk, 'impossibleTravel') && 'risk.geo_impossible',
    risk.outcome === 'review' && decision.requiresApproval && 'risk.review_required',
    risk.outcome === 'deny' && 'risk.denied',
    alertId !== null && 'risk.agent_frozen',
    alertId !== null && 'risk.alert_created',
  ]
  const data = riskEvent(agentId, risk, {
    ...(type === 'intent' ? { intentId: id } : {}),
    ...(alertId === null ? {} : { alertId }),
  })
  const events = names.flatMap((name): Told[] => (name ? [[name, data]] : []))
  return frozen ? [...events, ['agent.frozen', agentEvent(frozen)]] : events
}
