import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import type { RelyingParty } from '../../ports/relying-party.ts'
import { challengeOf, type Kind, type Subjects, sentenceOf } from '../../statements/index.ts'
import { requiredSignerId } from './assertions.ts'
import {
  newPasskeyChallenge,
  PASSKEY_CHALLENGE_TTL_MS,
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

export async function openPasskeyChallenge<K extends Kind>(
  { personId, ...opening }: ChallengeOpening<K>,
  { sql, tenant, now, service, actor }: ReadContext,
) {
  const party = passkeyRelyingParty(service)
  const signer = personId ?? requiredSignerId(actor, opening.kind)
  const row = newPasskeyChallenge({ ...opening, personId: signer }, { tenant, now, origin: party.origin })
  const except = opening.kind === 'revocation' ? opening.subjectId : null
  const [allowCredentials] = await Promise.all([
    passkeyDescriptors(sql, tenant, signer, except),
    insertPasskeyChallenges(sql, [row]),
  ])
  return passkeyChallengeResponse(row, party, allowCredentials)
}

export function passkeyChallengeResponse(
  row: PasskeyChallengeRow,
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
