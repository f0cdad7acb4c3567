import { afterEach, beforeEach, expect } from '@jest/globals'
import { anAgent, aPolicy } from '../factories.ts'
import { type HttpResponse, startTestService, type TestService } from '../harness.ts'

const TABLES = ['policies', 'policy_versions', 'agents', 'keys', 'customers', 'events', 'idempotency_keys']

function expectNoChanges({ sql }: Pick<TestService, 'sql'>): void {
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
  message?: RegExp | string,
): void {
  expect({ status, code: headers.get('x-error-code') }).toEqual({ status: expected, code })
  expect(Object.keys(body)).toEqual(['error'])
  expect(body.error.length).toBeLessThan(1_000)
  if (message) expect(body.error).toMatch(message)
  expect(headers.get('x-data-residency')).toBe('EU')
  expect(headers.get('x-request-id')).toBeTruthy()
}

/** A service with two owners and records that bad requests must not change. */
export async function startUnchangedService() {
  const service = await startTestService({ own: true })
  const [owner, stranger] = [await service.owner(), await service.owner()]
  for (const { client } of [owner, stranger]) for (let count = 0; count < 3; count++) await aPolicy(client)
  const agent = await anAgent(owner.client)
  expectNoChanges(service)
  return { service, owner, stranger, agent }
}
