import { expect } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { eventTypesOf } from '../../../src/derive/openapi/event-types.ts'
import type { Area } from '../../../src/kernel/contract/area.ts'
import {
  isWritingOperation,
  type RegisteredOperation,
  readsRawBody,
  refusalFormOf,
} from '../../../src/kernel/contract/operation.ts'
import { universalProblems } from '../../../src/kernel/contract/problem.ts'
import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import { problemBody } from '../../../src/kernel/run/outcome.ts'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import type { OutboundHttp, OutboundRequest } from '../../../src/ports/outbound.ts'
import { protocolRefusals } from '../../../src/surface/mcp/api.ts'
import { withJsonNames } from '../../../src/values/json-names.ts'
import { aChallenge } from '../commerce/challenges.ts'
import { aKey, anAgent, aToken } from '../factories.ts'
import type { HttpResponse, RequestOptions, TestService } from '../harness.ts'
import { signedInTo } from '../identity/console.ts'
import { operations, World, withSession } from './world.ts'
import { openidAnswer } from './world-sso.ts'

const EVERYWHERE = ['x-request-id', 'x-data-residency']
const COUNTED = ['limit', 'remaining', 'reset'].map(name => `x-ratelimit-${name}`)
const isNumber = (text: string | null): boolean => text !== null && /^\d+$/.test(text)

function refusal(
  { operation }: RegisteredOperation,
  { status, headers, body }: HttpResponse,
): [unknown, unknown] {
  const code = String(headers.get('x-error-code'))
  const declared: Readonly<Record<string, readonly [number, string]>> = {
    ...universalProblems,
    ...operation.fails,
  }
  const isDeclared = Object.hasOwn(declared, code)
  const sentence: unknown = body?.error
  const error = typeof sentence === 'string' && /\S/.test(sentence) ? sentence : 'a sentence'
  const problem = refusalFormOf(operation, code).problem
  if (Object.hasOwn(protocolRefusals, code))
    return [
      { code, isDeclared: true, status: declared[code]?.[0], version: '2.0' },
      { code, isDeclared, status, version: body?.jsonrpc },
    ]
  const form = problem ? problemBody(problem, declared[code]?.[0] ?? 0, error) : { error }
  return [
    { code, isDeclared: true, status: declared[code]?.[0], body: form },
    { code, isDeclared, status, body },
  ]
}

const USUAL =
  /^(connection|date|keep-alive|transfer-encoding|vary|etag|allow|retry-after|idempotent-replayed|cache-control|referrer-policy|content-.*|x-.*)$/

/** Headers of an answer that its contract does not declare for its status. */
const undeclaredHeaders = (
  { operation }: RegisteredOperation,
  { status, headers }: HttpResponse,
): string[] => {
  const declared = Object.keys(operation.http?.headers?.[status] ?? {}).map(name => name.toLowerCase())
  return [...headers.keys()].filter(
    name => !USUAL.test(name) && !declared.includes(name) && !(status === 401 && name === 'www-authenticate'),
  )
}

/** Checks what every answer of this operation must have, in one comparison, as it runs thousands of times. */
function expectDeclaredAnswer(
  registered: RegisteredOperation,
  requestId: string,
  answer: HttpResponse,
): void {
  const { status, headers, body } = answer
  const isCounted = !registered.operation.limits?.unmetered
  const [declared, received] =
    status >= 400
      ? refusal(registered, answer)
      : [
          { status: registered.operation.returns[0], error: undefined },
          { status, error: body?.error },
        ]
  expect({
    everywhere: EVERYWHERE.map(name => headers.get(name)),
    counted: COUNTED.map(name => (isCounted ? isNumber(headers.get(name)) : headers.get(name))),
    undeclared: undeclaredHeaders(registered, answer),
    received,
  }).toEqual({
    everywhere: [requestId, 'EU'],
    counted: COUNTED.map(() => (isCounted ? true : null)),
    undeclared: [],
    received: declared,
  })
}

export const invalidCredentials = (key: string): [string, RequestOptions][] => [
  ['nothing', {}],
  ['a key of nobody', { token: 'sk_sandbox_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' }],
  ['a token of nobody', { token: 'at_test_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ' }],
  ['no key at all', { token: 'garbage' }],
  ['half a key', { token: key.slice(0, -1) }],
  ['Basic', { headers: { authorization: `Basic ${btoa(`${key}:`)}` } }],
  ['a wrong secret', { headers: { 'x-dashboard-secret': 'guess' } }],
  ['an empty secret', { headers: { 'x-dashboard-secret': '' } }],
]

export const withBody = (body: unknown): { body?: unknown } => (body === undefined ? {} : { body })
export const isPublic = ({ operation }: RegisteredOperation): boolean => operation.callers.includes('public')
export const hasParameter = ({ operation }: RegisteredOperation): boolean => operation.path.includes('{')
/** The owner's records that each of their agents may read. */
const OF_ALL_AGENTS = new Set(['fillerKeys.get'])

/** Whether an agent finds only its own records at this path. */
export const belongsToAgents = ({ key, operation }: RegisteredOperation): boolean =>
  operation.callers.includes('agent') && !OF_ALL_AGENTS.has(key)

export const isWrite = ({ operation }: RegisteredOperation): boolean =>
  operation.method !== 'GET' || isWritingOperation(operation)
/** Whether the operation parses JSON or no body. */
export const parsesBody = ({ operation }: RegisteredOperation): boolean =>
  operation.method !== 'GET' && !readsRawBody(operation)

const withId = (path: string, id: string): string =>
  path.replace(/[^/]+_[0-9a-z]{26}(?=\/|$)|(?<=\/merchants\/)shop[a-z]+$/g, id)

/** Checks that another caller finds nothing, except records shared by all, such as presets. */
export function expectHidden(path: string, { status }: HttpResponse): void {
  expect(status).toBe(withId(path, 'x') === path ? 200 : 404)
}

/** Whether a value is valid for this member; NUL is not. */
export const accepts = (schema: z.ZodType, value: unknown): boolean =>
  value !== '\u0000' && schema.safeParse(withJsonNames(schema, value)).success

export const isRoute = (method: string, path: string): boolean =>
  operations.some(
    ({ operation }) =>
      operation.method === method &&
      new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )

const isSigned = ({ operation }: RegisteredOperation): boolean => operation.callers.includes('signed')
const everyCase = operations.map(registered => [registered.key, registered] as const)

/** Operations for callers with or without a credential. */
export const cases = everyCase.filter(([, registered]) => !isSigned(registered))
/** Operations of external systems, which sign their requests. */
export const signedCases = everyCase.filter(([, registered]) => isSigned(registered))

/** The first noun of each part of the operations: each test file covers one part, to use every processor. */
const FIRST_NOUNS = ['customers', 'agents', 'transfers', 'audit'] as const

/** The operations from this noun to the first one of the next part. */
export function casesFrom(first: (typeof FIRST_NOUNS)[number]): typeof cases {
  const nouns = Object.keys(areas)
  const [next] = FIRST_NOUNS.slice(FIRST_NOUNS.indexOf(first) + 1)
  const part = nouns.slice(nouns.indexOf(first), next ? nouns.indexOf(next) : nouns.length)
  return casesOf(part)
}

export const casesOf = (nouns: readonly string[]): typeof cases =>
  cases.filter(([key]) => nouns.includes(key.split('.')[0] as string))

/** A body without values that change from moment to moment: instants and ages in seconds. */
export const withoutTimes = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null), (name, value) =>
    /^\d{4}-\d\d-\d\dT/.test(value) || name.endsWith('Seconds') ? typeof value : value,
  )

/** The events that a request may cause: those of the operation, and of the reactions to them. */
export function possibleEvents({ operation }: RegisteredOperation): Set<string> {
  const events = new Set(Object.keys(operation.emits ?? {}))
  for (const event of events)
    for (const { reactions } of Object.values(areas))
      for (const caused of Object.keys((reactions as Area['reactions'])[event]?.emits ?? {}))
        events.add(caused)
  return events
}

/** The schema of an operation's answer if it is a record that can change. */
const recordOf = ({ operation }: RegisteredOperation): z.ZodObject | undefined => {
  const schema = operation.returns[1]
  return schema instanceof z.ZodObject && 'updatedAt' in schema.shape ? schema : undefined
}

const exampleId = (schema: z.ZodObject | undefined): string | undefined => {
  const member: z.ZodType | undefined = schema?.shape.id
  return Object.values(member?.meta()?.examples ?? []).map(String)[0]
}

/**
 * The GET that returns the record of a write's answer: at the same path, or by the record's id. The key that
 * `keys.current` returns depends on the caller.
 */
export function readerOf(registered: RegisteredOperation): RegisteredOperation | undefined {
  const record = recordOf(registered)
  if (!record || !isWrite(registered)) return undefined
  const readers = operations.filter(
    other =>
      other.operation.method === 'GET' &&
      other.key !== 'keys.current' &&
      recordOf(other) &&
      other.operation.callers[0] === registered.operation.callers[0],
  )
  const id = exampleId(record)
  return (
    readers.find(({ operation }) => operation.path === registered.operation.path) ??
    readers.find(other => id !== undefined && exampleId(recordOf(other)) === id)
  )
}

export function readPath(
  reader: RegisteredOperation,
  registered: RegisteredOperation,
  path: string,
  { agentId, id }: HttpResponse['body'],
) {
  const template = reader.operation.path
  if (template === registered.operation.path) return path
  return template.replace(/\{\w+\}(?=\/)/, agentId).replace(/\{\w+\}$/, id)
}

/** The members of a record that another view of it contains, too. */
export const commonMembers = (record: HttpResponse['body'], view: HttpResponse['body']) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name in view))

/** Answers as receivers of webhooks do; a request that can pay gets a 402. */
function answerTo({ headers = {} }: OutboundRequest): Record<string, string> {
  return 'accept-payment' in headers ? { 'www-authenticate': serializeChallenge(aChallenge()) } : {}
}

/** Answers every outgoing request itself, so that nothing leaves the machine. */
export const acceptingOutbound: OutboundHttp = {
  judge: () => undefined,
  isAllowed: () => false,
  send: async request => {
    const headers = answerTo(request)
    const openid = await openidAnswer(request)
    return {
      kind: 'answered',
      status: 'www-authenticate' in headers ? 402 : openid ? 200 : 204,
      headers,
      headerLists: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      body: Buffer.from(openid ? JSON.stringify(openid) : ''),
      cut: false,
      latencyMs: 1,
    }
  },
}

/**
 * Two owners with everything that valid requests need: created for each request, or shared by requests that
 * change nothing.
 */
export async function worldsOf(service: TestService) {
  const [owner, other] = [
    await withSession(service, await service.owner()),
    await withSession(service, await service.owner()),
  ]
  const [sharedWorld, foreignWorld] = [owner, other].map(by => new World(service, by, { keeps: true })) as [
    World,
    World,
  ]
  /** An agent without records: those of the tests belong to other agents. */
  const loner = await anAgent(owner.client)
  const agentToken = String((await aToken(owner.client, loner.id, { scopes: tokenScopes.possible })).token)
  await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
  const liveKey = String((await aKey(owner.client, { environment: 'live' })).key)
  const [{ headers: viewerSession }, { headers: liveSession }] = [
    await signedInTo(service, owner, { role: 'viewer' }),
    await signedInTo(service, { ...owner, mode: 'live' }),
  ]
  const freshWorld = new World(service, owner)
  return {
    owner,
    freshWorld,
    viewerSession,
    liveSession,
    sharedWorld,
    foreignWorld,
    loner,
    agentToken,
    liveKey,
    /** A session ends after five idle minutes, and the tests may take longer before they use it. */
    keepSignedIn: () => service.sql('update console_sessions set last_used_at = now()'),
  }
}

/** Returns a function that sends a request and checks what every answer of its operation must have. */
export function checkedSender(world: World) {
  let requests = 0
  return async (
    registered: RegisteredOperation,
    path: string,
    { headers, ...how }: RequestOptions,
  ): Promise<HttpResponse> => {
    const requestId = `contract-${requests++}`
    const answer = await world.send(registered, path, {
      ...how,
      headers: { ...headers, 'x-request-id': requestId },
    })
    expectDeclaredAnswer(registered, requestId, answer)
    return answer
  }
}

/** Checks that every event matches its published schema exactly. */
export function expectPublishedForms(events: readonly { event: string; data: object }[]): void {
  const types = new Map(eventTypesOf(areas).map(type => [type.event, type]))
  const forms = new Map([...types].map(([event, { schema }]) => [event, z.fromJSONSchema(schema)]))
  for (const { event, data } of events) {
    expect({ event, problem: forms.get(event)?.safeParse(data).error?.message }).toEqual({ event })
    expect(Object.keys((types.get(event)?.schema.properties ?? {}) as object)).toEqual(
      expect.arrayContaining(Object.keys(data)),
    )
  }
}
