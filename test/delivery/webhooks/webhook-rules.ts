import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { unknownNamesMessage } from '../../../src/delivery/events/event-names.ts'
import type { Delivery, DeliveryRow } from '../../../src/delivery/webhooks/delivery.ts'
import { adjustConcurrency, FairDeliveryQueue } from '../../../src/delivery/webhooks/dispatch/fair-queue.ts'
import {
  applyDeliveryAttempt,
  type DeliveryAttemptResult,
  MAX_RETRY_AFTER_MS,
  retryTierOfPlan,
} from '../../../src/delivery/webhooks/dispatch/retry.ts'
import { recordAttemptRound, shouldDisableWebhook } from '../../../src/delivery/webhooks/health.ts'
import { receiverHost } from '../../../src/delivery/webhooks/webhook.ts'
import { firstIdAt, newId } from '../../../src/values/ids.ts'
import { redactExcerpt } from '../../../src/values/redaction.ts'
import { parseRetryAfter } from '../../../src/values/retry-after.ts'

const NOW = new Date('2026-11-20T09:30:00.000Z')
const tier = retryTierOfPlan('enterprise', [1_000, 2_000])

const resultOf = (succeeded: boolean): DeliveryAttemptResult => ({
  attempt: {
    deliveryId: 'delivery_1-1',
    at: NOW.toISOString(),
    latencyMs: 5,
    responseStart: null,
    status: succeeded ? 200 : 500,
    error: succeeded ? null : 'no',
  },
  succeeded,
  retryAfterMs: null,
})

const row = (status: Delivery['status']) =>
  ({
    id: 'delivery_1',
    status,
    dueAt: NOW,
    tries: 0,
    aheadMs: 0,
    attempts: [],
    workflowId: null,
  }) as unknown as DeliveryRow

describe('the outcome of an attempt', () => {
  test('follows the plan’s tier, in any order of results', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 8 }), outcomes => {
        const delivery = row('pending')
        let sent = 0
        for (const succeeded of outcomes) {
          if (delivery.status !== 'pending') break
          delivery.leasedUntil = NOW
          sent++
          applyDeliveryAttempt(delivery, resultOf(succeeded), { isMine: true, tier })
          expect([delivery.leasedUntil, delivery.dueAt === null]).toEqual([
            null,
            delivery.status !== 'pending',
          ])
        }
        const first = outcomes.indexOf(true)
        const expected = first >= 0 && first < 3 ? first + 1 : Math.min(outcomes.length, 3)
        expect(sent).toBe(expected)
        if (first >= 0 && first < 3) expect(delivery.status).toBe('delivered')
        else if (outcomes.length >= 3) expect(delivery.status).toBe('dead')
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['pending', false, 'pending'],
    ['pending', true, 'delivered'],
    ['delivered', false, 'delivered'],
    ['dead', true, 'dead'],
  ] as const)(
    'of a delivery that was sent twice and is %s: success %s leaves it %s',
    (before, succeeded, after) => {
      const delivery = row(before)
      applyDeliveryAttempt(delivery, resultOf(succeeded), { isMine: false, tier })
      expect([delivery.status, delivery.attempts.length]).toEqual([after, 1])
    },
  )

  test.each([
    [undefined, null],
    ['30', 30_000],
    ['0', null],
    ['-5', null],
    ['soon', null],
    ['Fri, 20 Nov 2026 09:31:00 GMT', 60_000],
    ['Fri, 20 Nov 2026 09:29:00 GMT', null],
    ['9'.repeat(400), 4 * 3_600_000],
    ['Fri, 20 Nov 2126 09:31:00 GMT', 4 * 3_600_000],
    ['try in 2030', null],
    ['1.5', null],
  ])('with Retry-After: %s delays the next one by %s ms', (value, ms) => {
    expect(parseRetryAfter(value, NOW, MAX_RETRY_AFTER_MS)).toBe(ms)
  })
})

describe('the health of a receiver', () => {
  const healthy = () => ({ id: 'webhook_1', failures: 0, failingSince: null, pausedUntil: null })
  const pausesOf = (count: number) => {
    const health = healthy() as Parameters<typeof recordAttemptRound>[0]
    return Array.from({ length: count }, () => {
      recordAttemptRound(health, false, NOW)
      return ((health.pausedUntil?.getTime() ?? NOW.getTime()) - NOW.getTime()) / 1_000
    })
  }

  test('tolerates some failures, and then pauses the receiver longer and longer, up to a maximum', () => {
    expect(pausesOf(10)).toEqual([0, 0, 10, 20, 40, 80, 160, 320, 640, 900])
    expect(pausesOf(2_000).at(-1)).toBe(900)
  })

  test('is hopeless after five days, not after a few failures; one success resets it', () => {
    const ago = (ms: number) => new Date(NOW.getTime() - ms)
    const day = 86_400_000
    const failing = (failures: number, ms: number) => ({ ...healthy(), failures, failingSince: ago(ms) })
    expect(shouldDisableWebhook(failing(10, 5 * day), NOW)).toBe(true)
    expect(shouldDisableWebhook(failing(9, 5 * day), NOW)).toBe(false)
    expect(shouldDisableWebhook(failing(99, 5 * day - 1), NOW)).toBe(false)
    const health = failing(99, 9 * day)
    recordAttemptRound(health, true, NOW)
    expect(health).toEqual(healthy())
  })
})

describe('the delivery slots', () => {
  const due = (id: string, ownerId: string) => ({ id, ownerId, failing: false })
  const claimed = (id: string) => ({ id }) as never

  test('are shared equally, and no owner has them all', () => {
    const queues = new FairDeliveryQueue()
    const many = Array.from({ length: 200 }, (_, n) => due(`a${n}`, 'one'))
    const shares = queues.allot([...many, due('b', 'two')])
    const of = (owner: string) =>
      shares.filter(({ queue }) => queue.ownerId === owner).reduce((sum, { max }) => sum + max, 0)
    expect(of('one')).toBeLessThanOrEqual(2_048)
    expect(of('two')).toBeGreaterThan(0)
  })

  test('of a receiver grow with every quick success, and shrink to one after a failure', () => {
    const queues = new FairDeliveryQueue()
    const [share] = queues.allot([due('a', 'one')])
    if (!share) throw new Error('no share')
    const { queue } = share
    queues.add(
      share,
      Array.from({ length: 60 }, (_, n) => claimed(`d${n}`)),
    )
    const begin = () => {
      let count = 0
      while (queues.next(queue)) count++
      return count
    }
    expect(begin()).toBe(4)
    adjustConcurrency(queue, true, 20)
    expect(begin()).toBe(4)
    adjustConcurrency(queue, true, 20)
    adjustConcurrency(queue, true, 20)
    expect(queue.width).toBe(16)
    adjustConcurrency(queue, true, 5_000)
    expect(queue.width).toBe(8)
    adjustConcurrency(queue, false, 20)
    expect(begin()).toBe(0)
    for (let n = 0; n < 16; n++) if (queue.underWay > 0) queues.ended(queue)
    expect(begin()).toBe(1)
  })
})

test('delivery slots that become free go round when all are in use', () => {
  const queues = new FairDeliveryQueue()
  const enter = (id: string, ownerId: string, count: number) => {
    const [share] = queues.allot([{ id, ownerId, failing: false }])
    if (!share) throw new Error('no share')
    adjustConcurrency(share.queue, true, 5)
    adjustConcurrency(share.queue, true, 5)
    queues.add(
      share,
      Array.from({ length: count }, () => ({ id }) as never),
    )
    return share.queue
  }
  /** Begins all deliveries that can begin, as a deliverer does; returns their subscriptions. */
  const begin = () => {
    const started: string[] = []
    for (const queue of queues) while (queues.next(queue)) started.push(queue.id)
    return started
  }
  const busy = Array.from({ length: 16 }, (_, n) => enter(`busy${n}`, `owner${n % 4}`, 60))
  expect(begin()).toHaveLength(256)
  enter('late', 'other', 1)
  const served = [...busy, ...busy].flatMap(queue => {
    queues.ended(queue)
    return begin()
  })
  expect(new Set(served)).toEqual(new Set([...busy.map(({ id }) => id), 'late']))
})

describe('an event name', () => {
  const eventNames = ['agent.frozen', 'agent.created', 'intent.approved', 'wallet.funded']
  test.each([
    [['agent.frozen'], undefined],
    [['agent.frozn'], /Did you mean agent\.frozen/],
    [['agent.zzzzzzzzzz'], /agent\.created/],
    [['wallets.funded'], /Did you mean wallet\.funded/],
    [['quux'], /^There is no event "quux"\. GET/],
  ])('%j is accepted, or refused with a suggestion', (names, message) => {
    if (message) expect(unknownNamesMessage(names, eventNames)).toMatch(message)
    else expect(unknownNamesMessage(names, eventNames)).toBeUndefined()
  })
})

describe('the excerpt of an answer', () => {
  test.each([
    ['', null],
    [' \n\t', null],
    ['a\u0000b\r\nc\u202e', 'a b c'],
    ['sk_live_0123456789abcdef failed', '[redacted] failed'],
    ['key whsec_0123456789abcdef', 'key [redacted]'],
    ['key whsec_ab+/0123456789abcdef=', 'key [redacted]'],
    ['IBAN DE89 3704 0044 0532 0130 00.', 'IBAN [redacted].'],
    ['api_key=abcdefgh&x=1', 'api_key=[redacted]'],
    ['order 4711 of 2026-11-20', 'order 4711 of 2026-11-20'],
  ])('%j is %j', (text, excerpt) => {
    expect(redactExcerpt(new TextEncoder().encode(text))).toBe(excerpt)
  })

  test('is short, on one line and storable, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), bytes => {
        const excerpt = redactExcerpt(bytes) ?? ''
        expect(excerpt.length).toBeLessThanOrEqual(200)
        expect(excerpt).not.toMatch(/\p{Cc}/u)
        expect(excerpt.isWellFormed()).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

test('the first id of an instant sorts after all earlier ids and before all later ones', () => {
  const before = newId('delivery')
  const at = new Date(Date.now() + 1)
  expect(before < firstIdAt('delivery', at)).toBe(true)
  expect(newId('delivery') > firstIdAt('delivery', new Date(at.getTime() - 1_000))).toBe(true)
})

test.each([
  ['https://hooks.example.com/secret?token=secret#secret', 'hooks.example.com'],
  ['https://secret:secret@hooks.example.com:8443/secret', 'hooks.example.com:8443'],
  ['http://[::1]:3000/', '[::1]:3000'],
  [`https://${'a'.repeat(1_000)}.example.com/secret`, `…${'a'.repeat(88)}.example.com`],
])('the run of a delivery to %s names no more of it than its host', (url, host) => {
  expect(receiverHost({ url })).toBe(host)
})
