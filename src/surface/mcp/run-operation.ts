import { hash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sentRefusals } from '../../commerce/mpp/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { universalProblems } from '../../kernel/contract/problem.ts'
import type { ToolAnswer, ToolTarget } from '../../kernel/contract/tool.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { clock } from '../../values/clock.ts'
import { createProposal, type ProposalAnswer } from '../proposals/index.ts'
import { declarationResult, resumedIntentResult } from './intents.ts'
import { isAccepted, isToBePaidAgain, resultOfAccepted } from './payments.ts'
import {
  mayWriteByTools,
  type ToolArguments,
  type ToolCall,
  type ToolResult,
  toolRefusal,
  toolResultFromAnswer,
  toolSuccess,
} from './tool-call.ts'

export async function runToolTarget(target: ToolTarget, call: ToolCall, context: Context): Promise<object> {
  if (target.isWriting && !mayWriteByTools(context.actor)) {
    const { idempotencyKey: _, ...given } = call.given
    return proposeFromTool({ operation: target.operation, given, reason: null }, context)
  }
  const declares = target.operation === 'intents.create'
  if (declares && call.responses && isIntentId(call.state)) return resumedIntentResult(call.state, context)
  const answer = await runOperation(target, call, context)
  if (isAccepted(target, answer)) return resultOfAccepted(answer, context)
  const isDeclared = declares && !answer.refusal
  return isDeclared ? declarationResult(answer, call, context) : toolResultFromAnswer(answer, target)
}

const isIntentId = (state: unknown): state is string =>
  typeof state === 'string' && /^intent_[0-9a-z]{26}$/.test(state)

const PATIENCE_MS = 15_000
const PAUSE_MS = 50

async function runOperation(target: ToolTarget, call: ToolCall, context: Context): Promise<ToolAnswer> {
  const { operation, takesKey } = target
  const { given, takesTasks = false } = call
  if (!takesKey) return context.service.tools.call(context, operation, given, null)
  // A client that takes tasks need not wait.
  const callOnce = (members: ToolArguments, key: string) =>
    callUntilDone(() => context.service.tools.call(context, operation, members, key, takesTasks), context)
  const { idempotencyKey, ...members } = given
  const endless = nonFiniteNumberIn(members, '')
  if (endless !== undefined) return wrong(`${endless}: this number is too large.`)
  // Answers are stored by the canonical form, so the order of members makes no difference.
  const named = JSON.parse(canonicalJson(members)) as ToolArguments
  if (idempotencyKey !== undefined && idempotencyKey !== null) {
    return isKey(idempotencyKey) ? callOnce(named, idempotencyKey) : wrong(NO_KEY)
  }
  const key = await keyOfCall(context, operation, named)
  const answer = await callOnce(named, key)
  const isNewAttempt = isAccepted(target, answer) && (await isToBePaidAgain(answer, context))
  if (isNewAttempt || isRefusal(answer)) await forgetCall(context, operation, named, key)
  return isNewAttempt ? runOperation(target, call, context) : answer
}

const isKey = (key: unknown): key is string => typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)

const NO_KEY = 'idempotencyKey: 1 to 255 visible ASCII characters, no spaces.'

const wrong = (message: string): ToolAnswer => ({
  status: 400,
  refusal: { code: 'invalid_request', message },
  isRepeated: false,
})

/** Finds a number that JSON can write but a double cannot hold, such as 1e400; undefined if there is none. */
function nonFiniteNumberIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : place
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = nonFiniteNumberIn(member, place === '' ? name : `${place}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** After these refusals a payment may have been made. Others of operations say that nothing was done. */
const isUndecided = ({ code }: { readonly code: string }, status: number): boolean =>
  code === 'in_progress' ||
  Object.hasOwn(sentRefusals, code) ||
  (status >= 500 && Object.hasOwn(universalProblems, code))

/** A refused call may be tried again. A call with an unknown outcome is repeated with the same key. */
const isRefusal = ({ status, refusal, body }: ToolAnswer): boolean =>
  (refusal !== undefined && !isUndecided(refusal, status)) ||
  (body as { status?: unknown } | undefined)?.status === 'denied'

async function callUntilDone(call: () => Promise<ToolAnswer>, { ending }: Context): Promise<ToolAnswer> {
  const end = clock.ticks() + PATIENCE_MS
  for (;;) {
    const answer = await call()
    if (answer.refusal?.code !== 'in_progress' || clock.ticks() > end || ending.aborted) return answer
    await pause(PAUSE_MS)
  }
}

/** Identical calls share a key until ten minutes after the last one: a model that repeats itself acts once. */
const KEY_OF_CALL = `
insert into tool_calls as t (owner_id, mode, caller_id, hash, key, last_called_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner_id, mode, caller_id, hash) do update set
  key = case when t.last_called_at > excluded.last_called_at - interval '10 minutes' then t.key else excluded.key end,
  last_called_at = greatest(t.last_called_at, excluded.last_called_at)
returning key`

const FORGET = `
delete from tool_calls where (owner_id, mode, caller_id, hash) = ($1, $2, $3, $4) and key = $5`

const callIdentity = ({ tenant, actor }: Context, operation: string, given: object): string[] => [
  tenant.ownerId,
  tenant.mode,
  String(actor.id),
  hash('sha256', canonicalJson([operation, given]), 'base64url'),
]

async function keyOfCall(context: Context, operation: string, given: object): Promise<string> {
  const values = [...callIdentity(context, operation, given), `tool-${randomUUID()}`, clock.real()]
  const [row] = await context.sql<{ key: string }>(KEY_OF_CALL, values)
  if (!row) throw new Error('the statement returns its row')
  return row.key
}

/** After a refusal, an identical call is a new attempt, since its obstacle may be gone. */
const forgetCall = (context: Context, operation: string, given: object, key: string): Promise<unknown> =>
  context.sql(FORGET, [...callIdentity(context, operation, given), key])

interface ChangeRequest {
  readonly operation: string
  readonly given: ToolArguments
  readonly reason: string | null
}

/** An operation that a model may not call becomes a proposal, and the model learns where a person finds it. */
export async function proposeFromTool(wish: ChangeRequest, context: Context): Promise<ToolResult> {
  const answer = await createProposal(wish, context)
  if ('code' in answer) return toolRefusal(answer.code, answer.message, alternatives(answer.code))
  const { proposal, isRepeated } = answer
  return toolSuccess({ proposal: shownProposal(proposal) }, false, sentence(proposal, isRepeated, context))
}

const sentence = ({ id, expiresAt }: ProposalAnswer, isRepeated: boolean, { service }: Context): string =>
  `${isRepeated ? 'This is already proposed.' : 'This is proposed; nothing has changed.'} A person must apply it before ${expiresAt} at ${service.pageUrl(`/console/proposals/${id}`)}. Tell them. Do not say that it is done.`

export const shownProposal = (proposal: Readonly<Record<string, unknown>>) => {
  const { id, status, summary, operation, changes, effect, expiresAt } = proposal
  return { id, status, summary, operation, changes, effect, expiresAt }
}

const alternatives = (code: string): readonly string[] =>
  code === 'not_proposable' || code === 'missing_scope'
    ? ['Ask the person to do it in the console, with the CLI `agentpay`, or by API.']
    : []
