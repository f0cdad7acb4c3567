import { setTimeout as pause } from 'node:timers/promises'
import { inputRequired } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import { changesAt } from '../../kernel/contract/follow.ts'
import type { ToolAnswer } from '../../kernel/contract/tool.ts'
import {
  type ToolCall,
  type ToolResult,
  toolRefusal,
  toolResultFromAnswer,
  toolSuccess,
} from './tool-call.ts'

interface Intent {
  readonly id: string
  readonly status: string
  readonly [member: string]: unknown
}

/** `1 of 2 approvals`; undefined if one person decides. */
export function approvalCount({ approval }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof approval !== 'object' || approval === null) return undefined
  const { given, needed } = approval as { readonly given: number; readonly needed: number }
  return `${given} of ${needed} ${needed === 1 ? 'approval' : 'approvals'}`
}

interface Explanation {
  readonly summary: string
  readonly rules: readonly { readonly remedy: string | null }[]
}

const APPROVAL = 'approval'

export async function declarationResult(
  answer: ToolAnswer,
  call: ToolCall,
  context: Context,
): Promise<object> {
  const declared = answer.body as Intent
  const intent = answer.isRepeated ? await current(declared, context) : declared
  if (intent.status !== 'created') return resultOfIntent(intent, answer.isRepeated, context)
  const url = approvalUrl(intent, context)
  if (call.canOpenUrls && call.responses?.[APPROVAL] === undefined)
    return inputRequired({
      requestState: intent.id,
      inputRequests: {
        [APPROVAL]: inputRequired.elicitUrl({
          message:
            'A payment of your agent is waiting for you. Review it, and approve it with your passkey or deny it.',
          url,
        }),
      },
    })
  return resultOfIntent(intent, answer.isRepeated, context)
}

/**
 * The client calls again after its person has seen the page. The second call belongs to the intent that the
 * first call declared.
 */
export async function resumedIntentResult(id: string, context: Context): Promise<object> {
  const answer = await context.service.tools.call(context, 'intents.get', { id }, null)
  return answer.refusal ? toolResultFromAnswer(answer) : resultOfIntent(answer.body as Intent, false, context)
}

export const approvalUrl = ({ id }: Intent, { service }: Context): string => service.pageUrl(`/approve/${id}`)

export async function resultOfIntent(
  intent: Intent,
  isRepeated: boolean,
  context: Context,
): Promise<ToolResult> {
  if (intent.status === 'denied') {
    const { summary, remedies } = await explained(intent, context)
    return toolRefusal('intent_denied', summary, remedies, { intent })
  }
  if (intent.status !== 'created') return toolSuccess(intent, isRepeated)
  const url = approvalUrl(intent, context)
  const { summary } = await explained(intent, context)
  const count = approvalCount(intent)
  const who =
    count === undefined ? 'A person decides' : `It has ${count}. The people whom the policy asks decide`
  const sentence = `${summary} ${who} at ${url}. Tell them, then call wait_for_intent with intentId ${intent.id}. Do not pay before it is approved.`
  return toolSuccess({ ...intent, approvalUrl: url }, isRepeated, sentence)
}

async function current(declared: Intent, context: Context): Promise<Intent> {
  const { body } = await context.service.tools.call(context, 'intents.get', { id: declared.id }, null)
  return (body as Intent | undefined) ?? declared
}

async function explained({ id }: Intent, context: Context) {
  const { body } = await context.service.tools.call(context, 'intents.explanation', { id }, null)
  const { summary = 'It is not approved.', rules = [] } = (body ?? {}) as Partial<Explanation>
  const remedies = rules.flatMap(({ remedy }) => remedy ?? [])
  return { summary, remedies }
}

/** In seconds. Proxies and clients often give up after a minute. */
export const MAX_WAIT_SECONDS = 50
/** Applies when too many callers already wait for events. */
const LOOK_EVERY_MS = 2_000

/** Waits for a person's decision, at most this many seconds. Clients may call again. */
export async function waitForIntent(id: string, seconds: number, context: Context): Promise<ToolResult> {
  const first = await look(id, context)
  const answer = seconds > 0 && isWaiting(first) ? await decidedIntent(id, seconds, context) : first
  return answer.refusal ? toolResultFromAnswer(answer) : resultOfIntent(answer.body as Intent, false, context)
}

const look = (id: string, context: Context): Promise<ToolAnswer> =>
  context.service.tools.call(context, 'intents.get', { id }, null)

const isWaiting = ({ refusal, body }: ToolAnswer): boolean =>
  !refusal && (body as Intent).status === 'created'

async function decidedIntent(id: string, seconds: number, context: Context): Promise<ToolAnswer> {
  const over = new AbortController()
  const ending = AbortSignal.any([context.ending, over.signal])
  void pause(seconds * 1_000, undefined, { signal: ending }).then(() => over.abort(), ignore)
  try {
    for await (const _ of changesOf(id, ending, context)) {
      const answer = await look(id, context)
      if (!isWaiting(answer)) return answer
    }
    return await look(id, context)
  } finally {
    over.abort()
  }
}

const changesOf = (id: string, ending: AbortSignal, { service, tenant }: Context): AsyncGenerator<void> =>
  changesAt(
    service.waitForEvents,
    { tenant, isWanted: ({ data }) => data.intentId === id, ending },
    LOOK_EVERY_MS,
  )

const ignore = (): void => undefined
