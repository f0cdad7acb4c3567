import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import type { RelyingParty } from '../../ports/relying-party.ts'
import { challengeOf, type Kind, type Subjects, sentenceOf } from '../../statements/index.ts'
import { clock } from '../../values/clock.ts'
import type { passkeysApi } from './api.ts'
import { requiredSignerId } from './assertions.ts'
import {
  newPasskeyChallenge,
  PASSKEY_CHALLENGE_TTL_MS,
  PasskeyChallenge,
  type PasskeyChallengeRow,
  passkeyChallengesTable,
} from './challenge.ts'

export const insertPasskeyChallenges = insertInto(passkeyChallengesTable)

/** Throws if the installation's address does not allow passkeys. */
export function passkeyRelyingParty({ relyingParty }: Pick<RunningService, 'relyingParty'>): RelyingParty {
  const party = relyingParty()
  if (party.unavailable) throw new Problem('passkeys_unavailable', party.unavailable)
  return party
}

interface Descriptor extends Row {
  readonly id: string
  readonly transports: string[]
}

/** Browsers find further passkeys by themselves. */
const MAX_LISTED = 64

const DESCRIPTORS = `
select one.credential_id as id, one.transports from passkeys one
join people holder on (holder.owner_id, holder.mode, holder.id) = (one.owner_id, one.mode, one.person_id)
where one.owner_id = $1 and one.mode = $2 and one.revoked_at is null and holder.status = 'active'
  and ($3::text is null or one.person_id = $3) and ($4::text is null or one.id <> $4)
order by one.id desc limit ${MAX_LISTED}`

export async function passkeyDescriptors(
  sql: Sql,
  { ownerId, mode }: Tenant,
  personId: string | null,
  except: string | null = null,
) {
  const rows = await sql<Descriptor>(DESCRIPTORS, [ownerId, mode, personId, except])
  return rows.map(row => ({ ...row, type: 'public-key' as const }))
}

export interface ChallengeOpening<K extends Kind> {
  readonly kind: K
  readonly subjectId: string | null
  readonly members: Subjects[K]
  readonly personId?: string | null | undefined
  /** What a commitment is salted with, by its place in the subject; undefined: by chance. */
  readonly saltOf?: (place: string) => string | undefined
}

const credentialOf = ({ sessionId, id }: Actor): string | null => sessionId ?? id

const descriptorsFor = (
  { kind, subjectId, personId }: Pick<PasskeyChallengeRow, 'kind' | 'subjectId' | 'personId'>,
  sql: Sql,
  tenant: Tenant,
) => passkeyDescriptors(sql, tenant, personId, kind === 'revocation' ? subjectId : null)

/** The challenge that a refusal has named, for the session or credential that was refused, until it is used or ends. */
export const readPasskeyChallenge: HandlerOf<typeof passkeysApi.getChallenge> = async (
  { params: { id } },
  { em, sql, tenant, actor, service, refuse },
) => {
  const party = passkeyRelyingParty(service)
  const askedBy = credentialOf(actor)
  const row = askedBy && (await em.findOne(PasskeyChallenge, { id, askedBy, usedAt: null }))
  if (!row || row.expiresAt <= clock.real()) return refuse('challenge_not_found')
  return passkeyChallengeResponse(row, party, await descriptorsFor(row, sql, tenant))
}

export async function openPasskeyChallenge<K extends Kind>(
  { personId, ...opening }: ChallengeOpening<K>,
  { sql, tenant, now, service, actor }: ReadContext,
) {
  const party = passkeyRelyingParty(service)
  const signer = personId ?? requiredSignerId(actor, opening.kind)
  const about = { ...opening, personId: signer, askedBy: credentialOf(actor) }
  const row = newPasskeyChallenge(about, { tenant, now, origin: party.origin })
  const [allowCredentials] = await Promise.all([
    descriptorsFor(row, sql, tenant),
    insertPasskeyChallenges(sql, [row]),
  ])
  return passkeyChallengeResponse(row, party, allowCredentials)
}

export function passkeyChallengeResponse(
  row: Pick<PasskeyChallengeRow, 'id' | 'expiresAt' | 'statement' | 'openings'>,
  { id: rpId }: RelyingParty,
  allowCredentials: Awaited<ReturnType<typeof passkeyDescriptors>>,
) {
  const { id: challengeId, expiresAt, statement, openings } = row
  const challenge = challengeOf(statement)
  return {
    challengeId,
    expiresAt,
    sentence: sentenceOf(statement, openings),
    statement,
    options: {
      challenge,
      timeout: PASSKEY_CHALLENGE_TTL_MS,
      rpId,
      allowCredentials,
      userVerification: 'required' as const,
    },
  }
}
