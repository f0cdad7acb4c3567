import { z } from 'zod'
import { get, post } from '../../kernel/contract/operation.ts'
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

const standardName = (of: string) => ({ description: `\`${of}\`, by the name that RFC 8628 gives it.` })
const client_id = z
  .string()
  .max(200)
  .optional()
  .meta({ description: 'Programs of RFC 8628 send one. It is not looked at: clients are not registered.' })

const Started = z
  .object({
    deviceCode: shownOnceSchema(DEVICE_CODE),
    userCode: shownOnceSchema('WDJB-MJHT'),
    verificationUri: z.string().meta({ examples: ['https://pay.example.com/device'] }),
    verificationUriComplete: shownOnceSchema('https://pay.example.com/device?code=WDJB-MJHT'),
    interval: z.int().meta({ description: 'How many seconds to wait between two questions.' }),
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
      description: 'The thumbprint of the key whose proof (`DPoP`) each request has to carry.',
    }),
    expiresAt: instant.nullable().meta({ description: 'Earlier after thirty days without a use.' }),
    access_token: shownOnceSchema(KEY),
    token_type: z
      .literal('Bearer')
      .meta({ description: 'It is sent as `Authorization: Bearer`, also where a proof goes along.' }),
    expires_in: z.int().meta({ description: '`expiresAt`, in seconds from now.' }),
    scope: z.string().meta({ description: '`scopes`, with spaces between them.' }),
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
      .meta({ description: 'Where a terminal begins a pairing: POST /cli/auth/start.' }),
    pairing_token_endpoint: z
      .string()
      .meta({ description: 'Where it fetches the key: POST /cli/auth/token.' }),
    service_documentation: z.string(),
  })
  .meta({ id: 'AuthorizationServerMetadata' })

export const deviceAuthorizationApi = {
  metadata: get('/.well-known/oauth-authorization-server', {
    summary: 'Find where a device or a terminal asks for its key',
    description:
      'The metadata of RFC 8414: the device authorization of RFC 8628, and the pairing of a terminal with PKCE (RFC 7636).',
    callers: ['public'],
    http: { cachedFor: 3_600 },
    returns: [200, Metadata],
  }),
  begin: post('/sessions/device', {
    summary: 'Ask for a key for a device',
    description:
      'The device authorization of RFC 8628, as JSON or a form. Show `userCode` and `verificationUri` to the person, or open `verificationUriComplete`; there a passkey lets the device in. Meanwhile ask `POST /sessions/token` every `interval` seconds. With `publicKeyJwk` only the holder of the private key can use the key.',
    callers: ['public'],
    limits: { bodyKiB: 16 },
    body: acceptForm(
      z.strictObject({
        deviceId: deviceIdSchema,
        deviceName: deviceNameSchema,
        clientType: clientTypeSchema,
        publicKeyJwk: proofKeySchema.optional(),
        toolWrites: requestedToolWritesSchema,
        scopes: scopeListSchema.optional().meta({
          description: 'What the key may do. Default: all that the person may give.',
        }),
        scope: z
          .string()
          .max(4_000)
          .optional()
          .meta({ description: '`scopes` as OAuth has them: with spaces between them.' }),
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
  token: post('/sessions/token', {
    summary: 'Fetch the key of a device',
    description:
      'The token request of RFC 8628, as JSON or a form. Until a person has decided it is `authorization_pending`; before `interval` seconds have passed `slow_down`, which adds five; `access_denied` if the person refused; `expired_token` after ten minutes. The key is in one answer; later ones, and unknown codes, are `invalid_grant`.',
    callers: ['public'],
    body: acceptForm(
      z
        .strictObject({
          grant_type: z
            .string()
            .max(100)
            .optional()
            .meta({ description: `\`${DEVICE_CODE_GRANT_TYPE}\`; in JSON it may be left out.` }),
          deviceCode: z.string().max(100).optional().meta({ description: 'Of `POST /sessions/device`.' }),
          device_code: z.string().max(100).optional().meta(standardName('deviceCode')),
          client_id,
        })
        .refine(({ deviceCode, device_code }) => (deviceCode === undefined) !== (device_code === undefined), {
          path: ['deviceCode'],
          error: 'give it or device_code, and not both',
        }),
    ),
    example: { deviceCode: DEVICE_CODE },
    returns: [200, DeviceKey],
    fails: deviceTokenRefusals,
    emits: { 'key.created': apiKeyEvents['key.created'] },
  }),
  lookup: post('/sessions/device/lookup', {
    ...console,
    summary: 'Look at the device that shows a code',
    description:
      'The page `/device` calls it. Ten wrong codes in ten minutes from a person or address are a 429.',
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
      'The page `/device` calls it. What is signed names the device, its code, and what it may do.',
    requires: 'passkeys',
    body: z.strictObject({
      userCode: userCodeSchema,
      scopes: scopeListSchema.optional().meta({ description: 'Fewer than the person could give.' }),
    }),
    example: EXAMPLE,
    returns: [201, ChallengeRecord],
    fails: { ...userCodeRefusals, ...scopeGrantRefusals },
  }),
  verify: post('/sessions/device/verify', {
    ...console,
    summary: 'Approve a device',
    description:
      'It takes the passkey of the person, over the device, the code and the scopes. The device then fetches its key, within a minute at least.',
    signature: { challenge: '/sessions/device/challenge', always: true },
    body: z.strictObject({
      userCode: userCodeSchema,
      scopes: scopeListSchema.optional().meta({ description: 'Those of the challenge, if it had any.' }),
      webauthnAssertion: webauthnAssertionSchema.optional().meta({
        description: 'Over the challenge of `POST /sessions/device/challenge`.',
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
