import { describe, expect, test } from '@jest/globals'
import * as card from 'mpp-card'
import { cardClient, decryptToken } from 'mpp-card/card'
import * as mppx from 'mppx'
import {
  computeChallengeId,
  decodeChargeRequest,
  isOwnChallenge,
  isUnusableInput,
  parseChallenges,
  parseCredential,
  parseReceipt,
  readCardPayload,
  serializeChallenge,
  serializeCredential,
  serializeReceipt,
} from '../../src/mpp/index.ts'
import { chargeRequest, merchantPrivateKey, sample } from './samples.ts'

const secretKey = 'a secret of at least thirty-two bytes'
const own = { ...sample, id: computeChallengeId(secretKey, sample) }
const expires = '2026-11-21T12:00:00.000Z'
const payload = { encryptedPayload: 'a.b.c.d.e', network: 'visa' }
const receipt = { status: 'success', method: 'card', timestamp: expires, reference: 'ch_1' } as const

/** A challenge that another implementation offers, and the id that it computes if the secret is known. */
const offered = { realm: sample.realm, method: 'card', intent: 'charge', request: chargeRequest, expires }

describe('mppx', () => {
  test('reads our challenge and computes the same id', () => {
    const read = mppx.Challenge.deserialize(serializeChallenge(own))
    expect(read).toMatchObject({ id: own.id, realm: own.realm, request: chargeRequest, opaque: own.opaque })
    expect(mppx.Challenge.verify(read, { secretKey })).toBe(true)
  })

  test('offers challenges that we read, text beyond Latin-1 included', () => {
    const made = mppx.Challenge.from({
      ...offered,
      secretKey,
      description: '5 € — “now”',
      meta: { nonce: 'n' },
    })
    const { challenges, problems } = parseChallenges([mppx.Challenge.serialize(made)])
    expect(problems).toEqual([])
    expect(challenges).toMatchObject([{ id: made.id, description: '5 € — “now”', expires }])
    expect(challenges.every(challenge => isOwnChallenge(secretKey, challenge))).toBe(true)
    expect(challenges.map(decodeChargeRequest)).toMatchObject([
      { amount: 1_250n, currency: 'eur', externalId: 'order-7' },
    ])
  })

  test('offers several at once, of which we find each', () => {
    const values = ['tempo', 'card', 'stripe'].map(method =>
      mppx.Challenge.serialize(mppx.Challenge.from({ ...offered, method, secretKey })),
    )
    const { challenges } = parseChallenges([values.join(', ')])
    expect(challenges.map(({ method }) => method)).toEqual(['tempo', 'card', 'stripe'])
    expect(mppx.Challenge.deserializeList(challenges.map(serializeChallenge).join(', '))).toHaveLength(3)
  })

  test('reads our credential, and we read its credential', () => {
    expect(mppx.Credential.deserialize(serializeCredential({ challenge: own, payload }))).toMatchObject({
      challenge: { id: own.id, opaque: own.opaque },
      payload,
    })
    const challenge = mppx.Challenge.deserialize(serializeChallenge(own))
    expect(parseCredential(mppx.Credential.serialize({ challenge, payload }))).toEqual({
      challenge: own,
      payload,
    })
  })

  test('reads our receipt with its proof, and we read its receipt', () => {
    const written = { ...receipt, challengeId: own.id, proof: 'a.b.c' }
    expect(mppx.Receipt.deserialize(serializeReceipt(written))).toEqual(written)
    expect(parseReceipt(mppx.Receipt.serialize({ ...receipt, externalId: 'order-7' }))).toMatchObject({
      externalId: 'order-7',
    })
  })
})

describe('mpp-card', () => {
  test('reads our challenge', () => {
    const read = card.Challenge.deserialize(serializeChallenge(own))
    expect(read).toMatchObject({
      id: own.id,
      realm: own.realm,
      request: chargeRequest,
      opaque: { nonce: 'Zm9v' },
    })
  })

  test('offers challenges that we read', () => {
    const made = card.Challenge.from({ ...offered, secretKey, meta: { nonce: 'n' } })
    const { challenges, problems } = parseChallenges([card.Challenge.serialize(made)])
    expect(problems).toEqual([])
    expect(challenges.map(decodeChargeRequest)).toMatchObject([{ amount: 1_250n, currency: 'eur' }])
  })

  test('pays our challenge with a credential that we read and know as ours', async () => {
    const client = cardClient('card_1')
    const challenge = card.Challenge.deserialize(serializeChallenge(own))
    const value = await client.createCredential({ challenge } as Parameters<
      typeof client.createCredential
    >[0])
    const read = parseCredential(value)
    if (isUnusableInput(read)) throw new Error(read.problem)
    expect(read.challenge).toEqual(own)
    expect(isOwnChallenge(secretKey, read.challenge)).toBe(true)
    const { encryptedPayload = '' } = readCardPayload(read) as { encryptedPayload?: string }
    expect(decryptToken(encryptedPayload, merchantPrivateKey).token.paymentToken).toBe('4242424242424242')
  })

  test('reads our credential for its challenge, and verifies the id', () => {
    const made = card.Challenge.from({ ...offered, secretKey })
    const [challenge = own] = parseChallenges([card.Challenge.serialize(made)]).challenges
    const read = card.Credential.deserialize(serializeCredential({ challenge, payload }))
    expect(card.Challenge.verify(read.challenge, { secretKey })).toBe(true)
    expect(read.payload).toEqual(payload)
  })

  test('reads our receipt, and we read its receipt', () => {
    expect(
      card.Receipt.deserialize(serializeReceipt({ ...receipt, challengeId: own.id, proof: 'a.b.c' })),
    ).toEqual(receipt)
    expect(parseReceipt(card.Receipt.serialize(receipt))).toEqual(receipt)
  })
})
