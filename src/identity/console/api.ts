import { z } from 'zod'
import { open, operationsFor, operator, signedIn } from '../../kernel/contract/callers.ts'
import { emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import {
  assertionEvents,
  assertionRefusals,
  PasskeyRequestOptions,
  scopeNotHeldRefusal,
  webauthnAssertionSchema,
} from '../passkeys/index.ts'
import { personLinkEvents, personLinkRefusals } from '../people/index.ts'
import { sessionRequestHeaders } from './begin.ts'
import {
  ConsoleSessionRecord,
  CurrentSessionRecord,
  consoleRefusals,
  consoleSessionEvents,
  consoleSessionStatusSchema,
} from './schemas.ts'

const signsOut = { 'console.signed_out': consoleSessionEvents['console.signed_out'] }
const signsIn = { 'console.signed_in': consoleSessionEvents['console.signed_in'], ...signsOut }

const begins = { 201: { 'Set-Cookie': 'The session: `__Host-session`, or `session` at `http://localhost`.' } }

const Link = z
  .object({
    id: id('consolelink'),
    personId: id('person').nullable(),
    url: shownOnceSchema('https://pay.example.com/login#lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'),
    expiresAt: instant,
  })
  .meta({ id: 'ConsoleLink' })

const linkProblems = {
  person_not_found: notFound('person'),
  person_required: [
    400,
    'personId is required, as the account already has people. Name the person who will sign in.',
  ],
} as const satisfies Record<string, RefusalSpec>

const console_unavailable: RefusalSpec = [
  503,
  'This installation’s address has no console, because cookies would not be safe there.',
]

const readers = operationsFor({ callers: ['key'], scope: 'console:read' })
const writers = operationsFor({ callers: ['key'], scope: 'console:write' })

export const consoleApi = {
  createLink: writers.post('/console/links', {
    summary: 'Create a sign-in link',
    description:
      'The link signs in as that person, once, within ten minutes, in test mode within a day. Until the account has people, omit `personId`: opening the link creates the first person, an owner.\n\nOnce the account has had a passkey, creating a link requires an owner’s signature. The token is after the `#` and is used only when a button is pressed, so that no log or mail scanner uses it up.',
    signature: {
      challenge: '/passkeys/challenge',
      asks: { purpose: 'invitation', subject: { personId: '$personId' } },
    },
    body: z.strictObject({
      personId: id('person').nullable().default(null),
      webauthnAssertion: webauthnAssertionSchema.optional().meta({
        description:
          'Required once the account has had a passkey: an owner’s consent, signed for the purpose `invitation` with the subject `{personId}`.',
      }),
    }),
    example: { personId: 'person_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [201, Link],
    fails: {
      ...assertionRefusals,
      ...linkProblems,
      scope_not_held: scopeNotHeldRefusal,
      link_needs_approvals: [
        403,
        'A policy with steps asks this person, so only they sign a sign-in link for themselves. Several people approve a link for a new passkey: POST /people/{id}/link.',
      ],
    },
    emits: { ...assertionEvents, 'console.link_created': consoleSessionEvents['console.link_created'] },
  }),
  createSandboxLink: operator.post('/console/sandbox-links', {
    summary: 'Create a link to the sandbox',
    description: 'The link signs an owner in to test mode, once, within a day. Not for verified owners.',
    body: z.strictObject({ ownerId: id('customer') }),
    example: { ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [201, Link],
    fails: {
      customer_not_found: notFound('customer'),
      owner_missing: [400, 'The account has no owner. Invite one with POST /people.'],
      owner_verified: [
        403,
        'The owner is verified, so the dashboard secret signs no one in. Sign in with a passkey, create a link with a key of the account (POST /console/links), or start a recovery (POST /people/{id}/recover).',
      ],
    },
    emits: { 'console.link_created': consoleSessionEvents['console.link_created'] },
  }),
  redeemLink: open.post('/console/links/redeem', {
    summary: 'Sign in with a link',
    description:
      'The page `/login` or `/join` sends the token of its URL when a button is pressed. Only the cookie contains the session.',
    http: { reads: sessionRequestHeaders, headers: begins },
    body: z.strictObject({ token: z.string().min(8).max(100) }),
    example: { token: 'lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' },
    returns: [
      201,
      CurrentSessionRecord.extend({
        kind: z.enum(['sign_in', 'join', 'recovery']).meta({
          description: 'Purpose of the link. After `join` and `recovery`, the session may enrol one passkey.',
        }),
      }).meta({ id: 'RedeemedConsoleLink' }),
    ],
    fails: { ...personLinkRefusals, console_unavailable },
    emits: { ...personLinkEvents, ...signsIn },
  }),
  signInOptions: open.post('/console/sign-in/options', {
    summary: 'Start to sign in with a passkey',
    description:
      'Pass `options` to `navigator.credentials.get` (after `PublicKeyCredential.parseRequestOptionsFromJSON`), and the result to `POST /console/sign-in`. The device offers its passkeys for this site, so no name is typed.',
    requires: 'passkeys',
    limits: { inTurn: 'short' },
    returns: [
      201,
      z.object({ challengeId: id('challenge'), expiresAt: instant, options: PasskeyRequestOptions }),
    ],
  }),
  signIn: open.post('/console/sign-in', {
    summary: 'Sign in with a passkey',
    description:
      'Only the cookie contains the session. Its person, account and mode are those of the passkey.',
    limits: { bodyKiB: 256 },
    http: { reads: sessionRequestHeaders, headers: begins },
    body: webauthnAssertionSchema,
    example: {
      challengeId: 'challenge_01jd8x2m4ye7k9v0c3q5r6t8wz',
      assertion: {
        id: 'AQIDBAUGBwgJCgsMDQ4PEA',
        rawId: 'AQIDBAUGBwgJCgsMDQ4PEA',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
          authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
          signature: 'MEUCIQ',
        },
      },
    },
    returns: [201, CurrentSessionRecord],
    fails: assertionRefusals,
    emits: { ...assertionEvents, ...signsIn },
  }),
  session: signedIn.get('/console/session', {
    summary: 'Get the current session',
    returns: [200, CurrentSessionRecord],
    fails: { session_not_found: consoleRefusals.session_not_found },
  }),
  signOut: signedIn.del('/console/session', {
    summary: 'Sign out',
    returns: [204, emptyBody],
    http: { headers: { 204: { 'Set-Cookie': 'The browser forgets the session.' } } },
    fails: { session_not_found: consoleRefusals.session_not_found },
    emits: signsOut,
  }),
  sessions: readers.list('/console/sessions', {
    summary: 'List the sessions of the console',
    description:
      'Newest first; ended sessions are listed for thirty days. People who are not owners see only their own.',
    filters: { personId: id('person').optional(), status: consoleSessionStatusSchema.optional() },
    item: ConsoleSessionRecord,
  }),
  endSession: writers.del('/console/sessions/{id}', {
    summary: 'End a session of the console',
    description:
      'The session ends at once, wherever it is open. People who are not owners can end only their own.',
    scope: 'console:sign-out',
    returns: [200, ConsoleSessionRecord],
    fails: consoleRefusals,
    emits: signsOut,
  }),
}
