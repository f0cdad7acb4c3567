import './breaks.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { accessMatrix } from '../../../src/derive/access-matrix.ts'
import { buildCommandTable, serializeCommandTable } from '../../../src/derive/commands/command-table.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import type {
  MediaTypeObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaReference,
} from '../../../src/derive/openapi/types.ts'
import { parseOpenapiFile, writeDocument } from '../../../src/derive/openapi/write.ts'
import { publishedOperations } from '../../../src/kernel/contract/area.ts'
import { mediaTypeOf } from '../../../src/kernel/contract/file.ts'
import {
  type RefusalSpec,
  type RegisteredOperation,
  refusalFormOf,
  takesIdempotencyKey,
} from '../../../src/kernel/contract/operation.ts'
import { problemBody } from '../../../src/kernel/run/outcome.ts'
import { withJsonNames } from '../../../src/values/json-names.ts'
import { exampleAsRead } from '../../support/contract/example-body.ts'

const document = openapiDocument(areas)
const operations = publishedOperations(areas).map(
  registered => [registered.key, registered, objectOf(registered)] as const,
)

function objectOf({ operation: { path, method } }: RegisteredOperation): OperationObject {
  return document.paths[path]?.[method.toLowerCase()] as OperationObject
}

function responseOf(response: ResponseObject | SchemaReference | undefined): ResponseObject {
  if (!response) throw new Error('no such response')
  if (!('$ref' in response)) return response
  return document.components.responses[response.$ref.split('/').at(-1) as string] as ResponseObject
}

const jsonOf = ({ content }: ResponseObject): MediaTypeObject | undefined => content?.['application/json']

test('openapi.json is up to date', () => {
  const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')
  const isCurrent = committed === writeDocument(document)
  expect(isCurrent ? 'current' : 'openapi.json has drifted: run `npm run openapi`').toBe('current')
})

test('commands.json is up to date, and has a command for each operation', () => {
  const table = buildCommandTable(areas)
  const written = readFileSync(new URL('../../../commands.json', import.meta.url), 'utf8')
  const isCurrent = written === serializeCommandTable(table)
  expect(isCurrent ? 'current' : 'commands.json is of older contracts: run `npm run openapi`').toBe('current')
  expect(Object.keys(table.operations)).toEqual(operations.map(([key]) => key))
})

test('the access matrix is up to date', () => {
  const committed = readFileSync(new URL('../../contract/access-matrix.md', import.meta.url), 'utf8')
  const isCurrent = committed === accessMatrix(areas)
  expect(isCurrent ? 'current' : 'test/contract/access-matrix.md has drifted: run `npm run openapi`').toBe(
    'current',
  )
})

/** Operations of a protocol that has its own form for errors. */
const PROTOCOL_ERRORS = {
  machinePayments: ['settlements.pay', 'settlements.payByPost', 'mppMerchants.get', 'mppMerchants.post'],
  jsonRpc: ['assistants.message'],
}

test('the body of an error has one member, except where a protocol has a form of its own', () => {
  const { Error: error } = document.components.schemas
  expect([Object.keys(error?.properties ?? {}), error?.required]).toEqual([['error'], ['error']])
  const forms = operations.flatMap(([key, , { responses }]) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([, response]) => Object.entries(responseOf(response).content ?? {}))
      .flatMap(([type, { schema }]) =>
        (schema?.anyOf ?? [schema]).map(one => [key, type, one?.$ref] as const),
      ),
  )
  expect(forms.length).toBeGreaterThan(500)
  const others = forms.filter(
    ([, type, ref]) => type !== 'application/json' || ref !== '#/components/schemas/Error',
  )
  const keys = (isProblem: boolean) => [
    ...new Set(others.filter(([, type]) => type.includes('problem') === isProblem).map(([key]) => key)),
  ]
  expect([keys(true), keys(false)]).toEqual([PROTOCOL_ERRORS.machinePayments, PROTOCOL_ERRORS.jsonRpc])
})

describe('the committed document', () => {
  const text = writeDocument(document)

  test('says in fewer words all that the document says', () => {
    expect(parseOpenapiFile(text)).toEqual(JSON.parse(JSON.stringify(document)))
    expect(text.length).toBeLessThan(JSON.stringify(document).length / 2)
  })

  test('names nothing that it does not have', () => {
    const published = JSON.parse(text)
    const refs = new Set(
      [...text.matchAll(/"\$ref":\s?"#\/components\/(\w+)\/([^"]+)"/g)].map(found =>
        found.slice(1).join('/'),
      ),
    )
    const missing = [...refs].filter(ref => {
      const [kind = '', name = ''] = ref.split('/')
      return !(name in published.components[kind])
    })
    expect(missing).toEqual([])
  })

  test('names 401 and 429 with each operation that needs a credential and counts against the rate limit', () => {
    const { paths } = JSON.parse(text)
    const statuses = Object.keys(paths['/policies'].post.responses)
    expect(statuses).toEqual(['201', '400', '401', '429', 'default'])
    const metered = operations.filter(
      ([, { operation }]) => !operation.callers.includes('public') && !operation.limits?.unmetered,
    )
    const unnamed = metered.flatMap(([key, { operation }]) => {
      const { responses } = paths[operation.path][operation.method.toLowerCase()]
      return '401' in responses && '429' in responses ? [] : [key]
    })
    expect([metered.length > 300, unnamed]).toEqual([true, []])
  })

  test('is small enough to be read, and as generators of clients understand it', () => {
    const { components } = JSON.parse(text)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_320_000)
    const answers = Object.values<object>(components.responses)
    expect(answers.filter(answer => '$ref' in answer)).toEqual([])
    const componentNames = Object.values<object>(components).flatMap(Object.keys)
    expect(componentNames.filter(name => !/^[\w.-]+$/.test(name))).toEqual([])
    const names = Object.keys(components.schemas)
    const classOf = (name: string): string => name.replaceAll(/[\W_]/g, '').toLowerCase()
    const records = names.filter(name => /^[A-Z]\w*$/.test(name))
    const taken = new Set(records.map(classOf))
    expect(names.filter(name => !records.includes(name) && taken.has(classOf(name)))).toEqual([])
    // In Go, `NewKey` is the constructor of `Key`.
    expect(names.filter(name => name.startsWith('New') && names.includes(name.slice(3)))).toEqual([])
    expect(text).not.toMatch(/"default":\s?(null|\{\})/)
  })

  test('has a line for each member of an operation, and for each answer', () => {
    const declare = /^"\/intents":\{\n"post":\{\n([\s\S]*?)\n\}\n\}/m.exec(text)?.[1] ?? ''
    const starts = declare.split('\n').map(line => line.slice(0, line.indexOf(':')))
    expect(starts.slice(0, 3)).toEqual(['"operationId"', '"tags"', '"summary"'])
    expect(starts).toEqual(expect.arrayContaining(['"201"', '"400"', '"404"', '"default"']))
  })

  test('names an operation’s own refusals beside the shared answer', () => {
    const { paths, components } = JSON.parse(text)
    expect(paths['/agents/{id}/freeze'].post.responses['400']).toEqual({
      $ref: '#/components/responses/refused',
      description: '`agent_not_active`: Only an active agent can be frozen.',
    })
    expect(components.responses.refused.headers).toHaveProperty('X-Error-Code')
  })

  test('lists under `default` each status and code that an operation shares with others', () => {
    const { paths, components } = JSON.parse(text)
    const { $ref } = paths['/agents/{id}/freeze'].post.responses.default
    expect(components.responses[$ref.split('/').at(-1)].description).toBe(
      'Also 400 `invalid_request`, `invalid_json`, `body_incomplete`, `invalid_run`; 403 `account_suspended`, `wrong_caller`, `cross_site`, `missing_scope`; 404 `unknown_reference`, `not_found`; 408 `body_too_slow`; 409 `in_progress`; 413 `body_too_large`; 415 `unsupported_media_type`; 422 `idempotency_key_reused`; 500 `internal`; 503 `busy`, `overloaded`, `outcome_unknown`, `unavailable`.',
    )
    expect(components.responses.refused.description).toContain('`busy`: Too many concurrent changes')
  })

  test('has the members of an example that do not follow from the members’ own schemas', () => {
    const { Intent } = JSON.parse(text).components.schemas
    expect(Intent).not.toHaveProperty('examples')
    expect(Intent['x-example']).toMatchObject({ merchant: 'Bookshop', decision: { reason: 'Too expensive' } })
    expect(Intent['x-example']).not.toHaveProperty('id')
  })

  test('has the scope of an operation once, and who may call it where it is not the usual callers', () => {
    const { paths, security } = JSON.parse(text)
    expect(security).toEqual([{ apiKey: [] }, { consoleSession: [] }])
    expect(paths['/agents/{id}/freeze'].post).not.toHaveProperty('security')
    expect(paths['/agents/{id}/freeze'].post['x-scope']).toBe('agents:write')
    expect(paths['/intents/{id}'].get.security).toEqual([...security, { agentToken: [] }])
  })

  test('has the sentence of a frequent refusal once, and operations name its code', () => {
    const { paths, components } = JSON.parse(text)
    const sentence = '`challenge_used`: challengeId: this challenge was already used.'
    expect(text.split(sentence)).toHaveLength(2)
    expect(components.responses.refused.description).toContain(sentence)
    expect(paths['/intents/{id}/approve'].post.responses['400'].description).toMatch(
      /Also [^\n]*`challenge_used`/,
    )
  })

  test('has a record that begins with all members of another as that record and more', () => {
    const { CreatedKey } = JSON.parse(text).components.schemas
    expect(CreatedKey.allOf).toEqual([
      { $ref: '#/components/schemas/Key' },
      { type: 'object', properties: { key: expect.anything() }, required: ['key'] },
    ])
  })
})

test('the document has every operation exactly once', () => {
  const operationIds = Object.values(document.paths).flatMap(path =>
    Object.values(path).map(operation => operation.operationId),
  )
  expect(operationIds.sort()).toEqual(operations.map(([key]) => key).sort())
})

test.each(operations)(
  '%s has a summary, and an example if it requires a body',
  (_, { operation }, object) => {
    expect(object.summary).toMatch(/\S/)
    if (object.requestBody?.required) expect(operation.example).toBeDefined()
  },
)

const returningJson = operations.filter(
  ([
    ,
    {
      operation: {
        returns: [status, schema],
      },
    },
  ]) => status !== 204 && !mediaTypeOf(schema),
)

test.each(returningJson)('%s: the example of its answer is valid', (_, { operation }, object) => {
  const [status, schema] = operation.returns
  const answerExample = jsonOf(responseOf(object.responses[status]))?.example
  expect(schema.safeParse(withJsonNames(schema, answerExample)).error).toBeUndefined()
})

const withExample = operations.filter(([, { operation }]) => operation.example !== undefined)

test.each(withExample)(
  '%s: the example of its body is valid',
  async (_, { operation: { body, example } }) => {
    expect(body?.safeParse(withJsonNames(body, await exampleAsRead(body, example))).success).toBe(true)
  },
)

/** A refusal of the assistants' protocol is a JSON-RPC error. */
const plainBody = (rpcCode: number | undefined, message: string) =>
  rpcCode === undefined ? { error: message } : { jsonrpc: '2.0', error: { code: rpcCode, message }, id: null }

const refusing = operations.filter(([, { operation }]) => Object.keys(operation.fails ?? {}).length > 0)

test.each(refusing)('%s: every refusal has its status, code and sentence', (_, { operation }, object) => {
  for (const [code, [status, message]] of Object.entries<RefusalSpec>(operation.fails ?? {})) {
    const response = responseOf(object.responses[status])
    const { problem, rpcCode } = refusalFormOf(operation, code)
    const mediaType = problem ? 'application/problem+json' : 'application/json'
    const body = problem ? problemBody(problem, status, message) : plainBody(rpcCode, message)
    expect(response.content?.[mediaType]?.examples?.[code]).toEqual({ value: body })
    expect(response.headers?.['X-Error-Code']).toMatchObject({
      schema: { enum: expect.arrayContaining([code]) },
    })
  }
})

test('an operation lists the problems that every operation can have', () => {
  const freeze = document.paths['/agents/{id}/freeze']?.post as OperationObject
  const codes = Object.entries(freeze.responses)
    .filter(([status]) => status !== '200')
    .map(([status, response]) => [
      status,
      Object.keys(jsonOf(responseOf(response))?.examples ?? {}).join(' '),
    ])
  expect(Object.fromEntries(codes)).toEqual({
    400: 'agent_not_active invalid_request invalid_json body_incomplete invalid_run',
    401: 'unauthenticated invalid_dpop_proof',
    403: 'account_suspended wrong_caller cross_site missing_scope',
    404: 'agent_not_found unknown_reference not_found',
    408: 'body_too_slow',
    409: 'in_progress',
    413: 'body_too_large',
    415: 'unsupported_media_type',
    422: 'idempotency_key_reused',
    429: 'rate_limited',
    500: 'internal',
    503: 'busy overloaded outcome_unknown unavailable',
  })
})

test.each(operations)(
  '%s: its callers and scope are in the security scheme and in the description',
  (_, { operation }, object) => {
    const callers = operation.callers.filter((caller: string) => caller !== 'public')
    // A public operation that reads `Authorization` accepts a payment there, or nothing.
    expect(object.security.length).toBe(operation.http?.reads?.authorization ? 2 : callers.length)
    expect(object['x-scope']).toBe(operation.scope)
    if (operation.scope) expect(object.description).toContain(`\`${operation.scope}\``)
  },
)

test.each(operations)('%s: every path parameter has an example and a maximum', (_, { operation }, object) => {
  const parameters = (object.parameters ?? []).filter(
    (parameter): parameter is ParameterObject => 'in' in parameter && parameter.in === 'path',
  )
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
  expect(parameters.map(({ name }) => name)).toEqual(names)
  for (const { example, schema } of parameters)
    expect([example, schema.maxLength]).toEqual([expect.any(String), 128])
})

test('a POST accepts an Idempotency-Key, unless it reads the request itself', () => {
  const takers = operations.filter(([, , { parameters }]) =>
    JSON.stringify(parameters).includes('IdempotencyKey'),
  )
  const posts = operations.filter(([, { operation }]) => takesIdempotencyKey(operation))
  expect(takers.map(([key]) => key)).toEqual(posts.map(([key]) => key))
})
