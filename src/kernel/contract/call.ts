import type { Actor, CalledRun, Tenant } from './actor.ts'
import type { Content, Kept } from './file.ts'
import type { Registered } from './operation.ts'
import { Problem } from './problem.ts'

/** A request after the pipeline has let it in: known caller, valid input. */
export interface Call {
  readonly operation: Registered
  readonly actor: Actor
  readonly input: { readonly params: Record<string, string>; readonly query: object; readonly body: object }
  readonly requestId: string
  readonly address: string | null
  readonly idempotencyKey: string | null
  /** That of the header `X-Run-Id`. */
  readonly run?: CalledRun
}

/** What was answered while the run went on is answered again; nothing new is done in it. */
export const obstacleOf = ({ run }: Call): Problem | undefined =>
  run?.hasEnded
    ? new Problem('invalid_run', 'X-Run-Id: the run has ended. Start another one, or leave the header out.')
    : undefined

export function assertRunGoesOn(call: Call): void {
  const obstacle = obstacleOf(call)
  if (obstacle) throw obstacle
}

/** What goes back: the body is encoded already, once, as it is sent and stored. */
export interface Outcome {
  readonly status: number
  readonly body: Content | null
  readonly type?: string
  /** Of a file that is to be saved. */
  readonly name?: string
  /** Of a file that clients keep. */
  readonly kept?: Kept
  readonly errorCode?: string
  readonly replayed?: boolean
  /** The body as kept for a replay, where it differs: without the secrets that are shown once. */
  readonly stored?: string
}

export const isWrite = ({ operation: { operation } }: Call): boolean =>
  operation.method !== 'GET' && !operation.readOnly

/** The string that names a tenant (and, for a token, its agent) in locks, lanes and cursors. */
export const identityOf = (tenant: Tenant | null, agentId: string | null): string =>
  [tenant?.ownerId ?? '', tenant?.mode ?? '', agentId ?? ''].join('|')
