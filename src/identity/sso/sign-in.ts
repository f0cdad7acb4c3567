import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import { type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { Problem, withHeaders } from '../../kernel/contract/problem.ts'
import type { PersonRole } from '../../kernel/contract/scopes.ts'
import { buildHostCookie, readHostCookie } from '../../kernel/contract/session-cookie.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { beginConsoleSession } from '../console/index.ts'
import { Person } from '../customers/index.ts'
import { grantEnrolment, lockPasskeys } from '../passkeys/index.ts'
import { acceptInvitationByEmail, assignRole } from '../people/index.ts'
import { ssoApi } from './api.ts'
import { discoveryRefusal } from './configure.ts'
import { authorizationUrl, discoverProvider, type ProvenIdentity, proveIdentity } from './openid.ts'
import {
  findSsoProvider,
  SsoAttempt,
  SsoProvider,
  SsoSubject,
  ssoCallbackPath,
  ssoSecretContext,
} from './provider.ts'

/** The person signs in at the provider meanwhile. */
const ATTEMPT_TTL_MS = minutes(15)

const BROWSER = { name: 'sso', prefix: 'sso_' } as const

async function actFor(tenant: Tenant, { sql, switchTenant }: Context): Promise<void> {
  const offsetMs = tenant.mode === 'test' ? await readClockOffset(sql, tenant) : 0
  switchTenant(tenant, clock.tenant(offsetMs))
}

export const startSsoSignIn = externalCall(ssoApi.start, {
  async reserve({ params }, { sql, service, refuse }) {
    const { unavailable } = service.relyingParty()
    if (unavailable) throw new Problem('passkeys_unavailable', unavailable)
    const found = await findSsoProvider(params.id, sql)
    if (!found) return refuse('provider_not_found')
    const { ownerId, mode, issuer, clientId } = found
    return clientId === null
      ? refuse('provider_incomplete')
      : { providerId: params.id, tenant: { ownerId, mode }, issuer, clientId }
  },

  call: ({ issuer, tenant }, { systems }) => discoverProvider({ issuer, ...tenant }, systems),

  async record(metadata, { providerId, tenant, clientId }, context) {
    const { em, service, refuse } = context
    if (typeof metadata === 'string') return refuse(discoveryRefusal(metadata))
    await actFor(tenant, context)
    if (!(await em.findOne(SsoProvider, { id: providerId }, FOR_UPDATE))) return refuse('provider_not_found')
    const [state, browser] = [newSecret('sss_'), newSecret(BROWSER.prefix)]
    const expiresAt = addMs(clock.real(), ATTEMPT_TTL_MS)
    em.create(SsoAttempt, {
      providerId,
      stateHash: hashSecret(state),
      browserHash: hashSecret(browser),
      metadata,
      expiresAt,
    })
    const redirectUri = service.pageUrl(ssoCallbackPath(providerId))
    const redirectTo = authorizationUrl(metadata, { clientId, redirectUri, browser, state })
    const cookie = buildHostCookie(BROWSER, browser, ATTEMPT_TTL_MS / 1_000, service.relyingParty().origin)
    return withHeaders({ redirectTo, expiresAt }, { 'Set-Cookie': cookie })
  },

  recover: async (_, { refuse }) => refuse('provider_silent'),
})

interface FoundAttempt extends Row, Tenant {
  readonly id: string
}

/** Searches by the digest, so that the response time reveals nothing about existing states. */
const FIND_ATTEMPT = `
select a.id, a.owner_id as "ownerId", a.mode from sso_attempts a
join customers c on c.id = a.owner_id and c.status = 'active'
where a.state_hash = $1 and a.provider_id = $2`

async function findAttempt(state: string, providerId: string, sql: Sql): Promise<FoundAttempt | undefined> {
  const [found] = await sql<FoundAttempt>(FIND_ATTEMPT, [hashSecret(state), providerId])
  return found
}

/** RFC 9207. A provider that announces the member always sends it. */
const isFromIssuer = ({ metadata }: SsoAttempt, iss: string | undefined): boolean =>
  iss === undefined
    ? metadata.authorization_response_iss_parameter_supported !== true
    : iss === metadata.issuer

const isOpen = ({ usedAt, expiresAt }: SsoAttempt): boolean => usedAt === null && expiresAt > clock.real()

type SigningIn = ContextOf<typeof ssoApi.signIn>

export const finishSsoSignIn = externalCall(ssoApi.signIn, {
  /** Uses up the attempt before the code is sent, so that an answer counts once. */
  async reserve({ params: { id: providerId }, body: { state, code, iss } }, context) {
    const { em, sql, headers, service, refuse } = context
    const browser = readHostCookie(BROWSER, headers.cookie, service.relyingParty().origin)
    const [provided, found] = await Promise.all([
      findSsoProvider(providerId, sql),
      findAttempt(state, providerId, sql),
    ])
    if (!provided) return refuse('provider_not_found')
    if (!browser || !found) return refuse('sign_in_unknown')
    const tenant = { ownerId: found.ownerId, mode: found.mode }
    await actFor(tenant, context)
    const [attempt, provider] = await Promise.all([
      em.findOne(SsoAttempt, { id: found.id }, FOR_UPDATE),
      em.findOne(SsoProvider, { id: providerId }),
    ])
    if (!attempt || !provider?.clientId || attempt.browserHash !== hashSecret(browser) || !isOpen(attempt))
      return refuse('sign_in_unknown')
    attempt.usedAt = clock.real()
    if (!isFromIssuer(attempt, iss)) return refuse('identity_unproven')
    const { metadata } = attempt
    const { clientId, groupsClaim, clientSecret, privateKey } = provider
    const readsGroups = groupsOf(provider).length > 0
    const sealed = clientSecret === null ? { privateKey } : { clientSecret }
    return { tenant, providerId, browser, code, metadata, clientId, groupsClaim, readsGroups, sealed }
  },

  call({ sealed, providerId, tenant: { ownerId }, ...exchange }, { systems, service }) {
    const open = (secret: string) => systems.vault.open(secret, ssoSecretContext(providerId))
    const credential =
      sealed.clientSecret === undefined
        ? { privateKey: open(sealed.privateKey) }
        : { secret: open(sealed.clientSecret) }
    const redirectUri = service.pageUrl(ssoCallbackPath(providerId))
    return proveIdentity({ ...exchange, ownerId, redirectUri, credential }, systems)
  },

  async record(identity, { tenant, providerId, groupsClaim }, context) {
    const { refuse } = context
    await actFor(tenant, context)
    if (identity === 'busy') return refuse('provider_busy')
    if (identity === 'silent') return refuse('provider_silent')
    if (identity === 'unproven') return refuse('identity_unproven')
    return signInAs(identity, { providerId, groupsClaim }, context)
  },

  recover: async (_, { refuse }) => refuse('provider_silent'),
})

async function signInAs(
  identity: ProvenIdentity,
  { providerId, groupsClaim }: Pick<SsoProvider, 'groupsClaim'> & { readonly providerId: string },
  context: SigningIn,
) {
  const { em, refuse } = context
  // A new role may end passkeys' rights, so passkeys are locked before people, as when an owner changes it.
  await lockPasskeys(context)
  const [, provider] = await Promise.all([
    lockTenant(context, 'people'),
    em.findOne(SsoProvider, { id: providerId }, FOR_UPDATE),
  ])
  if (!provider) return refuse('sign_in_unknown')
  // An owner may have named another claim since, or the first group.
  const groups = provider.groupsClaim === groupsClaim ? identity.groups : null
  if (!groups && groupsOf(provider).length > 0) return refuse('groups_unreadable')
  const known = await em.findOne(SsoSubject, { providerId, subject: identity.subject })
  const signedIn = known
    ? { known, person: await activePerson(known.personId, context) }
    : await link(identity, providerId, context)
  if (!signedIn?.person) return refuse('not_invited')
  const { person } = signedIn
  await applyGroups(provider, groups ?? [], signedIn.known, person, context)
  const kind = known ? 'sign_in' : 'join'
  const { sessionId, answerWith } = await beginConsoleSession(
    { person, passkeyId: null, ssoProviderId: provider.id },
    context,
  )
  if (kind === 'join') grantEnrolment(context, { personId: person.id, sessionId, kind })
  return answerWith({ kind } as { kind: 'sign_in' | 'join' })
}

async function activePerson(id: string, { em }: WriteContext): Promise<Person | null> {
  const person = await em.findOne(Person, { id }, FOR_UPDATE)
  return person?.status === 'active' ? person : null
}

/** An email alone links no one: the invitation to it must be open, and is used up. */
async function link({ subject, email }: ProvenIdentity, providerId: string, context: SigningIn) {
  const { em, emit } = context
  const person = email === null ? undefined : await acceptInvitationByEmail(email, context)
  if (!person) return undefined
  const earlier = await em.findOne(SsoSubject, { providerId, personId: person.id }, FOR_UPDATE)
  if (earlier) earlier.subject = subject
  const known = earlier ?? em.create(SsoSubject, { providerId, personId: person.id, subject })
  emit('sso_provider.linked', { providerId, personId: person.id, role: person.role })
  return { known, person }
}

const groupsOf = ({ ownerGroups, approverGroups, viewerGroups }: SsoProvider): string[] => [
  ...ownerGroups,
  ...approverGroups,
  ...viewerGroups,
]

/** The highest role that a group of the person has. */
function roleByGroups(
  { ownerGroups, approverGroups, viewerGroups }: SsoProvider,
  groups: readonly string[],
): PersonRole | null {
  const has = (of: readonly string[]): boolean => of.some(group => groups.includes(group))
  if (has(ownerGroups)) return 'owner'
  if (has(approverGroups)) return 'approver'
  return has(viewerGroups) ? 'viewer' : null
}

/**
 * Without a group that has a role, a person has the role from before groups decided: the one of the invitation, or the
 * one that an owner has given since.
 */
async function applyGroups(
  provider: SsoProvider,
  groups: readonly string[],
  known: SsoSubject,
  person: Person,
  context: SigningIn,
): Promise<void> {
  const groupRole = roleByGroups(provider, groups)
  const baseRole = (person.role === known.groupRole && known.baseRole) || person.role
  const role = groupRole ?? baseRole
  await assignRole(person, role, context)
  // The last owner keeps the role, and the next sign-in reads the groups again.
  if (person.role === role) Object.assign(known, { groupRole, baseRole: groupRole && baseRole })
}
