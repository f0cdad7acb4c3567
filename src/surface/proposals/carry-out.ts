import type { Actor, Mode } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { excerpt } from '../../values/schemas.ts'
import { basisOf } from './basis.ts'
import type { Attempt, Given } from './proposal.ts'

/** An attempt that is under way, as plain JSON. */
export interface Applying {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly operation: string
  readonly input: Given
  readonly basis: string | null
  readonly agentId: string | null
  readonly attempt: Attempt
  /** An attempt before this one may have done it: what it was made of is not asked again. */
  readonly isRepeated: boolean
}

/** What became of an attempt. */
export type Applied =
  | { readonly outcome: 'done'; readonly resultId: string | null }
  | { readonly outcome: 'outdated' }
  | { readonly outcome: 'refused'; readonly code: string; readonly message: string }
  | { readonly outcome: 'unknown' }

/** The codes after which the operation may still be under way, or done. */
const OPEN_ENDED: ReadonlySet<string> = new Set(['in_progress', 'outcome_unknown'])

/** Does what a proposal says, with the rights of who applies it, under its id as the idempotency key. */
export async function carryOut(applying: Applying, { tools }: Pick<Ports, 'tools'>): Promise<Applied> {
  const { id, operation, input, attempt, ownerId, mode, isRepeated } = applying
  const { applier, webauthnAssertion, key } = attempt
  const tenant = { ownerId, mode }
  if (!isRepeated && (await isOutdated(applying, tools))) return { outcome: 'outdated' }
  const actor: Actor = {
    type: applier.type,
    id: applier.id,
    tenant,
    agentId: null,
    scopes: new Set(applier.scopes),
    ...(applier.name === null ? {} : { name: applier.name }),
    ...(applier.sessionId === null ? {} : { sessionId: applier.sessionId }),
  }
  const given = webauthnAssertion === null ? input : { ...input, webauthnAssertion }
  // What it does is found in the journal by the id of the proposal.
  const caller = { actor, requestId: id, address: applier.address, runId: null }
  const answer = await tools.call(caller, operation, given, key)
  const { status, refusal, body } = answer
  if (!refusal) return { outcome: 'done', resultId: idIn(body) }
  const { code, message } = refusal
  if (status >= 500 || OPEN_ENDED.has(code)) return { outcome: 'unknown' }
  return { outcome: 'refused', code, message: excerpt(message) }
}

async function isOutdated(
  { id, operation, input, basis, ownerId, mode }: Applying,
  tools: Ports['tools'],
): Promise<boolean> {
  if (basis === null) return false
  const nobody = {
    type: 'process',
    id: null,
    tenant: null,
    agentId: null,
    scopes: new Set<string>(),
  } as const
  const plan = tools.plan({ actor: nobody }, operation, input)
  if (!plan) return true
  return (await basisOf(plan, { tools, tenant: { ownerId, mode }, requestId: id })) !== basis
}

function idIn(body: unknown): string | null {
  const { id } = (body ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' && /^[a-z]+_\w{1,100}$/.test(id) ? id : null
}
