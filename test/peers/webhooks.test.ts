import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { signWebhookHeaders, standardWebhookSecret } from '../../src/values/webhook-signature.ts'
import { runPeer } from '../support/processes/peer.ts'

const BODY =
  '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"merchant":"Bäckerei 🥐"}}'
const [OLD, NEW] = ['whsec_old', 'whsec_new']

/** The headers of an attempt this many seconds ago. */
const headersOf = (secondsAgo: number, next: string | null = null): Record<string, string> =>
  signWebhookHeaders(
    {
      deliveryId: 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944',
      eventId: 'event_01jd8x2m4yf0r5s8a6b1c7d9xk',
      at: new Date(Date.now() - secondsAgo * 1_000),
      event: 'agent.frozen',
      body: BODY,
      requestId: 'request-1',
    },
    { current: OLD, next },
  )

const headers = headersOf(0)
const rotating = headersOf(0, NEW)
const cases = [
  { Headers: headers, Body: BODY, Secret: OLD, genuine: true },
  { Headers: headers, Body: `${BODY} `, Secret: OLD, genuine: false },
  { Headers: headers, Body: BODY, Secret: NEW, genuine: false },
  { Headers: rotating, Body: BODY, Secret: OLD, genuine: true },
  { Headers: rotating, Body: BODY, Secret: NEW, genuine: true },
  { Headers: { ...headers, 'X-Service-Timestamp': '1' }, Body: BODY, Secret: OLD, genuine: false },
]
const verdicts = cases.map(({ genuine }) => genuine)

test('a receiver in Go accepts our signatures and no others', async () => {
  const output = await runPeer('go', ['run', 'test/peers/verify.go'], JSON.stringify(cases))
  expect(JSON.parse(output)).toEqual(verdicts)
})

test('the library of Standard Webhooks for Go accepts our signatures and no others', async () => {
  const changed = { ...headers, 'webhook-timestamp': '1' }
  const standardCases = [...cases.slice(0, -1), { Headers: changed, Body: BODY, Secret: OLD }].map(
    ({ Secret, ...one }) => ({ ...one, StandardSecret: standardWebhookSecret(Secret) }),
  )
  const command = ['run', '-C', 'test/peers/standard-webhooks', '.']
  const output = await runPeer('go', command, JSON.stringify(standardCases))
  expect(JSON.parse(output)).toEqual(verdicts)
})

test('the documented receiver in Python accepts our signatures and no others, and says no to odd headers', async () => {
  const documented = /```python\n([\s\S]*?)```/.exec(readFileSync('docs/how-to/webhooks.md', 'utf8'))?.[1]
  const program = `${documented}
import json, sys
print(json.dumps([verify(w["Headers"], w["Body"].encode(), w["Secret"]) for w in json.load(sys.stdin)]))`
  const { 'X-Service-Timestamp': _, ...untimed } = headers
  const lowerCased = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const odd = [
    headersOf(400),
    {},
    untimed,
    { ...headers, 'X-Service-Timestamp': 'soon' },
    { ...headers, 'X-Service-Timestamp': '9'.repeat(5_000) },
    { ...headers, 'X-Service-Timestamp': '١٢٣' },
    { ...headers, 'X-Service-Signature': 'sha256=ä' },
    { ...headers, 'X-Service-Signature': '' },
  ].map(Headers => ({ Headers, Body: BODY, Secret: OLD }))
  const good = { Headers: lowerCased, Body: BODY, Secret: OLD }
  const output = await runPeer('python3', ['-c', program], JSON.stringify([...cases, ...odd, good]))
  expect(JSON.parse(output)).toEqual([...verdicts, ...odd.map(() => false), true])
})

test('a missing program is named with what to install', async () => {
  await expect(runPeer('no-such-program', [], '')).rejects.toThrow(
    'no-such-program is missing. Install it: npm run test:peers needs go and python3.',
  )
})
