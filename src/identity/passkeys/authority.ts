import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { EmitContext, ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { mayGrantRole, type PersonRole } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  FOR_UPDATE,
  FOR_UPDATE_BY_ID,
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { plain } from '../../kernel/database/personal.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { isAskedIn, policiesConcerned } from '../approvals/index.ts'
import { type AssertionContext, consumeAssertion, verifyAssertion } from './assertions.ts'
import type { PasskeyEnrolmentGround } from './challenge.ts'
import { Passkey } from './passkey.ts'
import {
  type AssertionRefusalCode,
  passkeyEvent,
  type passkeyEvents,
  type WebauthnAssertion,
} from './schemas.ts'

/** `join` counts while the tenant has a passkey; `recovery` also counts without one. */
const grantKinds = ['join', 'recovery'] as const

const GRANT_LASTS_MS = minutes(12 * 60)

const schema = defineEntity({
  ...tenantTable('EnrolmentGrant', 'enrolment_grants'),
  properties: {
    ...recordColumns('grant'),
    ...realTimestampColumns(),
    personId: p.text(),
    sessionId: p.text(),
    kind: plain(p.enum(grantKinds)),
    expiresAt: timestampColumn().onCreate(() => addMs(clock.real(), GRANT_LASTS_MS)),
    usedAt: nullable.instant(),
  },
})

/**
 * The right of a session to enrol one passkey without another one, because its person used a link for that.
 * In real time.
 */
export class EnrolmentGrant extends schema.class {
  isOpen(): boolean {
    return !this.usedAt && this.expiresAt > clock.real()
  }
}
schema.setClass(EnrolmentGrant)

interface PasskeySummary {
  readonly everEnrolled: boolean
  readonly active: number
  readonly personIds: readonly string[]
}

const SUMMARY = `
select count(*) > 0 as "everEnrolled", (count(*) filter (where revoked_at is null))::int as active,
  coalesce(array_agg(distinct person_id) filter (where revoked_at is null), '{}') as "personIds"
from passkeys where owner_id = $1 and mode = $2`

export async function passkeySummary(sql: Sql, { ownerId, mode }: Tenant): Promise<PasskeySummary> {
  const [row] = await sql<PasskeySummary & Row>(SUMMARY, [ownerId, mode])
  return row as PasskeySummary
}

/** Serializes changes of a tenant's set of passkeys. Call it before locks on people and passkeys. */
export const lockPasskeys = (context: SqlContext): Promise<unknown> => lockTenant(context, 'passkeys')

/** Requires `lockPasskeys` or a lock on the row. */
export function markPasskeyRevoked(
  passkey: Passkey,
  { emit }: EmitContext<Pick<typeof passkeyEvents, 'passkey.revoked'>>,
): void {
  passkey.revokedAt = clock.real()
  emit('passkey.revoked', passkeyEvent(passkey))
}

/** Call `lockPasskeys` first if the last passkey must stay. */
export async function revokePasskeysOfPerson(
  personId: string,
  context: WriteContext<Pick<typeof passkeyEvents, 'passkey.revoked'>>,
): Promise<void> {
  const own = { personId, revokedAt: null }
  const passkeys = await context.em.find(Passkey, own, FOR_UPDATE_BY_ID)
  for (const passkey of passkeys) markPasskeyRevoked(passkey, context)
}

export interface PasskeyEnrollee {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: PersonRole
  readonly status: string
}

/** Uses a share lock, so that removing the person waits until the passkey exists and can be revoked. */
const ENROLLEE = `
select id, name, email, role, status from people where owner_id = $1 and mode = $2 and id = $3 for share`

export const lockEnrollee = async (
  { sql, tenant: { ownerId, mode } }: SqlContext,
  id: string,
): Promise<PasskeyEnrollee | undefined> =>
  (await sql<PasskeyEnrollee & Row>(ENROLLEE, [ownerId, mode, id]))[0]

/** With a passkey for another approver, one person would approve as two. */
const isAskedBySteps = async (person: PasskeyEnrollee, context: ReadContext): Promise<boolean> =>
  (await policiesConcerned(step => isAskedIn(step, person), context)).length > 0

type AuthorityCode =
  | AssertionRefusalCode
  | 'enrolled_by_person'
  | 'owner_first'
  | 'recovery_needed'
  | 'scope_not_held'

/**
 * The authority by which a passkey may be enrolled for this person, or the refusal. Ignores an assertion that
 * is not needed.
 */
export async function enrolmentAuthority(
  person: PasskeyEnrollee,
  envelope: WebauthnAssertion | undefined,
  context: AssertionContext,
): Promise<{ authority: PasskeyEnrolmentGround; authorityId: string | null } | AuthorityCode> {
  const [standing, grant] = await Promise.all([
    passkeySummary(context.sql, context.tenant),
    openGrantOf(person, context),
  ])
  if (!standing.everEnrolled) {
    if (person.role !== 'owner') return 'owner_first'
    const { actor } = context
    if (actor.type === 'key' && !mayGrantRole(actor.scopes, 'owner')) return 'scope_not_held'
    return { authority: 'first', authorityId: null }
  }
  if (grant && counts(grant, standing)) return { authority: 'grant', authorityId: grant.id }
  if (standing.active === 0) return 'recovery_needed'
  const verified = await verifyAssertion(envelope, context)
  if (typeof verified === 'string') return verified
  const members = { personId: person.id, name: person.name }
  const code = await consumeAssertion(verified, { kind: 'enrolment', members }, context)
  if (code) return code
  const { id, role } = verified.person
  if (id !== person.id) {
    if (role !== 'owner') return 'insufficient_role'
    if (await isAskedBySteps(person, context)) return 'enrolled_by_person'
  }
  return { authority: 'passkey', authorityId: verified.passkeyId }
}

const counts = ({ kind }: EnrolmentGrant, { active }: PasskeySummary): boolean =>
  kind === 'recovery' || active > 0

async function openGrantOf(
  { id: personId }: PasskeyEnrollee,
  { em, actor: { sessionId } }: AssertionContext,
): Promise<EnrolmentGrant | undefined> {
  if (!sessionId) return undefined
  const grants = await em.find(EnrolmentGrant, { sessionId, personId, usedAt: null })
  return grants.find(grant => grant.isOpen())
}

interface UsedAuthority {
  readonly authority: PasskeyEnrolmentGround | null
  readonly authorityId: string | null
}

/** Whether the authority still counts under the lock of the tenant's passkeys. Uses up a grant. */
export async function isEnrolmentAuthorityValid(
  { authority, authorityId }: UsedAuthority,
  person: PasskeyEnrollee,
  standing: PasskeySummary,
  context: WriteContext,
): Promise<boolean> {
  const { em } = context
  if (authority === 'first') return !standing.everEnrolled
  if (authority === 'passkey') {
    const signer = await em.findOne(Passkey, { id: String(authorityId), revokedAt: null })
    // A policy may ask the person since.
    return signer !== null && (signer.personId === person.id || !(await isAskedBySteps(person, context)))
  }
  const grant = await em.findOne(EnrolmentGrant, { id: String(authorityId) }, FOR_UPDATE)
  return grant !== null && useUp(grant, standing)
}

function useUp(grant: EnrolmentGrant, standing: PasskeySummary): boolean {
  if (!grant.isOpen() || !counts(grant, standing)) return false
  grant.usedAt = clock.real()
  return true
}

/** Sessions that a link of the person has begun enrol no more. Call `lockPasskeys` first. */
export async function endEnrolmentGrants(personId: string, { em }: WriteContext): Promise<void> {
  const open = await em.find(EnrolmentGrant, { personId, usedAt: null }, FOR_UPDATE_BY_ID)
  for (const grant of open) grant.usedAt = clock.real()
}

export function grantEnrolment(
  context: WriteContext,
  grant: { readonly personId: string; readonly sessionId: string; readonly kind: 'join' | 'recovery' },
): void {
  context.em.create(EnrolmentGrant, grant)
}
