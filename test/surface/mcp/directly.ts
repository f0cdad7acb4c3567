import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Context } from '../../../src/kernel/contract/context.ts'
import type { ResponseFile } from '../../../src/kernel/contract/file.ts'
import { serveByProtocol, serveDirectly } from '../../../src/surface/mcp/serve.ts'
import { longestTurn } from '../../support/longest-turn.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

/** Longer than a piece, with a surrogate pair where the first piece ends. */
const DOCUMENT = { type: 'application/json', content: `"${'\n'.repeat(65_534)}😀\u2028 and more"` }

function contextOf(answer: object, headers: Readonly<Record<string, string>> = {}): Context {
  const target = { operation: 'agents.get', isWriting: false, takesKey: false }
  return {
    headers: { ...HEADERS, ...headers },
    host: 'localhost',
    rawBody: Buffer.from('{}'),
    ending: new AbortController().signal,
    requestId: 'request',
    actor: { type: 'agent', scopes: new Set(['intents:read']) },
    systems: { tracing: null },
    service: {
      tools: {
        named: (name: string) => (name === 'get_agent' ? target : undefined),
        call: async () => answer,
        reportCardNumber: () => undefined,
        reportFailure: () => undefined,
      },
      openapi: async () => DOCUMENT,
    },
  } as unknown as Context
}

async function bytesOf(file: ResponseFile | undefined) {
  if (!file) return undefined
  const { type, status, content } = file
  if (typeof content === 'string') return [type, status, content]
  const pieces: Buffer[] = []
  for await (const piece of content as AsyncIterable<Uint8Array>) pieces.push(Buffer.from(piece))
  return [type, status, Buffer.concat(pieces).toString()]
}

const callOf = (params: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params,
  ...more,
})

/** The API accepts no member `__proto__`, so none is in an answer; the protocol’s own server would lose it. */
const json = (fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>).filter(
  value => !JSON.stringify(value).includes('"__proto__"'),
)
const answers = fc.oneof(
  fc.record({ status: fc.constant(200), body: json, isRepeated: fc.boolean() }),
  fc.record({
    status: fc.constant(400),
    refusal: fc.record({ code: fc.string(), message: fc.string() }),
    isRepeated: fc.constant(false),
  }),
)

const PREFIX = 'io.modelcontextprotocol/'
const ENVELOPE = {
  [`${PREFIX}protocolVersion`]: '2026-07-28',
  [`${PREFIX}clientInfo`]: { name: 'test', version: '1' },
  [`${PREFIX}clientCapabilities`]: {},
}
const newestHeaders = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
})

describe('a plain call of a tool', () => {
  test('a plain tool call is answered with the bytes of the protocol’s own server, for any answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        answers,
        fc.oneof(fc.string(), fc.integer()),
        fc.constantFrom({}, { 'mcp-protocol-version': '2025-06-18' }),
        async (answer, id, headers) => {
          const message = callOf({ name: 'get_agent', arguments: { a: 1 } }, { id })
          const direct = await bytesOf(await serveDirectly(message, contextOf(answer, headers)))
          expect(direct).toBeDefined()
          expect(direct).toEqual(await bytesOf(await serveByProtocol(message, contextOf(answer, headers))))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('is answered so in the version in which clients say who they are, too', async () => {
    await fc.assert(
      fc.asyncProperty(
        answers,
        fc.oneof(fc.string(), fc.integer()),
        fc.option(fc.string(), { nil: undefined }),
        async (answer, id, title) => {
          const client = { name: 'test', version: '1', ...(title === undefined ? {} : { title }) }
          const _meta = { ...ENVELOPE, [`${PREFIX}clientInfo`]: client }
          const message = callOf({ name: 'get_agent', arguments: { a: 1 }, _meta }, { id })
          const headers = newestHeaders('get_agent')
          const direct = await bytesOf(await serveDirectly(message, contextOf(answer, headers)))
          expect(direct).toBeDefined()
          expect(direct).toEqual(await bytesOf(await serveByProtocol(message, contextOf(answer, headers))))
        },
      ),
      { numRuns: 60 },
    )
  })

  test.each<[string, object, object]>([
    ['nothing of itself', {}, {}],
    ['another version than the header', { [`${PREFIX}protocolVersion`]: '2025-11-25' }, {}],
    ['no version of its own', { [`${PREFIX}clientInfo`]: { name: 'test' } }, {}],
    ['what it can open', { [`${PREFIX}clientCapabilities`]: { elicitation: { url: {} } } }, {}],
    ['that it wants to hear of the progress', { progressToken: 1 }, {}],
    ['another method in the header', {}, { 'mcp-method': 'tools/list' }],
    ['another name in the header', {}, { 'mcp-name': 'get_balance' }],
    ['no name in the header', {}, { 'mcp-name': undefined }],
  ])('is the protocol’s own matter where a client says %s', async (what, more, headers) => {
    const _meta = what === 'nothing of itself' ? {} : { ...ENVELOPE, ...more }
    const context = contextOf(
      { status: 200, body: {}, isRepeated: false },
      { ...newestHeaders('get_agent'), ...headers },
    )
    expect(await serveDirectly(callOf({ name: 'get_agent', _meta }), context)).toBe(undefined)
  })

  test.each<[string, unknown, Readonly<Record<string, string>>]>([
    ['another method', { jsonrpc: '2.0', id: 1, method: 'resources/list', params: {} }, {}],
    ['a page of a list', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } }, {}],
    ['no id', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'get_agent' } }, {}],
    ['an id that is none', callOf({ name: 'get_agent' }, { id: 1.5 }), {}],
    ['a member too many', callOf({ name: 'get_agent' }, { more: 1 }), {}],
    ['what the client says of itself', callOf({ name: 'get_agent', _meta: {} }), {}],
    ['a name that is none', callOf({ name: 7 }), {}],
    ['arguments that are none', callOf({ name: 'get_agent', arguments: [] }), {}],
    ['another version of JSON-RPC', callOf({ name: 'get_agent' }, { jsonrpc: '1.0' }), {}],
    ['a client that takes no events', callOf({ name: 'get_agent' }), { accept: 'application/json' }],
    ['a body of another type', callOf({ name: 'get_agent' }), { 'content-type': 'text/plain' }],
    ['a version of no time', callOf({ name: 'get_agent' }), { 'mcp-protocol-version': '1999-01-01' }],
    [
      'the version that names the method',
      callOf({ name: 'get_agent' }),
      { 'mcp-protocol-version': '2026-07-28' },
    ],
    ['an unknown tool', callOf({ name: 'none' }), {}],
    ['a call that waits', callOf({ name: 'wait_for_intent', arguments: { intentId: 'x' } }), {}],
  ])('is the protocol’s own matter with %s', async (_, message, headers) => {
    expect(
      await serveDirectly(message, contextOf({ status: 200, body: {}, isRepeated: false }, headers)),
    ).toBe(undefined)
  })
})

describe('the list of tools', () => {
  const definition = (name: string) => ({
    name,
    title: 'A tool, €',
    description: `Costs $& and $1, “so to speak”\u2028 ${name}`,
    inputSchema: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
    annotations: { readOnlyHint: true },
  })
  const listing = (type: 'agent' | 'key', names: readonly string[], headers = {}): Context => {
    const context = contextOf({}, headers)
    const tools = { ...context.service.tools, listFor: async () => names.map(definition) }
    return {
      ...context,
      actor: { ...context.actor, type },
      service: { ...context.service, tools },
    } as unknown as Context
  }
  const method = 'tools/list'
  const newest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }

  test.each<[string, object, Readonly<Record<string, string>>]>([
    ['without parameters', {}, {}],
    ['in an older version', { params: {} }, { 'mcp-protocol-version': '2025-06-18' }],
    ['in the newest one', { params: { _meta: ENVELOPE } }, newest],
  ])('is answered %s with the bytes of the protocol’s own server', async (_, more, headers) => {
    const message = { jsonrpc: '2.0', id: 'list', method, ...more }
    for (const type of ['agent', 'key'] as const)
      for (const names of [[], ['one'], ['one', 'two']]) {
        const context = listing(type, names, headers)
        const direct = await bytesOf(await serveDirectly(message, context))
        expect(direct).toBeDefined()
        expect(direct).toEqual(await bytesOf(await serveByProtocol(message, context)))
      }
  })
})

describe('the document of the interface', () => {
  const uri = 'agentpay://openapi'
  const read = (params: object) => ({ jsonrpc: '2.0', id: 'one', method: 'resources/read', params })

  test.each<[string, object, Readonly<Record<string, string>>]>([
    ['older versions', { uri }, {}],
    ['the newest one', { uri, _meta: ENVELOPE }, { ...newestHeaders(uri), 'mcp-method': 'resources/read' }],
  ])('is read in %s as the protocol’s own server gives it', async (_, params, headers) => {
    const context = contextOf({}, headers)
    const direct = await bytesOf(await serveDirectly(read(params), context))
    expect(direct).toEqual(await bytesOf(await serveByProtocol(read(params), context)))
  })

  test('holds the event loop for no longer than a turn may take', async () => {
    const context = contextOf({})
    const content = JSON.stringify(
      Array.from({ length: 40_000 }, (_, n) => ({ n, text: 'x "y" '.repeat(12) })),
    )
    const service = { ...context.service, openapi: async () => ({ type: 'application/json', content }) }
    const longest = await longestTurn(async () => {
      const { content: pieces } = (await serveDirectly(read({ uri }), {
        ...context,
        service,
      })) as ResponseFile
      for await (const piece of pieces as AsyncIterable<Uint8Array>) expect(piece.length).toBeGreaterThan(0)
    })
    expect(longest).toBeLessThan(50)
  })

  test('is the protocol’s own matter where something else is read', async () => {
    expect(await serveDirectly(read({ uri: 'agentpay://policy' }), contextOf({}))).toBe(undefined)
  })
})
