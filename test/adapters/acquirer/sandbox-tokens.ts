import { describe, expect, test } from '@jest/globals'
import { sandboxAcquirer } from '../../../src/adapters/acquirer/sandbox.ts'
import { sandboxTokenById } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { isProcessorFailure } from '../../../src/ports/card-processor.ts'
import { hasCardNumber } from '../../../src/values/card-number.ts'
import { clock } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import { aKeyPair } from '../../support/cards/encryption-keys.ts'
import { headerOf, opened } from '../../support/cards/reveal.ts'
import { callOf, KEY, newCard, requestedAt, sandboxWith, secretsOf } from '../../support/cards/sandbox.ts'
import { externalSystemsFor } from '../../support/commerce/rail.ts'

const { numbers } = secretsOf(KEY)
const processor = sandboxWith()
const acquirer = sandboxAcquirer(numbers, {
  processor,
  deliver: async () => {
    throw new Error('a test token is charged without a network')
  },
})

const plainOf = (paymentToken: string, members: object = {}) => ({
  token: { paymentToken, tokenExpirationMonth: '12', tokenExpirationYear: '2030', eci: '07', ...members },
  dynamicData: { dynamicDataValue: 'AQIDBA==', dynamicDataType: 'NONE', dynamicDataExpiration: 0 },
})

const payee = { ownerId: 'owner-1', mode: 'test' } as const
const call = { requestId: 'request-1', now: requestedAt }

function charging(plain: object) {
  const accepted = acquirer.accept(plain)
  if (!('handle' in accepted)) throw new Error(accepted.refused)
  const charge = {
    handle: accepted.handle,
    amountCents: cents(500n),
    reference: 'challenge-1',
    descriptor: 'SHOP',
    ...payee,
  }
  return {
    accepted,
    charge: () => acquirer.charge({ ...charge, token: plain }, call),
    stateOf: () => acquirer.stateOf(charge, call),
    refund: () => acquirer.refund({ ...charge, refundReference: 'refund-1' }, call),
  }
}

const declined = (code: string) => ({ outcome: 'declined', code, reason: expect.any(String) })

describe('a documented test token', () => {
  test.each([
    ['4242424242424242', { outcome: 'approved' }, { outcome: 'approved' }, { outcome: 'approved' }],
    ['5555555555554444', { outcome: 'approved' }, { outcome: 'approved' }, { outcome: 'approved' }],
    ['4000000000000002', declined('card_declined'), declined('card_declined'), declined('not_charged')],
    [
      '4000000000009995',
      declined('insufficient_funds'),
      declined('insufficient_funds'),
      declined('not_charged'),
    ],
    ['4000000000000119', { outcome: 'late' }, { outcome: 'approved' }, { outcome: 'approved' }],
    ['4000000000000341', { outcome: 'late' }, declined('card_declined'), declined('not_charged')],
    ['4000000000000127', { outcome: 'late' }, { outcome: 'late' }, { outcome: 'late' }],
    ['4000000000000101', { outcome: 'unusable' }, { outcome: 'approved' }, { outcome: 'approved' }],
  ])('%s is answered as its line of the table says, each time', async (number, charged, known, refunded) => {
    const { accepted, charge, stateOf, refund } = charging(plainOf(number))
    for (const _ of [1, 2]) expect(await charge()).toEqual(charged)
    for (const _ of [1, 2]) expect(await stateOf()).toEqual(known)
    expect(await refund()).toEqual(refunded)
    const network = number.startsWith('5') ? 'mastercard' : 'visa'
    expect(accepted).toMatchObject({ network, last4: number.slice(-4) })
    expect(acquirer.networks).toContain(network)
  })

  test('is declined once the month has ended that it names, in charge and state alike', async () => {
    const old = charging(
      plainOf('4242424242424242', { tokenExpirationMonth: '10', tokenExpirationYear: '26' }),
    )
    expect(await old.charge()).toEqual(declined('expired_token'))
    expect(await old.stateOf()).toEqual(declined('expired_token'))
    const last = charging(
      plainOf('4242424242424242', { tokenExpirationMonth: '11', tokenExpirationYear: '26' }),
    )
    expect(await last.charge()).toEqual({ outcome: 'approved' })
  })
})

describe('a token that the acquirer reads', () => {
  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /the token is missing/],
    ['no number', { ...plainOf('4242424242424242'), token: {} }, /token\.paymentToken is missing or wrong/],
    [
      'a month that is none',
      plainOf('4242424242424242', { tokenExpirationMonth: '13' }),
      /Month is missing or wrong/,
    ],
    ['no cryptogram', { token: plainOf('4242424242424242').token }, /dynamicData is missing or wrong/],
    ['a number of nobody', plainOf('4111111111111111'), /only tokens of its own cards/],
    ['a number with letters', plainOf('42424242x4242424'), /token\.paymentToken is missing or wrong/],
  ])('is refused where it has %s, without a word of it', (_, plain, problem) => {
    const answer = acquirer.accept(plain)
    expect(answer).toEqual({ refused: expect.stringMatching(problem) })
    expect(hasCardNumber(answer)).toBe(false)
  })

  test('is charged only as the one that was accepted', async () => {
    const { accepted } = charging(plainOf('4242424242424242'))
    const charge = {
      handle: accepted.handle,
      amountCents: cents(500n),
      reference: 'challenge-1',
      descriptor: 'SHOP',
      ...payee,
    }
    expect(await acquirer.charge({ ...charge, token: plainOf('5555555555554444') }, call)).toEqual(
      declined('other_token'),
    )
    expect(await acquirer.charge({ ...charge, token: null }, call)).toEqual(declined('other_token'))
  })
})

test('live mode has no acquirer, and says that requests can be paid by SEPA', () => {
  const { acquirer: of } = externalSystemsFor({ CARD_PROCESSOR: 'sandbox' })
  expect(of('test').name).toBe('sandbox')
  expect(() => of('live')).toThrow(expect.objectContaining({ status: 503, code: 'not_configured' }))
  expect(() => of('live')).toThrow(/can be paid by SEPA/)
})

describe('the network token of a machine payment', () => {
  const binding = { challengeId: 'challenge-1', intentId: 'intent_1', cardId: 'card_1' }

  async function aToken(of = processor) {
    const issued = await of.issue(newCard(), callOf('card_1'))
    if (isProcessorFailure(issued)) throw new Error('not issued')
    const pair = await aKeyPair('RSA-2048')
    const { processorCardId } = issued
    const given = await of.networkToken?.(
      { processorCardId, expiresAt: requestedAt, form: { kind: 'mpp', kid: 'key-1', binding } },
      { key: pair.key, intentId: 'intent_1', merchantHost: 'shop.example.com' },
      callOf('mppcredential_1'),
    )
    if (!given || isProcessorFailure(given)) throw new Error('no token')
    return { given, processorCardId, plain: await opened(given.jwe, pair) }
  }

  test('is what the protocol wants, with a header of exactly alg, enc and kid', async () => {
    const { given, plain } = await aToken()
    expect(headerOf(given.jwe)).toEqual({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'key-1' })
    expect(plain).toEqual({
      token: {
        paymentToken: sandboxTokenById(numbers, given.tokenId)?.number,
        tokenExpirationMonth: '11',
        tokenExpirationYear: '2030',
        eci: '07',
      },
      dynamicData: {
        dynamicDataValue: expect.stringMatching(/^[\w-]+$/),
        dynamicDataType: expect.any(String),
        dynamicDataExpiration: requestedAt.getTime() / 1_000,
      },
      binding,
    })
    expect(given).toMatchObject({ network: 'visa', expMonth: 11, expYear: 2030 })
    expect(processor.tokenNetworks).toEqual(['visa'])
    expect(given.last4).toBe(plain.token.paymentToken.slice(-4))
  })

  test('a cryptogram identifies its card to the acquirer; the handle contains neither card nor cryptogram', async () => {
    const { given, processorCardId, plain } = await aToken()
    const accepted = acquirer.accept(plain)
    expect(accepted).toEqual({
      handle: `sandbox ${processorCardId} ${given.tokenId}`,
      network: 'visa',
      last4: given.last4,
    })
    expect(hasCardNumber(accepted)).toBe(false)
    expect(JSON.stringify(accepted)).not.toContain(plain.dynamicData.dynamicDataValue)
  })

  test('is declined for a late answer once the issuer knows that: until then its outcome is unknown', async () => {
    const { given, processorCardId, plain } = await aToken()
    const sent: unknown[] = []
    let knows = false
    const network = sandboxAcquirer(numbers, {
      processor,
      deliver: async ({ body, headers }) => {
        const read = processor.read(Buffer.from(body), headers, clock.real())
        if (read.kind !== 'message') throw new Error(read.kind)
        sent.push(read.message.content)
        const late = { kind: 'declined', reason: 'late', isLate: true } as const
        if (sent.length % 2 === 1) return processor.answer(read.message, late)
        return knows ? processor.answer(read.message, { kind: 'noted' }) : null
      },
    })
    const handle = `sandbox ${processorCardId} ${given.tokenId}`
    const charge = { handle, amountCents: cents(500n), reference: 'late', descriptor: 'SHOP', ...payee }
    expect(await network.charge({ ...charge, token: plain }, call)).toEqual({ outcome: 'late' })
    knows = true
    expect(await network.stateOf(charge, call)).toEqual(declined('declined'))
    const asks = [{ amountCents: 500n, approved: false }]
    expect(sent).toMatchObject([
      { kind: 'authorization' },
      { kind: 'outcome', asks },
      { kind: 'authorization' },
      { kind: 'outcome', asks, merchant: { networkTokenId: given.tokenId } },
    ])
  })

  test('is refused with the number or the cryptogram of another one, or an altered cryptogram', async () => {
    const { plain } = await aToken()
    const { dynamicDataValue } = plain.dynamicData
    const flipped = `${dynamicDataValue.startsWith('A') ? 'B' : 'A'}${dynamicDataValue.slice(1)}`
    for (const altered of [
      { ...plain, token: { ...plain.token, paymentToken: '9998000000000000' } },
      { ...plain, dynamicData: { ...plain.dynamicData, dynamicDataValue: flipped } },
      { ...plain, dynamicData: { ...plain.dynamicData, dynamicDataValue: '' } },
    ])
      expect(acquirer.accept(altered)).toEqual({
        refused: expect.stringMatching(/only tokens of its own cards/),
      })
  })

  test('is accepted after a rotation of the key, and by no other installation', async () => {
    const { plain } = await aToken()
    const rotated = sandboxAcquirer(secretsOf('2'.repeat(64), [KEY]).numbers, {
      processor,
      deliver: async () => null,
    })
    expect(rotated.accept(plain)).toEqual(acquirer.accept(plain))
    const foreign = sandboxAcquirer(secretsOf('3'.repeat(64)).numbers, {
      processor,
      deliver: async () => null,
    })
    expect(foreign.accept(plain)).toEqual({ refused: expect.stringMatching(/only tokens of its own cards/) })
  })
})
