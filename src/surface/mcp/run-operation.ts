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
  // The order of members is no difference: the answer is kept for one form of them.
  const named = JSON.parse(canonicalJson(members)) as Given
  if (idempotencyKey !== undefined && idempotencyKey !== null) {
    const own = String(idempotencyKey)
    return isKey(own) ? callOnce(operation, named, own, context) : notKey
  }
  const key = await keyOfCall(context, operation, named)
  const answer = await callOnce(operation, named, key, context)
  if (isRefusal(answer)) await forgetCall(context, operation, named, key)
  return answer
}

const isKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/.test(key)

const notKey: ToolAnswer = {
  status: 400,
  refusal: {
    code: 'invalid_request',
    message: 'idempotencyKey: 1 to 255 visible ASCII characters, no spaces.',
  },
  isRepeated: false,
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
