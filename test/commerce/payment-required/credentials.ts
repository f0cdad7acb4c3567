import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isUnusableInput, parseCredential, serializeCredential, toBase64url } from '../../../src/mpp/index.ts'
import {
  ask,
  challengeOf,
  credentialFor,
  payloadFor,
  present,
  tokenFor,
} from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayee } from './service.ts'

const service = await startTestService({ own: true })
const { client, create, urlOf, settlements } = await aPayee(service)
const request = await create()
const url = urlOf(request.id)
const challenge = await challengeOf(url)
const payload = payloadFor(challenge)
const value = credentialFor(challenge)
const sent = parseCredential(value)
const {
  challenge: parsedChallenge,
  payload: { encryptedPayload: sentToken },
} = isUnusableInput(sent) ? { challenge, payload } : sent
const other = await create({ description: 'Something else' })

const fresh = (title: string) => ({ status: 402, body: { title }, challenges: [{ method: 'card' }] })
const credentialWith = (members: object) =>
  serializeCredential({ challenge: { ...challenge, ...members }, payload })
const payloadWith = (members: object) =>
  serializeCredential({ challenge, payload: { ...payload, ...members } })
const tokenWith = (...token: Parameters<typeof tokenFor> extends [unknown, ...infer T] ? T : never) =>
  payloadWith({ encryptedPayload: tokenFor(challenge, ...token) })

/** Whether only data printed on the card was altered: it is unsigned, and nothing is charged by it. */
function saysTheSame(value: string): boolean {
  const read = parseCredential(value)
  if (isUnusableInput(read)) return false
  const { encryptedPayload, network } = read.payload
  return (
    JSON.stringify(read.challenge) === JSON.stringify(parsedChallenge) &&
    network === 'visa' &&
    encryptedPayload === sentToken
  )
}

describe('a credential', () => {
  test.each([
    ['that is no base64url', 'Payment {}', 'Malformed Credential'],
    ['that is empty', 'Payment', 'Malformed Credential'],
    ['that holds no JSON', `Payment ${toBase64url('{"challenge":')}`, 'Malformed Credential'],
    ['without a payload', `Payment ${toBase64url(JSON.stringify({ challenge }))}`, 'Malformed Credential'],
    [
      'of which there are two',
      `${credentialFor(challenge)}, ${credentialFor(challenge)}`,
      'Malformed Credential',
    ],
    ['with an id that no challenge can have', credentialWith({ id: 'A\0' }), 'Malformed Credential'],
    ['for an unknown challenge', credentialWith({ id: 'A'.repeat(43) }), 'Invalid Challenge'],
    ['for another realm', credentialWith({ realm: 'example.com' }), 'Invalid Challenge'],
    [
      'for another amount',
      credentialWith({ request: `${challenge.request.slice(0, -4)}AAAA` }),
      'Invalid Challenge',
    ],
    ['for a later time', credentialWith({ expires: '2039-01-01T00:00:00.000Z' }), 'Invalid Challenge'],
    ['with another nonce', credentialWith({ opaque: 'e30' }), 'Invalid Challenge'],
    ['with a digest', credentialWith({ digest: 'sha-256=:x:' }), 'Invalid Challenge'],
    ['with a description', credentialWith({ description: 'cheap' }), 'Invalid Challenge'],
    ['with a header', credentialWith({ header: 'X-Payment' }), 'Invalid Challenge'],
    ['without its time', credentialWith({ expires: undefined }), 'Invalid Challenge'],
    ['without its token', payloadWith({ encryptedPayload: 'abc' }), 'Invalid Payload'],
    ['without its network', payloadWith({ network: undefined }), 'Invalid Payload'],
    ['of a network that is not accepted', payloadWith({ network: 'amex' }), 'Verification Failed'],
    ['of another network than its token', payloadWith({ network: 'mastercard' }), 'Verification Failed'],
    [
      'with a token that was changed',
      payloadWith({ encryptedPayload: `${payload.encryptedPayload.slice(0, -4)}AAAA` }),
      'Verification Failed',
    ],
    ['with a token for another key', tokenWith({ header: { kid: 'another' } }), 'Verification Failed'],
    ['with a compressed token', tokenWith({ header: { zip: 'DEF' } }), 'Verification Failed'],
    ['with a token by another algorithm', tokenWith({ header: { alg: 'RSA-OAEP' } }), 'Verification Failed'],
    ['with a critical header', tokenWith({ header: { crit: ['exp'] } }), 'Verification Failed'],
    [
      'with a token bound to another challenge',
      tokenWith({ plain: { binding: { challengeId: 'another' } } }),
      'Verification Failed',
    ],
    ['with a token of nobody', tokenWith({ number: '4999999999999999' }), 'Verification Failed'],
    ['with a token that is none', tokenWith({ plain: { token: 7 } }), 'Verification Failed'],
  ])('%s is refused with a fresh challenge', async (_, value, title) => {
    const answer = await present(url, value)
    expect(answer).toMatchObject(fresh(title))
    expect(answer.challenges[0]?.id).not.toBe(challenge.id)
    expect(answer.text).not.toMatch(/\d{12}/)
    expect(answer.receipt).toBeUndefined()
  })

  test('of another method is 400, and no challenge comes with it', async () => {
    const answer = await present(url, credentialWith({ method: 'tempo' }))
    expect(answer).toMatchObject({ status: 400, challenges: [], body: { title: 'Method Unsupported' } })
    expect(await present(url, credentialWith({ intent: 'session' }))).toMatchObject({ status: 400 })
  })

  test('for another request or owner pays nothing', async () => {
    expect(await present(urlOf(other.id), credentialFor(challenge))).toMatchObject(fresh('Invalid Challenge'))
    const stranger = await aPayee(service)
    const foreign = await stranger.create()
    expect(await present(stranger.urlOf(foreign.id), credentialFor(challenge))).toMatchObject(
      fresh('Invalid Challenge'),
    )
  })

  test('in a header of 64 KB is refused before it is read', async () => {
    const { status } = await ask(url, { headers: { authorization: `Payment ${'A'.repeat(65_536)}` } })
    expect(status).toBe(431)
  })

  test('altered anywhere but in what is printed on the card pays nothing', async () => {
    const at = fc.integer({ min: 8, max: value.length - 1 })
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const property = fc.asyncProperty(at, fc.constantFrom(...alphabet), async (place, letter) => {
      fc.pre(value[place] !== letter)
      fc.pre(!saysTheSame(value.slice(0, place) + letter + value.slice(place + 1)))
      const { status } = await present(url, value.slice(0, place) + letter + value.slice(place + 1))
      expect([400, 402]).toContain(status)
    })
    await fc.assert(property, { numRuns: 60 })
  })

  test('that is refused leaves nothing behind', async () => {
    expect(await settlements(request.id)).toEqual([])
    expect(await service.sql('select 1 from mpp_settlements')).toEqual([])
    const { status } = await client.collect.get({ params: { id: request.id } })
    expect(status).toBe(200)
  })

  test('is refused with challenge_expired after the challenge’s expiry', async () => {
    const late = await challengeOf(url)
    await client.sandbox.advance({ body: { minutes: 5 } })
    expect(await present(url, credentialFor(late))).toMatchObject(fresh('Payment Expired'))
  })
})
