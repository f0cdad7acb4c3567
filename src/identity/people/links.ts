import type { Context } from '../../kernel/contract/context.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { after, clock } from '../../values/clock.ts'
import { LINK_LASTS_MS, type LinkKind, PAGES, PersonLink } from './link.ts'

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
