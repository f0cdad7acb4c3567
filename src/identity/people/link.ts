import { defineEntity, type FilterQuery, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import {
  FOR_UPDATE_BY_ID,
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { plain, secret } from '../../kernel/database/personal.ts'
import { addMs, clock, days, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'

/** `sign_in` starts a session; `join` and `recovery` also let the person enrol a passkey. */
export const personLinkKinds = ['sign_in', 'join', 'recovery'] as const
export type PersonLinkKind = (typeof personLinkKinds)[number]

/** In real time. An invitation lasts longer, since the invited person may be away. */
const LINK_LASTS_MS: Readonly<Record<PersonLinkKind, Readonly<Record<Mode, number>>>> = {
  sign_in: { test: days(1), live: minutes(10) },
  join: { test: days(7), live: days(7) },
  recovery: { test: days(1), live: days(1) },
}

const PAGES: Readonly<Record<PersonLinkKind, string>> = {
  sign_in: '/login',
  join: '/join',
  recovery: '/join',
}

const schema = defineEntity({
  ...tenantTable('PersonLink', 'person_links'),
  properties: {
    ...recordColumns('consolelink'),
    ...realTimestampColumns(),
    /** Null until the link of a tenant's first person is opened, which creates the person. */
    personId: nullable.string(),
    kind: plain(p.enum(personLinkKinds)),
    recoveryId: plain(nullable.string()),
    /** Made with the dashboard secret: opens only while the owner is unverified. */
    fromOperator: p.boolean().onCreate(() => false),
    hash: secret(p.text()),
    /** Sealed, and only until it has been sent by e-mail. */
    url: secret(nullable.string()),
    expiresAt: timestampColumn(),
    usedAt: nullable.instant(),
    revokedAt: nullable.instant(),
  },
})

/** A link that works once. Only the digest of its token is stored. Its instants are in real time. */
export class PersonLink extends schema.class {}
schema.setClass(PersonLink)

/** Binds a sealed address to its link: it cannot be opened for another record. */
export const personLinkContext = (linkId: string): string => `person-link:${linkId}`

interface LinkMembers {
  readonly personId: string | null
  readonly kind: PersonLinkKind
  readonly recoveryId?: string
  readonly fromOperator?: boolean
  /** It is sent by e-mail: see `link-email.ts`. */
  readonly isEmailed?: boolean
}

interface MadeLink {
  readonly id: string
  readonly url: string
  readonly expiresAt: Date
}

export function newPersonLink(
  { personId, kind, recoveryId, fromOperator = false, isEmailed = false }: LinkMembers,
  { em, service, systems, tenant }: WriteContext,
): MadeLink {
  const token = newSecret('lnk_')
  const expiresAt = addMs(clock.real(), LINK_LASTS_MS[kind][tenant.mode])
  const id = newId('consolelink')
  const url = `${service.pageUrl(PAGES[kind])}#${token}`
  em.create(PersonLink, {
    id,
    personId,
    kind,
    recoveryId: recoveryId ?? null,
    fromOperator,
    hash: hashSecret(token),
    expiresAt,
    url: isEmailed ? systems.vault.seal(url, personLinkContext(id)) : null,
  })
  return { id, url, expiresAt }
}

/** Revokes the person's other links, so that only one is in circulation. */
export async function replacePersonLink(members: LinkMembers, context: WriteContext): Promise<MadeLink> {
  await revokePersonLinks(members.personId, context)
  return newPersonLink(members, context)
}

export async function revokePersonLinks(
  personId: string | null,
  { em }: WriteContext,
  which: FilterQuery<PersonLink> = {},
): Promise<void> {
  const open = { $and: [{ personId, usedAt: null, revokedAt: null }, which] }
  const links = await em.find(PersonLink, open, FOR_UPDATE_BY_ID)
  for (const link of links) Object.assign(link, { revokedAt: clock.real(), url: null })
}
