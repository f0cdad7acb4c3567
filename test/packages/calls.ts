import { describe, expect, test } from '@jest/globals'
import { NoAnswer } from '../../src/derive/retry.ts'
import { clientClass } from '../../src/packages/typescript/client.ts'
import type { AgentPayOptions } from '../../src/packages/typescript/options.ts'
import type { Pages } from '../../src/packages/typescript/pages.ts'
import { Refused } from '../../src/packages/typescript/refused.ts'
import { type Answer, broken, json, refusal, withoutWaiting } from '../support/packages/answers.ts'

type Call = (...given: unknown[]) => Promise<unknown>

interface Fruit {
  readonly apples: { readonly [verb in 'create' | 'get' | 'getCsv' | 'pick' | 'press' | 'sell']: Call } & {
    list(input?: object): Pages<{ id: string }>
    follow(input?: object, options?: object): AsyncGenerator<{ id: string }>
  }
}

const Client = clientClass({
  apples: {
    create: 'POST /apples bk',
    get: 'GET /apples/{id} r',
    getCsv: 'GET /apples/{id} rfc',
    pick: 'PATCH /apples/{id} b',
    press: 'POST /apples/press bka',
    sell: 'POST /apples/{id}/sell bk wallet:toWalletId,txn:transactionId,wallet:otherWalletId',
    list: 'GET /apples qrl',
    follow: 'GET /apples/stream qrs',
  },
})

interface Sent {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: unknown
}

function aClient(answers: readonly Answer[], options: AgentPayOptions = {}) {
  const sent: Sent[] = []
  const left = [...answers]
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(url), headers: init.headers as Record<string, string>, body: init.body })
    const answer = left.shift()
    // Not a temporary failure: further requests are refused.
    if (answer === undefined) return refusal(500, 'one_request_more_than_was_expected')
    if (answer instanceof Error) throw answer
    return typeof answer === 'function' ? answer(init) : answer
  }
  const client = new Client({ url: 'https://pay.example', token: 'sk_test_1', fetch, ...options }) as Fruit
  return { client, sent }
}

describe('a call of the package', () => {
  test('is answered at once where its caller does not wait, if its operation goes on', async () => {
    const { client, sent } = aClient([json({ id: 'a' }), json({ id: 'b' })])
    await client.apples.press({}, { wait: false })
    await client.apples.press({})
    expect(sent.map(({ headers }) => headers.prefer)).toEqual(['respond-async', undefined])
    await expect(client.apples.create({}, { wait: false })).rejects.toThrow('apples.create always waits')
  })

  test('asks for CSV where its operation has JSON, too, and gives the response', async () => {
    const { client, sent } = aClient([new Response('id\r\n'), json({ id: 'a' })])
    expect(await ((await client.apples.getCsv('a')) as Response).text()).toBe('id\r\n')
    await client.apples.get('a')
    expect(sent.map(({ headers }) => headers.accept)).toEqual(['text/csv', undefined])
  })

  test('is sent with the credential, and gives the body of the answer', async () => {
    const { client, sent } = aClient([json({ id: 'a' })])
    expect(await client.apples.get('a/b', { runId: 'run_1', headers: { 'x-own': '1' } })).toEqual({ id: 'a' })
    expect(sent).toEqual([
      {
        url: 'https://pay.example/apples/a%2Fb',
        headers: { authorization: 'Bearer sk_test_1', 'x-run-id': 'run_1', 'x-own': '1' },
        body: undefined,
      },
    ])
  })

  test('that changes something has a key of its own at each call, the same at each sending of it', async () => {
    const { client, sent } = aClient([broken(), broken(), json({}), json({}), json({})])
    const { outcome, pauses } = await withoutWaiting(() => client.apples.create({ kind: 'Boskoop' }))
    expect([outcome.status, pauses]).toEqual(['fulfilled', [200, 500]])
    await client.apples.create({ kind: 'Boskoop' })
    await client.apples.create({ kind: 'Boskoop' }, { idempotencyKey: 'mine' })
    const keys = sent.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(new Set(keys).size).toBe(3)
    expect(keys[4]).toBe('mine')
  })

  test('never loses an empty key, without which a second sending would have a second effect', async () => {
    const { client, sent } = aClient([broken(), json({})])
    await withoutWaiting(() => client.apples.create({ kind: 'Boskoop' }, { idempotencyKey: '' }))
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual(['', ''])
  })

  test('is not sent again where a second sending would have a second effect', async () => {
    const { client, sent } = aClient([broken()])
    await expect(client.apples.pick('a', {})).rejects.toThrow('apples.pick: the connection broke')
    expect(sent).toHaveLength(1)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'sends no %p, which would be null: no limit',
    async wrong => {
      const { client, sent } = aClient([json({})])
      const call = client.apples.create({ limits: [{ dayEuros: 1 }, { dayEuros: wrong }] })
      await expect(call).rejects.toThrow(`dayEuros: ${wrong} is no number that JSON can hold`)
      expect(sent).toEqual([])
    },
  )

  test('gives up after the configured number of attempts', async () => {
    const { client, sent } = aClient([broken(), broken()], { retries: 1 })
    const { outcome } = await withoutWaiting(() => client.apples.get('a'))
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(NoAnswer) })
    expect(sent).toHaveLength(2)
  })

  test('waits as long as the service asks, and then is sent again', async () => {
    const { client } = aClient([
      refusal(429, 'rate_limited', { 'retry-after': '12' }),
      refusal(503, 'busy'),
      json({ id: 'a' }),
    ])
    const { outcome, pauses } = await withoutWaiting(() => client.apples.get('a'))
    expect(outcome).toEqual({ status: 'fulfilled', value: { id: 'a' } })
    expect(pauses).toEqual([12_000, 1_000])
  })

  test('throws the refusal instead of waiting longer than a minute', async () => {
    const { client } = aClient([refusal(429, 'rate_limited', { 'retry-after': '3600' })])
    await expect(client.apples.get('a')).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
  })

  test('that is refused throws code, status, sentence and the id of the request', async () => {
    const { client } = aClient([refusal(404, 'apple_not_found')])
    const error = await client.apples.get('a').catch(error => error)
    expect(error).toBeInstanceOf(Refused)
    expect(error).toMatchObject({
      operation: 'apples.get',
      status: 404,
      code: 'apple_not_found',
      message: 'A sentence.',
      requestId: 'r1',
      challengeId: null,
    })
  })

  test('that a passkey must sign names the challenge', async () => {
    const link = '</passkeys/challenges/challenge_1>; rel="challenge"'
    const { client } = aClient([refusal(400, 'assertion_required', { link })])
    await expect(client.apples.create({})).rejects.toMatchObject({ challengeId: 'challenge_1' })
  })

  test('whose answer is not the service’s is no refusal', async () => {
    for (const status of [200, 302, 502]) {
      const { client } = aClient([new Response('<h1>Sign in here</h1>', { status })])
      await expect(client.apples.get('a')).rejects.toThrow(NoAnswer)
    }
  })

  test('follows no redirection, which would carry the key elsewhere', async () => {
    const modes: unknown[] = []
    const { client } = aClient([
      async ({ redirect }) => {
        modes.push(redirect)
        return json({})
      },
    ])
    await client.apples.get('a')
    expect(modes).toEqual(['manual'])
  })

  test('ends with the signal of its caller, also while it waits', async () => {
    const ending = new AbortController()
    const { client, sent } = aClient([refusal(429, 'rate_limited', { 'retry-after': '50' })])
    const call = client.apples.get('a', { signal: ending.signal })
    ending.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect(sent.length).toBeLessThanOrEqual(1)
  })

  test('takes the time that it was given, and no more', async () => {
    const never: Answer = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const { client } = aClient([never], { timeoutMs: 1, retries: 0 })
    await expect(client.apples.get('a')).rejects.toThrow('apples.get: no answer within 1 ms')
  })

  test.each(['http://pay.example', 'ftp://pay.example', 'nowhere', ''])(
    'is made to no address like %j',
    url => {
      expect(() => new Client({ url })).toThrow()
    },
  )

  test.each(['', '.', '..'])('refuses an id that would lead to another address: %j', async id => {
    await expect(aClient([]).client.apples.get(id)).rejects.toThrow(/names nothing/)
  })
})

test.each<[string, (apples: Fruit['apples']) => unknown]>([
  [
    "takes one object after id: put toWalletId into it: pay.apples.sell(id, { toWalletId: 'wallet_…' })",
    apples => apples.sell('a', 'wallet_1'),
  ],
  [
    "put transactionId into it: pay.apples.sell(id, { transactionId: 'txn_…' })",
    apples => apples.sell('a', 'txn_1'),
  ],
  [
    'pay.apples.create takes one object: put its members into it: pay.apples.create({ … })',
    apples => apples.create('card_1'),
  ],
  ['pay.apples.create takes one object', apples => apples.create([{ kind: 'Boskoop' }])],
  [
    'pay.apples.get takes id first, as text: pay.apples.get(id)',
    apples => apples.get({ appleId: 'apple_1' }),
  ],
  [
    'pay.apples.sell takes id first, as text: pay.apples.sell(id, { … })',
    apples => apples.sell(undefined, {}),
  ],
  ['retrys is no option of pay.apples.get: write retries', apples => apples.get('a', { retrys: 3 })],
  [
    'idempotency_key is no option of pay.apples.create: write idempotencyKey',
    apples => apples.create({}, { idempotency_key: 'a' }),
  ],
  ['kind is no option of pay.apples.get: it takes ', apples => apples.get('a', { kind: 'Boskoop' })],
  ['pay.apples.press: wait is true or false', apples => apples.press({}, { wait: 'no' })],
  ['pay.apples.get: signal is an AbortSignal', apples => apples.get('a', { signal: 'stop' })],
  ['pay.apples.get: runId is a text', apples => apples.get('a', { runId: null })],
  [
    'pay.apples.get: headers is an object of texts',
    apples => apples.get('a', { headers: { 'x-own': undefined } }),
  ],
  ['pay.apples.get takes options as one object', apples => apples.get('a', 0)],
  ['pay.apples.get takes nothing after its options', apples => apples.get('a', undefined, { retries: 0 })],
])('says what a call takes, and sends nothing: %s', (sentence, call) => {
  const { client, sent } = aClient([])
  expect(() => call(client.apples)).toThrow(
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(sentence) }),
  )
  expect(sent).toEqual([])
})

test('no client is made with a token that was not shown', () => {
  const url = 'https://pay.example'
  expect(() => new Client({ url, token: null })).toThrow('The token is null')
  expect(() => new Client({ url, token: undefined })).toThrow('The token is undefined')
  expect(() => new Client({ url })).not.toThrow()
})

const url = 'https://pay.example'

test.each<[string, unknown]>([
  ['apiKey is no option of AgentPay: write token', { url, apiKey: 'sk_test_1' }],
  ['apiKey is no option of AgentPay: write token', { url, apiKey: undefined }],
  ['baseURL is no option of AgentPay: write url', { baseURL: url }],
  ['retrys is no option of AgentPay: write retries', { url, retrys: 3 }],
  ['timeout is no option of AgentPay: write timeoutMs', { url, timeout: 3 }],
  ['colour is no option of AgentPay: it takes url, token, ', { url, colour: 'blue' }],
  ['AgentPay: url is an address such as https://pay.example.com', { url: 'sk_test_1' }],
  ['AgentPay: token is a key or a token', { url, token: '' }],
  ['AgentPay: retries is a whole number, from 0 on', { url, retries: '3' }],
  ['AgentPay: timeoutMs is a number of milliseconds', { url, timeoutMs: Number.POSITIVE_INFINITY }],
  ['AgentPay: headers is an object of texts', { url, headers: new Headers({ 'x-own': '1' }) }],
  ['AgentPay takes options as one object: { url, token, ', url],
])('no client is made of what it does not know: %s', (sentence, options) => {
  expect(() => new Client(options as AgentPayOptions)).toThrow(
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(sentence) }),
  )
})

test('an option that a class inherits is known, too', async () => {
  class Configured {
    get token() {
      return 'sk_test_2'
    }
  }
  const { sent, client } = aClient([json({ id: 'a' })])
  const other = new Client(
    Object.assign(new Configured(), { url, fetch: async () => json({ id: 'b' }) }),
  ) as Fruit
  expect([await client.apples.get('a'), await other.apples.get('b'), sent.length]).toEqual([
    { id: 'a' },
    { id: 'b' },
    1,
  ])
})

const page = (ids: string[], nextCursor: string | null): Response =>
  json({ data: ids.map(id => ({ id })), hasMore: nextCursor !== null, nextCursor })

test('a list is its first page, and goes through all of them', async () => {
  const { client, sent } = aClient([
    page(['a'], 'c1'),
    page(['a', 'b'], 'c1'),
    page([], 'c2'),
    page(['c'], null),
  ])
  expect((await client.apples.list({ limit: 1 })).data).toEqual([{ id: 'a' }])
  const ids: string[] = []
  for await (const { id } of client.apples.list({ kind: 'x' })) ids.push(id)
  expect(ids).toEqual(['a', 'b', 'c'])
  expect(sent.map(({ url }) => new URL(url).search)).toEqual([
    '?limit=1',
    '?kind=x',
    '?kind=x&cursor=c1',
    '?kind=x&cursor=c2',
  ])
})

const event = (id: string): string => `id: ${id}\ndata: {"id":"${id}"}\n\n`

test.each(['Last-Event-ID', 'last-event-id'])('a stream begins behind the record of %s', async name => {
  const { client, sent } = aClient([new Response(event('b'))])
  const stream = client.apples.follow({}, { headers: { [name]: 'a' } })
  expect(await stream.next()).toMatchObject({ value: { id: 'b' } })
  expect(sent.map(({ headers }) => new Headers(headers).get('last-event-id'))).toEqual(['a'])
  await stream.return(undefined)
})

test('a stream goes on behind the last record after its connection has broken', async () => {
  const pieces = [`${event('b')}id: half`]
  const cut = new ReadableStream(
    {
      pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) controller.error(new TypeError('terminated'))
        else controller.enqueue(new TextEncoder().encode(piece))
      },
    },
    { highWaterMark: 0 },
  )
  const { client, sent } = aClient(
    [page(['a'], null), new Response(cut), refusal(503, 'unavailable'), new Response(event('c'))],
    { retries: 0 },
  )
  const { outcome } = await withoutWaiting(async () => {
    const ids: string[] = []
    for await (const { id } of client.apples.follow()) if (ids.push(id) === 2) break
    return ids
  })
  expect(outcome).toEqual({ status: 'fulfilled', value: ['b', 'c'] })
  expect(sent.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'a', 'b', 'b'])
})
