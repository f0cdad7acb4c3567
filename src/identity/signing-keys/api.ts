import { z } from 'zod'
import { open, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordTimestamps } from '../../values/schemas.ts'

const kid = z.string().meta({
  description: 'RFC 7638 thumbprint of the public key: the `kid` of its signatures.',
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
    retiredAt: instant
      .nullable()
      .meta({ description: 'Time of replacement. Null for the one key that signs.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'SigningKey' })

export const signingKeysApi = {
  jwks: open.get('/.well-known/jwks.json', {
    summary: 'Get the public keys that verify this installation’s signatures',
    description:
      'A key set (RFC 7517) of all Ed25519 keys that have ever signed, the current one first: the signatures of retired keys can always be verified. Payment evidence and receipt proofs are compact JWS, and name their key in `kid`.\n\nKeep a copy and verify offline; fetch it again for an unknown `kid`. `verifySigned` of the typed client does this.',
    // Old keys stay listed, and a new `kid` indicates a new key.
    http: { cachedFor: 300 },
    returns: [200, z.object({ keys: z.array(PublicKeyRecord) }).meta({ id: 'PublicKeySet' })],
  }),
  list: operator.list('/signing-keys', {
    summary: 'List the signing keys of this installation',
    description: 'Newest first. Private keys are sealed and never shown; those of retired keys are deleted.',
    item: SigningKeyRecord,
  }),
  rotate: operator.post('/signing-keys/rotate', {
    summary: 'Replace the signing key',
    description:
      'A new key signs from now on: in this process at once, in all others within three seconds. The private half of the old key is deleted; its public half stays in `/.well-known/jwks.json`, so its signatures can still be verified.',
    returns: [201, SigningKeyRecord],
    emits: {
      'signing_key.rotated': declareEvent(
        'A new key signs for this installation.',
        z.object({ signingKeyId: id('signingkey'), kid, replacedKid: kid }),
      ),
    },
  }),
}
