import { z } from 'zod'
import { open, signedIn } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { oauthErrors } from '../../kernel/contract/oauth-errors.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { scopeSchema } from '../../kernel/contract/scopes.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { patternTextSchema, recordHead } from '../../values/schemas.ts'
import { apiKeyEvents, requestedToolWritesSchema } from '../keys/index.ts'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertionSchema,
} from '../passkeys/index.ts'
import { type PairingRow, pairingMachine } from '../sessions/index.ts'

const code = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'The code from `POST /cli/auth/start`, which is also in the page’s URL.' })

const pairingCode = z.string().meta({
  description:
    'Code that the terminal and the page both show. If they differ, the page belongs to another terminal.',
  examples: ['WDJB-MJHT'],
})

const PairingRecord = z
  .object({
    id: id('pairing'),
    status: z.enum(pairingMachine.states).meta({
      description:
        '`pending` until a person decides, `approved` until the terminal has fetched its key; `void` after a wrong verifier.',
    }),
    deviceName: z.string(),
    pairingCode,
    address: z
      .string()
      .nullable()
      .meta({ description: 'The address of the terminal.', examples: ['203.0.113.7'] }),
    scopes: z
      .array(scopeSchema)
      .nullable()
      .meta({ description: 'The scopes of the key, once approved. Null: all scopes.' }),
    toolWrites: z
      .boolean()
      .meta({ description: 'Whether the key can make changes with an assistant’s tools.' }),
    personId: id('person').nullable().meta({ description: 'The person who decided.' }),
    decidedAt: instant.nullable(),
    expiresAt: instant,
    createdAt: instant,
  })
  .meta({ id: 'CliPairing' })

const PairingEvent = z.object({ pairingId: id('pairing'), deviceName: z.string().max(100) })
const DecidedEvent = PairingEvent.extend({ personId: id('person') })

const cliEvents = {
  'cli.requested': declareEvent(
    'A command line has started to sign in. The account is not known yet, so only the operator gets this event.',
    PairingEvent,
  ),
  'cli.approved': declareEvent('A person has approved a command line with a passkey.', DecidedEvent),
  'cli.denied': declareEvent('A person has denied a command line.', DecidedEvent),
  'cli.failed': declareEvent(
    'The key of a command line was requested with a wrong verifier. The code is void and no key is issued.',
    PairingEvent.extend({ personId: id('person').nullable() }),
  ),
  'cli.paired': declareEvent(
    'A command line has fetched its key.',
    DecidedEvent.extend({ keyId: id('key') }),
  ),
}

export const pairingEvent = ({ id: pairingId, deviceName }: Pick<PairingRow, 'id' | 'deviceName'>) => ({
  pairingId,
  deviceName,
})

export const decidedEvent = (pairing: Pick<PairingRow, 'id' | 'deviceName' | 'personId'>) => ({
  ...pairingEvent(pairing),
  personId: String(pairing.personId),
})

const pairingFails = {
  pairing_not_found: [
    404,
    'No terminal waits with this code. Compare the URL with the one that the terminal shows.',
  ],
  pairing_decided: [400, 'The pairing is already decided or was abandoned. Start again in the terminal.'],
  pairing_expired: [410, 'The code expired after five minutes. Start again in the terminal.'],
} as const satisfies Record<string, RefusalSpec>

const { authorization_pending, access_denied, expired_token, invalid_grant } = oauthErrors

const tokenFails = { authorization_pending, access_denied, expired_token, invalid_grant }

const codeChallenge = patternTextSchema(
  /^[\w-]{43}$/,
  43,
  'the SHA-256 of the verifier in base64url without padding, which has 43 characters',
).meta({
  description: 'BASE64URL(SHA256(codeVerifier)): RFC 7636, method S256. `plain` is not supported.',
  examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
})

const codeVerifier = patternTextSchema(
  /^[\w.~-]{43,128}$/,
  128,
  'the secret of the terminal: 43 to 128 letters, digits, -, ., _ and ~',
).meta({ examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'] })

const PairedKey = z
  .object({
    ...recordHead('key'),
    key: shownOnceSchema('sk_sandbox_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'),
    name: z.string(),
    environment: z.enum(['sandbox', 'test', 'live']),
    scopes: z.array(scopeSchema),
    toolWrites: z.boolean(),
    personId: id('person').nullable().meta({ description: 'The person who approved.' }),
    expiresAt: instant.nullable(),
  })
  .meta({ id: 'PairedKey' })

export const cliAuthApi = {
  start: open.post('/cli/auth/start', {
    summary: 'Start to sign in a command line',
    description:
      'Keep the verifier to yourself, show `pairingCode`, and open `url` in a browser: there, a person compares the code and approves with a passkey. Meanwhile, poll `POST /cli/auth/token` every `interval` seconds, for five minutes. `agentpay login` does all of this.',
    limits: { bodyKiB: 16 },
    body: z.strictObject({
      codeChallenge,
      deviceName: z
        .string()
        .trim()
        .min(1)
        .max(100)
        .meta({
          description: 'Name by which the person recognizes the terminal, and later the key.',
          examples: ['Ada’s laptop'],
        }),
      toolWrites: requestedToolWritesSchema,
    }),
    example: { codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', deviceName: 'Ada’s laptop' },
    returns: [
      201,
      z
        .object({
          code: z.string().meta({ examples: ['4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'] }),
          pairingCode,
          url: z.string().meta({
            examples: ['https://pay.example.com/cli/4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'],
          }),
          expiresIn: z.int().meta({ description: 'In seconds.' }),
          interval: z.int().meta({ description: 'Seconds to wait between two polls.' }),
        })
        .meta({ id: 'StartedCliPairing' }),
    ],
    fails: {
      too_many_waiting: [
        429,
        'A hundred terminals at your address are already waiting. Decide about them, or wait five minutes.',
      ],
    },
    emits: { 'cli.requested': cliEvents['cli.requested'] },
  }),
  token: open.post('/cli/auth/token', {
    summary: 'Fetch the key of a command line',
    description:
      'Returns `authorization_pending` until a person decides, then the key, once. The key expires after 90 days, or after 30 without use. A wrong verifier voids the code, which is `invalid_grant` from then on, as after the key was fetched. `access_denied`: the person denied the terminal. `expired_token`: there was no decision within five minutes.',
    body: z.strictObject({ code, codeVerifier }),
    example: {
      code: '4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ',
      codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    returns: [201, PairedKey],
    fails: tokenFails,
    emits: {
      'key.created': apiKeyEvents['key.created'],
      'cli.failed': cliEvents['cli.failed'],
      'cli.paired': cliEvents['cli.paired'],
    },
  }),
  challenge: signedIn.post('/cli/auth/challenge', {
    summary: 'Get the challenge that approves a command line',
    description:
      'Called by the page. The signed statement names the device, the code on both screens, and the scopes of the key: those of the person’s role.',
    requires: 'passkeys',
    body: z.strictObject({ code }),
    example: { code: '4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' },
    returns: [201, ChallengeRecord],
    fails: pairingFails,
  }),
  approve: signedIn.post('/cli/auth/approve', {
    summary: 'Approve a command line',
    description: 'Requires the person’s passkey. The terminal then has at least a minute to fetch its key.',
    signature: { challenge: '/cli/auth/challenge', always: true },
    body: z.strictObject({
      code,
      webauthnAssertion: webauthnAssertionSchema.optional().meta({
        description: 'Signature of the challenge from `POST /cli/auth/challenge`.',
      }),
    }),
    example: { code: '4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' },
    returns: [200, PairingRecord],
    fails: { ...assertionRefusals, ...pairingFails },
    emits: { ...assertionEvents, 'cli.approved': cliEvents['cli.approved'] },
  }),
  deny: signedIn.post('/cli/auth/deny', {
    summary: 'Deny a command line',
    description:
      'The terminal is notified. Denying needs no passkey, so that anyone can stop an unexpected sign-in.',
    body: z.strictObject({ code }),
    example: { code: '4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' },
    returns: [200, PairingRecord],
    fails: pairingFails,
    emits: { 'cli.denied': cliEvents['cli.denied'] },
  }),
}
