import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { del, get, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
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
    'Required in the console: consent to exactly this key (`POST /passkeys/challenge`, purpose `key`). A key needs none.',
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
    'Requests a key that can make changes with an assistant’s tools (`POST /mcp`), not only propose them. The person sees this before approving.',
})

const KeyRecord = z
  .object({
    ...recordHead('key'),
    name: z.string(),
    environment,
    hint: z.string().meta({ description: 'The last four characters of the secret.', examples: ['uQxZ'] }),
    scopes: scopeList,
    madeById: id('key').nullable().meta({
      description:
        'The key that created this one. Null for the first key of an account. A replaced key of a device or terminal has its replacement here, and ends with it.',
    }),
    madeByPersonId: id('person').nullable().meta({
      description:
        'The person who created the key or replaced it last, in the console or with a key of theirs. Where a policy asks several people, their approval does not count for what is requested with the key. Null if no person is known.',
    }),
    lastUsedAt: instant.nullable().meta({ description: 'Time of the last use, to the minute.' }),
    expiresAt: instant.nullable(),
    idleDays: z.int().nullable().meta({ description: 'Days without use after which the key expires.' }),
    boundTo: z.string().nullable().meta({
      description:
        'RFC 7638 thumbprint of the key that signs the `DPoP` proof (RFC 9449) of each request. Null if no proof is required.',
    }),
    toolWrites: z.boolean().meta({
      description:
        'Whether the key can make changes with an assistant’s tools (`POST /mcp`). Scopes never imply it, and a new key has it only if `toolWrites` is requested again.',
    }),
    sessionId: z.string().nullable().meta({
      description: 'The device session or pairing in which a person agreed to the key.',
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
  too_many_keys: [400, `There are already ${MAX_API_KEYS} active keys in this mode. Revoke one first.`],
  binding_not_held: [
    403,
    'One key is bound to a device, the other is not. Replace the key with another key, or in the console.',
  ],
  tool_writes_not_held: [
    403,
    'toolWrites: the calling key does not have it. Use a key that does, the console, or `agentpay login --tool-writes`.',
  ],
  expires_too_late: [403, 'expiresAt: a key cannot expire later than the key that creates it.'],
} as const satisfies Record<string, RefusalSpec>

const readers = operationsFor({ callers: ['key'], scope: 'keys:read' })
const writers = operationsFor({ callers: ['key'], scope: 'keys:write' })

export const apiKeysApi = {
  openAccount: operator.post('/customers', {
    summary: 'Open an account',
    description: 'Creates a customer and its first sandbox key. The key is shown only once.',
    tag: 'Customers',
    body: CustomerCreateBody,
    example: { name: 'Ada Lovelace', email: 'ada@example.com', type: 'individual', country: 'DE' },
    returns: [201, CreatedCustomer],
    fails: {
      second_customer: [
        403,
        'KYC_PROVIDER=none serves one customer, which exists. Set KYC_PROVIDER=manual to open another account.',
      ],
    },
    emits: {
      'customer.created': declareEvent('An account was opened.', CustomerEvent),
      'key.created': declareEvent('An API key was created.', ApiKeyEvent),
    },
  }),
  create: writers.post('/keys', {
    summary: 'Create an API key',
    description:
      'The secret is in `key`, in this response only. A key expires no later than the key that creates it, and has no scope that this one lacks.\n\nA test key can create a live key only while the owner has no active one; the new key needs `keys:write`, and test mode gets the event `key.live_created`. Create further live keys with that one, in live mode.',
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
        description: 'Expiry time. Defaults to the expiry of the calling key. Null: never expires.',
      }),
      scopes: scopeList
        .min(1)
        .max(allScopeNames.length)
        .optional()
        .meta({ description: 'Defaults to all scopes of the calling key.' }),
      toolWrites: z.boolean().default(false).meta({
        description:
          'Lets a model that uses this key with an assistant’s tools make changes, not only read. Only a key that has it, or a person in the console, can grant it. Anything that the model reads could then make it spend, so an agent token is usually the better choice.',
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
        'environment: a live key already exists. Create further ones with it, or let it revoke itself first.',
      ],
      first_live_key: [
        400,
        'scopes: the first live key needs keys:write, since it creates and revokes all others.',
      ],
      scope_not_held: fails.scope_not_held,
      too_many_keys: fails.too_many_keys,
      tool_writes_not_held: fails.tool_writes_not_held,
    },
    emits: {
      ...assertionEvents,
      'key.created': ApiKeyEvent,
      'key.live_created': declareEvent(
        'A test key has created a live key, since there was none.',
        ApiKeyEvent,
      ),
    },
  }),
  list: readers.list('/keys', {
    summary: 'List API keys',
    description:
      'Keys of the calling key’s mode, newest first, including revoked ones. Secrets are never shown again.',
    filters: { environment: environment.optional(), madeById: id('key').optional() },
    item: KeyRecord,
  }),
  current: get('/keys/current', {
    summary: 'Get the calling key',
    description: 'Returns the calling key with its scopes and expiry. Needs no scope.',
    callers: ['key'],
    keyOnly: 'A console session is not a key. Use GET /console/session.',
    returns: [200, KeyRecord],
    fails: { key_not_found: fails.key_not_found },
  }),
  get: readers.getOne('/keys/{id}', 'an API key', KeyRecord, { key_not_found: fails.key_not_found }),
  rotate: writers.post('/keys/{id}/rotate', {
    summary: 'Replace an API key',
    description:
      'Creates a key with the same name, environment, scopes and expiry. The old key works until `overlapMinutes` have passed. A key can replace itself, and keys that have neither more scopes nor a later expiry.',
    signature: signedKey({ keyId: '$id' }),
    body: z.strictObject({
      overlapMinutes: z
        .int()
        .min(0)
        .max(1_440)
        .default(0)
        .meta({ description: 'Minutes for which both keys work.' }),
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
        `There are already ${MAX_API_KEYS} active keys in this mode. Revoke one, or replace this one at once: overlapMinutes 0.`,
      ],
      tool_writes_not_held: [
        403,
        'The key can make changes with tools, and the calling key cannot. Replace it with itself, or in the console.',
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
      'The key stops working at once and permanently. Needs no scope: every key can revoke itself. `agentpay logout` does this.',
    callers: ['key'],
    keyOnly: 'A console session is not a key. Use DELETE /console/session.',
    returns: [200, KeyRecord],
    fails: { key_not_found: fails.key_not_found },
    emits: { 'key.revoked': ApiKeyEvent },
  }),
  revoke: writers.del('/keys/{id}', {
    summary: 'Revoke an API key',
    description:
      'The key stops working at once and permanently. An owner’s last key can be revoked, too, so that a leaked key can always be stopped; to keep access, rotate it. A key can revoke itself, and keys whose scopes it has.\n\nKeys created with a revoked key keep working, except those of a device or terminal, which end with it: `GET /keys?madeById=` lists them. The operator can revoke any key, so that an owner who lost all live keys can get another one.',
    callers: ['key', 'dash'],
    returns: [200, KeyRecord],
    fails: {
      key_not_found: fails.key_not_found,
      key_revoked: [400, 'The key is already revoked.'],
      scope_not_held: [
        403,
        'The key has scopes that the calling key lacks. Revoke it with a key that has them.',
      ],
    },
    emits: { 'key.revoked': declareEvent('An API key has been revoked.', ApiKeyEvent) },
  }),
}
