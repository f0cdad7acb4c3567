import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { sendOutcome } from '../../../../src/derive/http/respond.ts'
import { allOperations } from '../../../../src/kernel/contract/area.ts'
import { universalProblems } from '../../../../src/kernel/contract/problem.ts'

const declared = allOperations(areas).flatMap(({ operation }) => Object.entries(operation.fails ?? {}))
/** The specification, and the OpenAPI document for every answer with one of these, promise the header. */
const waits = [429, 503]
const refusals = new Map(
  [...declared, ...Object.entries(universalProblems)].flatMap(([code, [status]]) =>
    waits.includes(status) ? [[`${status} ${code}`, { status, code }] as const] : [],
  ),
)

/** Answers with the status and the code in the path. */
const server = createServer(({ url }, response) => {
  const [, status, code = ''] = String(url).split('/')
  void sendOutcome(response, {}, { status: Number(status), body: '{}', errorCode: code })
})
await once(server.listen(0, '127.0.0.1'), 'listening')
afterAll(() => void server.close())

test.each([...refusals.values()])(
  'a $status with the code $code says when to repeat the request',
  async ({ status, code }) => {
    const { port } = server.address() as AddressInfo
    const { headers } = await fetch(`http://127.0.0.1:${port}/${status}/${code}`)
    expect([headers.get('x-error-code'), headers.get('retry-after')]).toEqual([
      code,
      expect.stringMatching(/^\d+$/),
    ])
  },
)
