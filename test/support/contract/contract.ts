import { expect } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { eventTypesOf } from '../../../src/derive/openapi/event-types.ts'
import type { Area } from '../../../src/kernel/contract/area.ts'
import type { Registered } from '../../../src/kernel/contract/operation.ts'
import { problems } from '../../../src/kernel/contract/problem.ts'
import type { Outbound } from '../../../src/ports/outbound.ts'
import { aKey, anAgent, aToken } from '../factories.ts'
import type { HttpResponse, RequestOptions, TestService } from '../harness.ts'
import { operations, World } from './world.ts'

const EVERYWHERE = ['x-request-id', 'x-data-residency']
const COUNTED = ['limit', 'remaining', 'reset'].map(name => `x-ratelimit-${name}`)
const isNumber = (text: string | null): boolean => text !== null && /^\d+$/.test(text)

/** How a refusal of this operation stands in its contract, and how it has come. */
function refusal({ operation }: Registered, { status, headers, body }: HttpResponse): [unknown, unknown] {
  const code = String(headers.get('x-error-code'))
  const declared: Readonly<Record<string, readonly [number, string]>> = { ...problems, ...operation.fails }
  const isDeclared = Object.hasOwn(declared, code)
  const sentence: unknown = body?.error
  const error = typeof sentence === 'string' && /\S/.test(sentence) ? sentence : 'a sentence'
  return [
    { code, isDeclared: true, status: declared[code]?.[0], body: { error } },
    { code, isDeclared, status, body },
  ]
}

/** What every answer of this operation must have. It is asked thousands of times, so it is compared at once. */
function expectPromised(one: Registered, requestId: string, answer: HttpResponse): void {
  const { status, headers, body } = answer
  const counted = !one.operation.unmetered
  const [promised, received] =
    status >= 400
      ? refusal(one, answer)
      : [
          { status: one.operation.returns[0], error: undefined },
          { status, error: body?.error },
        ]
  expect({
    everywhere: EVERYWHERE.map(name => headers.get(name)),
    counted: COUNTED.map(name => (counted ? isNumber(headers.get(name)) : headers.get(name))),
    received,
  }).toEqual({
    everywhere: [requestId, 'EU'],
    counted: COUNTED.map(() => (counted ? true : null)),
    received: promised,
  })
}

/** Credentials that open nothing, some of them much like this key. */
export const garbageLike = (key: string): [string, RequestOptions][] => [
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
export const isPublic = ({ operation }: Registered): boolean => operation.callers.includes('public')
export const hasParameter = ({ operation }: Registered): boolean => operation.path.includes('{')
export const isWrite = ({ operation }: Registered): boolean => operation.method !== 'GET'

/** The parameters of the last name in a path, replaced. */
const named = (path: string, id: string): string => path.replace(/[^/]+_[0-9a-z]{26}(?=\/|$)/g, id)

/** An address answers another caller only where it names no record, but what everybody sees, such as a preset. */
export function expectNotTheirs(path: string, { status }: HttpResponse): void {
  expect(status).toBe(named(path, 'x') === path ? 200 : 404)
}

/** Whether a value is good for this member, NUL aside. */
export const accepts = (schema: z.ZodType, value: unknown): boolean =>
  value !== '\u0000' && schema.safeParse(value).success

/** Whether an address leads somewhere by this method. */
export const leads = (method: string, path: string): boolean =>
  operations.some(
    ({ operation }) =>
      operation.method === method &&
      new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )

export const cases = operations.map(one => [one.key, one] as const)
export const which = (wanted: (one: Registered) => boolean) => cases.filter(([, one]) => wanted(one))

/** A body without what a moment later is another: instants, and how many seconds ago something was. */
export const timeless = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null), (name, value) =>
    /^\d{4}-\d\d-\d\dT/.test(value) || name.endsWith('Seconds') ? typeof value : value,
  )

/** What a request may cause: the operation's own events, and those of the areas that react to them. */
export function possible({ operation }: Registered): Set<string> {
  const events = new Set(Object.keys(operation.emits ?? {}))
  for (const event of events)
    for (const { reactions } of Object.values(areas))
      for (const caused of Object.keys((reactions as Area['reactions'])[event]?.emits ?? {}))
        events.add(caused)
  return events
}

/** What a contract answers with, where it is a record that is changed from time to time. */
const recordOf = ({ operation }: Registered): z.ZodObject | undefined => {
  const schema = operation.returns[1]
  return schema instanceof z.ZodObject && 'updatedAt' in schema.shape ? schema : undefined
}

const exampleId = (schema: z.ZodObject | undefined): string | undefined => {
  const member: z.ZodType | undefined = schema?.shape.id
  return Object.values(member?.meta()?.examples ?? []).map(String)[0]
}

/** The GET that shows the record with which a write answers: under the same path, or by the record's id. */
export function readerOf(one: Registered): Registered | undefined {
  const record = recordOf(one)
  if (!record || !isWrite(one)) return undefined
  const readers = operations.filter(
    other =>
      other.operation.method === 'GET' &&
      recordOf(other) &&
      other.operation.callers[0] === one.operation.callers[0],
  )
  const id = exampleId(record)
  return (
    readers.find(({ operation }) => operation.path === one.operation.path) ??
    readers.find(other => id !== undefined && exampleId(recordOf(other)) === id)
  )
}

/** Where a GET shows the record with which a request to this path was answered. */
export function whereToRead(
  reader: Registered,
  one: Registered,
  path: string,
  { agentId, id }: HttpResponse['body'],
) {
  const template = reader.operation.path
  if (template === one.operation.path) return path
  return template.replace(/\{\w+\}(?=\/)/, agentId).replace(/\{\w+\}$/, id)
}

/** Of what a record shows that which another view of it shows, too. */
export const inCommon = (record: HttpResponse['body'], view: HttpResponse['body']) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name in view))

/** Whoever is sent something takes it: nothing leaves the machine. */
export const takesAll: Outbound = {
  judge: () => undefined,
  send: async () => ({
    ...{ kind: 'answered', status: 204, headers: {} },
    ...{ body: new Uint8Array(), cut: false, latencyMs: 1 },
  }),
}

/** Two owners with all that is needed to ask for anything: once more each time, or for what is refused or only read. */
export async function worldsOf(service: TestService) {
  const [owner, other] = [await service.owner(), await service.owner()]
  const [standing, theirs] = [owner, other].map(whose => new World(service, whose, { keeps: true })) as [
    World,
    World,
  ]
  /** Of an agent that has nothing: what the tests make belongs to others. */
  const loner = await anAgent(owner.client)
  const agentToken = String((await aToken(owner.client, loner.id)).token)
  await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
  const liveKey = String((await aKey(owner.client, { environment: 'live' })).key)
  return { owner, fresh: new World(service, owner), standing, theirs, loner, agentToken, liveKey }
}

/** Sends it, and checks what every answer of this operation must have. */
export function sending(world: World) {
  let asked = 0
  return async (
    one: Registered,
    path: string,
    { headers, ...how }: RequestOptions,
  ): Promise<HttpResponse> => {
    const requestId = `contract-${asked++}`
    const answer = await world.send(one, path, { ...how, headers: { ...headers, 'x-request-id': requestId } })
    expectPromised(one, requestId, answer)
    return answer
  }
}

/** Every event has the form that is published of it, and no member that is not. */
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
