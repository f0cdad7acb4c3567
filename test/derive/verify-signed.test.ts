import { createPrivateKey, sign } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { calculateJwkThumbprint, compactVerify, importJWK } from 'jose'
import { SignatureRejected, verifySigned } from '../../src/derive/client.ts'
import { newSigningKeyPair, publicKeyFromX, signJws } from '../../src/ports/signer.ts'

const [pair, other] = [newSigningKeyPair(), newSigningKeyPair()]
const [key, otherKey] = [publicKeyFromX(pair.x), publicKeyFromX(other.x)]
const keys = { keys: [otherKey, key] }
const privateKey = createPrivateKey(pair.privateKey)
const claims = { ownerId: 'customer_1', mode: 'live', merchant: 'Bäckerei Übermut' } as const
const jws = signJws(privateKey, key.kid, 'evidence', claims)

/** Signs any header and any text, as an attacker with the key would. */
function forged(header: object, text: string): string {
  const input = [JSON.stringify(header), text].map(part => Buffer.from(part).toString('base64url')).join('.')
  return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`
}

const header = { alg: 'EdDSA', kid: key.kid, typ: 'evidence' }

describe('a signed statement', () => {
  test('returns the signed claims with the public keys alone', async () => {
    expect(verifySigned(jws, keys, 'evidence')).toEqual(claims)
    // Another implementation agrees, on the keys' names too.
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK({ ...key }))
    expect([JSON.parse(Buffer.from(payload).toString()), protectedHeader]).toEqual([claims, header])
    expect(await calculateJwkThumbprint({ ...key })).toBe(key.kid)
  })

  test.each<[string, string, string]>([
    ['of another type', jws, 'receipt'],
    ['without a signature', jws.slice(0, jws.lastIndexOf('.') + 1), 'evidence'],
    ['with a fourth part', `${jws}.e30`, 'evidence'],
    ['of no algorithm', forged({ ...header, alg: 'none' }, '{}'), 'evidence'],
    ['of another algorithm', forged({ ...header, alg: 'HS256' }, '{}'), 'evidence'],
    ['with extensions that must be understood', forged({ ...header, crit: ['exp'] }, '{}'), 'evidence'],
    ['that names no key', forged({ ...header, kid: undefined }, '{}'), 'evidence'],
    ['of an unknown key', forged({ ...header, kid: 'unknown' }, '{}'), 'evidence'],
    ['under the name of another key', forged({ ...header, kid: otherKey.kid }, '{}'), 'evidence'],
    ['that is a list', forged(header, '[]'), 'evidence'],
    ['that is no JSON', forged(header, '{'), 'evidence'],
    ['with its signature in another spelling', `${jws}=`, 'evidence'],
    ['that never ends', `${jws}${'A'.repeat(1_048_576)}`, 'evidence'],
  ])('%s is refused', (_, statement, type) => {
    expect(() => verifySigned(statement, keys, type)).toThrow(SignatureRejected)
  })

  test('is refused when any character of it is another one', () => {
    for (let at = 0; at < jws.length; at++) {
      const altered = `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`
      expect(() => verifySigned(altered, keys, 'evidence')).toThrow(SignatureRejected)
    }
  })

  test('is refused where it is any other text, and nothing else is thrown', () => {
    fc.assert(
      fc.property(fc.array(fc.base64String(), { maxLength: 4 }), parts => {
        expect(() => verifySigned(parts.join('.'), keys, 'evidence')).toThrow(SignatureRejected)
      }),
    )
  })
})
