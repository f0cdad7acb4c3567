import type { Mode } from '../../kernel/contract/actor.ts'
import { inRange, sqlCondition } from '../../kernel/contract/conditions.ts'
import type { Context, EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { clock } from '../../values/clock.ts'
import { findCustomer, Person, personEvent, personMachine } from '../customers/index.ts'
import { lockPasskeys, revokePasskeysOfPerson } from '../passkeys/index.ts'
import { PersonLink, type PersonLinkKind } from './link.ts'
import { completeRecovery } from './recoveries.ts'
import { Recovery } from './recovery.ts'
import type { personLinkEvents, personLinkRefusals } from './schemas.ts'

export interface RedeemedPersonLink {
  readonly person: Person
  readonly kind: PersonLinkKind
}

interface FoundLink extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly isRecovery: boolean
  /** The operator made it before the owner was verified. */
  readonly isTooLate: boolean
  readonly offsetMs: number
}

/** Searches by the digest, so that the response time reveals nothing about existing tokens. */
const FIND = `
select s.id, s.owner_id as "ownerId", s.mode, s.kind = 'recovery' as "isRecovery",
  s.from_operator and c.kyc_status = 'verified' as "isTooLate", coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from person_links s
join customers c on c.id = s.owner_id and c.status = 'active'
left join tenant_clocks t on t.owner_id = s.owner_id and t.mode = s.mode
where s.hash = $1`

type Redeeming = Context<never, typeof personLinkEvents>

/** Opens a link once. The token is the credential, so from here on the request acts for the tenant of its person. */
export async function redeemPersonLink(
  token: string,
  context: Redeeming,
): Promise<RedeemedPersonLink | keyof typeof personLinkRefusals> {
  const { em, sql, switchTenant } = context
  const [found] = await sql<FoundLink>(FIND, [hashSecret(token)])
  if (!found) return 'link_unknown'
  if (found.isTooLate) return 'link_expired'
  const { ownerId, mode } = found
  const now = clock.tenant(found.offsetMs)
  switchTenant({ ownerId, mode }, now)
  // A recovery revokes passkeys, which are locked before people.
  if (found.isRecovery) await lockPasskeys(context)
  await lockTenant(context, 'people')
  const link = (await em.findOne(PersonLink, { id: found.id }, FOR_UPDATE)) as PersonLink
  const known = link.personId === null ? null : await em.findOne(Person, { id: link.personId }, FOR_UPDATE)
  if (known?.status === 'removed') return 'link_unknown'
  if (link.usedAt) return 'link_used'
  if (link.revokedAt || link.expiresAt <= clock.real()) return 'link_expired'
  const person = known ?? (await firstPerson(context))
  if (!person) return 'link_expired'
  Object.assign(link, { usedAt: clock.real(), personId: person.id, url: null })
  const joins = join(person, now, context)
  if (link.recoveryId) await recovered(link.recoveryId, person, now, context)
  return { person, kind: joins && link.kind === 'sign_in' ? 'join' : link.kind }
}

async function recovered(id: string, person: Person, now: Date, context: Redeeming): Promise<void> {
  const recovery = await context.em.findOne(Recovery, { id }, FOR_UPDATE)
  if (!recovery) throw new Error('a link of a recovery that is not there')
  completeRecovery(recovery, now, context)
  // Another person may have the lost passkeys, so all are revoked.
  await revokePasskeysOfPerson(person.id, context)
  context.emit('person.updated', { ...personEvent(person), changed: ['recovery'] })
}

async function firstPerson(context: Redeeming): Promise<Person | undefined> {
  const { em, tenant } = context
  if (await hasPeople(context)) return undefined
  const { name } = await findCustomer(em, tenant.ownerId)
  return em.create(Person, { name, role: 'owner' })
}

/**
 * Joins the person whose open invitation is for this email, and uses it up; undefined without one. The caller has
 * proof of the email, and holds the lock of the tenant's people.
 */
export async function acceptInvitationByEmail(
  email: string,
  context: WriteContext<Pick<typeof personLinkEvents, 'person.joined'>>,
): Promise<Person | undefined> {
  const { em, now } = context
  const known = await em.findOne(Person, sqlCondition('lower(email) = lower(?)', [email]), FOR_UPDATE)
  if (!known || known.status === 'removed') return undefined
  const real = clock.real()
  const open = {
    personId: known.id,
    kind: 'join',
    usedAt: null,
    revokedAt: null,
    expiresAt: inRange({ gt: real }),
  } as const
  const [invitation] = await em.find(PersonLink, open, FOR_UPDATE_BY_ID)
  if (!invitation) return undefined
  Object.assign(invitation, { usedAt: real, url: null })
  join(known, now, context)
  return known
}

export const hasPeople = async ({ em }: ReadContext): Promise<boolean> =>
  (await em.count(Person, { status: { $ne: 'removed' } })) > 0

function join(
  person: Person,
  now: Date,
  { emit }: EmitContext<Pick<typeof personLinkEvents, 'person.joined'>>,
): boolean {
  if (!personMachine.move(person, 'active')) return false
  person.joinedAt = now
  emit('person.joined', personEvent(person))
  return true
}
