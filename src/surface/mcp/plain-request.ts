import type { Context } from '../../kernel/contract/context.ts'
import type { Content, File } from '../../kernel/contract/file.ts'
import { isPlainEnvelope, NEWEST } from './envelope.ts'
import { IDENTITY } from './server.ts'

/** A request of the protocol that is quite as it should be, and says nothing that needs the protocol's own server. */
export interface PlainRequest {
  readonly id: string | number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Whether it is of the version in which a client says with each message who it is, and gets JSON. */
  readonly isNewest: boolean
}

/** The versions in which a request is one message and its answer one event, and the client says nothing of itself with it. */
const OLDER: ReadonlySet<string | undefined> = new Set([
  undefined,
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
])

const REQUEST = 'id jsonrpc method params'

/** The request in a message; undefined for every other one, and for one that is not quite as it should be. */
export function plainRequestIn(
  message: unknown,
  { headers }: Pick<Context, 'headers'>,
): PlainRequest | undefined {
  if (!hasPlainTypes(headers) || !isObject(message) || membersOf(message) !== REQUEST) return undefined
  const { jsonrpc, method, id, params: given } = message
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId || !isObject(given)) return undefined
  const { _meta: envelope, ...params } = given
  const isNewest = '_meta' in given
  const request: PlainRequest = { id: id as string | number, method, params, isNewest }
  const isAsItShouldBe = isNewest
    ? isPlainEnvelope(envelope) && isNamedIn(headers, request)
    : OLDER.has(headers['mcp-protocol-version']) && !headers['mcp-method'] && !headers['mcp-name']
  return isAsItShouldBe ? request : undefined
}

type Headers = Context['headers']

function hasPlainTypes({ accept = '', 'content-type': type = '' }: Headers): boolean {
  const takesBoth = accept.includes('application/json') && accept.includes('text/event-stream')
  return takesBoth && /^application\/json(?:; ?charset=utf-8)?$/i.test(type)
}

const isNamedIn = (headers: Headers, { method, params }: PlainRequest): boolean =>
  headers['mcp-protocol-version'] === NEWEST &&
  headers['mcp-method'] === method &&
  headers['mcp-name'] === (params.name ?? params.uri)

/** The names of an object's members in the order of the alphabet. */
export const membersOf = (value: object): string => Object.keys(value).sort().join(' ')

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The text of an answer, as the protocol's own server writes it. */
export function answerText({ id, isNewest }: PlainRequest, result: object): string {
  if (!isNewest) return `event: message\ndata: ${JSON.stringify({ result, jsonrpc: '2.0', id })}\n\n`
  const { _meta: own } = result as { readonly _meta?: object }
  const _meta = { ...own, 'io.modelcontextprotocol/serverInfo': IDENTITY }
  return JSON.stringify({ result: { ...result, _meta }, jsonrpc: '2.0', id })
}

export const answerFile = ({ isNewest }: PlainRequest, content: Content): File => ({
  type: isNewest ? 'application/json' : 'text/event-stream',
  status: 200,
  content,
})
