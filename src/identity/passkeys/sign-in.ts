import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { readClockOffset } from '../../kernel/database/tenant-clock.ts'
import { clock } from '../../values/clock.ts'
import { PLATFORM_OWNER_ID } from '../customers/index.ts'
import { newPasskeyChallenge } from './challenge.ts'
import {
  consumeChallenge,
  decideAssertion,
  lockPasskeyChallengesAt,
  writeAssertionUseAt,
} from './decide-assertions.ts'
import { insertPasskeyChallenges, passkeyChallengeResponse, passkeyRelyingParty } from './open-challenge.ts'
import {
  type CheckedAssertion,
  credentialIdOf,
  type PasskeyHolder,
  readAssertionsAt,
} from './read-assertions.ts'
import type { AssertionRefusalCode, assertionEvents, WebauthnAssertion } from './schemas.ts'

/** The tenant is unknown before sign-in, so these challenges belong to the platform. */
const platform: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export async function openSignInChallenge({ sql, ports }: ReadContext) {
  const party = passkeyRelyingParty(ports)
  const about = { kind: 'sign_in', subjectId: null, members: {}, personId: null } as const
  const row = newPasskeyChallenge(about, { tenant: platform, now: clock.real(), origin: party.origin })
  await insertPasskeyChallenges(sql, [row])
  return passkeyChallengeResponse(row, party, [])
}

const TENANT = `
select one.owner_id as "ownerId", one.mode from passkeys one
join customers on customers.id = one.owner_id and customers.status = 'active'
where one.credential_id = $1`

export interface SignedIn {
  readonly person: PasskeyHolder
  readonly tenant: Tenant
  readonly passkeyId: string
}

type SigningIn = Context<never, typeof assertionEvents>

/**
 * Checks an assertion over a challenge of `openSignInChallenge` and burns it. From here on, the request acts
 * for the tenant of the passkey, which is unique in the installation.
 */
export async function verifySignIn(
  envelope: WebauthnAssertion,
  context: SigningIn,
): Promise<SignedIn | AssertionRefusalCode> {
  const { sql, ports, switchTenant, actor, address } = context
  const [found] = await sql<Tenant & Row>(TENANT, [credentialIdOf(envelope)])
  const tenant = found ?? platform
  switchTenant(tenant, clock.tenant(tenant.mode === 'test' ? await readClockOffset(sql, tenant) : 0))
  const places = { challenges: platform, passkeys: tenant }
  const all = await readAssertionsAt(sql, places, [envelope], ports)
  const checked = all.get(envelope) as CheckedAssertion
  const { verified } = checked
  const locked = await lockPasskeyChallengesAt(sql, places, [{ checked, actor, address }])
  const stopped = locked.stopped.get(checked)
  if (stopped) throw stopped
  const code = verified
    ? decideAssertion(checked, locked, { kind: 'sign_in', members: {} }, context)
    : (consumeChallenge(checked, locked, context) ?? checked.code)
  await writeAssertionUseAt(sql, places, locked)
  if (code || !verified) return code ?? 'assertion_invalid'
  return { person: verified.person, tenant, passkeyId: verified.passkeyId }
}
