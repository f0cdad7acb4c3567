import { isOthers } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { passkeysApi } from './api.ts'
import { type AssertionContext, consumeAssertion, verifyAssertion } from './assertions.ts'
import { EnrolmentGrant, lockPasskeys, markPasskeyRevoked, passkeySummary } from './authority.ts'
import { PasskeyChallenge } from './challenge.ts'
import { createPasskeyChallenge, passkeyRevocationSubject } from './challenge-purposes.ts'
import { passkeyRegistrationOptions, verifyPasskeyRegistration } from './enrol.ts'
import { readPasskeyChallenge } from './open-challenge.ts'
import { Passkey } from './passkey.ts'
import { credentialIdOf } from './read-assertions.ts'
import { passkeyEvent, passkeyEvents, type WebauthnAssertion, webauthnAssertionSchema } from './schemas.ts'

/** Locks the tenant's passkeys as a set, so that two passkeys that revoke each other concurrently leave one. */
const revoke: HandlerOf<typeof passkeysApi.revoke> = async ({ params: { id }, body }, context) => {
  const { em, sql, tenant, actor, refuse } = context
  const [, passkey, { active }] = await Promise.all([
    lockPasskeys(context),
    em.findOne(Passkey, { id, revokedAt: null }),
    passkeySummary(sql, tenant),
  ])
  if (!passkey) return refuse('passkey_not_found')
  if (isOthers(passkey.personId, actor, 'people:write')) return refuse('not_passkey_owner')
  const { data: envelope } = webauthnAssertionSchema.safeParse(body.webauthnAssertion)
  const isSent = body.webauthnAssertion !== undefined
  if (active > 1) {
    const code = isSent ? await whyNotRevoked(passkey, envelope, context) : 'assertion_required'
    if (code) return refuse(code)
  } else if (envelope && (await wasRevokedMeanwhile(envelope, context))) return refuse('assertion_invalid')
  markPasskeyRevoked(passkey, context)
  return undefined
}

async function whyNotRevoked(
  passkey: Passkey,
  envelope: WebauthnAssertion | undefined,
  context: AssertionContext,
) {
  if (!envelope) return 'assertion_malformed'
  const verified = await verifyAssertion(envelope, context)
  if (typeof verified === 'string') return verified
  const expected = { kind: 'revocation', members: passkeyRevocationSubject(passkey) } as const
  const code = await consumeAssertion(verified, expected, context)
  return code ?? (verified.passkeyId === passkey.id ? 'self_revocation' : undefined)
}

const OVERTAKEN = `
select from passkey_challenges asked
join passkeys signer on (signer.owner_id, signer.mode) = (asked.owner_id, asked.mode)
where asked.owner_id = $1 and asked.mode = $2 and asked.id = $3 and signer.credential_id = $4
  and signer.revoked_at >= asked.created_at`

/**
 * Revoking the only passkey needs no assertion. But an assertion by a passkey that was revoked since shows
 * that there were two: they revoked each other, and this one stays.
 */
async function wasRevokedMeanwhile(
  envelope: WebauthnAssertion,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<boolean> {
  const values = [ownerId, mode, envelope.challengeId, credentialIdOf(envelope)]
  return (await sql(OVERTAKEN, values)).length > 0
}

const inStatus = { active: { revokedAt: null }, revoked: { revokedAt: { $ne: null } } }

const passkeys = bindHandlers(passkeysApi, {
  registerOptions: passkeyRegistrationOptions,
  registerVerify: verifyPasskeyRegistration,
  challenge: createPasskeyChallenge,
  getChallenge: readPasskeyChallenge,
  revoke,

  list: ({ query: { personId, status } }, { page }) =>
    page(Passkey, { ...definedOnly({ personId }), ...(status ? inStatus[status] : {}) }),

  async rename({ params, body }, { em, actor, emit, refuse }) {
    const passkey = await em.findOne(Passkey, { id: params.id }, FOR_UPDATE)
    if (!passkey || passkey.revokedAt) return refuse('passkey_not_found')
    if (isOthers(passkey.personId, actor, 'people:write')) return refuse('not_passkey_owner')
    if (passkey.name === body.name) return passkey
    passkey.name = body.name
    emit('passkey.renamed', passkeyEvent(passkey))
    return passkey
  },

  origins: (_, { service }) => ({ origins: [...service.relyingParty().origins] }),
})

export const passkeysArea = area(
  'Passkeys',
  'Passkeys by which people approve actions: enrol, list, revoke, and challenges to sign.',
  passkeys,
  {
    entities: [Passkey, PasskeyChallenge, EnrolmentGrant],
    announces: passkeyEvents,
    expiring: [
      // Expired challenges are kept for a day, so that late callers get a clear error.
      { table: 'passkey_challenges', column: 'expires_at', keptMs: days(1) },
      { table: 'enrolment_grants', column: 'expires_at', keptMs: 0 },
    ],
  },
)
