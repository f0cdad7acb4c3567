import { z } from 'zod'
import { open, operationsFor } from '../../kernel/contract/callers.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { emptyBody } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { bySeveral } from '../approvals/index.ts'
import { CurrentSessionRecord, consoleSessionEvents, sessionRequestHeaders } from '../console/index.ts'
import {
  assertionEvents,
  assertionRefusals,
  scopeNotHeldRefusal,
  webauthnAssertionSchema,
} from '../passkeys/index.ts'
import { personEvents } from '../people/index.ts'
import { MAX_PROVIDERS } from './provider.ts'
import {
  clientSecretSchema,
  configuration,
  discoveryRefusals,
  issuerSchema,
  provider_not_found,
  providerName,
  SsoProviderRecord,
  ssoEvents,
} from './schemas.ts'

const readers = operationsFor({ callers: ['key'], scope: 'people:read' })
const writers = operationsFor({ callers: ['key'], scope: 'people:write' })

const consent = webauthnAssertionSchema.optional().meta({
  description:
    'An owner’s consent to exactly this (`POST /passkeys/challenge`, purpose `invitation`). Required once the account has had a passkey.',
})

const signed = {
  clientId: '$clientId',
  groupsClaim: '$groupsClaim',
  ownerGroups: '$ownerGroups',
  approverGroups: '$approverGroups',
  viewerGroups: '$viewerGroups',
}

const signature = (subject: Readonly<Record<string, string>>) => ({
  challenge: '/passkeys/challenge',
  asks: { purpose: 'invitation', subject: { ...subject, ...signed } },
})

const { clientId, groupsClaim, ownerGroups, approverGroups, viewerGroups } = configuration

const consents = { ...assertionRefusals, scope_not_held: scopeNotHeldRefusal }

export const ssoApi = {
  create: writers.post('/sso/providers', {
    run: 'external',
    summary: 'Add an identity provider',
    description:
      'Reads the metadata of the issuer (OpenID Connect Discovery). The answer has the addresses that the identity provider needs; set `clientId` once it has given one. Each mode has its own identity providers.',
    signature: signature({ issuer: '$issuer' }),
    body: z.strictObject({
      name: providerName,
      issuer: issuerSchema,
      clientId: clientId.default(null),
      clientSecret: clientSecretSchema.default(null),
      groupsClaim: groupsClaim.default('groups'),
      ownerGroups: ownerGroups.default([]),
      approverGroups: approverGroups.default([]),
      viewerGroups: viewerGroups.default([]),
      webauthnAssertion: consent,
    }),
    example: {
      name: 'Example Corp',
      issuer: 'https://id.example.com',
      clientId: 'agent-payments',
      clientSecret: 'correct-horse-battery-staple',
      approverGroups: ['payments'],
    },
    returns: [201, SsoProviderRecord],
    fails: {
      ...consents,
      ...discoveryRefusals,
      issuer_taken: [
        400,
        'issuer: another identity provider of this account has it. Change or remove that one.',
      ],
      client_needs_approvals: [
        400,
        'clientId: a policy with steps asks several people who may sign in. Add the identity provider without clientId, then set it with PATCH /sso/providers/{id}, which they approve.',
      ],
      too_many_providers: [400, `There are already ${MAX_PROVIDERS} identity providers. Remove one first.`],
    },
    emits: { ...assertionEvents, 'sso_provider.created': ssoEvents['sso_provider.created'] },
  }),
  list: readers.list('/sso/providers', {
    summary: 'List identity providers',
    description: 'Newest first.',
    item: SsoProviderRecord,
  }),
  get: readers.getOne('/sso/providers/{id}', 'an identity provider', SsoProviderRecord, {
    provider_not_found,
  }),
  update: writers.patch('/sso/providers/{id}', {
    summary: 'Change an identity provider',
    description:
      'Anything but the name requires an owner’s assertion once the account has had a passkey. Roles change at the next sign-in of each person. For another issuer, add another identity provider.',
    signature: signature({ providerId: '$id' }),
    body: z
      .strictObject({
        name: providerName,
        clientSecret: clientSecretSchema,
        ...configuration,
        webauthnAssertion: webauthnAssertionSchema,
      })
      .partial(),
    example: { clientId: 'agent-payments', approverGroups: ['payments', 'finance'] },
    returns: [200, SsoProviderRecord],
    accepted: bySeveral.accepted,
    fails: { ...consents, ...bySeveral.fails, provider_not_found },
    emits: {
      ...assertionEvents,
      ...bySeveral.emits,
      'sso_provider.updated': ssoEvents['sso_provider.updated'],
    },
  }),
  remove: writers.del('/sso/providers/{id}', {
    summary: 'Remove an identity provider',
    description:
      'The sessions that it began end at once, and it signs no one in any more. The people stay, with their roles and passkeys.',
    returns: [204, emptyBody],
    fails: { provider_not_found },
    emits: {
      'sso_provider.removed': ssoEvents['sso_provider.removed'],
      'console.signed_out': consoleSessionEvents['console.signed_out'],
    },
  }),
  keys: open.get('/sso/{id}/jwks', {
    summary: 'Get the public key of this service for an identity provider',
    description: 'RFC 7517, for `private_key_jwt`. Each identity provider has its own key.',
    returns: [200, fileSchema('application/json')],
    fails: { provider_not_found },
  }),
  start: open.post('/sso/{id}/start', {
    run: 'external',
    requires: 'passkeys',
    summary: 'Start to sign in with an identity provider',
    description:
      'Called by the sign-in page, which then goes to `redirectTo`. The cookie binds the sign-in to this browser.',
    http: {
      reads: { cookie: 'Ignored: the answer replaces the browser’s cookie.' },
      headers: {
        201: { 'Set-Cookie': 'The browser of this sign-in: `__Host-sso`, or `sso` at `http://localhost`.' },
      },
    },
    body: z.strictObject({}),
    example: {},
    returns: [201, z.object({ redirectTo: z.string(), expiresAt: instant })],
    fails: {
      provider_not_found,
      provider_incomplete: [400, 'The identity provider has no clientId yet. An owner must set it.'],
      ...discoveryRefusals,
    },
    emits: {},
  }),
  signIn: open.post('/sso/{id}/sign-in', {
    run: 'external',
    summary: 'Sign in with the answer of an identity provider',
    description:
      'Called by the page at `redirectUri`, once for each `state`. A person whom the provider has not signed in before needs an open invitation to an email that the provider has verified; it is used up. Only the cookie contains the session. Approving takes a passkey, as in every session.',
    limits: { bodyKiB: 16 },
    http: {
      reads: {
        ...sessionRequestHeaders,
        cookie: 'Proves that this browser began the sign-in. Its session ends.',
      },
      headers: {
        201: { 'Set-Cookie': 'The session: `__Host-session`, or `session` at `http://localhost`.' },
      },
    },
    body: z.strictObject({
      state: z.string().min(1).max(200),
      code: z.string().min(1).max(8_000),
      iss: z.string().max(500).optional().meta({ description: 'The issuer in the answer (RFC 9207).' }),
    }),
    example: { state: 'sss_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ', code: 'the-code' },
    returns: [
      201,
      CurrentSessionRecord.extend({
        kind: z.enum(['sign_in', 'join']).meta({
          description: 'After `join`, which used up an invitation, the session may enrol one passkey.',
        }),
      }).meta({ id: 'SsoSession' }),
    ],
    fails: {
      provider_not_found,
      sign_in_unknown: [
        400,
        'state: this sign-in is unknown, used or over, or it began in another browser. Start again.',
      ],
      identity_unproven: [401, 'The answer of the identity provider could not be verified. Start again.'],
      not_invited: [
        403,
        'No open invitation for you. Ask an owner for a new link: it must be for an email that the identity provider has verified.',
      ],
      groups_unreadable: [
        403,
        'The identity provider did not name your groups, on which roles depend. It must send the claim with each sign-in, as a list of texts: `[]` without groups.',
      ],
      provider_busy: discoveryRefusals.provider_busy,
      provider_silent: discoveryRefusals.provider_silent,
    },
    emits: {
      'person.joined': personEvents['person.joined'],
      'person.updated': personEvents['person.updated'],
      'sso_provider.linked': ssoEvents['sso_provider.linked'],
      ...consoleSessionEvents,
    },
  }),
}
