import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { after, clock } from '../../values/clock.ts'
import { findCustomer } from '../customers/index.ts'
import { LINK_LASTS_MS, type LinkKind, PAGES, PersonLink } from './link.ts'
import { Person, personMachine } from './person.ts'
import { personEvent } from './response.ts'
import type { linkEvents, linkFails } from './schemas.ts'

interface LinkMembers {
  /** Null: the link makes the first person of the tenant. */
  readonly personId: string | null
  readonly kind: LinkKind
  readonly recoveryId?: string
}

/** A link that has just been made: only now its address is known. */
export interface MadeLink {
  readonly id: string
  readonly url: string
  readonly expiresAt: Date
}

type Making = Pick<Context, 'records' | 'ports'>

/** Makes a link of a person who has none yet. */
export function newLink({ personId, kind, recoveryId }: LinkMembers, { records, ports }: Making): MadeLink {
  const token = newSecret('lnk_')
  const expiresAt = after(clock.real(), LINK_LASTS_MS[kind])
  const { id } = records.create(PersonLink, {
    personId,
    kind,
    recoveryId: recoveryId ?? null,
    hash: hashOf(token),
    expiresAt,
  })
  return { id, url: `${ports.publicUrl()}${PAGES[kind]}#${token}`, expiresAt }
}

/** Makes a link in place of those that the person has: of several, nobody would know which one was sent where. */
export async function makeLink(members: LinkMembers, context: Making): Promise<MadeLink> {
  await revokeLinks(members.personId, context)
  return newLink(members, context)
}

/** Ends the links of a person that nobody has opened. */
export async function revokeLinks(
  personId: string | null,
  { records }: Pick<Context, 'records'>,
): Promise<void> {
  const open = { personId, usedAt: null, revokedAt: null }
  const links = await records.find(PersonLink, open, { orderBy: { id: 'asc' }, lock: true })
  for (const link of links) link.revokedAt = clock.real()
}

/** The person who has opened a link, and what it was for. */
export interface Redeemed {
  readonly person: Person
  readonly kind: LinkKind
}

interface FoundLink extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly offsetMs: number
}

/** The search goes by the digest, so the time it takes tells nothing about existing tokens. */
const FIND = `
select s.id, s.owner_id as "ownerId", s.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from person_links s
join customers c on c.id = s.owner_id and c.status = 'active'
left join tenant_clocks t on t.owner_id = s.owner_id and t.mode = s.mode
where s.hash = $1`

type Redeeming = Pick<Context<never, typeof linkEvents>, 'records' | 'sql' | 'tenant' | 'actFor' | 'emit'>

/** Opens a link once: the token is the credential, and from here on the request acts for the tenant of its person. */
export async function redeemLink(
  token: string,
  context: Redeeming,
): Promise<Redeemed | keyof typeof linkFails> {
  const { records, sql, actFor } = context
  const [found] = await sql<FoundLink>(FIND, [hashOf(token)])
  if (!found) return 'link_unknown'
  const { ownerId, mode } = found
  const now = clock.tenant(found.offsetMs)
  actFor({ ownerId, mode }, now)
  await lockTenant(context, 'people')
  const link = (await records.lock(PersonLink, found.id)) as PersonLink
  const known = link.personId === null ? null : await records.lock(Person, link.personId)
  if (known?.status === 'removed') return 'link_unknown'
  if (link.usedAt) return 'link_used'
  if (link.revokedAt || link.expiresAt <= clock.real()) return 'link_expired'
  const person = known ?? (await firstPerson(context))
  if (!person) return 'link_expired'
  Object.assign(link, { usedAt: clock.real(), personId: person.id })
  const joins = join(person, now, context)
  return { person, kind: joins ? 'join' : link.kind }
}

/** The owner, by the name of the customer; undefined where the tenant has somebody meanwhile. */
async function firstPerson({ records, tenant }: Redeeming): Promise<Person | undefined> {
  if (await hasAnybody({ records })) return undefined
  const { name } = await findCustomer(records, tenant.ownerId)
  return records.create(Person, { name, role: 'owner' })
}

/** Whether the tenant has a person who is not removed. */
export const hasAnybody = async ({ records }: Pick<Context, 'records'>): Promise<boolean> =>
  (await records.count(Person, { status: { $ne: 'removed' } })) > 0

/** Whether opening the link has made an invited person an active one. */
function join(person: Person, now: Date, { emit }: Redeeming): boolean {
  if (!personMachine.move(person, 'active')) return false
  person.joinedAt = now
  emit('person.joined', personEvent(person))
  return true
}
