import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { secretMeta } from '../../kernel/run/outcome.ts'
import { id } from '../../values/ids.ts'
import { labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { personRoleSchema } from '../people/index.ts'
import { MAX_GROUPS } from './provider.ts'

const group = z.string().trim().min(1).max(300)
const groups = (role: string) =>
  z
    .array(group)
    .max(MAX_GROUPS)
    .meta({ description: `Groups of the identity provider whose members are ${role}.` })

/** What an owner signs. */
export const configuration = {
  clientId: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .nullable()
    .meta({
      description:
        'The ID that the identity provider gave this service. Null until it is known: no one can sign in.',
      examples: ['agent-payments'],
    }),
  groupsClaim: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({
      description: 'The claim with the groups of a person.',
      examples: ['groups'],
    }),
  ownerGroups: groups('owners'),
  approverGroups: groups('approvers'),
  viewerGroups: groups('viewers'),
}

export const issuerSchema = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .meta({
    description: 'The issuer, exactly as its metadata names it.',
    examples: ['https://id.example.com'],
  })

export const providerName = labelSchema.meta({
  description: 'Shown on the sign-in page.',
  examples: ['Example Corp'],
})

export const clientSecretSchema = z
  .string()
  .trim()
  .min(1)
  .max(1_000)
  .nullable()
  .meta({
    ...secretMeta,
    description:
      'Encrypted, and never shown. Null: the service proves itself with a private key (`private_key_jwt`).',
  })

export const SsoProviderRecord = z
  .object({
    ...recordHead('ssoprovider'),
    name: z.string(),
    issuer: z.string(),
    ...configuration,
    clientAuthentication: z.enum(['client_secret', 'private_key_jwt']),
    signInUrl: z.string().meta({ description: 'Where people sign in. Give them this link.' }),
    redirectUri: z.string().meta({ description: 'Allow exactly this address at the identity provider.' }),
    jwksUri: z.string().meta({ description: 'The public key of the service, for `private_key_jwt`.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'SsoProvider' })

const ProviderEvent = z.object({
  providerId: id('ssoprovider'),
  name: z.string().max(200),
  issuer: z.string().max(500),
  clientId: z.string().max(500).nullable(),
})

export const ssoEvents = {
  'sso_provider.created': declareEvent('An identity provider was added.', ProviderEvent),
  'sso_provider.updated': declareEvent(
    'An identity provider was changed.',
    ProviderEvent.extend({
      changed: z
        .array(z.string().max(20))
        .max(10)
        .meta({ description: 'The changed fields, without values.' }),
    }),
  ),
  'sso_provider.removed': declareEvent(
    'An identity provider was removed. The sessions that it began have ended.',
    ProviderEvent,
  ),
  'sso_provider.linked': declareEvent(
    'A person has accepted an invitation with an identity provider, which signs this person in from now on.',
    z.object({ providerId: id('ssoprovider'), personId: id('person'), role: personRoleSchema }),
  ),
}

export const provider_not_found: RefusalSpec = [404, 'No such identity provider, or it was removed.']

export const discoveryRefusals = {
  issuer_refused: [
    400,
    'issuer: this address cannot be used. It must be https and public, and so must the endpoints of its metadata.',
  ],
  issuer_mismatch: [400, 'issuer: its metadata names another issuer. Use that one, character for character.'],
  provider_busy: [
    503,
    'The identity provider has not answered this account’s other sign-ins yet. Nothing was sent: try again in a moment.',
  ],
  provider_silent: [
    504,
    'The identity provider did not answer, or not as OpenID Connect says. Check the issuer, or try again.',
  ],
} as const satisfies Record<string, RefusalSpec>
