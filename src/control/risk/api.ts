import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { freeTextSchema, recordHead, recordTimestamps, timeRangeMembers } from '../../values/schemas.ts'
import { AgentEvent, AgentRecord } from '../agents/index.ts'
import { MAX_VELOCITY_WINDOW_MINUTES } from './profile.ts'
import { riskAlertMachine, riskRecordOutcomes } from './risk-record.ts'
import { defaultRiskSettings } from './score.ts'

const points = z.int().min(0).max(100)
const score = points.meta({ description: 'From 0 to 100.', examples: [50] })
const threshold = (name: keyof typeof defaultRiskSettings.thresholds, description: string) =>
  points.default(defaultRiskSettings.thresholds[name]).meta({ description })
const weight = (name: keyof typeof defaultRiskSettings.weights, description: string) =>
  points.default(defaultRiskSettings.weights[name]).meta({ description })

const thresholds = z
  .strictObject({
    review: threshold('review', 'Minimum score at which a person must review the spend.'),
    deny: threshold('deny', 'Minimum score at which the spend is denied.'),
    freeze: threshold('freeze', 'Minimum score at which the agent is also frozen and an alert is opened.'),
  })
  .refine(({ review, deny }) => review <= deny, { path: ['deny'], message: 'not below review' })
  .refine(({ deny, freeze }) => deny <= freeze, { path: ['freeze'], message: 'not below deny' })

const weights = z.strictObject({
  velocity: weight('velocity', 'More spends are declared within the window than `velocityCount`.'),
  amountOutlier: weight(
    'amountOutlier',
    'The amount is above the median of the last 64 spends by six times their median deviation. Not applied to the first 20 spends.',
  ),
  impossibleTravel: weight(
    'impossibleTravel',
    'The countries of the last spend and of this one are more than 500 km apart, and the trip would need more than 900 km/h.',
  ),
  newMerchant: weight('newMerchant', 'The agent has never paid this merchant.'),
  oddHour: weight(
    'oddHour',
    'Less than 1 % of the agent’s spends were within an hour of this time of day. Not applied to the first 50 spends.',
  ),
})

const settings = {
  enabled: z
    .boolean()
    .default(defaultRiskSettings.enabled)
    .meta({ description: 'Whether spends are scored.' }),
  thresholds: thresholds.prefault({}),
  weights: weights
    .prefault({})
    .meta({ description: 'Points that each signal adds to the score. 0 switches the signal off.' }),
  velocityWindowMinutes: z
    .int()
    .min(1)
    .max(MAX_VELOCITY_WINDOW_MINUTES)
    .default(defaultRiskSettings.velocityWindowMinutes)
    .meta({ description: 'Length of the window in clock minutes, including the current one.' }),
  velocityCount: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(defaultRiskSettings.velocityCount)
    .meta({ description: 'Usual number of declared spends within the window, approved or not.' }),
}

const RiskConfigRecord = z
  .object({
    ...settings,
    updatedAt: instant.nullable().meta({ description: 'Null if nothing was set and the defaults apply.' }),
  })
  .meta({ id: 'RiskConfig' })

const scoreParts = z.array(
  z.object({
    signal: z.string().meta({ examples: ['newMerchant'] }),
    points,
    message: z.string().meta({ examples: ['The agent has never paid this merchant.'] }),
  }),
)

const assessedRecord = {
  subjectType: z
    .string()
    .meta({ description: 'Kind of the record that was assessed.', examples: ['intent'] }),
  subjectId: z.string().meta({ examples: ['intent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
}

const RiskEventRecord = z
  .object({
    ...recordHead('riskevent'),
    agentId: id('agent'),
    outcome: z.enum(riskRecordOutcomes),
    score,
    signals: scoreParts,
    ...assessedRecord,
    decisionId: id('decision').nullable(),
    alertId: id('alert').nullable(),
    amountCents: moneySchema.nullable(),
    merchant: z.string().nullable(),
    comment: z.string().nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'RiskEvent' })

const RiskAlertRecord = z
  .object({
    ...recordHead('alert'),
    agentId: id('agent'),
    status: z.enum(riskAlertMachine.states),
    score,
    signals: scoreParts,
    ...assessedRecord,
    acknowledgedAt: instant.nullable(),
    acknowledgedById: z.string().nullable(),
    comment: z.string().nullable(),
    liftedAt: instant
      .nullable()
      .meta({ description: 'The time at which the agent was unfrozen, which closes the alert.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'RiskAlert' })

export const RiskEvent = z.object({
  agentId: id('agent'),
  alertId: id('alert').optional(),
  intentId: id('intent').optional(),
  score: points,
  signals: z.array(z.object({ signal: z.string(), points })),
})

export const riskEvents = {
  'risk.review_required': declareEvent('A spend waits for a person because of its risk.', RiskEvent),
  'risk.denied': declareEvent('A spend has been refused for its risk.', RiskEvent),
  'risk.agent_frozen': declareEvent(
    'An agent has been frozen because of a spend that was too risky.',
    RiskEvent,
  ),
  'risk.alert_created': declareEvent('A risk alert needs review by a person.', RiskEvent),
  'risk.velocity_alert': declareEvent('An agent exceeds its usual number of spends.', RiskEvent),
  'risk.geo_impossible': declareEvent(
    'An agent declared a spend in a country that it could not have reached in the time.',
    RiskEvent,
  ),
}

const comment = freeTextSchema.nullable().default(null)

const readers = operationsFor({ callers: ['key'], scope: 'risk:read' })
const writers = operationsFor({ callers: ['key'], scope: 'risk:write' })

export const riskApi = {
  config: readers.get('/risk/config', {
    summary: 'Get the risk configuration',
    returns: [200, RiskConfigRecord],
  }),
  configure: writers.put('/risk/config', {
    summary: 'Set the risk configuration',
    description:
      'Applies to all your agents in this mode. Every declared spend gets a score: the sum of the points of its signals, at most 100. A field that you leave out gets its default. With the defaults, no signal stops a spend by itself, and an unusual amount at a new merchant needs a review by a person.',
    body: z.strictObject({ ...settings, ...widening.members }),
    example: { thresholds: { review: 40, deny: 80, freeze: 100 }, velocityCount: 300 },
    returns: [200, RiskConfigRecord],
    signature: widening.signature,
    fails: widening.fails,
    emits: {
      ...widening.emits,
      'risk.config_updated': declareEvent(
        'The risk configuration has changed.',
        z.object({ ownerId: id('customer'), enabled: z.boolean(), thresholds }),
      ),
    },
  }),
  events: readers.list('/risk/events', {
    summary: 'List unusual spends',
    description:
      'Spends whose score reached the review threshold, spends whose amount or country was unusual by itself, and each unfreezing of an agent.',
    filters: {
      agentId: id('agent').optional(),
      ...timeRangeMembers,
      minScore: digitsAsNumber(integerSchema(0, 100).optional()),
    },
    item: RiskEventRecord,
  }),
  alerts: readers.list('/risk/alerts', {
    summary: 'List alerts',
    description: 'Lists one alert for each time that risk froze an agent.',
    filters: { status: z.enum(riskAlertMachine.states).optional(), agentId: id('agent').optional() },
    item: RiskAlertRecord,
  }),
  acknowledge: writers.post('/risk/alerts/{id}/acknowledge', {
    summary: 'Acknowledge an alert',
    description:
      'Records that a person has seen the alert. The agent stays frozen: see `POST /risk/agents/{id}/unfreeze`.',
    body: z.strictObject({ comment }),
    example: { comment: 'We are looking into it' },
    returns: [200, RiskAlertRecord],
    fails: {
      alert_not_found: notFound('alert'),
      alert_acknowledged: [400, 'The alert is already acknowledged.'],
    },
    emits: { 'risk.alert_acknowledged': declareEvent('A person has acknowledged a risk alert.', RiskEvent) },
  }),
  unfreeze: writers.post('/risk/agents/{id}/unfreeze', {
    summary: 'Unfreeze an agent that risk has frozen',
    description:
      'The spend that froze the agent no longer counts as unusual: its merchant is now known, and the rest of the agent’s profile is learned again. The alert is closed (`liftedAt`) and acknowledged with your comment.',
    body: z.strictObject({ comment, ...widening.members }),
    example: { comment: 'It was meant' },
    returns: [200, AgentRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      agent_not_found: notFound('agent'),
      not_frozen_by_risk: [
        400,
        'The risk score has not frozen the agent. If a person froze it, use POST /agents/{id}/unfreeze.',
      ],
    },
    emits: { ...widening.emits, 'agent.unfrozen': AgentEvent, 'risk.alert_acknowledged': RiskEvent },
  }),
}
