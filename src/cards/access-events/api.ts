import { z } from 'zod'
import { get, list, missing, post } from '../../kernel/contract/operation.ts'
import { shownOnce } from '../../kernel/run/outcome.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { timeRange } from '../../values/schemas.ts'
import { type NamedRecipient, recipientMembers } from '../filler-keys/index.ts'
import { accessRefusals } from './refusals.ts'
import { AccessEventRecord, accessEvents, decision, keyThumbprint, way } from './schemas.ts'

const nonce = z.string().min(1).max(200).optional().meta({
  description:
    'In place of a key, by an owner’s key only: of the processor’s own elements, which show the card in the browser that made it.',
})

/** Exactly one way to say who may read. */
const namesOneReader = ({
  publicKeyJwk,
  fillerKeyId,
  nonce,
}: NamedRecipient & { nonce?: string | undefined }) =>
  [publicKeyJwk, fillerKeyId, nonce].filter(reader => reader !== undefined).length === 1

const Access = z
  .object({
    accessEventId: id('accessevent'),
    cardId: id('card'),
    intentId: id('intent'),
    keyThumbprint,
    jwe: shownOnce('eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ.…'),
    ephemeralKey: shownOnce('ephkey_test_…'),
    expiresAt: instant.nullable().meta({ description: 'When the ephemeral key expires.' }),
  })
  .meta({ id: 'CardAccess' })

const filters = {
  cardId: id('card').optional(),
  agentId: id('agent').optional(),
  intentId: id('intent').optional(),
  decision: decision.optional(),
  way: way.optional(),
  ...timeRange,
}

export const accessEventsApi = {
  access: post('/cards/{id}/access', {
    summary: 'Have the data of a card encrypted to a key',
    description: [
      'Number, expiry and CVC leave only as a compact JWE (A256GCM) that the named key opens: nothing here can read it. Its protected header has the intent and the thumbprint of the key (`kid`). An agent may name only a filler key that its owner has registered; an owner’s key may name any.',
      'It needs an approved intent of the card’s agent that is not paid, and an active card. Each ask is recorded, granted or denied (`GET /access-events`); the JWE is shown once, and a replay has none.',
    ].join('\n\n'),
    tag: 'Cards',
    callers: ['key', 'agent'],
    scope: 'cards:reveal',
    run: 'outside',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: withoutCardNumbers(
      z
        .strictObject({
          intentId: id('intent'),
          purpose: z
            .string()
            .trim()
            .min(1)
            .max(200)
            .meta({ description: 'What the data is for.', examples: ['Fill the payment form of the shop'] }),
          ...recipientMembers,
          nonce,
        })
        .refine(namesOneReader, {
          path: ['publicKeyJwk'],
          error: 'give it, fillerKeyId or nonce, and only one of them',
        }),
    ),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      purpose: 'Fill the payment form of the shop',
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [200, Access],
    fails: {
      ...accessRefusals,
      nonce_of_agent: [403, 'nonce: only an owner’s key may name one. Name a filler key.'],
      ephemeral_keys_missing: [
        503,
        'nonce: the processor of this card has no elements that show one. Name a key.',
      ],
    },
    emits: accessEvents,
  }),
  list: list('/access-events', {
    summary: 'List access events',
    description:
      'Every ask for the data of a card, newest first: by whom, for which intent and shop, to which key, granted or denied and why. Nobody can change them.',
    callers: ['key', 'agent'],
    scope: 'access-events:read',
    filters,
    item: AccessEventRecord,
  }),
  get: get('/access-events/{id}', {
    summary: 'Get an access event',
    callers: ['key', 'agent'],
    scope: 'access-events:read',
    returns: [200, AccessEventRecord],
    fails: { access_event_not_found: missing('access event') },
  }),
}
