import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound } from '../../kernel/contract/operation.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { encryptionKeySchema } from '../../values/encryption-key.ts'
import { id } from '../../values/ids.ts'
import { labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'

const thumbprint = z.string().meta({
  description: 'The RFC 7638 thumbprint of the key: SHA-256 in base64url.',
  examples: ['cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s'],
})

const FillerKeyRecord = z
  .object({
    ...recordHead('fillerkey'),
    label: z.string(),
    thumbprint,
    alg: z.enum(['RSA-OAEP-256', 'ECDH-ES+A256KW']).meta({
      description: 'The algorithm with which data is encrypted to the key.',
    }),
    publicKeyJwk: z.record(z.string(), z.string()).meta({
      description: 'The public JWK, with only the fields that define the key.',
      examples: [{ kty: 'OKP', crv: 'X25519', x: '3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08' }],
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'FillerKey' })

const FillerKeyEvent = z.object({ fillerKeyId: id('fillerkey'), label: z.string(), thumbprint })

const fails = { filler_key_not_found: notFound('filler key') }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'checkout:read' })
const writers = operationsFor({ callers: ['key'], scope: 'checkout:write' })

export const fillerKeysApi = {
  create: writers.post('/checkout/filler-keys', {
    summary: 'Register the key of a filler',
    description:
      'A filler is your program that fills payment forms, such as a browser extension or a service. Register the public half of its key, and your agents may have card data encrypted to it, by its ID or by the same JWK. Card data is never encrypted to an agent’s own key, since the agent could then read the card.',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z.strictObject({
        label: labelSchema.meta({
          description: 'A label for the key.',
          examples: ['Browser extension'],
        }),
        publicKeyJwk: encryptionKeySchema,
        ...widening.members,
      }),
    ),
    example: {
      label: 'Browser extension',
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    signature: widening.signature,
    returns: [201, FillerKeyRecord],
    fails: { ...widening.fails, filler_key_exists: [400, 'publicKeyJwk: this key is already registered.'] },
    emits: {
      ...widening.emits,
      'filler_key.created': declareEvent('A filler key has been registered.', FillerKeyEvent),
    },
  }),
  list: readers.list('/checkout/filler-keys', {
    summary: 'List filler keys',
    description: 'Newest first. All agents of the owner see the same keys.',
    filters: { thumbprint: z.string().min(1).max(100).optional() },
    item: FillerKeyRecord,
  }),
  get: readers.getOne('/checkout/filler-keys/{id}', 'a filler key', FillerKeyRecord, fails),
  delete: writers.del('/checkout/filler-keys/{id}', {
    summary: 'Delete a filler key',
    description:
      'Agents can no longer have data encrypted to the key. Data encrypted before can still be decrypted with it.',
    returns: [204, emptyBody],
    fails,
    emits: { 'filler_key.deleted': declareEvent('A filler key has been deleted.', FillerKeyEvent) },
  }),
}
