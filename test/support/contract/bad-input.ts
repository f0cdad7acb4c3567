import { afterEach, beforeEach, expect } from '@jest/globals'
import { anAgent, aPolicy } from '../factories.ts'
import { type HttpResponse, startTestService, type TestService } from '../harness.ts'

const TABLES = [
  'policies',
  'policy_versions',
  'agents',
  'keys',
  'customers',
  'events',
  'audit_entries',
  'idempotency_keys',
]

/** Everything that a request could have changed is as it was, after each test of the file. */
function nothingChanges({ sql }: Pick<TestService, 'sql'>): void {
  const columns = TABLES.map(table => `(select count(*) from ${table}) as ${table}`)
  const counts = async () => (await sql(`select ${columns.join(', ')}`))[0]
  let before: unknown
  beforeEach(async () => {
    before = await counts()
  })
  afterEach(async () => expect(await counts()).toEqual(before))
}

export function expectRefusal(
  { status, headers, body }: HttpResponse,
  expected: number,
  code: string,
  words?: RegExp | string,
): void {
  expect({ status, code: headers.get('x-error-code') }).toEqual({ status: expected, code })
  expect(Object.keys(body)).toEqual(['error'])
  expect(body.error.length).toBeLessThan(1_000)
  if (words) expect(body.error).toMatch(words)
  expect(headers.get('x-data-residency')).toBe('EU')
  expect(headers.get('x-request-id')).toBeTruthy()
}

/** A service in which two owners have something that a bad request must leave alone. */
export async function serviceToLeaveAlone() {
  const service = await startTestService()
  const [owner, stranger] = [await service.owner(), await service.owner()]
  for (const { client } of [owner, stranger]) for (let made = 0; made < 3; made++) await aPolicy(client)
  const agent = await anAgent(owner.client)
  nothingChanges(service)
  return { service, owner, stranger, agent }
}
