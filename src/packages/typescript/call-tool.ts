import { type Mint, shownCredential } from './fetch-paid.ts'
import { checkOptions, toolCall, toolOptions } from './known-options.ts'

/** A call of a tool, as clients of the Model Context Protocol take it. */
export interface ToolCall {
  readonly name: string
  readonly arguments?: Record<string, unknown>
  readonly _meta?: Record<string, unknown>
}

/** A connected client, such as `Client` of the protocol's SDK. */
export interface ToolClient<R> {
  callTool(call: ToolCall): Promise<R>
}

/** What may pay for a tool. */
export interface ToolOptions {
  /** An approved intent for this merchant, which pays if the tool asks for payment. */
  readonly intentId: string
  /** An address of the merchant, such as that of its MCP server. Its host is the payee. */
  readonly url: string
  /** Optional if the intent names its card, or the agent has only one active card. */
  readonly cardId?: string
  readonly signal?: AbortSignal
}

const PAYMENT_REQUIRED = -32_042
const DEMAND = 'org.paymentauth/payment-required'
const CREDENTIAL = 'org.paymentauth/credential'

type Json = Readonly<Record<string, unknown>>
type Challenge = Json & { readonly id: string }

/**
 * Calls the tool, and once more with a credential if it asks for payment. It pays once: what the second call
 * answers is the answer, even another demand.
 */
export async function callPaidTool<R>(
  client: ToolClient<R>,
  call: ToolCall,
  options: ToolOptions,
  mint: Mint,
): Promise<R> {
  checkOptions('the call of pay.callTool', call, toolCall, ['name'])
  checkOptions('pay.callTool', options, toolOptions, ['intentId', 'url'])
  const { intentId, url, cardId, signal } = options
  let challenges: readonly Challenge[]
  try {
    const result = await client.callTool(call)
    challenges = challengesIn(memberOf(memberOf(result, '_meta'), DEMAND))
    if (challenges.length === 0) return result
  } catch (error) {
    challenges = memberOf(error, 'code') === PAYMENT_REQUIRED ? challengesIn(memberOf(error, 'data')) : []
    if (challenges.length === 0) throw error
  }
  const challenge = challenges.map(headerOf).join(', ')
  const card = cardId === undefined ? {} : { cardId }
  const minted = await mint({ url, challenge, intentId, ...card, method: 'POST' }, signal ? { signal } : {})
  const credential = {
    ...decoded(shownCredential(minted)),
    challenge: challenges.find(({ id }) => id === minted.challengeId),
  }
  return client.callTool({ ...call, _meta: { ...call._meta, [CREDENTIAL]: credential } })
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

function challengesIn(data: unknown): readonly Challenge[] {
  const given = memberOf(data, 'challenges')
  const all: readonly unknown[] = Array.isArray(given) ? given : []
  return all.filter((one): one is Challenge => typeof memberOf(one, 'id') === 'string')
}

const PARAMETERS = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque']

/** A challenge as HTTP has it: its objects are base64url there. */
const headerOf = (challenge: Challenge): string =>
  `Payment ${PARAMETERS.filter(name => challenge[name] !== undefined)
    .map(name => `${name}="${textOf(challenge[name]).replaceAll(/["\\]/g, '\\$&')}"`)
    .join(', ')}`

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : encoded(new TextEncoder().encode(JSON.stringify(value)))

const encoded = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

function decoded(credential: string): Json {
  const base64 = credential
    .slice(credential.indexOf(' ') + 1)
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes)) as Json
}
