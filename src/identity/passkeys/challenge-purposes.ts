import { z } from 'zod'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { question } from '../../kernel/contract/question.ts'
import { allScopeNames, roleScopes, scopeSchema } from '../../kernel/contract/scopes.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import type { Kind, StatedProvider } from '../../statements/index.ts'
import { keysOf } from '../../values/collections.ts'
import { nonOwnerSubjects } from '../../values/personal.ts'
import { emailSchema, labelSchema } from '../../values/schemas.ts'
import type { passkeysApi } from './api.ts'
import { lockEnrollee, type PasskeyEnrollee } from './authority.ts'
import { type ChallengeOpening, openPasskeyChallenge } from './open-challenge.ts'
import { Passkey } from './passkey.ts'

type Asking = ContextOf<typeof passkeysApi.challenge>

interface Purpose<F extends z.ZodType = z.ZodType> {
  readonly form: F
  readonly words: string
  readonly opening: (subject: z.output<F>, context: Asking) => Promise<ChallengeOpening<Kind> | Refusal>
}

const purpose = <F extends z.ZodType>(form: F, words: string, opening: Purpose<F>['opening']): Purpose =>
  ({ form, words, opening }) as unknown as Purpose

const anId = z.string().min(1).max(128)
const aRole = z.enum(keysOf(roleScopes))

const groupNames = z.array(z.string().max(300)).max(50)

const aConfiguration = {
  clientId: z.string().max(500).nullish(),
  groupsClaim: z.string().max(200).optional(),
  ownerGroups: groupNames.optional(),
  approverGroups: groupNames.optional(),
  viewerGroups: groupNames.optional(),
}

const anInvitation = z.union([
  z.strictObject({ name: labelSchema, email: emailSchema.nullable().default(null), role: aRole }),
  z.strictObject({ personId: anId, role: aRole.optional() }),
  z.strictObject({ issuer: z.string().max(500), ...aConfiguration }),
  z.strictObject({ providerId: anId, ...aConfiguration }),
])

const aKey = z.union([
  z.strictObject({
    name: labelSchema,
    environment: z.enum(['sandbox', 'test', 'live']),
    scopes: z.array(scopeSchema).min(1).max(allScopeNames.length).nullable().default(null),
    toolWrites: z.boolean().optional(),
  }),
  z.strictObject({ keyId: anId }),
])

/**
 * The statement for a new key. A key without MCP write access has the same statement whether the member is
 * false or missing.
 */
const newKeyOf = ({ toolWrites, ...members }: Exclude<z.output<typeof aKey>, { keyId: string }>) => ({
  ...members,
  ...(toolWrites ? { toolWrites: true as const } : {}),
})

const aSubject = z.strictObject({ type: z.enum(nonOwnerSubjects), id: anId })

const purposes: Readonly<Record<'revocation' | 'enrolment' | 'invitation' | 'key' | 'deletion', Purpose>> = {
  revocation: purpose(anId, 'the id of a passkey', async (id, { em, refuse }) => {
    const passkey = await em.findOne(Passkey, { id, revokedAt: null })
    if (!passkey) return refuse('passkey_not_found')
    return { kind: 'revocation', subjectId: passkey.id, members: passkeyRevocationSubject(passkey) }
  }),

  enrolment: purpose(anId.optional(), 'the id of a person', async (id, context) => {
    const { actor, refuse } = context
    const personId = id ?? (actor.type === 'console' ? actor.id : null)
    if (!personId) return refuse('subject_mismatch', 'subject is required with a key: name the person.')
    const person = await lockEnrollee(context, personId)
    if (person?.status !== 'active') return refuse('person_not_found')
    return { kind: 'enrolment', subjectId: personId, members: { personId, name: person.name } }
  }),

  invitation: purpose(
    anInvitation,
    '{name, email, role}, {personId} for a new link, {personId, role} for another role, or {issuer, …} or {providerId, …} for an identity provider',
    async (subject, context) => {
      if ('name' in subject) return { kind: 'invitation', subjectId: null, members: subject }
      if (!('personId' in subject)) return providerOpening(subject, context)
      const { personId, role } = subject
      const person = await lockEnrollee(context, personId)
      if (role === undefined) {
        const members = linkSubject({ id: personId, email: person?.email ?? null })
        return { kind: 'invitation', subjectId: personId, members }
      }
      if (!person || person.status === 'removed') return context.refuse('person_not_found')
      return { kind: 'invitation', subjectId: personId, members: { personId, name: person.name, role } }
    },
  ),

  key: purpose(
    aKey,
    '{name, environment, scopes} of a new key, or {keyId} of the one to be replaced',
    async (subject, context) => {
      if (!('keyId' in subject)) return { kind: 'key', subjectId: null, members: newKeyOf(subject) }
      const { keyId } = subject
      const [name] = await context.service.ask(keyNames, keyId, context)
      if (name === undefined) return context.refuse('key_not_found')
      return { kind: 'key', subjectId: keyId, members: { keyId, name } }
    },
  ),

  deletion: purpose(aSubject.optional(), '{type, id}, or nothing for the account', (subject, { tenant }) => {
    const { type: subjectType, id: subjectId } = subject ?? { type: 'owner', id: tenant.ownerId }
    return Promise.resolve({ kind: 'deletion', subjectId, members: { subjectType, subjectId } })
  }),
}

/** The configuration of an identity provider, by its id. */
export const providers = question<string, StatedProvider | undefined>('passkeys.providers')

const NEW_PROVIDER = {
  clientId: null,
  groupsClaim: 'groups',
  ownerGroups: [],
  approverGroups: [],
  viewerGroups: [],
}

/** The statement has the whole configuration, also where a part of it changes. */
async function providerOpening(
  subject: Exclude<z.output<typeof anInvitation>, { name: string } | { personId: string }>,
  context: Asking,
): Promise<ChallengeOpening<'invitation'> | Refusal> {
  if ('issuer' in subject) {
    const { issuer, ...chosen } = subject
    return {
      kind: 'invitation',
      subjectId: null,
      members: { issuer, ...NEW_PROVIDER, ...definedOnly(chosen) },
    }
  }
  const { providerId, ...changes } = subject
  const [known] = await context.service.ask(providers, providerId, context)
  if (!known) return context.refuse('subject_mismatch', 'subject: no such identity provider.')
  const members = { ...known, ...definedOnly(changes) }
  return { kind: 'invitation', subjectId: providerId, members }
}

/** The name of an API key, by its id. */
export const keyNames = question<string, string | undefined>('passkeys.key_names')

/** With the email, by which an identity provider may let the person in. */
export const linkSubject = ({ id: personId, email }: Pick<PasskeyEnrollee, 'id' | 'email'>) => ({
  personId,
  ...(email !== null && { email }),
})

export const passkeyRevocationSubject = ({ id: passkeyId, name }: Passkey) => ({ passkeyId, name })

export const createPasskeyChallenge: HandlerOf<typeof passkeysApi.challenge> = async ({ body }, context) => {
  const { form, words, opening } = purposes[body.purpose]
  const { success, data } = form.safeParse(body.subject)
  if (!success)
    return context.refuse('subject_mismatch', `subject: for the purpose ${body.purpose} it is ${words}.`)
  const opened = await opening(data, context)
  return 'kind' in opened ? openPasskeyChallenge(opened, context) : opened
}
