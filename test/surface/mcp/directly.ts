import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Context } from '../../../src/kernel/contract/context.ts'
import type { File } from '../../../src/kernel/contract/file.ts'
import { callDirectly } from '../../../src/surface/mcp/direct-call.ts'
import { serveByProtocol } from '../../../src/surface/mcp/serve.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

/** A call of an operation that answers with this body. */
function contextOf(answer: object, headers: Readonly<Record<string, string>> = {}): Context {
  const target = { operation: 'agents.get', isWriting: false, takesKey: false }
  return {
    headers: { ...HEADERS, ...headers },
    host: 'localhost',
    rawBody: Buffer.from('{}'),
    ending: new AbortController().signal,
    requestId: 'request',
    actor: { type: 'agent', scopes: new Set(['intents:read']) },
    ports: {
      tools: {
        named: (name: string) => (name === 'get_agent' ? target : undefined),
        call: async () => answer,
        reportCardNumber: () => undefined,
        reportFailure: () => undefined,
      },
    },
  } as unknown as Context
}

async function bytesOf(file: File | undefined) {
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

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>
const answers = fc.oneof(
  fc.record({ status: fc.constant(200), body: json, isRepeated: fc.boolean() }),
  fc.record({
    status: fc.constant(400),
    refusal: fc.record({ code: fc.string(), message: fc.string() }),
    isRepeated: fc.constant(false),
  }),
)

describe('a plain call of a tool', () => {
  test('is answered with the bytes of the protocol’s own server, whatever the operation says', async () => {
    await fc.assert(
      fc.asyncProperty(
        answers,
        fc.oneof(fc.string(), fc.integer()),
        fc.constantFrom('get_agent', 'none'),
        fc.constantFrom({}, { 'mcp-protocol-version': '2025-06-18' }),
        async (answer, id, name, headers) => {
          const message = callOf({ name, arguments: { a: 1 } }, { id })
          const direct = await bytesOf(await callDirectly(message, contextOf(answer, headers)))
          expect(direct).toEqual(await bytesOf(await serveByProtocol(message, contextOf(answer, headers))))
        },
      ),
      { numRuns: 60 },
    )
  })

  test.each<[string, unknown, Readonly<Record<string, string>>]>([
    ['another method', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, {}],
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
    ['a call that waits', callOf({ name: 'wait_for_intent', arguments: { intentId: 'x' } }), {}],
  ])('is the protocol’s own matter with %s', async (_, message, headers) => {
    expect(
      await callDirectly(message, contextOf({ status: 200, body: {}, isRepeated: false }, headers)),
    ).toBe(undefined)
  })
})
