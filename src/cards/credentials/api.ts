import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { integerSchema } from '../../kernel/contract/page.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import {
  accessDenialEvents,
  accessEvents,
  accessRefusals,
  accessSubjectRefusals,
  keyThumbprint,
} from '../access-events/index.ts'
import { namesOneRecipientKey, oneRecipientKeyRequired, recipientKeyMembers } from '../filler-keys/index.ts'
import { credentialMachine } from './credential.ts'

const status = z.enum(credentialMachine.states)

const CredentialRecord = z
  .object({
    ...recordHead('credential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    cardId: id('card'),
    status,
    expiresAt: instant,
    redeemedAt: instant.nullable(),
    revokedAt: instant.nullable(),
    accessEventId: id('accessevent').nullable().meta({ description: 'The access event of the redemption.' }),
    keyThumbprint,
    ...recordTimestamps,
  })
  .meta({ id: 'Credential' })

const RedeemedCredential = CredentialRecord.extend({
  jwe: shownOnceSchema('eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ.…'),
}).meta({ id: 'RedeemedCredential' })

const CredentialEvent = z.object({
  credentialId: id('credential'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  status,
})

const issued = declareEvent('A credential for the data of a card has been issued.', CredentialEvent)

export const unusableCredentialRefusals = {
  credential_redeemed: [
    410,
    'The credential has already been redeemed; each can be used once. Issue another one.',
  ],
  credential_revoked: [410, 'The credential is revoked. Issue another one.'],
  credential_expired: [410, 'The credential has expired. Issue another one.'],
} as const satisfies Record<string, RefusalSpec>

const lookupRefusals = { credential_not_found: notFound('credential') }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'credentials:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'credentials:write' })

export const credentialsApi = {
  create: writers.post('/credentials', {
    summary: 'Issue a credential for the data of a card',
    description:
      'For an approved, unpaid intent. The credential can be redeemed once for the card data, encrypted to a key; it contains no card data. `cardId` is optional if the intent names its card, or the agent has only one active card.',
    body: refuseCardNumbers(
      z.strictObject({
        intentId: id('intent'),
        cardId: id('card').optional(),
        ttlSeconds: integerSchema(30, 86_400).meta({
          description: 'Seconds for which the credential can be redeemed.',
          examples: [900],
        }),
      }),
    ),
    example: { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz', ttlSeconds: 900 },
    returns: [201, CredentialRecord],
    fails: accessSubjectRefusals,
    emits: { ...accessDenialEvents, 'credential.issued': issued },
  }),
  redeem: writers.post('/credentials/{id}/redeem', {
    summary: 'Redeem a credential',
    description:
      'Returns the card data as a compact JWE for the named key, once; afterwards 410. An agent may name only a filler key that its owner has registered. If the processor gives no data, the credential can be redeemed again.',
    run: 'external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z.strictObject(recipientKeyMembers).refine(namesOneRecipientKey, oneRecipientKeyRequired),
    ),
    example: {
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [200, RedeemedCredential],
    fails: { ...lookupRefusals, ...unusableCredentialRefusals, ...accessRefusals },
    emits: {
      ...accessEvents,
      'credential.redeemed': declareEvent(
        'A credential has been redeemed for the data of a card.',
        CredentialEvent,
      ),
      'credential.reopened': declareEvent(
        'The processor gave no data for a credential, which can be redeemed again.',
        CredentialEvent,
      ),
    },
  }),
  revoke: writers.post('/credentials/{id}/revoke', {
    summary: 'Revoke a credential',
    returns: [200, CredentialRecord],
    fails: {
      ...lookupRefusals,
      credential_over: [400, 'The credential has already been redeemed or revoked, or has expired.'],
    },
    emits: { 'credential.revoked': declareEvent('A credential has been revoked.', CredentialEvent) },
  }),
  list: readers.list('/credentials', {
    summary: 'List credentials',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      cardId: id('card').optional(),
    },
    item: CredentialRecord,
  }),
  get: readers.getOne('/credentials/{id}', 'a credential', CredentialRecord, lookupRefusals),
  expire: internal.post('/credentials/{id}/expire', {
    summary: 'Expire a credential',
    returns: [200, z.object({ expired: z.boolean() })],
    fails: lookupRefusals,
    emits: { 'credential.expired': declareEvent('A credential has expired.', CredentialEvent) },
  }),
}
