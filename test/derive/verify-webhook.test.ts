import { execFile } from 'node:child_process'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from '@jest/globals'
import { verifyWebhook, WebhookRejected } from '../../src/derive/client.ts'

const run = promisify(execFile)
const SECRET = 'whsec_of_the_tests'
const BODY = '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"merchant":"Bäckerei"}}'

const sign = (secret: string, deliveryId: string, timestamp: string, body = BODY): string =>
  `sha256=${createHmac('sha256', secret).update(`${deliveryId}.${timestamp}.${body}`).digest('hex')}`

/** The headers of a webhook sent this many seconds ago. */
function headersOf(secondsAgo = 0, secret = SECRET): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - secondsAgo)
  return {
    'X-Service-Delivery-Id': 'delivery_1-2.2',
    'X-Service-Event-Id': 'event_1',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': sign(secret, 'delivery_1-2.2', timestamp),
  }
}

const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

describe('a webhook', () => {
  test.each([
    ['headers of Node', lowerCased(headersOf()), BODY],
    ['headers of fetch', new Headers(headersOf()), new TextEncoder().encode(BODY)],
    ['any spelling', headersOf(), Buffer.from(BODY)],
  ])('is accepted with %s', (_, headers, body) => {
    const message = {
      ...JSON.parse(BODY),
      eventId: 'event_1',
      id: 'delivery_1',
      deliveryId: 'delivery_1-2.2',
    }
    expect(verifyWebhook(headers, body, SECRET)).toEqual(message)
  })

  test('is accepted with either signature while the secret is being replaced', () => {
    const headers = headersOf(0, 'old')
    const next = sign(SECRET, 'delivery_1-2.2', String(headers['X-Service-Timestamp']))
    const both = { ...headers, 'X-Service-Signature-Next': next }
    for (const secret of ['old', SECRET]) expect(verifyWebhook(both, BODY, secret).id).toBe('delivery_1')
    expect(() => verifyWebhook(both, BODY, 'other')).toThrow(WebhookRejected)
  })

  const validHeaders = headersOf()
  test.each<[string, Record<string, string>, string]>([
    ['another secret', headersOf(0, 'other'), BODY],
    ['another body', validHeaders, `${BODY} `],
    ['another delivery id', { ...validHeaders, 'X-Service-Delivery-Id': 'delivery_1-3' }, BODY],
    [
      'another timestamp',
      { ...validHeaders, 'X-Service-Timestamp': `${Number(validHeaders['X-Service-Timestamp']) + 1}` },
      BODY,
    ],
    ['no signature', { ...validHeaders, 'X-Service-Signature': '' }, BODY],
    [
      'half a signature',
      { ...validHeaders, 'X-Service-Signature': String(validHeaders['X-Service-Signature']).slice(0, -2) },
      BODY,
    ],
    [
      'a signature in capitals',
      { ...validHeaders, 'X-Service-Signature': String(validHeaders['X-Service-Signature']).toUpperCase() },
      BODY,
    ],
    ['nothing at all', {}, BODY],
  ])('with %s is rejected', (_, headers, body) => {
    expect(() => verifyWebhook(headers, body, SECRET)).toThrow(WebhookRejected)
  })

  test('is rejected when it is too old, or from the future', () => {
    for (const seconds of [301, -302])
      expect(() => verifyWebhook(headersOf(seconds), BODY, SECRET)).toThrow(/timestamp/)
    expect(verifyWebhook(headersOf(250), BODY, SECRET).id).toBe('delivery_1')
    expect(verifyWebhook(headersOf(301), BODY, SECRET, { toleranceSeconds: 600 }).id).toBe('delivery_1')
    expect(() => verifyWebhook(headersOf(20), BODY, SECRET, { toleranceSeconds: 10 })).toThrow(/timestamp/)
  })
})

test.each(['', undefined])(
  'nothing is verified with the secret %j, with which anybody could sign',
  secret => {
    expect(() => verifyWebhook(headersOf(0, ''), BODY, secret)).toThrow('Give the secret of the subscription')
  },
)

describe('the documented example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentpay-webhook-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'body'), BODY)
  const page = readFileSync('docs/how-to/webhooks.md', 'utf8')
  const blockAfter = (sentence: string): string =>
    new RegExp(`${sentence}[^\\n]*:\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

  test('in JavaScript verifies a webhook', async () => {
    const source = blockAfter('In Node')
      .replace('export function', 'return function')
      .replace(/^import .*$/m, '')
    const verify = new Function('createHmac', 'timingSafeEqual', source)(createHmac, timingSafeEqual)
    const headers = lowerCased(headersOf())
    const results = [
      verify(headers, BODY, SECRET),
      verify(headers, `${BODY} `, SECRET),
      verify(headers, BODY, 'other'),
    ]
    expect(results).toEqual([true, false, false])
    expect(verify(lowerCased(headersOf(400)), BODY, SECRET)).toBe(false)
    expect(verify({}, BODY, SECRET)).toBe(false)
  })

  test('in shell computes the signature', async () => {
    const headers = headersOf()
    const env = {
      ...process.env,
      DELIVERY_ID: headers['X-Service-Delivery-Id'],
      TIMESTAMP: headers['X-Service-Timestamp'],
      SECRET,
    }
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', blockAfter('With openssl')], {
      cwd: folder,
      env,
    })
    expect(stdout.trim()).toBe(headers['X-Service-Signature'])
  })
})
