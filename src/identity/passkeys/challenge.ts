import { randomBytes } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import {
  type Kind,
  newStatement,
  type Openings,
  type Statement,
  type Subjects,
} from '../../statements/index.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'

export const PASSKEY_CHALLENGE_TTL_MS = minutes(5)

const kinds = [
  'intent',
  'payment',
  'mandate',
  'revocation',
  'enrolment',
  'invitation',
  'key',
  'deletion',
  'device',
  'pairing',
  'widening',
  'registration',
  'sign_in',
] as const satisfies readonly Kind[]

/** A new passkey needs one of these: being the tenant's first, a redeemed link, or another passkey. */
export const passkeyEnrolmentGrounds = ['first', 'grant', 'passkey'] as const
export type PasskeyEnrolmentGround = (typeof passkeyEnrolmentGrounds)[number]

const schema = defineEntity({
  ...tenantTable('PasskeyChallenge', 'passkey_challenges'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('challenge'),
    kind: plain(p.enum(kinds)),
    subjectId: plain(nullable.string()),
    personId: nullable.string(),
    statement: personal(p.json<Statement>(), 'payment', 'security', 'empty'),
    openings: personal(p.json<Openings>(), 'payment', 'security', 'empty'),
    madeAt: timestampColumn(),
    expiresAt: timestampColumn(),
    usedAt: nullable.instant(),
    authority: plain(nullable.enum(passkeyEnrolmentGrounds)),
    authorityId: plain(nullable.string()),
    askedBy: plain(nullable.string()),
  },
})

/** A statement that waits for one signature of a passkey. Its instants are in real time, except `madeAt`. */
export class PasskeyChallenge extends schema.class {}
schema.setClass(PasskeyChallenge)

export type PasskeyChallengeRow = RowOf<PasskeyChallenge>
export const passkeyChallengesTable = tableOf(PasskeyChallenge)

export interface NewPasskeyChallenge<K extends Kind> {
  readonly kind: K
  readonly subjectId: string | null
  readonly members: Subjects[K]
  readonly personId: string | null
  readonly authority?: PasskeyEnrolmentGround
  readonly authorityId?: string | null
  /** The session or credential that has asked, and alone may read it again. */
  readonly askedBy?: string | null
  readonly saltOf?: ((place: string) => string | undefined) | undefined
}

const random = (bytes: number): string => randomBytes(bytes).toString('base64url')

export function newPasskeyChallenge<K extends Kind>(
  { members, saltOf, ...others }: NewPasskeyChallenge<K>,
  { tenant, now, origin }: { readonly tenant: Tenant; readonly now: Date; readonly origin: string },
): PasskeyChallengeRow {
  const real = clock.real()
  const expiresAt = addMs(real, PASSKEY_CHALLENGE_TTL_MS)
  const made = newStatement(others.kind, members, {
    origin,
    mode: tenant.mode,
    nonce: random(32),
    expiresAt: expiresAt.toISOString(),
    salt: place => saltOf?.(place) ?? random(16),
  })
  return {
    id: newId('challenge'),
    ...tenant,
    createdAt: real,
    updatedAt: real,
    authority: null,
    authorityId: null,
    askedBy: null,
    ...others,
    ...made,
    madeAt: now,
    expiresAt,
    usedAt: null,
  }
}
