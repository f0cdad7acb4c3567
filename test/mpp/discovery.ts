import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { generate, PaymentInfo, validate } from 'mppx/discovery'
import { publishedOffers, readPaidOperations } from '../../src/mpp/index.ts'

const paidOperationsIn = (document: unknown) => readPaidOperations(Buffer.from(JSON.stringify(document)))

const offer = (amount: string | null, more: object = {}) => ({
  method: 'card',
  intent: 'charge',
  currency: 'eur',
  amount,
  ...more,
})

const at = (document: unknown, path: string, method = 'POST') =>
  publishedOffers(paidOperationsIn(document), { method, url: new URL(path, 'https://shop.example.com') })

const amounts = (...given: Parameters<typeof at>) => at(...given).map(({ amount }) => amount)

const paths = (operations: Readonly<Record<string, unknown>>) => ({
  paths: Object.fromEntries(
    Object.entries(operations).map(([path, info]) => [path, { post: { 'x-payment-info': info } }]),
  ),
})

describe('what a merchant publishes', () => {
  test('is read with offers, and with the members of one offer', () => {
    expect(at(paths({ '/a': { offers: [offer('250'), offer(null, { method: 'Stripe' })] } }), '/a')).toEqual([
      offer(250n as never),
      offer(null, { method: 'stripe' }),
    ])
    expect(at(paths({ '/a': { amount: '7', description: 'A page' } }), '/a')).toEqual([
      { method: undefined, intent: undefined, currency: undefined, amount: 7n },
    ])
  })

  test('is found by method, by path and by its servers, the literal path first', () => {
    const document = {
      servers: [{ url: 'https://elsewhere.example.com/v1/' }, { url: '/' }],
      ...paths({ '/r/{id}': offer('1'), '/r/new': offer('2'), '/{a}/{b}/c': offer('3') }),
    }
    expect(amounts(document, '/r/42?x=1')).toEqual([1n])
    expect(amounts(document, '/v1/r/42')).toEqual([1n])
    expect(amounts(document, '/r/new')).toEqual([2n])
    expect(amounts(document, '/r/new/c')).toEqual([3n])
    for (const path of ['/r/', '/r', '/r/1/2', '/v2/r/1']) expect(amounts(document, path)).toEqual([])
    expect(amounts(document, '/r/42', 'PUT')).toEqual([])
  })

  test('of another form says nothing, and costs no time', () => {
    const many = `/${'{a}'.repeat(150)}`
    for (const document of [null, [], 7, { paths: 7 }, { paths: { '/a': 7 } }, paths({ '/a': [] })])
      expect(amounts(document, '/a')).toEqual([])
    expect(amounts(paths({ [many]: offer('1') }), `/${'a'.repeat(2_000)}`)).toEqual([1n])
    expect(amounts(paths({ '/a': offer('1e9') }), '/a')).toEqual([null])
    expect(amounts(paths({ [`/${'a/'.repeat(60)}`]: offer('1') }), `/${'a/'.repeat(60)}`)).toEqual([])
    expect(amounts(paths({ '/a': { offers: Array(99).fill(offer('1')) } }), '/a')).toHaveLength(10)
  })
})

test('a document made to cost much costs little', () => {
  const operation = { 'x-payment-info': {} }
  const item = { get: operation, post: operation, put: operation, patch: operation, delete: operation }
  const slashes = '/'.repeat(490)
  const document = {
    servers: [1, 2, 3].map(one => ({ url: `/${one}${slashes}` })),
    paths: Object.fromEntries(Array.from({ length: 2_000 }, (_, one) => [`/${one}${slashes}`, item])),
  }
  // The least of three: other threads of the process and a crowded machine count as well.
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    expect(paidOperationsIn(document)).toEqual([])
    return process.cpuUsage(before).user
  })
  // It was a second.
  expect(Math.min(...costs)).toBeLessThan(500_000)
})

describe('mppx', () => {
  test('writes what is read here', () => {
    const methods = [{ name: 'card', intent: 'charge', schema: {} }]
    const handler = Object.assign(() => undefined, {
      _internal: { _canonicalRequest: { amount: '250', currency: 'eur' }, intent: 'charge', name: 'card' },
    })
    const document = generate(
      { methods, realm: 'shop.example.com' } as never,
      { routes: [{ handler, method: 'post', path: '/reports/{id}' }] } as never,
    )
    expect(at(document, '/reports/42')).toMatchObject([offer(250n as never)])
  })

  test('reads what this service publishes', () => {
    const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
    expect(validate(document).filter(({ severity }) => severity === 'error')).toEqual([])
    const { post } = document.paths['/collect/402/{id}']
    expect(PaymentInfo.parse(post['x-payment-info']).offers).toEqual([
      offer(null),
      offer(null, { method: 'stripe' }),
    ])
  })
})
