import { describe, expect, test } from '@jest/globals'
import { compactDecrypt, decodeProtectedHeader } from 'jose'
import {
  sandboxCardById,
  sandboxTokenById,
  sandboxTokenId,
} from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { type DisclosureRecipient, isProcessorFailure } from '../../../src/ports/card-processor.ts'
import { hasCardNumber } from '../../../src/values/card-number.ts'
import { aKeyPair, type KeyPair, kindsOfKeys } from '../../support/cards/encryption-keys.ts'
import { callOf, KEY, newCard, requestedAt, sandboxWith, secretsOf } from '../../support/cards/sandbox.ts'

const processor = sandboxWith()
const { numbers } = secretsOf(KEY)
const call = callOf('disclosure_1')

const recipientOf = ({ key }: KeyPair): DisclosureRecipient => ({
  key,
  intentId: 'intent_1',
  merchantHost: 'books.example',
})

async function aCard(): Promise<string> {
  const card = await processor.issue(newCard(), callOf('card_1'))
  if (isProcessorFailure(card)) throw new Error(card.failure)
  return card.processorCardId
}

async function disclosed(answer: Promise<object>): Promise<{ readonly jwe: string }> {
  const disclosure = await answer
  if (!('jwe' in disclosure)) throw new Error('nothing was disclosed')
  return disclosure as { readonly jwe: string }
}

async function opened(jwe: string, { privateKey }: KeyPair) {
  const { plaintext } = await compactDecrypt(jwe, privateKey)
  return JSON.parse(Buffer.from(plaintext).toString())
}

describe('card data from the sandbox', () => {
  test.each(kindsOfKeys)(
    'is read by the recipient’s %s key, and bound to intent and merchant',
    async kind => {
      const pair = await aKeyPair(kind)
      const id = await aCard()
      const { jwe } = await disclosed(processor.disclose(id, recipientOf(pair), call))
      expect(await opened(jwe, pair)).toEqual(sandboxCardById(numbers, id)?.data)
      expect(decodeProtectedHeader(jwe)).toMatchObject({
        alg: pair.key.alg,
        enc: 'A256GCM',
        kid: pair.key.thumbprint,
        typ: 'JOSE',
        cty: 'json',
        intentId: 'intent_1',
        merchantHost: 'books.example',
      })
    },
  )

  test('cannot be read by others', async () => {
    const [pair, other] = await Promise.all([aKeyPair(), aKeyPair()])
    const { jwe } = await disclosed(processor.disclose(await aCard(), recipientOf(pair), call))
    await expect(opened(jwe, other)).rejects.toThrow()
    const [header = '', ...rest] = jwe.split('.')
    const moved = JSON.stringify({ ...decodeProtectedHeader(jwe), merchantHost: 'thief.example' })
    const rebound = [Buffer.from(moved).toString('base64url'), ...rest].join('.')
    await expect(opened(rebound, pair)).rejects.toThrow()
    expect(await opened([header, ...rest].join('.'), pair)).toHaveProperty('number')
  })

  test('card data is only in the encrypted part of the answer', async () => {
    const id = await aCard()
    const answer = await disclosed(processor.disclose(id, recipientOf(await aKeyPair()), call))
    expect(Object.keys(answer)).toEqual(['jwe'])
    expect(hasCardNumber(answer)).toBe(false)
    expect(hasCardNumber(decodeProtectedHeader(answer.jwe))).toBe(false)
    expect(answer.jwe).not.toContain(sandboxCardById(numbers, id)?.data.number)
  })

  test('uses no other member of a key than those of the public key', async () => {
    const pair = await aKeyPair()
    const jwk = { ...pair.key.jwk, use: 'sig', alg: 'ES256', ext: 'no' }
    const key = { ...pair.key, jwk }
    const { jwe } = await disclosed(processor.disclose(await aCard(), recipientOf({ ...pair, key }), call))
    expect(await opened(jwe, pair)).toHaveProperty('number')
  })

  test('is refused for an invalid key and for an unknown card', async () => {
    const pair = await aKeyPair()
    const key = { ...pair.key, jwk: { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' } }
    expect(await processor.disclose(await aCard(), recipientOf({ ...pair, key }), call)).toMatchObject({
      failure: 'refused',
      code: 'unusable_key',
    })
    expect(await processor.disclose('card_1', recipientOf(pair), call)).toMatchObject({
      failure: 'refused',
      code: 'unknown_card',
    })
  })
})

describe('a network token from the sandbox', () => {
  const tokenFor = async (reference: string, pair: KeyPair, processorCardId?: string) =>
    processor.networkToken?.(
      { processorCardId: processorCardId ?? (await aCard()), expiresAt: requestedAt },
      recipientOf(pair),
      callOf(reference),
    )

  test('has a number of its own and a cryptogram, once per reference', async () => {
    const pair = await aKeyPair()
    const answer = await tokenFor('credential_1', pair)
    const card = sandboxCardById(numbers, await aCard())
    if (!card) throw new Error('the card is unknown')
    const tokenId = sandboxTokenId(numbers, 'credential_1', card)
    expect(answer).toMatchObject({ tokenId, jwe: expect.any(String) })
    const data = await opened((answer as { jwe: string }).jwe, pair)
    const token = sandboxTokenById(numbers, tokenId)
    const { expMonth, expYear } = card.data
    expect(data).toEqual({ number: token?.number, cryptogram: token?.cryptogram, expMonth, expYear })
    expect(data.number).toMatch(/^9998\d{12}$/)
    expect(data.cryptogram).toMatch(/^[\w+/]{27}=$/)
    expect(hasCardNumber(data.number)).toBe(true)
    expect(answer).toMatchObject({ last4: data.number.slice(-4) })
    expect(await tokenFor('credential_1', pair)).toMatchObject({ tokenId })
    expect(await tokenFor('credential_2', pair)).not.toMatchObject({ tokenId })
    expect(hasCardNumber(answer)).toBe(false)
  })

  test('is suspended, resumed and deleted; one that is unknown is refused', async () => {
    const { tokenId } = (await tokenFor('credential_1', await aKeyPair())) as { tokenId: string }
    for (const state of ['suspended', 'active', 'deleted'] as const) {
      expect(await processor.setNetworkToken?.(tokenId, state, call)).toEqual({ done: true })
      expect(await processor.setNetworkToken?.('token_1', state, call)).toMatchObject({
        failure: 'refused',
        code: 'unknown_token',
      })
    }
    expect(await tokenFor('credential_1', await aKeyPair(), 'card_1')).toMatchObject({
      failure: 'refused',
      code: 'unknown_card',
    })
  })
})
