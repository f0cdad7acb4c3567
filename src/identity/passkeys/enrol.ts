import { isOthers } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { challengeOf } from '../../statements/index.ts'
import { clock } from '../../values/clock.ts'
import type { passkeysApi } from './api.ts'
import {
  enrolmentAuthority,
  isEnrolmentAuthorityValid,
  lockEnrollee,
  lockPasskeys,
  type PasskeyEnrollee,
  passkeySummary,
} from './authority.ts'
import { newPasskeyChallenge, PASSKEY_CHALLENGE_TTL_MS, PasskeyChallenge } from './challenge.ts'
import { insertPasskeyChallenges, passkeyDescriptors, passkeyRelyingParty } from './open-challenge.ts'
import { MAX_PASSKEYS, Passkey } from './passkey.ts'
import { COSE_ALGORITHMS, checkRegistration, type NewPasskeyCredential } from './registration.ts'
import { passkeyEvent } from './schemas.ts'
import { webauthnUserHandle } from './webauthn.ts'

export const passkeyRegistrationOptions: HandlerOf<typeof passkeysApi.registerOptions> = async (
  { body },
  context,
) => {
  const { actor, tenant, now, service, sql, queueStatement, refuse } = context
  const party = passkeyRelyingParty(service)
  const personId = body.personId ?? (actor.type === 'console' ? actor.id : null)
  if (!personId) return refuse('person_required')
  if (isOthers(personId, actor, 'people:write')) return refuse('not_passkey_owner')
  const [person, own] = await Promise.all([
    lockEnrollee(context, personId),
    passkeyDescriptors(sql, tenant, personId),
  ])
  if (!person) return refuse('person_not_found')
  if (person.status !== 'active') return refuse('person_not_active')
  if (own.length >= MAX_PASSKEYS) return refuse('too_many_passkeys')
  const given = await enrolmentAuthority(person, body.webauthnAssertion, context)
  if (typeof given === 'string') return refuse(given)
  const about = { kind: 'registration', subjectId: personId, members: { personId }, personId } as const
  const row = newPasskeyChallenge({ ...about, ...given }, { tenant, now, origin: party.origin })
  queueStatement(insertPasskeyChallenges(sql, [row]))
  const { id: challengeId, expiresAt, statement } = row
  const options = creationOptions(person, challengeOf(statement), party, own)
  return { challengeId, expiresAt, options }
}

const creationOptions = (
  { id, name, email }: PasskeyEnrollee,
  challenge: string,
  party: ReturnType<typeof passkeyRelyingParty>,
  excludeCredentials: Awaited<ReturnType<typeof passkeyDescriptors>>,
) => ({
  challenge,
  timeout: PASSKEY_CHALLENGE_TTL_MS,
  rp: { id: party.id, name: party.name },
  user: { id: webauthnUserHandle(id).toString('base64url'), name: email ?? name, displayName: name },
  pubKeyCredParams: Object.values(COSE_ALGORITHMS).map(alg => ({ type: 'public-key' as const, alg })),
  excludeCredentials,
  authenticatorSelection: {
    residentKey: 'required' as const,
    requireResidentKey: true as const,
    userVerification: 'required' as const,
  },
  attestation: 'none' as const,
  extensions: { credProps: true as const },
})

export const verifyPasskeyRegistration: HandlerOf<typeof passkeysApi.registerVerify> = async (
  { body },
  context,
) => {
  const { em, sql, tenant, service, actor, emit, refuse } = context
  const known = await em.findOne(PasskeyChallenge, { id: body.challengeId, kind: 'registration' })
  const personId = known?.personId
  if (!known || !personId) return refuse('challenge_unknown')
  if (isOthers(personId, actor, 'people:write')) return refuse('not_passkey_owner')
  const checked = await checkRegistration(
    body.registration,
    challengeOf(known.statement),
    passkeyRelyingParty(service),
  )
  if (checked === 'registration_malformed') return refuse(checked)
  const credentialId = typeof checked === 'string' ? null : checked.credentialId
  const [, person, challenge, isEnrolled, standing, count] = await Promise.all([
    lockPasskeys(context),
    lockEnrollee(context, personId),
    em.findOne(PasskeyChallenge, { id: known.id }, FOR_UPDATE),
    isCredentialKnown(credentialId, sql),
    passkeySummary(sql, tenant),
    em.count(Passkey, { personId, revokedAt: null }),
  ])
  if (!challenge || challenge.usedAt) return refuse('challenge_used')
  challenge.usedAt = clock.real()
  if (challenge.expiresAt <= challenge.usedAt) return refuse('challenge_expired')
  if (typeof checked === 'string') return refuse(checked)
  if (person?.status !== 'active') return refuse('person_not_active')
  if (count >= MAX_PASSKEYS) return refuse('too_many_passkeys')
  if (isEnrolled) return refuse('passkey_exists')
  if (!(await isEnrolmentAuthorityValid(challenge, person, standing, context)))
    return refuse('assertion_required')
  const passkey = newPasskey(personId, body.name, checked, context)
  emit('passkey.enrolled', passkeyEvent(passkey))
  return passkey
}

const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
const FIND = 'select from passkeys where credential_id = $1'

/**
 * Whether any tenant of the installation has enrolled the credential. Concurrent enrolments of the same
 * credential wait for each other.
 */
async function isCredentialKnown(credentialId: string | null, sql: Sql): Promise<boolean> {
  const [, found] = await Promise.all([sql(LOCK, [`credential|${credentialId}`]), sql(FIND, [credentialId])])
  return found.length > 0
}

const newPasskey = (
  personId: string,
  name: string,
  { jwk: publicKeyJwk, counter, ...credential }: NewPasskeyCredential,
  { em, actor }: WriteContext,
): Passkey =>
  em.create(Passkey, {
    ...credential,
    personId,
    name,
    publicKeyJwk,
    counter: BigInt(counter),
    enrolledBy: actor.type === 'console' ? 'console' : 'key',
  })
