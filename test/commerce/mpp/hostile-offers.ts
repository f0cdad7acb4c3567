import { describe, expect, test } from '@jest/globals'
import { contentDigest, serializeChallenge } from '../../../src/mpp/index.ts'
import { aChallenge, type ChallengeOptions, weakKey } from '../../support/commerce/challenges.ts'
import { answerWith, type Conduct, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const elsewhere = await startMerchant()

const many = Array.from({ length: 10_000 }, () => 'Payment a="b"')
const long = Array.from({ length: 200 }, () => serializeChallenge(aChallenge({ currency: 'xyz' })))

const jwks = (url: string): ChallengeOptions => ({
  details: { encryptionJwk: undefined, jwksUri: url, kid: 'merchant-key-1' },
})

/** A challenge with this escape at the end of a parameter. */
const escaped = (name: 'id' | 'opaque', ending: string): Conduct => {
  const challenge = serializeChallenge(aChallenge({ parameters: { [name]: 'ends' } }))
  return answerWith(402, { 'www-authenticate': challenge.replace('ends', `ends${ending}`) })
}

const cases: readonly (readonly [string, number, string, Conduct])[] = [
  ['asks for nothing', 400, 'no_challenge', answerWith(200, {}, 'free')],
  ['is not there', 400, 'no_challenge', answerWith(404)],
  ['fails', 503, 'merchant_busy', answerWith(500)],
  ['has too many requests', 503, 'merchant_busy', answerWith(429)],
  ['offers other protocols only', 400, 'no_card_offer', answerWith(402, { 'payment-required': 'e30' })],
  ['asks for a cent more than is held', 400, 'amount_above_held', demand({ amount: '2001' })],
  [
    'asks for more dollars than is held',
    400,
    'amount_above_held',
    demand({ currency: 'usd', amount: '2253' }),
  ],
  ['asks for a currency without a rate', 400, 'currency_unknown', demand({ currency: 'xyz' })],
  [
    'asks with a challenge that is over',
    400,
    'challenge_expired',
    demand({ expires: new Date(0).toISOString() }),
  ],
  ['has a weak key', 400, 'challenge_unusable', demand({ details: { encryptionJwk: weakKey().jwk } })],
  [
    'has its key somewhere else',
    400,
    'merchant_key_unusable',
    demand(jwks(elsewhere.sells('/jwks', answerWith(200, {}, '{"keys":[]}')))),
  ],
  [
    'gives two kinds of key',
    400,
    'challenge_unusable',
    demand({ details: { jwksUri: 'https://a.example/', kid: 'a' } }),
  ],
  [
    'asks for another body',
    400,
    'digest_mismatch',
    demand({ parameters: { digest: contentDigest('other') } }),
  ],
  [
    'calls itself by the name of another host',
    400,
    'merchant_mismatch',
    demand({ details: { merchantName: 'bookshop.example' } }),
  ],
  ['takes another network', 400, 'network_not_accepted', demand({ details: { acceptedNetworks: ['amex'] } })],
  [
    'has a name that cannot be stored',
    400,
    'challenge_unusable',
    demand({ details: { merchantName: 'A\0B' } }),
  ],
  ['has an id that cannot be stored', 400, 'no_card_offer', escaped('id', '\\u0000')],
  ['has half a character in its challenge', 400, 'no_card_offer', escaped('opaque', '\\ud800')],
  ['wants the credential in a cookie', 400, 'no_card_offer', demand({ parameters: { header: 'Cookie' } })],
  [
    'names ten thousand challenges',
    502,
    'merchant_unusable',
    answerWith(402, { 'www-authenticate': many.join(', ') }),
  ],
  ['breaks off at once', 502, 'merchant_unusable', (_, response) => response.destroy()],
  [
    'redirects to a private address',
    400,
    'no_challenge',
    answerWith(302, { location: elsewhere.sells('/hidden', answerWith(200)) }),
  ],
]

describe('a merchant is not paid that', () => {
  test.each(cases)('%s: %i %s', async (what, status, code, asks) => {
    const path = `/${what.replace(/\W+/g, '-')}`
    const url = merchant.sells(path, asks)
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const answer = await pay(payer, url)
    expect([answer.status, answer.code]).toEqual([status, code])
    expect(merchant.payments(path)).toEqual([])
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    expect(await intentOf(payer)).toMatchObject({ status: 'approved', transactionId: null })
    expect(await balanceOf(payer)).toEqual(before)
  })

  test('sends the caller to others, which are not visited', () => {
    expect([elsewhere.visits('/jwks'), elsewhere.visits('/hidden')]).toEqual([[], []])
  })

  test('the refusal lists what the merchant offers', async () => {
    const challenge = serializeChallenge(aChallenge({ parameters: { method: 'tempo' } }))
    const url = merchant.sells('/tempo', answerWith(402, { 'www-authenticate': `${challenge}, L402 a="b"` }))
    const payer = await aPayer(service)
    expect((await pay(payer, url)).error).toMatch(/Offered: tempo\/charge, l402\./)
  })

  test('hides a usable offer behind many, as far as they are read', async () => {
    const headers = { 'www-authenticate': long.slice(0, 5).join(', ') }
    const url = merchant.sells('/many', answerWith(402, headers))
    const payer = await aPayer(service)
    expect(await pay(payer, url)).toMatchObject({ status: 400, code: 'currency_unknown' })
  })

  test('has a key set without its key, or with an invalid one', async () => {
    for (const [keys, error] of [
      [{ keys: [] }, /does not contain exactly one key/],
      [{ keys: [{ ...weakKey().jwk, kid: 'merchant-key-1' }] }, /key of the merchant/],
      ['nonsense', /does not contain exactly one key/],
    ] as const) {
      merchant.sells('/own-jwks', answerWith(200, {}, JSON.stringify(keys)))
      const url = merchant.sells('/with-own-jwks', demand(jwks(`${merchant.url}/own-jwks`)))
      const payer = await aPayer(service)
      expect(await pay(payer, url)).toMatchObject({
        status: 400,
        code: 'merchant_key_unusable',
        error: expect.stringMatching(error),
      })
    }
    merchant.sells('/own-jwks', answerWith(500))
    const payer = await aPayer(service)
    expect(await pay(payer, `${merchant.url}/with-own-jwks`)).toMatchObject({
      status: 503,
      code: 'merchant_busy',
      error: expect.stringContaining('answered 500'),
    })
  })
})
