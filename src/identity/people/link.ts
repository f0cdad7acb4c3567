import { defineEntity, p } from '@mikro-orm/core'
import type { Context } from '../../kernel/contract/context.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import {
  definedOnly,
  nullable,
  realTimestamps,
  record,
  tenantTable,
  timestamp,
} from '../../kernel/database/entity.ts'
import { after, clock, days, minutes } from '../../values/clock.ts'

/** `sign_in` begins a session; `join` and `recovery` let the person enrol a passkey, too. */
export const linkKinds = ['sign_in', 'join', 'recovery'] as const
export type LinkKind = (typeof linkKinds)[number]

/** How long a link can be opened, in real time: an invitation waits for somebody who may be away. */
const LINK_LASTS_MS: Readonly<Record<LinkKind, number>> = {
  sign_in: minutes(10),
  join: days(7),
  recovery: days(1),
}

/** The page that each kind of link leads to. */
const PAGES: Readonly<Record<LinkKind, string>> = {
  sign_in: '/login',
  join: '/join',
  recovery: '/join',
}

const schema = defineEntity({
  ...tenantTable('PersonLink', 'person_links'),
  properties: {
    ...record('consolelink'),
    ...realTimestamps(),
    /** Null until the link of a tenant's first person is opened: that makes the person. */
    personId: nullable.string(),
    kind: p.enum(linkKinds),
    /** The recovery that the link belongs to. */
    recoveryId: nullable.string(),
    hash: p.text(),
    expiresAt: timestamp(),
    usedAt: nullable.instant(),
    /** When a newer link, a removal or a stopped recovery has ended it. */
    revokedAt: nullable.instant(),
  },
})

/** A link that is opened once, by its token, of which only the digest is stored. Its instants are in real time. */
export class PersonLink extends schema.class {}
schema.setClass(PersonLink)

interface LinkMembers {
  /** Null: the link makes the first person of the tenant. */
  readonly personId: string | null
  readonly kind: LinkKind
  readonly recoveryId?: string
}

/** A link that has just been made: only now its address is known. */
interface MadeLink {
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
  return { id, url: `${ports.pageUrl(PAGES[kind])}#${token}`, expiresAt }
}

/** Makes a link in place of those that the person has: of several, nobody would know which one was sent where. */
export async function makeLink(members: LinkMembers, context: Making): Promise<MadeLink> {
  await revokeLinks(members.personId, context)
  return newLink(members, context)
}

/** Ends the links of a person that nobody has opened: all, or those of a kind. */
export async function revokeLinks(
  personId: string | null,
  { records }: Pick<Context, 'records'>,
  kind?: LinkKind,
): Promise<void> {
  const open = { personId, usedAt: null, revokedAt: null, ...definedOnly({ kind }) }
  const links = await records.find(PersonLink, open, { orderBy: { id: 'asc' }, lock: true })
  for (const link of links) link.revokedAt = clock.real()
}
