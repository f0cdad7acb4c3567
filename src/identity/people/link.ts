import { defineEntity, p } from '@mikro-orm/core'
import { nullable, realTimestamps, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days, minutes } from '../../values/clock.ts'

/** `sign_in` begins a session; `join` and `recovery` let the person enrol a passkey, too. */
export const linkKinds = ['sign_in', 'join', 'recovery'] as const
export type LinkKind = (typeof linkKinds)[number]

/** How long a link can be opened, in real time: an invitation waits for somebody who may be away. */
export const LINK_LASTS_MS: Readonly<Record<LinkKind, number>> = {
  sign_in: minutes(10),
  join: days(7),
  recovery: days(1),
}

/** The page that each kind of link leads to. */
export const PAGES: Readonly<Record<LinkKind, string>> = {
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
