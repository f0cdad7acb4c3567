import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { passkeyAlgorithms } from './passkey.ts'

/** Binary data as browsers encode it. The limit is the largest value of any device. */
const base64url = (longest: number) =>
  z
    .string()
    .max(longest, { error: `at most ${longest} characters`, abort: true })
    .regex(/^[\w-]*={0,2}$/, 'base64url')

const credentialId = base64url(1_364).min(1)

/** A credential as browsers return it (`PublicKeyCredential.toJSON()`). Unknown members are dropped. */
const credential = <R extends z.ZodType>(response: R) =>
  z.object({
    id: credentialId,
    rawId: credentialId,
    type: z.literal('public-key'),
    response,
  })

export const AssertionCredential = credential(
  z.object({
    clientDataJSON: base64url(8_192),
    authenticatorData: base64url(4_096),
    signature: base64url(2_048),
    userHandle: base64url(128).nullish(),
  }),
).meta({
  id: 'PasskeyAssertion',
  description: 'As `navigator.credentials.get` gives it, in JSON: `AuthenticationResponseJSON`.',
})

export const RegistrationCredential = credential(
  z.object({
    clientDataJSON: base64url(8_192),
    attestationObject: base64url(24_576),
    transports: z.array(z.string().max(32)).max(10).optional(),
  }),
)
  .extend({
    clientExtensionResults: z
      .object({ credProps: z.object({ rk: z.boolean().optional() }).optional() })
      .optional()
      .meta({ description: 'Browsers that know say here whether the device keeps the passkey by itself.' }),
  })
  .meta({
    id: 'PasskeyRegistration',
    description: 'As `navigator.credentials.create` gives it, in JSON: `RegistrationResponseJSON`.',
  })

/** An unknown challenge is a 400, not a 404, since the request cannot be confirmed. */
export const challengeIdSchema = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Of the challenge: see `expiresAt` there.' })

export const webauthnAssertionSchema = z
  .strictObject({ challengeId: challengeIdSchema, assertion: AssertionCredential })
  .meta({ id: 'WebauthnAssertion', description: 'The passkey’s signature and its challenge.' })

export type WebauthnAssertion = z.output<typeof webauthnAssertionSchema>

export const assertionRefusals = {
  assertion_required: [
    400,
    'webauthnAssertion is required. Get a challenge, have a passkey sign it, and send the assertion.',
  ],
  challenge_unknown: [400, 'challengeId: no such challenge. Get a new one.'],
  challenge_used: [400, 'challengeId: this challenge was already used. Get a new one for each request.'],
  challenge_expired: [400, 'challengeId: this challenge expired after five minutes. Get a new one.'],
  statement_outdated: [
    400,
    'webauthnAssertion: the signed statement does not match this request. Get a new challenge, check it, and sign again.',
  ],
  assertion_malformed: [400, 'webauthnAssertion is malformed. Send the browser’s answer as JSON, unchanged.'],
  assertion_invalid: [
    401,
    'The passkey’s signature is not valid. Get a new challenge and try again, or use another passkey.',
  ],
  insufficient_role: [
    403,
    'The role of this passkey’s person does not allow this. Ask an owner or approver to sign.',
  ],
} as const satisfies Record<string, RefusalSpec>

export type AssertionRefusalCode = keyof typeof assertionRefusals

/** Until a passkey exists, a key that assigns a role must have all scopes of that role. */
export const scopeNotHeldRefusal: RefusalSpec = [
  403,
  'The key lacks scopes of that role. Use a key that has them all.',
]

export const passkeyRefusals = {
  passkey_not_found: notFound('passkey'),
  person_not_found: notFound('person'),
} as const satisfies Record<string, RefusalSpec>

const transports = z.array(z.string()).max(10)

export const PasskeyRecord = z
  .object({
    ...recordHead('passkey'),
    personId: id('person'),
    name: z.string(),
    algorithm: z.enum(passkeyAlgorithms),
    backupEligible: z.boolean().meta({
      description:
        'Whether it may be on several devices of the person, such as one that a password manager keeps.',
    }),
    backedUp: z.boolean(),
    backupChangedAt: instant.nullable().meta({ description: 'When `backedUp` last changed.' }),
    transports,
    enrolledBy: z.enum(['key', 'console']),
    lastUsedAt: instant.nullable(),
    blockedUntil: instant.nullable().meta({
      description:
        'Closed for fifteen minutes, as its counter did not rise: a copy of it may sign. By the real clock, in test mode too.',
    }),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'Passkey' })

const PasskeyEvent = z.object({
  passkeyId: id('passkey'),
  personId: id('person'),
  name: z.string().max(200),
})

export const passkeyEvents = {
  'passkey.enrolled': declareEvent('A person has enrolled a passkey.', PasskeyEvent),
  'passkey.renamed': declareEvent('A passkey has another name.', PasskeyEvent),
  'passkey.revoked': declareEvent(
    'A passkey was revoked. It no longer works, and its sessions have ended.',
    PasskeyEvent,
  ),
  'passkey.blocked': declareEvent(
    'A passkey has signed and its counter did not rise, so a copy of it may sign: it is closed for fifteen minutes, by the real clock.',
    PasskeyEvent.extend({ blockedUntil: instant }),
  ),
}

export const assertionEvents = { 'passkey.blocked': passkeyEvents['passkey.blocked'] }

export const passkeyEvent = ({
  id: passkeyId,
  personId,
  name,
}: {
  id: string
  personId: string
  name: string
}) => ({
  passkeyId,
  personId,
  name,
})

const challenge = z.string().meta({
  description: 'The digest of the statement (SHA-256 over its canonical JSON, RFC 8785), in base64url.',
})
const descriptors = z.array(z.object({ id: z.string(), type: z.literal('public-key'), transports }))
const timeout = z.int().meta({ description: 'In milliseconds.' })

export const PasskeyRequestOptions = z
  .object({
    challenge,
    timeout,
    rpId: z.string(),
    allowCredentials: descriptors,
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeyRequestOptions', description: 'For `navigator.credentials.get`.' })

export const PasskeyCreationOptions = z
  .object({
    challenge,
    timeout,
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
    excludeCredentials: descriptors,
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
    extensions: z.object({ credProps: z.literal(true) }),
  })
  .meta({ id: 'PasskeyCreationOptions', description: 'For `navigator.credentials.create`.' })

export const SignedStatementRecord = z
  .object({
    version: z.literal(1),
    kind: z.string(),
    origin: z.string(),
    mode: z.enum(['test', 'live']),
    subject: z.record(z.string(), z.unknown()).meta({
      description:
        'What it is about. Names, accounts and people are `{sha256}`: the digest of a salt and the value.',
    }),
    nonce: z.string(),
    expiresAt: z.string(),
  })
  .meta({ id: 'SignedStatement', description: 'What is signed.' })

export const ChallengeRecord = z
  .object({
    challengeId: id('challenge'),
    expiresAt: instant,
    sentence: z.string().meta({ description: 'What the person is about to sign, to be shown before.' }),
    statement: SignedStatementRecord,
    options: PasskeyRequestOptions,
  })
  .meta({ id: 'PasskeyChallenge' })
