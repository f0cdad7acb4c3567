import type { Actor, RequestRun, Tenant } from './actor.ts'
import type { CachedResponseFile, ResponseContent } from './file.ts'
import type { RegisteredOperation } from './operation.ts'
import { Problem } from './problem.ts'
import type { RawRequest } from './raw-request.ts'

/** A request past the pipeline: its caller is authenticated and its input valid. */
export interface ApiCall {
  readonly operation: RegisteredOperation
  readonly actor: Actor
  readonly input: { readonly params: Record<string, string>; readonly query: object; readonly body: object }
  /** What the client has sent as query and body, before the contract adds its defaults: an `Idempotency-Key` stands for it. */
  readonly sent?: { readonly query: unknown; readonly body: unknown }
  readonly requestId: string
  /** The span that caused the call, and once it runs, its own: what it causes is below it. Undefined without tracing. */
  readonly traceparent?: string | undefined
  readonly address: string | null
  readonly idempotencyKey: string | null
  /** Its caller does not wait for what the operation may answer later: see `accepted` of a contract. */
  readonly prefersAsync?: boolean
  readonly lease?: string
  /** Names the request in what it reserves under its key, so that it can say that it has left it. */
  readonly reservedBy?: string
  /** Set for a question that a page asks within its own request: it reads at the page's instant. */
  readonly now?: Date
  readonly run?: RequestRun
  readonly waitingRun?: WaitingRun
  readonly ending?: AbortSignal
  /** Aborted when the client has left. A function, as few calls outlast their clients. */
  readonly whenGone?: () => AbortSignal
  /** It runs in the turn of its owner, or within a call that does. */
  readonly hasTurn?: true
  /** HEAD: nothing may change, even where the GET writes. */
  readonly isHead?: boolean
  readonly request?: RawRequest
}

/** The run of a durable process that made the call. Its activity reads the record after the call. */
export interface WaitingRun {
  readonly workflowId: string
  /** By the monotonic clock. After this time the activity may have been given up. */
  readonly until: number
}

/** An ended run takes no new requests. Replays come before this check: a repetition still gets its answer. */
export const endedRunProblem = ({ run }: ApiCall): Problem | undefined =>
  run?.hasEnded
    ? new Problem('invalid_run', 'X-Run-Id: the run has ended. Start another one, or leave the header out.')
    : undefined

export function assertRunIsOpen(call: ApiCall): void {
  const problem = endedRunProblem(call)
  if (problem) throw problem
}

/** The body is encoded already: the same text is sent and stored. */
export interface ApiResponse {
  readonly status: number
  readonly body: ResponseContent | null
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly name?: string
  readonly cache?: CachedResponseFile
  readonly maxAge?: number
  readonly errorCode?: string
  readonly replayed?: boolean
  /** How long other systems took to answer, in milliseconds. */
  readonly externalMs?: number
  /** It emitted an event or told a run that its record has changed. */
  readonly hasEmitted?: true
  /** The body stored for a replay, where it differs: without the secrets that are shown once. */
  readonly stored?: string
}

/** Identifies a tenant (and, for a token, its agent) in locks, batch queues and cursors. */
export const tenantKey = (tenant: Tenant | null, agentId: string | null): string =>
  [tenant?.ownerId ?? '', tenant?.mode ?? '', agentId ?? ''].join('|')
