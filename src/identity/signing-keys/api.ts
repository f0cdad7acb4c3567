import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, list, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordTimestamps } from '../../values/schemas.ts'

const kid = z.string().meta({
  description: 'The thumbprint of the public key (RFC 7638): the `kid` of what it signs.',
  examples: ['q7Zz0jgnyx2wyO4cKNEf2v0VQpYUWYvWYMzJzSsOqJk'],
})

const PublicKeyRecord = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    kid,
    x: z.string().meta({
      description: 'The public key, in base64url.',
      examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
    }),
  })
  .meta({ id: 'PublicKey' })

export const SigningKeyRecord = z
  .object({
    id: id('signingkey'),
    kid,
    publicKey: PublicKeyRecord,
    retiredAt: instant.nullable().meta({ description: 'Null for the one key that signs.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'SigningKey' })

export const signingKeysApi = {
  jwks: get('/.well-known/jwks.json', {
    summary: 'Get the public keys that check what this installation has signed',
    description:
      'A key set (RFC 7517) with one Ed25519 key for each that has ever signed, the current one first: what a retired key has signed can be checked for good. Evidence of payments and the proof in a receipt are compact JWS, and name their key in `kid`.\n\nKeep a copy and check offline; fetch it anew for a `kid` that you do not know. `verifySigned` of the typed client does it.',
    callers: ['public'],
    // Old keys stay listed, and a new `kid` indicates a new key.
    http: { cachedFor: 300 },
    returns: [200, z.object({ keys: z.array(PublicKeyRecord) }).meta({ id: 'PublicKeySet' })],
  }),
  list: list('/signing-keys', {
    summary: 'List the signing keys of this installation',
    description: 'Newest first. Private keys are sealed and never shown; those of retired keys are deleted.',
    callers: ['dash'],
    item: SigningKeyRecord,
  }),
  rotate: post('/signing-keys/rotate', {
    summary: 'Replace the signing key',
    description:
      'From now on a new key signs: in this process at once, in all others within three seconds. The private half of the old key is deleted; its public half stays in `/.well-known/jwks.json`, so all that it has signed can still be checked.',
    callers: ['dash'],
    returns: [201, SigningKeyRecord],
    emits: {
      'signing_key.rotated': declareEvent(
        'A new key signs for this installation.',
        z.object({ signingKeyId: id('signingkey'), kid, replacedKid: kid }),
      ),
    },
  }),
}
