import { beforeAll, describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import { mediaTypeOf } from '../../src/kernel/contract/file.ts'
import { takesIdempotencyKey } from '../../src/kernel/contract/operation.ts'
import { decodeJson, encodeJson } from '../../src/values/json-names.ts'
import {
  type cases,
  type checkedSender,
  commonMembers,
  isWrite,
  possibleEvents,
  readerOf,
  readPath,
  withBody,
  type worldsOf,
} from '../support/contract/contract.ts'
import { credentials } from '../support/contract/world.ts'
import type { HttpResponse, TestService } from '../support/harness.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

interface Worlds extends Pick<Awaited<ReturnType<typeof worldsOf>>, 'owner' | 'freshWorld'> {
  readonly service: TestService
  readonly recorder: SqlRecorder
  readonly send: ReturnType<typeof checkedSender>
}

/** Payments there belong to no owner, so they emit no event. */
const OF_NOBODY = new Set(['mppMerchants.get', 'mppMerchants.post'])

const PAID_BY_STEPS = new Set(['mpp.pay', 'mpp.mint'])

/** Calls each operation once with a valid request, and tests the answer. */
export function testValidRequests(
  called: typeof cases,
  { service, recorder, owner, freshWorld, send }: Worlds,
): void {
  describe.each(called)('%s, called with a valid request,', (key, registered) => {
    const [status, schema] = registered.operation.returns
    const sendTwice = async (): Promise<{
      path: string
      first: HttpResponse
      again: HttpResponse
      requestId: string
    }> => {
      const { path, body, headers: made } = await freshWorld.prepare(registered)
      const options = { ...credentials(registered, owner), ...withBody(body) }
      const headers = { ...options.headers, ...made, 'idempotency-key': key }
      const first = await recorder.measure(key, () => send(registered, path, { ...options, headers }))
      const requestId = String(first.headers.get('x-request-id'))
      return {
        path,
        first,
        again: takesIdempotencyKey(registered.operation)
          ? await send(registered, path, { ...options, headers })
          : first,
        requestId,
      }
    }
    let answers: Awaited<ReturnType<typeof sendTwice>>
    beforeAll(async () => {
      answers = await sendTwice()
    })

    test('answers as its contract says', () => {
      const { first } = answers
      expect([first.status, first.headers.get('x-error-code')]).toEqual([status, null])
      if (status === 204) return expect(first.text).toBe('')
      const type = mediaTypeOf(schema)
      if (type) return expect(first.text).not.toBe('')
      expect(encodeJson(schema, decodeJson(schema, first.body))).toEqual(first.body)
    })

    const reader = readerOf(registered)
    if (reader)
      test('answers with the record as it is read afterwards', async () => {
        const { path, first } = answers
        const { body } = first
        const { body: read } = await send(
          reader,
          readPath(reader, registered, path, body),
          credentials(reader, owner),
        )
        expect(commonMembers(read, body)).toEqual(commonMembers(body, read))
        expect(read).toHaveProperty('updatedAt', body.updatedAt)
      })

    test('records its events with the operation that caused them, or nothing', async () => {
      const { requestId } = answers
      const events = await service.sql('select event, action from events where request_id = $1', [requestId])
      const changes = isWrite(registered) && registered.operation.run !== 'read'
      const tells = changes && !OF_NOBODY.has(key) && registered.operation.requires !== 'passkeys'
      const own = events.filter(({ action }) => action === key)
      expect(own.length > 0).toBe(tells)
      for (const { event } of own) expect(possibleEvents(registered)).toContain(event)
      // A read may have steps of its area that store something, such as an answer of the canvas. A machine payment goes on
      // by the steps of its run, or of its request.
      const hasSteps = registered.operation.run === 'read' || PAID_BY_STEPS.has(key)
      const steps = hasSteps ? [`${key.split('.')[0]}.`] : []
      const others = events.filter(({ action }) => action !== key)
      expect(others.filter(({ action }) => !steps.some(area => action.startsWith(area)))).toEqual([])
    })

    if (takesIdempotencyKey(registered.operation) && registered.operation.run !== 'read')
      test('is not repeated with the same idempotency key', async () => {
        const { first, again } = answers
        expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([status, 'true'])
        const shownOnce = Object.entries<z.ZodType>(schema.shape).filter(([, member]) => member.meta()?.once)
        expect(again.body).toEqual({
          ...first.body,
          ...Object.fromEntries(shownOnce.map(([name]) => [name, null])),
        })
      })
  })
}
