import type { Actor, CalledRun, Tenant } from './actor.ts'
import type { CachedFile, Content } from './file.ts'
import type { Registered } from './operation.ts'
import { Problem } from './problem.ts'
import type { RawRequest } from './raw-request.ts'

/** A request that has passed the pipeline: its caller is known and its input valid. */
export interface Call {
  readonly operation: Registered
  readonly actor: Actor
  readonly input: { readonly params: Record<string, string>; readonly query: object; readonly body: object }
  readonly requestId: string
  readonly address: string | null
  readonly idempotencyKey: string | null
  /** Of an outside operation: the lease of the process that makes its calls. */
  readonly lease?: string
  /** The instant of the request that asks: what a page asks is read at the page's own. */
  readonly now?: Date
  /** The run that the header `X-Run-Id` names. */
  readonly run?: CalledRun
  /** Set where the answer is one that `isEndless`. */
  readonly ending?: AbortSignal
  /** Asked by HEAD: nothing may change, even where the GET writes. */
  readonly isHead?: boolean
  /** Set where the contract says that the handler reads the request itself. */
  readonly request?: RawRequest
}

/** An ended run takes no new requests. Replays come before this check: what it answered earlier is answered again. */
export const endedRunProblem = ({ run }: Call): Problem | undefined =>
  run?.hasEnded
    ? new Problem('invalid_run', 'X-Run-Id: the run has ended. Start another one, or leave the header out.')
    : undefined

export function assertRunIsOpen(call: Call): void {
  const problem = endedRunProblem(call)
  if (problem) throw problem
}

/** The answer to a call. Its body is encoded already: the same text is sent and stored. */
export interface Outcome {
  readonly status: number
  readonly body: Content | null
  readonly type?: string
  /** Headers beside those of every answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** The file name, for a body that a browser saves. */
  readonly name?: string
  /** How clients may cache the body. */
  readonly cache?: CachedFile
  /** For how many seconds any cache may keep the body. */
  readonly maxAge?: number
  readonly errorCode?: string
  readonly replayed?: boolean
  /** The body as stored for a replay, where it differs: without the secrets that are shown once. */
  readonly stored?: string
}

/** Names a tenant (and, for a token, its agent) in locks, batch queues and cursors. */
export const identityOf = (tenant: Tenant | null, agentId: string | null): string =>
  [tenant?.ownerId ?? '', tenant?.mode ?? '', agentId ?? ''].join('|')
