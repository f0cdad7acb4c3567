import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { Authenticator, coseKeyOf, type Manner } from '../../support/identity/authenticator.ts'
import { aPerson } from '../../support/identity/people.ts'
import { anAccount, ORIGIN as origin, service, told } from './service.ts'

type Registering = Manner & { coseKey?: unknown; fmt?: string }
const unchanged = () => ({})

type Made = ReturnType<Authenticator['register']>

/** The result of registering the first passkey of an account in this manner, modified on its way. */
async function registered(manner: Registering, change: (made: Made) => object = unchanged) {
  const owner = await service.owner()
  const { id: personId } = await aPerson(service, owner)
  const { challengeId, options } = await bodyOf(owner.client.passkeys.registerOptions({ body: { personId } }))
  const made = new Authenticator({ origin }).register(options, manner)
  const registration = { ...made, ...change(made) }
  const answer = await owner.client.passkeys.registerVerify({ body: { challengeId, registration } })
  const { data } = await bodyOf(owner.client.passkeys.list())
  return { owner, personId, challengeId, registration, answer, count: data.length }
}

const SHORT_RSA = coseKeyOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey)

const p256 = (x: Buffer, y: Buffer) =>
  new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, x],
    [-3, y],
  ])

describe('a new passkey is refused, and nothing is enrolled:', () => {
  test.each<[string, Registering]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a frame in another page', { crossOrigin: true }],
    ['for another site', { rpId: 'evil.example' }],
    ['without the verification of its user', { isVerified: false }],
    ['without the presence of anybody', { isPresent: false }],
    ['over another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['of an approval', { type: 'webauthn.get' }],
    ['with an RSA key of 1024 bits', { coseKey: SHORT_RSA }],
    ['with a point beside its curve', { coseKey: p256(Buffer.alloc(32, 1), Buffer.alloc(32, 1)) }],
    ['with a short key', { coseKey: p256(Buffer.alloc(31, 1), Buffer.alloc(32, 1)) }],
    [
      'with another algorithm',
      {
        coseKey: new Map([
          [1, 2],
          [3, -35],
        ]),
      },
    ],
    ['with a key that is none', { coseKey: new Map([[1, 'OKP']]) }],
    ['with an attestation that we do not ask for', { fmt: 'tpm' }],
    ['with an attestation of nobody', { fmt: 'fido-u2f' }],
  ])('%s', async (_, manner) => {
    const { answer, count } = await registered(manner)
    expect([told(answer), count]).toEqual(['400 registration_invalid', 0])
  })

  test('that the device does not keep by itself', async () => {
    const { answer, count } = await registered({}, () => ({
      clientExtensionResults: { credProps: { rk: false } },
    }))
    expect([told(answer), count]).toEqual(['400 registration_invalid', 0])
  })

  test.each<[string, Registering, (made: Made) => object]>([
    ['client data that is not UTF-8', { clientData: () => Buffer.from([0xff]) }, unchanged],
    ['client data that is no JSON', { clientData: () => 'null' }, unchanged],
    ['CBOR garbage', {}, ({ response }) => ({ response: { ...response, attestationObject: '_____w' } })],
    [
      'CBOR that is nested deeply',
      {},
      ({ response }) => ({
        response: { ...response, attestationObject: Buffer.alloc(18_000, 0x81).toString('base64url') },
      }),
    ],
    ['authenticator data without a key', { authenticatorData: data => data.subarray(0, 37) }, unchanged],
    ['authenticator data that is cut', { authenticatorData: data => data.subarray(0, 60) }, unchanged],
    ['a key that is no map', { coseKey: 7 }, unchanged],
  ])('that cannot be read, which burns nothing: %s', async (_, manner, change) => {
    const { challengeId, answer, count } = await registered(manner, change)
    expect([told(answer), count]).toEqual(['400 registration_malformed', 0])
    const [challenge] = await service.sql('select used_at from passkey_challenges where id = $1', [
      challengeId,
    ])
    expect(challenge).toEqual({ used_at: null })
  })

  test('a second time', async () => {
    const { owner, challengeId, registration } = await registered({})
    const again = await owner.client.passkeys.registerVerify({ body: { challengeId, registration } })
    expect(told(again)).toBe('400 challenge_used')
  })

  test('with the challenge of another owner', async () => {
    const { challengeId, registration } = await registered({})
    const { client } = await service.owner()
    const answer = await client.passkeys.registerVerify({ body: { challengeId, registration } })
    expect(told(answer)).toBe('400 challenge_unknown')
  })

  test('if another person has enrolled it', async () => {
    const [account, stranger] = [await anAccount(), await service.owner()]
    const { id: personId } = await aPerson(service, stranger)
    const { challengeId, options } = await bodyOf(
      stranger.client.passkeys.registerOptions({ body: { personId } }),
    )
    const registration = account.one.device.register(options)
    const answer = await stranger.client.passkeys.registerVerify({ body: { challengeId, registration } })
    expect(told(answer)).toBe('400 passkey_exists')
  })
})
