import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { callTool } from './call-tool.ts'
import type { Given } from './tool-call.ts'

interface PlainCall {
  readonly id: string | number
  readonly name: string
  readonly given: Given
}

/** The versions in which a call is one message and its answer one event, and the client says nothing of itself with it. */
const VERSIONS: ReadonlySet<string | undefined> = new Set([
  undefined,
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
])

/** It holds the connection for long: its answer is to begin at once, as the protocol's own way lets it. */
const LONG = 'wait_for_intent'

/**
 * Answers a plain call of a tool without the protocol's server, which costs several times what the operation does: the same
 * bytes, as a test says. Undefined for every other message, and for one that is not quite as it should be.
 */
export async function callDirectly(message: unknown, context: Context): Promise<File | undefined> {
  const call = isPlain(context) ? plainCallIn(message) : undefined
  if (!call || call.name === LONG) return undefined
  const { id, name, given } = call
  const result = await callTool({ name, given, canOpenUrls: false, responses: undefined }, context)
  const content = `event: message\ndata: ${JSON.stringify({ result, jsonrpc: '2.0', id })}\n\n`
  return { type: 'text/event-stream', status: 200, content }
}

function isPlain({ headers }: Pick<Context, 'headers'>): boolean {
  const { accept = '' } = headers
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    /^application\/json(?:; ?charset=utf-8)?$/i.test(headers['content-type'] ?? '') &&
    VERSIONS.has(headers['mcp-protocol-version']) &&
    headers['mcp-method'] === undefined &&
    headers['mcp-name'] === undefined
  )
}

const CALL = 'id jsonrpc method params'
const NAMED = new Set(['name', 'arguments name'])

const membersOf = (value: object): string => Object.keys(value).sort().join(' ')

function plainCallIn(message: unknown): PlainCall | undefined {
  if (!isObject(message) || membersOf(message) !== CALL) return undefined
  const { jsonrpc, method, id, params } = message
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isObject(params)) return undefined
  if (!NAMED.has(membersOf(params))) return undefined
  const { name, arguments: given = {} } = params
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  if (!isId || typeof name !== 'string' || !isObject(given)) return undefined
  return { id: id as string | number, name, given }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
