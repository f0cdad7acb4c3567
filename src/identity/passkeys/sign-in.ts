import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { offsetOf } from '../../kernel/database/tenant-clock.ts'
import { clock } from '../../values/clock.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'
import { newChallenge } from './challenge.ts'
import { burnChallenge, decideAssertion, lockChallengesAt, writeAssertionsAt } from './decide-assertions.ts'
import { challengeResponse, insertChallenges, passkeyParty } from './open-challenge.ts'
import { type CheckedAssertion, credentialIdOf, type Holder, readAssertionsAt } from './read-assertions.ts'
import type { AssertionCode, assertionEvents, Envelope } from './schemas.ts'

/** The tenant is unknown before sign-in, so these challenges belong to the platform. */
const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

export async function openSignInChallenge({ sql, ports }: Pick<Context, 'sql' | 'ports'>) {
  const party = passkeyParty(ports)
  const about = { kind: 'sign_in', subjectId: null, members: {}, personId: null } as const
  const row = newChallenge(about, { tenant: platform, now: clock.real(), origin: party.origin })
  await insertChallenges(sql, [row])
  return challengeResponse(row, party, [])
}

const TENANT = `
select one.owner_id as "ownerId", one.mode from passkeys one
join customers on customers.id = one.owner_id and customers.status = 'active'
where one.credential_id = $1`

export interface SignedIn {
  readonly person: Holder
  readonly tenant: Tenant
  readonly passkeyId: string
}

type SigningIn = Pick<
  Context<never, typeof assertionEvents>,
  'sql' | 'ports' | 'emit' | 'switchTenant' | 'actor' | 'address'
>

/**
 * Checks an assertion over a challenge of `openSignInChallenge` and burns it. From here on, the request acts
 * for the tenant of the passkey, which is unique in the installation.
 */
export async function verifySignIn(
  envelope: Envelope,
  context: SigningIn,
): Promise<SignedIn | AssertionCode> {
  const { sql, ports, switchTenant, actor, address } = context
  const [found] = await sql<Tenant & Row>(TENANT, [credentialIdOf(envelope)])
  const tenant = found ?? platform
  switchTenant(tenant, clock.tenant(tenant.mode === 'test' ? await offsetOf(sql, tenant) : 0))
  const places = { challenges: platform, passkeys: tenant }
  const all = await readAssertionsAt(sql, places, [envelope], ports)
  const checked = all.get(envelope) as CheckedAssertion
  const { verified } = checked
  const locked = await lockChallengesAt(sql, places, [{ checked, actor, address }])
  const stopped = locked.stopped.get(checked)
  if (stopped) throw stopped
  const code = verified
    ? decideAssertion(checked, locked, { kind: 'sign_in', members: {} }, context)
    : (burnChallenge(checked, locked, context) ?? checked.code)
  await writeAssertionsAt(sql, places, locked)
  if (code || !verified) return code ?? 'assertion_invalid'
  return { person: verified.person, tenant, passkeyId: verified.passkeyId }
}
