import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { doneSchema, notFound } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'

const kid = z.string().meta({
  description: 'RFC 7638 thumbprint of the public key, by which challenges and tokens name it.',
  examples: ['q7Zz0jgnyx2wyO4cKNEf2v0VQpYUWYvWYMzJzSsOqJk'],
})

const MppKeyRecord = z
  .object({
    ...recordHead('mppkey'),
    kid,
    publicKeyJwk: z.record(z.string(), z.string()).meta({
      description: 'The RSA key that payers encrypt network tokens to.',
      examples: [{ kty: 'RSA', n: 'ALhr…', e: 'AQAB', use: 'enc', alg: 'RSA-OAEP-256', kid: 'q7Zz…' }],
    }),
    retiredAt: instant
      .nullable()
      .meta({ description: 'Time of replacement. Null for the one key that new challenges name.' }),
    endsAt: instant.nullable().meta({
      description:
        'The time at which the private key is deleted: five minutes after its last challenge expires.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'MppKey' })

const readers = operationsFor({ callers: ['key'], scope: 'collect:read' })
const writers = operationsFor({ callers: ['key'], scope: 'collect:write' })

export const mppKeysApi = {
  list: readers.list('/collect/keys', {
    summary: 'List the keys of your payment challenges',
    description:
      'Newest first. Each has a secret, which signs the IDs of challenges. Secret and private key are sealed and never shown.',
    item: MppKeyRecord,
  }),
  rotate: writers.post('/collect/keys/rotate', {
    summary: 'Replace the key of your payment challenges',
    description:
      'New challenges use the new keys from now on. Earlier challenges can still be paid: the old private key is deleted five minutes after the last of them has expired.',
    run: 'external',
    returns: [201, MppKeyRecord],
    emits: {
      'mpp_key.rotated': declareEvent(
        'The keys of an owner’s payment challenges have been replaced.',
        z.object({ mppKeyId: id('mppkey'), kid, replacedKid: kid.nullable() }),
      ),
    },
  }),
  make: internal.post('/collect/keys/make', {
    summary: 'Make the first key of the payment challenges',
    run: 'external',
    returns: [200, z.object({ made: z.boolean() })],
    emits: {
      'mpp_key.created': declareEvent(
        'The first keys of an owner’s payment challenges have been created.',
        z.object({ mppKeyId: id('mppkey'), kid }),
      ),
    },
  }),
  /** Deletes secret and private key once the key's last challenges have ended. */
  end: internal.post('/collect/keys/{id}/end', {
    summary: 'Delete the private half of a retired key',
    returns: [200, doneSchema],
    emits: {
      'mpp_key.ended': declareEvent(
        'The private half of a replaced key has been deleted.',
        z.object({ mppKeyId: id('mppkey'), kid }),
      ),
    },
    fails: { mpp_key_not_found: notFound('key') },
  }),
}
