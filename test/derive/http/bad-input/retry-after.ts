import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { sendOutcome } from '../../../../src/derive/http/respond.ts'
import { allOperations } from '../../../../src/kernel/contract/area.ts'
import { universalProblems } from '../../../../src/kernel/contract/problem.ts'

const declared = allOperations(areas).flatMap(({ operation }) => Object.entries(operation.fails ?? {}))
const codes = new Set(
  [...declared, ...Object.entries(universalProblems)].flatMap(([code, [status]]) =>
    status === 503 ? [code] : [],
  ),
)

/** Answers with the code in the path. */
const server = createServer(
  ({ url }, response) =>
    void sendOutcome(response, {}, { status: 503, body: '{}', errorCode: String(url).slice(1) }),
)
await once(server.listen(0, '127.0.0.1'), 'listening')
afterAll(() => void server.close())

test.each([...codes])('a 503 with the code %s says when to repeat the request', async code => {
  const { port } = server.address() as AddressInfo
  const { headers } = await fetch(`http://127.0.0.1:${port}/${code}`)
  expect([headers.get('x-error-code'), headers.get('retry-after')]).toEqual([
    code,
    expect.stringMatching(/^\d+$/),
  ])
})
