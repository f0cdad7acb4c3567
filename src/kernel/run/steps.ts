import { clock } from '../../values/clock.ts'
import { processActor } from '../contract/actor.ts'
import type { ApiCall, WaitingRun } from '../contract/call.ts'
import type { ReadContext, WriteContext } from '../contract/context.ts'
import type { EventSchemas } from '../contract/events.ts'
import type { HotHandler } from '../contract/handlers.ts'
import { Problem } from '../contract/problem.ts'
import { type RecordRef, type Step, stepOperation } from '../contract/step.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import { LEASE_MS } from '../database/process-lease.ts'
import { readClockOffset } from '../database/tenant-clock.ts'
import { findLastRequest } from '../journal/last-request.ts'
import { hotCallInBatch } from './batch.ts'
import { hasEmitted, journalEvents } from './finish-call.ts'
import { batchRunner } from './group-commit.ts'
import { claimOutside } from './outside.ts'
import { RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import { inSpanOfExternalCall } from './spans.ts'
import { inOwnTransaction } from './transaction.ts'

/** What a step's events name as their cause: the last request of a person or program about the record. */
export interface StepCause {
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly waitingRun?: WaitingRun | undefined
}

export interface StepCall<E extends EventSchemas = EventSchemas> {
  readonly step: Step<E>
  readonly ref: RecordRef
  readonly cause: StepCause
}

interface Committed<T> {
  readonly value: T
  /** It emitted an event, or told a run that its record has changed. */
  readonly hasChanged: boolean
}

/** Takes an input, and decides about it in a transaction that records of an owner share. */
export interface StepBatch<E extends EventSchemas, I = never, R = unknown, S = unknown>
  extends HotHandler<I, R, never, E, S> {
  /** Given where a step has several batches. */
  readonly name?: string
}

/** A process without a record fails: there is nothing to wait for. */
export class NoSuchRecord extends Error {}

/** Carries out the steps of durable processes: for the activities of runs, and for the sweep that rescues records. */
export interface StepRunner {
  causeOf(ref: RecordRef, otherwise: string): Promise<StepCause>
  /** Gives the result, and how far the owner's clock is ahead of real time. */
  read<T>(
    ref: RecordRef,
    work: (context: ReadContext) => Promise<T | undefined>,
  ): Promise<readonly [T, aheadMs: number]>
  /** Commits what the work changes, with its events and what other areas do about them. */
  transaction<E extends EventSchemas, T>(
    call: StepCall<E>,
    work: (tx: WriteContext<E>) => Promise<T>,
  ): Promise<Committed<T>>
  /** Shares a commit with the same step of other records of the owner. */
  inBatch<E extends EventSchemas, I, R>(
    call: StepCall<E>,
    batch: StepBatch<E, I, R>,
    input?: I,
  ): Promise<Committed<R>>
  /**
   * Runs work that calls other systems. What it commits before a call is a claim, for as long as a lease is valid: a process
   * that was paused past it calls nothing, since another one may have gone on, whether or not it has freed the lease.
   */
  outside<T>(work: (calls: OutsideCalls) => Promise<T>): Promise<T>
}

export interface OutsideCalls {
  /** The lease of this process: what it has claimed is free once the process has died. */
  readonly holder: string
  /** Makes a call with no transaction open, and then records its answer in one. */
  call<A, T>(call: StepCall, make: () => Promise<A>, record: (answer: A) => Promise<T>): Promise<T>
}

export function stepRunner(runtime: OperationRuntime): StepRunner {
  const runBatched = batchRunner(runtime)
  const { database, ports } = runtime
  const sql = sqlOn(database.pool)

  function inSpan<T>(given: StepCall, work: (call: ApiCall) => Promise<T>): Promise<T> {
    const call = apiCallOf(given)
    const { tracing } = ports.systems
    if (!tracing) return work(call)
    const { key } = given.step
    const start = { name: key, cause: call.traceparent, attributes: { 'agentpay.operation': key } }
    return tracing.span(start, ({ traceparent }) => work({ ...call, traceparent }))
  }

  return {
    async causeOf(ref, otherwise) {
      const last = await findLastRequest(sql, ref, ref.id)
      return { requestId: last?.requestId ?? otherwise, traceparent: last?.traceparent ?? undefined }
    },

    async read(ref, work) {
      const tenant = tenantOf(ref)
      const aheadMs = ref.mode === 'test' ? await readClockOffset(sql, tenant) : 0
      const call = apiCallOf({
        step: READING,
        ref,
        cause: { requestId: READING.key, traceparent: undefined },
      })
      const found = await work(new RequestContext(runtime, call, clock.tenant(aheadMs)))
      if (found === undefined) throw new NoSuchRecord(`${ref.id}: no such record`)
      return [found, aheadMs]
    },

    transaction: (given, work) =>
      inSpan(given, call =>
        inOwnTransaction(runtime, call, async tx => {
          const context = new RequestContext(runtime, call, tx.now, tx)
          const value = await work(context)
          await context.runReactions()
          await context.handOver()
          tx.pendingStatements.push(...context.pendingStatements)
          journalEvents(call, context, DONE, tx.journal)
          return { value, hasChanged: hasEmitted(context) }
        }),
      ),

    inBatch: <E extends EventSchemas, I, R>(given: StepCall<E>, handler: StepBatch<E, I, R>, input?: I) =>
      inSpan(given, async call => {
        let decided: unknown
        const onDecided = (value: unknown) => {
          decided = value
        }
        const { part, ...rest } = hotCallInBatch(call, handler)
        const one = input === undefined ? part : { ...part, input, ...ofSeveral(part, handler.name) }
        const outcome = await runBatched({ ...rest, part: { ...one, onDecided } })
        return { value: decided as R, hasChanged: 'hasEmitted' in outcome }
      }),

    outside: outsideRunner(runtime, inSpan),
  }
}

const outsideRunner =
  (
    runtime: OperationRuntime,
    inSpan: <T>(given: StepCall, work: () => Promise<T>) => Promise<T>,
  ): StepRunner['outside'] =>
  work =>
    claimOutside(runtime, async claim => {
      let claimedAt = clock.ticks()
      const whenLost = () => {
        throw takenOver()
      }
      return work({
        holder: claim.holder,
        call: (given, make, record) =>
          claim.call({
            call: apiCallOf(given),
            async make() {
              if (clock.ticks() - claimedAt >= LEASE_MS) throw takenOver()
              return inSpan(given, () => inSpanOfExternalCall(runtime, given.step.key, make))
            },
            record(answer) {
              claimedAt = clock.ticks()
              return record(answer)
            },
            whenLost,
          }),
      })
    })

const ofSeveral = ({ name }: { readonly name: string }, own = '') =>
  ({ name: `${name}.${own}`, kind: 'records' }) as const

const tenantOf = ({ ownerId, mode }: RecordRef) => ({ ownerId, mode })

const apiCallOf = ({ step, ref, cause: { waitingRun, ...cause } }: StepCall): ApiCall => ({
  operation: stepOperation(step),
  actor: processActor(tenantOf(ref)),
  input: { params: { id: ref.id }, query: {}, body: {} },
  ...cause,
  ...(waitingRun && { waitingRun }),
  address: null,
  idempotencyKey: null,
})

/** The journal's outcome of a step. */
const DONE = { status: 200, body: null }

const READING: Step = { key: 'status', summary: 'Read the status of a record', emits: {} }

const takenOver = (): Problem =>
  new Problem(
    'outcome_unknown',
    'This process was paused before it called the other system, and another one may have gone on. The record is read again.',
  )
