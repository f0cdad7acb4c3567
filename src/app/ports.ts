import {
  type ChatCompletionsOptions,
  chatCompletions,
} from '../adapters/chat-completions/chat-completions.ts'
import type { EventStreams } from '../delivery/events/index.ts'
import { countWebhooksBehind, deliveryOverdueSeconds } from '../delivery/webhooks/index.ts'
import type { RateLimit } from '../derive/http/rate-limit.ts'
import { personalAreasOf } from '../derive/personal-areas.ts'
import { advanceTenantClock } from '../kernel/background/deadlines.ts'
import { processActor } from '../kernel/contract/actor.ts'
import type { Areas } from '../kernel/contract/area.ts'
import type { SqlContext } from '../kernel/contract/context.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import type {
  FindIntentPayments,
  FindPayables,
  IntentPayment,
  PayableRecord,
} from '../kernel/contract/payables.ts'
import type {
  FindMissingIdentity,
  OperationSettings,
  Ports,
  RunningService,
  ServiceHealth,
  Systems,
} from '../kernel/contract/ports.ts'
import { Problem } from '../kernel/contract/problem.ts'
import type { AskAreas, Question } from '../kernel/contract/question.ts'
import type { BindActivities } from '../kernel/contract/step.ts'
import { onConnection } from '../kernel/database/connection.ts'
import { type Database, sqlOfTransaction } from '../kernel/database/prepared-sql.ts'
import { answerInTime } from '../kernel/database/replica.ts'
import { oldestOutboxSeconds } from '../kernel/journal/outbox.ts'
import type { ExecuteCall } from '../kernel/run/execute.ts'
import type { Metrics } from '../platform/metrics.ts'
import { fairFileViewer } from './files.ts'
import { createReference } from './reference.ts'

interface Parts {
  readonly areas: Areas
  readonly database: Database
  readonly metrics: Metrics
  readonly docsUrl: string | undefined
  readonly systems: Omit<Systems, 'viewer' | 'languageModel'>
  readonly settings: OperationSettings
  readonly addresses: Pick<RunningService, 'publicUrl' | 'relyingParty' | 'pageUrl' | 'runUrl'>
  readonly operations: Pick<RunningService, 'runFor' | 'deliver' | 'tools'>
  readonly rateLimit: RateLimit
  readonly streams: EventStreams
  readonly execute: ExecuteCall
  readonly activities: BindActivities
  readonly model: ChatCompletionsOptions | null
  readonly onOutbox: () => void
  /** Whether Temporal answers; null in a process that does not use it. */
  readonly temporal: () => Promise<boolean | null>
}

export const createPorts = (parts: Parts): Ports => ({
  systems: {
    ...parts.systems,
    viewer: fairFileViewer(),
    languageModel: parts.model && chatCompletions(parts.model, parts.systems.outbound),
  },
  settings: parts.settings,
  service: runningService(parts),
})

function runningService(parts: Parts): RunningService {
  const { areas, database, execute, activities, addresses, streams } = parts
  return {
    ...addresses,
    ...parts.operations,
    health: singleFlight(() => healthOf(database, parts.temporal)),
    metrics: parts.metrics.text,
    async advanceClock(tenant, toMs) {
      await advanceTenantClock({ areas, database, execute, activities }, tenant, toMs)
      parts.onOutbox()
    },
    ask: askerOf(areas),
    paymentsOn: paymentFinder(areas),
    findPayables: payableFinder(areas),
    missingIdentity: missingIdentityFinder(areas),
    personalAreas: personalAreasOf(areas),
    openEventStream: streams.open,
    waitForEvents: streams.wait,
    activitiesFor: requestId => activities({ requestIdOf: () => requestId, isRequest: true }),
    ...createReference({
      areas,
      rateLimit: parts.rateLimit,
      threads: parts.systems.threads,
      publicUrl: parts.docsUrl,
      ownUrl: addresses.publicUrl,
    }),
  }
}

/** Statements of one turn are sent together, also where they share a connection. */
export function askerOf(areas: Areas): AskAreas {
  const answers = Object.values(areas).flatMap(area => area.answers)
  return async <About, Answer>({ name }: Question<About, Answer>, about: About, context: SqlContext) => {
    const ours = answers.filter(({ question }) => question === name)
    // No answer would look like a condition that holds for all, or a budget that nothing has used.
    if (ours.length === 0) throw new Error(`no area answers ${name}`)
    return (await Promise.all(ours.map(({ answer }) => answer(about as never, context)))) as Answer[]
  }
}

/** Queries one area after another, as they may share a connection. */
export function paymentFinder(areas: Areas): FindIntentPayments {
  const finders = Object.values(areas).flatMap(({ findPayments }) => findPayments ?? [])
  return async (...args) => {
    const payments: IntentPayment[] = []
    for (const find of finders) payments.push(...(await find(...args)))
    return payments
  }
}

function payableFinder(areas: Areas): FindPayables {
  const finders = Object.values(areas).flatMap(({ findPayables }) => findPayables ?? [])
  return async (ids, ...args) => {
    const payables: PayableRecord[] = []
    if (ids.length > 0) for (const find of finders) payables.push(...(await find(ids, ...args)))
    return payables
  }
}

function missingIdentityFinder(areas: Areas): FindMissingIdentity {
  const finders = Object.values(areas).flatMap(({ findMissingIdentity }) => findMissingIdentity ?? [])
  return async (...args) => {
    const missing: string[] = []
    for (const find of finders) missing.push(...(await find(...args)))
    return missing
  }
}

/**
 * All figures are read on one connection: each page of the console requests them. Load balancers ask every second, so the
 * first, cheap one decides. The backlog of webhooks takes longer the more there is, and is no outage.
 */
async function healthOf(database: Database, temporal: Parts['temporal']): Promise<ServiceHealth> {
  const reached = Promise.withResolvers<number | null>()
  const backlog = onConnection(database, null, client => {
    const sql = sqlOfTransaction(client)
    oldestOutboxSeconds(sql).then(reached.resolve, reached.reject)
    return Promise.all([deliveryOverdueSeconds(sql), countWebhooksBehind(sql)])
  })
  backlog.catch(reached.reject)
  const oldest = await reached.promise.catch(() => undefined)
  const [overdue, behind] = await answerInTime(backlog).catch(() => [])
  const serving = await temporal()
  return {
    database: reachable(oldest !== undefined),
    temporal: serving === null ? null : reachable(serving),
    relay: { oldestSeconds: oldest ?? null },
    deliveries: { oldestSeconds: overdue ?? null, behind: behind ?? 0 },
  }
}

const reachable = (is: boolean) => (is ? 'ok' : 'unreachable')

/** Shares a running check with concurrent callers: `/health` is public and may be called any number of times. */
function singleFlight<T>(check: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= check().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

export const tenantOperationRunner =
  (execute: ExecuteCall, operations: readonly RegisteredOperation[]): RunningService['runFor'] =>
  async (tenant, key, { params = {}, body = {} }, requestId) => {
    const operation = operations.find(operation => operation.key === key)
    if (!operation) throw new Error(`there is no operation ${key}`)
    const { errorCode, body: answer } = await execute({
      operation,
      actor: processActor(tenant),
      input: { params, query: {}, body },
      requestId,
      address: null,
      idempotencyKey: null,
    })
    if (errorCode) throw new Problem('unavailable')
    return JSON.parse(String(answer))
  }
