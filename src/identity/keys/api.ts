import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { del, get, list, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { allScopeNames, scopeSchema } from '../../kernel/contract/scopes.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { CustomerCreateBody, CustomerEvent, CustomerRecord } from '../customers/index.ts'
import { assertionEvents, assertionRefusals, webauthnAssertionSchema } from '../passkeys/index.ts'
import { keyEnvironments, MAX_API_KEYS } from './key.ts'

/** Without this, a hijacked session could create a key that outlasts it. */
const consent = webauthnAssertionSchema.optional().meta({
  description:
    'In the console, over exactly this key: `POST /passkeys/challenge`, purpose `key`. A key needs none.',
})

const signedKey = (subject: Readonly<Record<string, string>>) => ({
  challenge: '/passkeys/challenge',
  asks: { purpose: 'key', subject },
})

const environment = z.enum(keyEnvironments).meta({
  description: '`sandbox` and `test` see the same test data; `live` needs a verified owner.',
})
const scopeList = z.array(scopeSchema)
const key = shownOnceSchema('sk_sandbox_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ')

export const requestedToolWritesSchema = z.boolean().default(false).meta({
  description:
    'Asks for a key that changes things by the tools of an assistant (`POST /mcp`), and does not only propose them. The person reads it before letting it in.',
})

const KeyRecord = z
  .object({
    ...recordHead('key'),
    name: z.string(),
    environment,
    hint: z.string().meta({ description: 'The last four characters of the secret.', examples: ['uQxZ'] }),
    scopes: scopeList,
    madeById: id('key')
      .nullable()
      .meta({ description: 'The key that it was made with; null for the first one of an account.' }),
    lastUsedAt: instant.nullable().meta({ description: 'To the minute.' }),
    expiresAt: instant.nullable(),
    idleDays: z.int().nullable().meta({ description: 'It expires after this many days without use.' }),
    boundTo: z.string().nullable().meta({
      description:
        'The thumbprint (RFC 7638) of the key whose proof (`DPoP`, RFC 9449) each request carries; null where none is asked for.',
    }),
    toolWrites: z.boolean().meta({
      description:
        'Whether it can make changes with an assistant’s tools (`POST /mcp`). Scopes never imply it, and a new key has it only if `toolWrites` is requested again.',
    }),
    sessionId: z.string().nullable().meta({
      description: 'The session of the device, or the pairing, in which a person has agreed to it.',
    }),
    personId: id('person').nullable().meta({
      description: 'The approving person. The key’s rights are limited to theirs, and it ends with them.',
    }),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'Key' })

const CreatedKey = KeyRecord.extend({ key }).meta({ id: 'CreatedKey' })
const CreatedCustomer = CustomerRecord.extend({ key }).meta({ id: 'CreatedCustomer' })

export const ApiKeyEvent = z.object({
  keyId: id('key'),
  name: z.string().max(200),
  environment,
  expiresAt: instant.nullable(),
  madeById: id('key').nullable(),
  sessionId: z.string().nullable(),
})

const KeyRotated = ApiKeyEvent.extend({ replacedById: id('key') })

export const apiKeyEvents = {
  'key.created': ApiKeyEvent,
  'key.rotated': KeyRotated,
  'key.revoked': ApiKeyEvent,
}

const fails = {
  key_not_found: notFound('key'),
  key_not_open: [400, 'The key is revoked or has expired.'],
  expires_in_past: [400, 'expiresAt must be in the future.'],
  owner_not_verified: [
    400,
    'environment: live keys require a verified owner. GET /kyc/status lists what is missing.',
  ],
  scope_not_held: [403, 'scopes: a key can only grant scopes that it has.'],
  too_many_keys: [400, `There are ${MAX_API_KEYS} active keys in this mode already. Revoke one first.`],
  binding_not_held: [
    403,
    'The calling key works with the proof of a device only, and the other without it: rotate it with another key, or in the console.',
  ],
  tool_writes_not_held: [
    403,
    'toolWrites: the calling key does not have it. Use a key that does, the console, or `agentpay login --tool-writes`.',
  ],
  expires_too_late: [403, 'expiresAt: a key cannot expire later than the key that creates it.'],
} as const satisfies Record<string, RefusalSpec>

export const apiKeysApi = {
  openAccount: post('/customers', {
    summary: 'Open an account',
    description: 'A customer and its first sandbox key. The key is shown this once.',
    tag: 'Customers',
    callers: ['dash'],
    body: CustomerCreateBody,
    example: { name: 'Ada Lovelace', email: 'ada@example.com', type: 'individual', country: 'DE' },
    returns: [201, CreatedCustomer],
    emits: {
      'customer.created': declareEvent('An account was opened.', CustomerEvent),
      'key.created': declareEvent('An API key was created.', ApiKeyEvent),
    },
  }),
  create: post('/keys', {
    summary: 'Create an API key',
    description:
      'The secret is in `key`, in this response only. A key expires no later than the key that creates it, and has no scope that this one lacks.\n\nA test key creates a live key only while the owner has no active one; the new key needs `keys:write`, and test mode gets the event `key.live_created`. Further live keys are created with that one, in live mode.',
    callers: ['key'],
    scope: 'keys:write',
    signature: signedKey({
      name: '$name',
      environment: '$environment',
      scopes: '$scopes',
      toolWrites: '$toolWrites',
    }),
    body: z.strictObject({
      name: labelSchema.meta({ examples: ['Build server'] }),
      environment,
      expiresAt: instant.nullable().optional().meta({
        description: 'That of the calling key if left out. Null: until it is revoked.',
      }),
      scopes: scopeList
        .min(1)
        .max(allScopeNames.length)
        .optional()
        .meta({ description: 'All that the calling key has, unless fewer are named.' }),
      toolWrites: z.boolean().default(false).meta({
        description:
          'Lets a model that uses this key by the tools of an assistant change things, and not only read. Only a key that has it, or a person in the console, gives it. Anything that the model reads could then make it spend, so an agent’s token is usually the better choice.',
      }),
      webauthnAssertion: consent,
    }),
    example: { name: 'Build server', environment: 'sandbox', scopes: ['agents:read', 'policies:read'] },
    returns: [201, CreatedKey],
    fails: {
      ...assertionRefusals,
      expires_in_past: fails.expires_in_past,
      expires_too_late: fails.expires_too_late,
      owner_not_verified: fails.owner_not_verified,
      live_key_at_work: [
        403,
        'environment: a live key works already. Make further ones with it, or revoke it with itself first.',
      ],
      first_live_key: [
        400,
        'scopes: the first live key needs keys:write, as all others are made and revoked with it.',
      ],
      scope_not_held: fails.scope_not_held,
      too_many_keys: fails.too_many_keys,
      tool_writes_not_held: fails.tool_writes_not_held,
    },
    emits: {
      ...assertionEvents,
      'key.created': ApiKeyEvent,
      'key.live_created': declareEvent(
        'A key of test mode has made a live key, as none worked.',
        ApiKeyEvent,
      ),
    },
  }),
  list: list('/keys', {
    summary: 'List API keys',
    description:
      'Those of the calling key’s mode, newest first, revoked ones too. A secret is never shown again.',
    callers: ['key'],
    scope: 'keys:read',
    filters: { environment: environment.optional(), madeById: id('key').optional() },
    item: KeyRecord,
  }),
  current: get('/keys/current', {
    summary: 'Get the calling key',
    description: 'Its scopes and expiry. No scope is needed.',
    callers: ['key'],
    keyOnly: 'A console session is not a key. Use GET /console/session.',
    returns: [200, KeyRecord],
    fails: { key_not_found: fails.key_not_found },
  }),
  get: get('/keys/{id}', {
    summary: 'Get an API key',
    callers: ['key'],
    scope: 'keys:read',
    returns: [200, KeyRecord],
    fails: { key_not_found: fails.key_not_found },
  }),
  rotate: post('/keys/{id}/rotate', {
    summary: 'Replace an API key',
    description:
      'A new key with the same name, environment, scopes and expiry; the old one works until `overlapMinutes` have passed. A key can replace itself and those that have neither more scopes nor more time.',
    callers: ['key'],
    scope: 'keys:write',
    signature: signedKey({ keyId: '$id' }),
    body: z.strictObject({
      overlapMinutes: z.int().min(0).max(1_440).default(0).meta({ description: 'How long both work.' }),
      webauthnAssertion: consent,
    }),
    example: { overlapMinutes: 60 },
    returns: [201, CreatedKey],
    fails: {
      ...assertionRefusals,
      binding_not_held: fails.binding_not_held,
      key_not_found: fails.key_not_found,
      key_not_open: fails.key_not_open,
      expires_too_late: fails.expires_too_late,
      too_many_keys: [
        400,
        `There are ${MAX_API_KEYS} active keys in this mode already. Revoke one, or replace this one at once: overlapMinutes 0.`,
      ],
      tool_writes_not_held: [
        403,
        'The key changes things by tools, and the calling key does not: replace it with itself, or in the console.',
      ],
      scope_not_held: [
        403,
        'The key has scopes that the calling key lacks. Replace it with a key that has them.',
      ],
    },
    emits: {
      ...assertionEvents,
      'key.rotated': declareEvent('An API key is being replaced by a new one.', KeyRotated),
    },
  }),
  revokeCurrent: del('/keys/current', {
    summary: 'Revoke the calling key',
    description:
      'It stops working at once, for good. No scope is needed: every key can revoke itself. `agentpay logout` does this.',
    callers: ['key'],
    keyOnly: 'A console session is not a key. Use DELETE /console/session.',
    returns: [200, KeyRecord],
    fails: { key_not_found: fails.key_not_found },
    emits: { 'key.revoked': ApiKeyEvent },
  }),
  revoke: del('/keys/{id}', {
    summary: 'Revoke an API key',
    description:
      'It stops working at once, for good. An owner’s last key can be revoked too, since a leaked key must always be stoppable; to keep access, rotate it. A key revokes itself and keys that have no scope that it lacks.\n\nKeys created with a revoked key keep working: `GET /keys?madeById=` lists them. The operator can revoke any key, so that an owner whose live keys are lost can get another one.',
    callers: ['key', 'dash'],
    scope: 'keys:write',
    returns: [200, KeyRecord],
    fails: {
      key_not_found: fails.key_not_found,
      key_revoked: [400, 'The key is revoked already.'],
      scope_not_held: [
        403,
        'The key has scopes that the calling key lacks. Revoke it with a key that has them.',
      ],
    },
    emits: { 'key.revoked': declareEvent('An API key has been revoked.', ApiKeyEvent) },
  }),
}
