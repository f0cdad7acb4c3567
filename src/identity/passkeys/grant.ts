import { defineEntity, p } from '@mikro-orm/core'
import { nullable, realTimestamps, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { after, clock, minutes } from '../../values/clock.ts'

/** `join` counts while somebody of the tenant has a passkey; `recovery` when nobody has one any more, too. */
export const grantKinds = ['join', 'recovery'] as const

/** A session lasts no longer. */
const GRANT_LASTS_MS = minutes(12 * 60)

const schema = defineEntity({
  ...tenantTable('EnrolmentGrant', 'enrolment_grants'),
  properties: {
    ...record('grant'),
    ...realTimestamps(),
    personId: p.text(),
    /** The console session of the person who has opened the link. */
    sessionId: p.text(),
    kind: p.enum(grantKinds),
    expiresAt: timestamp().onCreate(() => after(clock.real(), GRANT_LASTS_MS)),
    usedAt: nullable.instant(),
  },
})

/** The right of a session to enrol one passkey without another one: the person came by a link for that. Real time. */
export class EnrolmentGrant extends schema.class {
  isOpen(): boolean {
    return !this.usedAt && this.expiresAt > clock.real()
  }
}
schema.setClass(EnrolmentGrant)
