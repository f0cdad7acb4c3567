import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '../../kernel/contract/context.ts'
import type { ToolAnswer, ToolTarget } from '../../kernel/contract/tool.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { clock } from '../../values/clock.ts'
import { forgetCall, keyOfCall } from './idempotency.ts'
import type { Given } from './tool-call.ts'

/** For how long a call waits for the answer of the same call that is on its way. */
const PATIENCE_MS = 15_000
const PAUSE_MS = 50

/** Runs an operation once for all calls that are the same act. */
export async function runOperation(
  { operation, takesKey }: ToolTarget,
  given: Given,
  context: Context,
): Promise<ToolAnswer> {
  if (!takesKey) return callOnce(operation, given, null, context)
  const { idempotencyKey, ...members } = given
  const endless = numberWithoutEnd(members, '')
  if (endless !== undefined) return wrong(`${endless}: this number is too large.`)
  // The order of members is no difference: the answer is kept for one form of them.
  const named = JSON.parse(canonicalJson(members)) as Given
  if (idempotencyKey !== undefined && idempotencyKey !== null) {
    return isKey(idempotencyKey) ? callOnce(operation, named, idempotencyKey, context) : wrong(NO_KEY)
  }
  const key = await keyOfCall(context, operation, named)
  const answer = await callOnce(operation, named, key, context)
  if (isRefusal(answer)) await forgetCall(context, operation, named, key)
  return answer
}

const isKey = (key: unknown): key is string => typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)

const NO_KEY = 'idempotencyKey: 1 to 255 visible ASCII characters, no spaces.'

const wrong = (message: string): ToolAnswer => ({
  status: 400,
  refusal: { code: 'invalid_request', message },
  isRepeated: false,
})

/** The place of a number that JSON can write and nobody can hold, such as 1e400; undefined where there is none. */
function numberWithoutEnd(value: unknown, place: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : place
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = numberWithoutEnd(member, place === '' ? name : `${place}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** What was refused may be tried again; what nobody knows the end of is repeated with the same key. */
const isRefusal = ({ status, refusal, body }: ToolAnswer): boolean =>
  (refusal !== undefined && status < 500 && refusal.code !== 'in_progress') ||
  (body as { status?: unknown } | undefined)?.status === 'denied'

async function callOnce(
  operation: string,
  given: Given,
  key: string | null,
  context: Context,
): Promise<ToolAnswer> {
  const end = clock.ticks() + PATIENCE_MS
  for (;;) {
    const answer = await context.ports.tools.call(context, operation, given, key)
    if (answer.refusal?.code !== 'in_progress' || clock.ticks() > end || context.ending.aborted) return answer
    await pause(PAUSE_MS)
  }
}
