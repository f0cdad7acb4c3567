import { beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { mediaTypeOf } from '../../src/kernel/contract/file.ts'
import {
  cases,
  inCommon,
  isWrite,
  possible,
  readerOf,
  type sending,
  whereToRead,
  withBody,
  type worldsOf,
} from '../support/contract/contract.ts'
import { credentials } from '../support/contract/world.ts'
import type { HttpResponse, TestService } from '../support/harness.ts'

interface Worlds extends Pick<Awaited<ReturnType<typeof worldsOf>>, 'owner' | 'fresh'> {
  readonly service: TestService
  readonly send: ReturnType<typeof sending>
}

/** Each operation is asked once as its contract wishes it. */
export function askedRightly({ service, owner, fresh, send }: Worlds): void {
  describe.each(cases)('%s, asked rightly,', (key, one) => {
    const [status, schema] = one.operation.returns
    const ask = async (): Promise<{
      path: string
      first: HttpResponse
      again: HttpResponse
      requestId: string
    }> => {
      const { path, body } = await fresh.prepare(one)
      const how = { ...credentials(one, owner), ...withBody(body) }
      const headers = { ...how.headers, 'idempotency-key': key }
      const first = await send(one, path, { ...how, headers })
      const requestId = String(first.headers.get('x-request-id'))
      return {
        path,
        first,
        again: one.operation.method === 'POST' ? await send(one, path, { ...how, headers }) : first,
        requestId,
      }
    }
    let answers: Awaited<ReturnType<typeof ask>>
    beforeAll(async () => {
      answers = await ask()
    })

    test('answers as its contract says', () => {
      const { first } = answers
      expect([first.status, first.headers.get('x-error-code')]).toEqual([status, null])
      if (status === 204) return expect(first.text).toBe('')
      const type = mediaTypeOf(schema)
      if (type) return expect(first.text).not.toBe('')
      expect(z.encode(schema, z.decode(schema, first.body))).toEqual(first.body)
    })

    const reader = readerOf(one)
    if (reader)
      test('answers with the record as it is read from then on', async () => {
        const { path, first } = answers
        const { body } = first
        const { body: read } = await send(
          reader,
          whereToRead(reader, one, path, body),
          credentials(reader, owner),
        )
        expect(inCommon(read, body)).toEqual(inCommon(body, read))
        expect(read).toHaveProperty('updatedAt', body.updatedAt)
      })

    test('leaves its events and an audit row for each, or nothing', async () => {
      const { requestId } = answers
      const events = await service.sql('select event from events where request_id = $1', [requestId])
      const audit = await service.sql('select event, action from audit_entries where request_id = $1', [
        requestId,
      ])
      expect(events.length > 0).toBe(isWrite(one) && one.operation.readOnly !== true)
      expect(audit.map(({ event }) => event).toSorted()).toEqual(events.map(({ event }) => event).toSorted())
      for (const { action } of audit) expect(action).toBe(key)
      for (const { event } of events) expect(possible(one)).toContain(event)
    })

    if (one.operation.method === 'POST' && !one.operation.readOnly)
      test('is not done again with the same idempotency key', async () => {
        const { first, again } = answers
        expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([status, 'true'])
        const once = Object.entries<z.ZodType>(schema.shape).filter(([, member]) => member.meta()?.once)
        expect(again.body).toEqual({
          ...first.body,
          ...Object.fromEntries(once.map(([name]) => [name, null])),
        })
      })
  })
}
