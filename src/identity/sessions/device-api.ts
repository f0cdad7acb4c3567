import { z } from 'zod'
import { open } from '../../kernel/contract/callers.ts'
import { post } from '../../kernel/contract/operation.ts'
import { scopeSchema } from '../../kernel/contract/scopes.ts'
import { acceptForm } from '../../kernel/contract/upload.ts'
import { retryAfterHeader } from '../../kernel/database/attempt-limit.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { proofKeySchema } from '../../values/proof-key.ts'
import { apiKeyEvents, requestedToolWritesSchema } from '../keys/index.ts'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertionSchema,
} from '../passkeys/index.ts'
import {
  clientTypeSchema,
  DeviceSessionRecord,
  deviceIdSchema,
  deviceNameSchema,
  deviceSessionEvents,
  deviceTokenRefusals,
  scopeGrantRefusals,
  scopeListSchema,
  userCodeRefusals,
  userCodeSchema,
  WaitingDeviceRecord,
} from './api.ts'

/** The `grant_type` of a request for the key (RFC 8628, 3.4). */
export const DEVICE_CODE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

const DEVICE_CODE = 'dvc_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'
const EXAMPLE = { userCode: 'WDJB-MJHT' }

const standardName = (of: string) => ({ description: `\`${of}\` by its name in RFC 8628.` })
const client_id = z
  .string()
  .max(200)
  .optional()
  .meta({ description: 'Sent by RFC 8628 clients. Ignored, since clients are not registered.' })

const Started = z
  .object({
    deviceCode: shownOnceSchema(DEVICE_CODE),
    userCode: shownOnceSchema('WDJB-MJHT'),
    verificationUri: z.string().meta({ examples: ['https://pay.example.com/device'] }),
    verificationUriComplete: shownOnceSchema('https://pay.example.com/device?code=WDJB-MJHT'),
    interval: z.int().meta({ description: 'Seconds to wait between two polls.' }),
    expiresIn: z.int().meta({ description: 'In seconds.' }),
    device_code: shownOnceSchema(DEVICE_CODE),
    user_code: shownOnceSchema('WDJB-MJHT'),
    verification_uri: z.string().meta(standardName('verificationUri')),
    verification_uri_complete: shownOnceSchema('https://pay.example.com/device?code=WDJB-MJHT'),
    expires_in: z.int().meta(standardName('expiresIn')),
  })
  .meta({ id: 'StartedDeviceSession' })

const KEY = 'sk_sandbox_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'

const DeviceKey = z
  .object({
    sessionId: id('session'),
    keyId: id('key'),
    key: shownOnceSchema(KEY),
    environment: z.enum(['sandbox', 'test', 'live']),
    scopes: z.array(scopeSchema),
    toolWrites: z.boolean(),
    boundTo: z.string().nullable().meta({
      description: 'Thumbprint of the key that signs the proof (`DPoP`) of each request.',
    }),
    expiresAt: instant.nullable().meta({ description: 'Expiry time. Earlier after 30 days without use.' }),
    access_token: shownOnceSchema(KEY),
    token_type: z
      .literal('Bearer')
      .meta({ description: 'Sent as `Authorization: Bearer`, even with a proof.' }),
    expires_in: z.int().meta({ description: '`expiresAt`, in seconds from now.' }),
    scope: z.string().meta({ description: '`scopes`, separated by spaces.' }),
  })
  .meta({ id: 'DeviceKey' })

const console = { callers: ['console'], http: { headers: { 429: retryAfterHeader } } } as const

const Metadata = z
  .object({
    issuer: z.string(),
    device_authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    response_types_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    dpop_signing_alg_values_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
    pairing_endpoint: z
      .string()
      .meta({ description: 'Endpoint that starts a terminal’s pairing: POST /cli/auth/start.' }),
    pairing_token_endpoint: z
      .string()
      .meta({ description: 'Endpoint that returns its key: POST /cli/auth/token.' }),
    service_documentation: z.string(),
  })
  .meta({ id: 'AuthorizationServerMetadata' })

export const deviceAuthorizationApi = {
  metadata: open.get('/.well-known/oauth-authorization-server', {
    summary: 'Get the endpoints that issue keys to devices and terminals',
    description:
      'RFC 8414 metadata for OAuth clients: the device authorization of RFC 8628, and the pairing of a terminal, whose code is proved by PKCE (RFC 7636).',
    http: { cachedFor: 3_600 },
    returns: [200, Metadata],
  }),
  begin: open.post('/sessions/device', {
    summary: 'Request a key for a device',
    description:
      'The device authorization of RFC 8628, as JSON or as a form. Show `userCode` and `verificationUri` to the person, or open `verificationUriComplete`, where a passkey approves the device. Meanwhile, poll `POST /sessions/token` every `interval` seconds, for ten minutes. With `publicKeyJwk`, only the holder of the private key can use the key.',
    limits: { bodyKiB: 16 },
    body: acceptForm(
      z.strictObject({
        deviceId: deviceIdSchema,
        deviceName: deviceNameSchema,
        clientType: clientTypeSchema,
        publicKeyJwk: proofKeySchema.optional(),
        toolWrites: requestedToolWritesSchema,
        scopes: scopeListSchema.optional().meta({
          description: 'Scopes of the key. Defaults to all that the person can grant.',
        }),
        scope: z
          .string()
          .max(4_000)
          .optional()
          .meta({ description: '`scopes` in OAuth form, separated by spaces.' }),
        client_id,
      }),
    ),
    example: { deviceId: 'laptop-7f3a9c', deviceName: 'Ada’s laptop', clientType: 'cli' },
    returns: [200, Started],
    fails: {
      scope_unknown: [400, 'scope: there is no such scope. GET /openapi.json lists them.'],
      too_many_waiting: [
        429,
        'A hundred devices at your address are waiting. Decide about them, or wait ten minutes.',
      ],
    },
    emits: { 'session.requested': deviceSessionEvents['session.requested'] },
  }),
  token: open.post('/sessions/token', {
    summary: 'Fetch the key of a device',
    description:
      'The token request of RFC 8628, as a form or as JSON. Returns `authorization_pending` until a person decides; `slow_down` if less than `interval` seconds have passed, which then grow by five; `access_denied` if the person denied the device; `expired_token` after ten minutes. The key is returned once; later requests and unknown codes get `invalid_grant`.',
    body: acceptForm(
      z
        .strictObject({
          grant_type: z
            .string()
            .max(100)
            .optional()
            .meta({ description: `\`${DEVICE_CODE_GRANT_TYPE}\`. Optional in JSON.` }),
          deviceCode: z
            .string()
            .max(100)
            .optional()
            .meta({ description: 'The code from `POST /sessions/device`.' }),
          device_code: z.string().max(100).optional().meta(standardName('deviceCode')),
          client_id,
        })
        .refine(({ deviceCode, device_code }) => (deviceCode === undefined) !== (device_code === undefined), {
          path: ['deviceCode'],
          error: 'send either deviceCode or device_code',
        }),
    ),
    example: { deviceCode: DEVICE_CODE },
    returns: [200, DeviceKey],
    fails: deviceTokenRefusals,
    emits: { 'key.created': apiKeyEvents['key.created'] },
  }),
  lookup: post('/sessions/device/lookup', {
    ...console,
    summary: 'Get the device that shows a code',
    description:
      'Called by the page `/device`. Ten wrong codes within ten minutes, from one person or one address, are a 429.',
    body: z.strictObject({ userCode: userCodeSchema }),
    example: EXAMPLE,
    returns: [200, WaitingDeviceRecord],
    fails: userCodeRefusals,
    emits: { 'session.requested': deviceSessionEvents['session.requested'] },
  }),
  challenge: post('/sessions/device/challenge', {
    ...console,
    summary: 'Get the challenge that approves a device',
    description:
      'Called by the page `/device`. The signed statement names the device, its code, and its scopes.',
    requires: 'passkeys',
    body: z.strictObject({
      userCode: userCodeSchema,
      scopes: scopeListSchema
        .optional()
        .meta({ description: 'Scopes to grant. Defaults to all that the person can grant.' }),
    }),
    example: EXAMPLE,
    returns: [201, ChallengeRecord],
    fails: { ...userCodeRefusals, ...scopeGrantRefusals },
  }),
  verify: post('/sessions/device/verify', {
    ...console,
    summary: 'Approve a device',
    description:
      'Requires the person’s passkey signature of the device, the code and the scopes. The device then has at least a minute to fetch its key.',
    signature: { challenge: '/sessions/device/challenge', always: true },
    body: z.strictObject({
      userCode: userCodeSchema,
      scopes: scopeListSchema.optional().meta({ description: 'The scopes of the challenge, if it had any.' }),
      webauthnAssertion: webauthnAssertionSchema.optional().meta({
        description: 'Signature of the challenge from `POST /sessions/device/challenge`.',
      }),
    }),
    example: EXAMPLE,
    returns: [200, DeviceSessionRecord],
    fails: { ...assertionRefusals, ...userCodeRefusals, ...scopeGrantRefusals },
    emits: { ...assertionEvents, 'session.approved': deviceSessionEvents['session.approved'] },
  }),
  deny: post('/sessions/device/deny', {
    ...console,
    summary: 'Deny a device',
    description:
      'The device is notified. Denying needs no passkey, so that anyone can stop an unexpected request.',
    body: z.strictObject({ userCode: userCodeSchema }),
    example: EXAMPLE,
    returns: [200, DeviceSessionRecord],
    fails: userCodeRefusals,
    emits: { 'session.denied': deviceSessionEvents['session.denied'] },
  }),
}
