import { z } from 'zod'
import { open, operationsFor } from '../../kernel/contract/callers.ts'
import { emptyBody, get, notFound } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { labelSchema } from '../../values/schemas.ts'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  challengeIdSchema,
  PasskeyCreationOptions,
  PasskeyRecord,
  passkeyEvents,
  passkeyRefusals,
  RegistrationCredential,
  scopeNotHeldRefusal,
  webauthnAssertionSchema,
} from './schemas.ts'

const readers = operationsFor({ callers: ['key'], scope: 'passkeys:read' })
const writers = operationsFor({ callers: ['key'], scope: 'passkeys:write' })

const { challenge_unknown, challenge_used, challenge_expired, assertion_required } = assertionRefusals
const { passkey_not_found, person_not_found } = passkeyRefusals

const not_passkey_owner = [
  403,
  'This passkey belongs to another person. Only they or an owner can do this.',
] as const
const person_not_active = [
  400,
  'personId: this person has not joined yet, or is removed. An invited person must open the link first.',
] as const
const too_many_passkeys = [400, 'This person has twenty passkeys. Revoke one first.'] as const

export const passkeysApi = {
  registerOptions: writers.post('/passkeys/register/options', {
    summary: 'Start to enrol a passkey',
    description:
      'Pass `options` to `navigator.credentials.create` (after `PublicKeyCredential.parseCreationOptionsFromJSON`), and the result to `POST /passkeys/register/verify`. The first passkey of an account must be an owner’s, and needs nothing else.\n\nFrom then on, an enrolled passkey of the same person, or of an owner, signs `POST /passkeys/challenge` with the purpose `enrolment`, unless the person has just opened an invitation or recovery link. Once the last passkey is revoked, a new one requires a recovery.',
    requires: 'passkeys',
    signature: {
      challenge: '/passkeys/challenge',
      asks: { purpose: 'enrolment', subject: '$personId' },
    },
    body: z.strictObject({
      personId: id('person')
        .optional()
        .meta({ description: 'The person of the passkey. In the console, defaults to you.' }),
      webauthnAssertion: webauthnAssertionSchema.optional(),
    }),
    example: { personId: 'person_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [
      201,
      z
        .object({ challengeId: id('challenge'), expiresAt: instant, options: PasskeyCreationOptions })
        .meta({ id: 'PasskeyRegistrationOptions' }),
    ],
    fails: {
      ...assertionRefusals,
      person_not_found,
      person_not_active,
      too_many_passkeys,
      not_passkey_owner,
      scope_not_held: scopeNotHeldRefusal,
      person_required: [400, 'personId is required with a key: name the person of the passkey.'],
      owner_first: [
        403,
        'The first passkey of an account must belong to an owner. Enrol an owner’s passkey first.',
      ],
      enrolled_by_person: [
        403,
        'A policy with steps asks this person, so only they can enrol passkeys for themselves. Create a link for them: POST /people/{id}/link.',
      ],
      recovery_needed: [
        403,
        'The last passkey of this account was revoked, so a new one requires a recovery. Ask the operator of this installation for POST /people/{id}/recover.',
      ],
    },
    emits: assertionEvents,
  }),
  registerVerify: writers.post('/passkeys/register/verify', {
    summary: 'Enrol a passkey',
    description:
      'Completes `POST /passkeys/register/options`. The device must verify its user and store the passkey itself (a discoverable credential). No attestation is required.',
    body: z.strictObject({
      challengeId: challengeIdSchema,
      name: labelSchema.default('Passkey').meta({ examples: ['Phone'] }),
      registration: RegistrationCredential,
    }),
    example: {
      challengeId: 'challenge_01jd8x2m4ye7k9v0c3q5r6t8wz',
      name: 'Phone',
      registration: {
        id: 'AQIDBAUGBwgJCgsMDQ4PEA',
        rawId: 'AQIDBAUGBwgJCgsMDQ4PEA',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
          attestationObject: 'o2NmbXRkbm9uZQ',
        },
      },
    },
    returns: [201, PasskeyRecord],
    fails: {
      challenge_unknown,
      challenge_used,
      challenge_expired,
      assertion_required,
      person_not_active,
      too_many_passkeys,
      not_passkey_owner,
      passkey_exists: [400, 'registration: this passkey is already enrolled.'],
      registration_malformed: [
        400,
        'registration is malformed. Send the browser’s answer as JSON, unchanged.',
      ],
      registration_invalid: [
        400,
        'registration: the device did not verify its user. Start again with POST /passkeys/register/options.',
      ],
    },
    emits: { 'passkey.enrolled': passkeyEvents['passkey.enrolled'] },
  }),
  list: readers.list('/passkeys', {
    summary: 'List passkeys',
    description: 'Newest first, including revoked ones.',
    filters: {
      personId: id('person').optional(),
      status: z.enum(['active', 'revoked']).optional(),
    },
    item: PasskeyRecord,
  }),
  rename: writers.patch('/passkeys/{id}', {
    summary: 'Rename a passkey',
    body: z.strictObject({ name: labelSchema.meta({ examples: ['Phone'] }) }),
    example: { name: 'Phone' },
    returns: [200, PasskeyRecord],
    fails: { passkey_not_found, not_passkey_owner },
    emits: { 'passkey.renamed': passkeyEvents['passkey.renamed'] },
  }),
  challenge: writers.post('/passkeys/challenge', {
    summary: 'Get a challenge for a passkey to sign',
    description:
      'For actions that need a person’s signature.\n\nBy purpose, `subject` is the ID of the passkey (`revocation`) or person (`enrolment`; in the console, defaults to you), or the action: `{name, email, role}`, `{personId}` or `{personId, role}` (`invitation`: a person, a new link, another role), `{name, environment, scopes}`, with `toolWrites: true` if the key may make changes with tools, or `{keyId}` (`key`: a new one, or a replacement), `{type, id}` (`deletion`: whom to erase; defaults to the account). Show `sentence` to the person, pass `options` to `navigator.credentials.get`, and send `{challengeId, assertion}` as `webauthnAssertion` with the request itself, within five minutes and once.',
    requires: 'passkeys',
    body: z.strictObject({
      purpose: z.enum(['revocation', 'enrolment', 'invitation', 'key', 'deletion']),
      subject: z
        .unknown()
        .optional()
        .meta({ description: 'An ID, or the action, by the purpose: see above.' }),
    }),
    example: { purpose: 'invitation', subject: { name: 'Grace Hopper', role: 'approver' } },
    returns: [201, ChallengeRecord],
    fails: {
      passkey_not_found,
      person_not_found,
      key_not_found: notFound('key'),
      subject_mismatch: [400, 'subject does not match the purpose.'],
    },
  }),
  getChallenge: get('/passkeys/challenges/{id}', {
    summary: 'Get the challenge that a refusal names',
    description:
      'A refusal for which a passkey must sign names its challenge in the header `Link`, with `rel="challenge"`. Only the session or key that was refused gets it, until it is used or has expired. Needs no scope.',
    callers: ['key'],
    requires: 'passkeys',
    returns: [200, ChallengeRecord],
    fails: {
      challenge_not_found: [
        404,
        'No such challenge: it was used, it has expired after five minutes, or another session or key was refused. Send the refused request again.',
      ],
    },
  }),
  revoke: writers.del('/passkeys/{id}', {
    summary: 'Revoke a passkey',
    description:
      'The passkey stops working, and its sessions end at once. The only passkey of an account needs no assertion, and one that is sent is ignored. Of two or more, another one signs the revocation: `POST /passkeys/challenge` with the purpose `revocation`.',
    signature: { challenge: '/passkeys/challenge', asks: { purpose: 'revocation', subject: '$id' } },
    body: z.strictObject({
      webauthnAssertion: z.record(z.string().max(50), z.unknown()).optional().meta({
        maxProperties: 20,
        description: '`{challengeId, assertion}` of another passkey. Required if there are two or more.',
      }),
    }),
    example: {},
    returns: [204, emptyBody],
    fails: {
      ...assertionRefusals,
      passkey_not_found,
      not_passkey_owner,
      self_revocation: [403, 'A passkey cannot revoke itself. Sign with another one.'],
    },
    emits: { ...assertionEvents, 'passkey.revoked': passkeyEvents['passkey.revoked'] },
  }),
  origins: open.get('/.well-known/webauthn', {
    summary: 'List the origins that can use this installation’s passkeys',
    description:
      'Browsers request it before another site of the installation can use a passkey (WebAuthn, related origins).',
    http: { cachedFor: 300 },
    returns: [200, z.object({ origins: z.array(z.string()).max(100) }).meta({ id: 'PasskeyOrigins' })],
  }),
}
