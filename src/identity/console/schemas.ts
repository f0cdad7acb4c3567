import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { allScopeNames } from '../../kernel/contract/scopes.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead } from '../../values/schemas.ts'
import { personRoleSchema } from '../people/index.ts'
import { sessionEndReasons } from './session.ts'

export const consoleSessionStatusSchema = z.enum(['active', 'ended'])

export const ConsoleSessionRecord = z
  .object({
    ...recordHead('consolesession'),
    personId: id('person'),
    personName: z.string(),
    role: personRoleSchema.meta({ description: 'The current role of the person.' }),
    passkeyId: id('passkey').nullable().meta({
      description: 'The passkey that started the session. Null if a link or an identity provider did.',
    }),
    ssoProviderId: id('ssoprovider').nullable().meta({
      description: 'The identity provider that started the session.',
    }),
    status: consoleSessionStatusSchema,
    isCurrent: z.boolean().meta({ description: 'Whether this is the session of the request.' }),
    lastUsedAt: instant.meta({ description: 'The last activity, to the second.' }),
    endsAt: instant.meta({
      description:
        'The time at which the session ended, or will end: after twelve hours, in live mode after five minutes without activity.',
    }),
    endedBecause: z
      .enum([...sessionEndReasons, 'idle', 'expired'])
      .nullable()
      .meta({
        description:
          '`signed_out`: by the person. `ended`: by another person or session. `replaced`: the browser signed in again. `person`: person removed. `passkey`: passkey revoked. `sso`: identity provider removed. `idle`, `expired`: timed out. Null while active.',
      }),
    address: z
      .string()
      .nullable()
      .meta({ description: 'The address of the browser.', examples: ['203.0.113.7'] }),
    userAgent: z
      .string()
      .nullable()
      .meta({
        description: 'The browser’s name for itself.',
        examples: ['Mozilla/5.0 (X11; Linux x86_64)'],
      }),
    createdAt: instant,
  })
  .meta({ id: 'ConsoleSession' })

export const CurrentSessionRecord = ConsoleSessionRecord.extend({
  scopes: z.array(z.enum(allScopeNames)).meta({ description: 'The scopes of the role.' }),
}).meta({ id: 'CurrentConsoleSession' })

const SessionEvent = z.object({
  sessionId: id('consolesession'),
  personId: id('person'),
  passkeyId: id('passkey').nullable(),
  ssoProviderId: id('ssoprovider').nullable(),
})

export const consoleSessionEvents = {
  'console.link_created': declareEvent(
    'A sign-in link was created.',
    z.object({
      linkId: id('consolelink'),
      personId: id('person').nullable().meta({
        description: 'Null for the link of the first person, which creates the person when opened.',
      }),
      expiresAt: instant,
    }),
  ),
  'console.signed_in': declareEvent('A person has signed in to the console.', SessionEvent),
  'console.signed_out': declareEvent(
    'A console session was ended early.',
    SessionEvent.extend({ because: z.enum(sessionEndReasons) }),
  ),
}

export const consoleRefusals = {
  session_not_found: notFound('session'),
  session_ended: [400, 'The session has already ended.'],
} as const satisfies Record<string, RefusalSpec>
