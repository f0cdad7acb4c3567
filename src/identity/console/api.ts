import { z } from 'zod'
import { del, type Failure, get, list, missing, nothing, post } from '../../kernel/contract/operation.ts'
import { shownOnce } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { assertionEvents, assertionRefusals, webauthnAssertion } from '../passkeys/index.ts'
import { linkEvents, linkFails } from '../people/index.ts'
import { browserHeaders } from './begin.ts'
import { CurrentSession, consoleEvents, consoleFails, SessionRecord, status } from './schemas.ts'

const signsOut = { 'console.signed_out': consoleEvents['console.signed_out'] }
const signsIn = { 'console.signed_in': consoleEvents['console.signed_in'], ...signsOut }

const begins = { 201: { 'Set-Cookie': 'The session: `__Host-session`, or `session` at `http://localhost`.' } }

const Link = z
  .object({
    id: id('consolelink'),
    personId: id('person').nullable(),
    url: shownOnce('https://pay.example.com/login#lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'),
    expiresAt: instant,
  })
  .meta({ id: 'ConsoleLink' })

const linkProblems = {
  person_not_found: missing('person'),
  person_required: [
    400,
    'personId: name the person who is to sign in. Without it a link makes the first person, and there is somebody already.',
  ],
} as const satisfies Record<string, Failure>

export const consoleApi = {
  createLink: post('/console/links', {
    summary: 'Make a link to sign in by',
    description:
      'Whoever opens it signs in as that person: within ten minutes, once. While nobody is there yet `personId` is left out, and opening the link makes the first person, an owner with the name of the account. The token stands behind the `#` and counts only once a button is pressed, so no log, no preview and no mail scanner uses it up.',
    callers: ['key'],
    scope: 'console:write',
    body: z.strictObject({
      personId: id('person').nullable().default(null),
      webauthnAssertion: webauthnAssertion.optional().meta({
        description:
          'Of an owner, once the account has had a passkey: `POST /passkeys/challenge`, purpose `invitation`, subject `{personId}`.',
      }),
    }),
    example: { personId: 'person_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [201, Link],
    fails: { ...assertionRefusals, ...linkProblems },
    emits: { ...assertionEvents, 'console.link_created': consoleEvents['console.link_created'] },
  }),
  redeemLink: post('/console/links/redeem', {
    summary: 'Sign in by a link',
    description:
      'The page `/login` or `/join` sends the token of its address when a button is pressed. The session is in the cookie, and nowhere else.',
    callers: ['public'],
    sameOriginOnly: true,
    asksForPasskey: true,
    reads: browserHeaders,
    body: z.strictObject({ token: z.string().min(8).max(100) }),
    example: { token: 'lnk_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ' },
    returns: [
      201,
      CurrentSession.extend({
        kind: z.enum(['sign_in', 'join', 'recovery']).meta({
          description:
            'What the link was for. After `join` and `recovery` the session may enrol one passkey.',
        }),
      }).meta({ id: 'RedeemedConsoleLink' }),
    ],
    headers: begins,
    fails: linkFails,
    emits: { ...linkEvents, ...signsIn },
  }),
  session: get('/console/session', {
    summary: 'Get the session that one is in',
    callers: ['console'],
    returns: [200, CurrentSession],
    fails: { session_not_found: consoleFails.session_not_found },
  }),
  signOut: del('/console/session', {
    summary: 'Sign out',
    callers: ['console'],
    returns: [204, nothing],
    headers: { 204: { 'Set-Cookie': 'The browser forgets the session.' } },
    fails: { session_not_found: consoleFails.session_not_found },
    emits: signsOut,
  }),
  sessions: list('/console/sessions', {
    summary: 'List the sessions of the console',
    description:
      'Newest first; one that has ended stays for thirty days. People who are no owners see their own.',
    callers: ['key'],
    scope: 'console:read',
    filters: { personId: id('person').optional(), status: status.optional() },
    item: SessionRecord,
  }),
  endSession: del('/console/sessions/{id}', {
    summary: 'End a session of the console',
    description: 'It ends at once, wherever it is open. People who are no owners end their own.',
    callers: ['key'],
    scope: 'console:sign-out',
    returns: [200, SessionRecord],
    fails: consoleFails,
    emits: signsOut,
  }),
}
