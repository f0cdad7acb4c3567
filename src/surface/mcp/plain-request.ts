import type { Context } from '../../kernel/contract/context.ts'
import type { ByteStream, ResponseContent, ResponseFile } from '../../kernel/contract/file.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { callTool, isKnownTool } from './call-tool.ts'
import { OPENAPI_RESOURCE_URI, resourceContents } from './resources.ts'
import { listTools, MCP_SERVER_IDENTITY } from './server.ts'

/** From this version on, each message contains the client's identity and capabilities. */
const NEWEST = '2026-07-28'

const PREFIX = 'io.modelcontextprotocol/'
const NAMES = ['clientCapabilities', 'clientInfo', 'protocolVersion'].map(name => PREFIX + name)

/**
 * Whether the envelope contains only the client's identity, without capabilities. The protocol's own server
 * answers clients that open addresses, want progress, or send unknown members.
 */
function isPlainEnvelope(envelope: unknown): boolean {
  if (!isRecord(envelope) || Object.keys(envelope).sort().join() !== NAMES.join()) return false
  const [capabilities, client, version] = NAMES.map(name => envelope[name])
  const isUnable = isRecord(capabilities) && Object.keys(capabilities).length === 0
  return version === NEWEST && isPlainClient(client) && isUnable
}

const CLIENT = new Set(['name version', 'name title version'])

const isPlainClient = (client: unknown): boolean =>
  isRecord(client) &&
  CLIENT.has(Object.keys(client).sort().join(' ')) &&
  Object.values(client).every(value => typeof value === 'string')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface PlainRequest {
  readonly id: string | number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly isNewest: boolean
}

/** In these versions a request is one message, its answer is one event, and the client's identity is not repeated. */
const OLDER: ReadonlySet<string | undefined> = new Set([
  undefined,
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
])

const REQUEST = 'id jsonrpc method params'
/** A list may be asked for without parameters. */
const SHORT_REQUEST = 'id jsonrpc method'

export function parsePlainRequest(
  message: unknown,
  { headers }: Pick<RawRequest, 'headers'>,
): PlainRequest | undefined {
  if (!hasPlainTypes(headers) || !isObject(message)) return undefined
  const members = membersOf(message)
  if (members !== REQUEST && members !== SHORT_REQUEST) return undefined
  const { jsonrpc, method, id, params: given = {} } = message
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

const membersOf = (value: object): string => Object.keys(value).sort().join(' ')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Writes the same bytes as the protocol's own server. */
function answerText({ id, isNewest }: PlainRequest, result: object): string {
  if (!isNewest) return `event: message\ndata: ${JSON.stringify({ result, jsonrpc: '2.0', id })}\n\n`
  const { _meta: own } = result as { readonly _meta?: object }
  const _meta = { ...own, 'io.modelcontextprotocol/serverInfo': MCP_SERVER_IDENTITY }
  return JSON.stringify({ result: { ...result, _meta }, jsonrpc: '2.0', id })
}

const answerFile = ({ isNewest }: PlainRequest, content: ResponseContent): ResponseFile => ({
  type: isNewest ? 'application/json' : 'text/event-stream',
  status: 200,
  content,
})

/** This tool keeps the connection open, so the protocol's own server begins its answer at once. */
const LONG = 'wait_for_intent'

const NAMED = new Set(['name', 'arguments name'])

/**
 * Answers a simple tool call without the protocol's server, which costs several times the operation itself. A
 * test compares the bytes. Undefined for every other request.
 */
export async function callToolDirectly(
  request: PlainRequest,
  context: Context,
): Promise<ResponseFile | undefined> {
  const { method, params, isNewest } = request
  const { name, arguments: given = {} } = params
  if (method !== 'tools/call' || !NAMED.has(membersOf(params)) || !isObject(given)) return undefined
  if (typeof name !== 'string' || name === LONG || !isKnownTool(name, context)) return undefined
  const result = await callTool({ name, given, canOpenUrls: false, responses: undefined }, context)
  return answerFile(request, answerText(request, isNewest ? { ...result, resultType: 'complete' } : result))
}

const PLACE = '‹document›'

/** How the newest version marks a list: complete, not to be kept, for this client alone. */
const NEWEST_LIST = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

/** A tool as JSON. The definitions are made once. */
const written = new WeakMap<object, string>()

function toolText(tool: object): string {
  const known = written.get(tool) ?? JSON.stringify(tool)
  written.set(tool, known)
  return known
}

/** Lists the tools, which the protocol's server would check and write anew each time. Undefined for every other request. */
export async function listToolsDirectly(
  request: PlainRequest,
  context: Context,
): Promise<ResponseFile | undefined> {
  if (request.method !== 'tools/list' || membersOf(request.params) !== '') return undefined
  const tools = (await listTools(context)).map(toolText).join()
  const result = { tools: [PLACE] }
  const answer = answerText(request, request.isNewest ? { ...result, ...NEWEST_LIST } : result)
  return answerFile(
    request,
    answer.replace(JSON.stringify(PLACE), () => tools),
  )
}

/**
 * Streams the document of the interface: it has megabytes, and the protocol's server would block the event
 * loop while writing it as a whole. Undefined for every other request.
 */
export async function readResourceDirectly(
  request: PlainRequest,
  { service }: Context,
): Promise<ResponseFile | undefined> {
  const { method, params, isNewest } = request
  if (method !== 'resources/read' || membersOf(params) !== 'uri' || params.uri !== OPENAPI_RESOURCE_URI)
    return undefined
  const result = resourceContents(OPENAPI_RESOURCE_URI, PLACE)
  const [before = '', after = ''] = answerText(
    request,
    isNewest ? { ...result, ...NEWEST_LIST } : result,
  ).split(PLACE)
  const document = await escapedOnce(await service.openapi())
  return answerFile(request, inPieces(before, document, after))
}

async function* inPieces(before: string, document: readonly Buffer[], after: string): ByteStream {
  yield before
  yield* document
  yield after
}

/** The document escaped as a JSON string. It is made once. */
const escaped = new WeakMap<ResponseFile, Promise<readonly Buffer[]>>()

function escapedOnce(document: ResponseFile): Promise<readonly Buffer[]> {
  const known = escaped.get(document) ?? runInSlices(piecesOf(String(document.content)))
  escaped.set(document, known)
  return known
}

const PIECE = 65_536

function* piecesOf(text: string): SlicedWork<Buffer[]> {
  const pieces: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    // Keeps surrogate pairs together.
    const end = at + PIECE + (isFirstHalf(text.charCodeAt(at + PIECE - 1)) ? 1 : 0)
    pieces.push(Buffer.from(JSON.stringify(text.slice(at, end)).slice(1, -1)))
    at = end
    yield
  }
  return pieces
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
