import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { passkeysApi } from './api.ts'
import { type Asserting, burnAssertion, verifyAssertion } from './assertions.ts'
import { EnrolmentGrant, lockPasskeys, passkeySummary, revoke as revokePasskey } from './authority.ts'
import { PasskeyChallenge } from './challenge.ts'
import { challenge, revocationOf } from './challenge-purposes.ts'
import { registerOptions, registerVerify } from './enrol.ts'
import { Passkey, passkeysPersonal } from './passkey.ts'
import { credentialIdOf } from './read-assertions.ts'
import { type Envelope, eventOf, passkeyEvents, webauthnAssertion } from './schemas.ts'

const belongsToOther = ({ personId }: Passkey, { type, id, scopes }: Context['actor']): boolean =>
  type === 'console' && id !== personId && !scopes.has('people:write')

/** Locks the tenant's passkeys as a set, so that two passkeys that revoke each other concurrently leave one. */
const revoke: HandlerOf<typeof passkeysApi.revoke> = async ({ params: { id }, body }, context) => {
  const { records, sql, tenant, actor, refuse } = context
  const [, passkey, { active }] = await Promise.all([
    lockPasskeys(context),
    records.findOne(Passkey, { id, revokedAt: null }),
    passkeySummary(sql, tenant),
  ])
  if (!passkey) return refuse('passkey_not_found')
  if (belongsToOther(passkey, actor)) return refuse('not_passkey_owner')
  const { data: envelope } = webauthnAssertion.safeParse(body.webauthnAssertion)
  const isSent = body.webauthnAssertion !== undefined
  if (active > 1) {
    const code = isSent ? await whyNotRevoked(passkey, envelope, context) : 'assertion_required'
    if (code) return refuse(code)
  } else if (envelope && (await wasRevokedMeanwhile(envelope, context))) return refuse('assertion_invalid')
  revokePasskey(passkey, context)
  return undefined
}

async function whyNotRevoked(passkey: Passkey, envelope: Envelope | undefined, context: Asserting) {
  if (!envelope) return 'assertion_malformed'
  const verified = await verifyAssertion(envelope, context)
  if (typeof verified === 'string') return verified
  const expected = { kind: 'revocation', members: revocationOf(passkey) } as const
  const code = await burnAssertion(verified, expected, context)
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
  envelope: Envelope,
  { sql, tenant: { ownerId, mode } }: Pick<Context, 'sql' | 'tenant'>,
): Promise<boolean> {
  const values = [ownerId, mode, envelope.challengeId, credentialIdOf(envelope)]
  return (await sql(OVERTAKEN, values)).length > 0
}

const inStatus = { active: { revokedAt: null }, revoked: { revokedAt: { $ne: null } } }

const passkeys = implement(passkeysApi, {
  registerOptions,
  registerVerify,
  challenge,
  revoke,

  list: ({ query: { personId, status } }, { page }) =>
    page(Passkey, { ...definedOnly({ personId }), ...(status ? inStatus[status] : {}) }),

  async rename({ params, body }, { records, actor, emit, refuse }) {
    const passkey = await records.lock(Passkey, params.id)
    if (!passkey || passkey.revokedAt) return refuse('passkey_not_found')
    if (belongsToOther(passkey, actor)) return refuse('not_passkey_owner')
    if (passkey.name === body.name) return passkey
    passkey.name = body.name
    emit('passkey.renamed', eventOf(passkey))
    return passkey
  },

  origins: (_, { ports }) => ({ origins: [...ports.relyingParty().origins] }),
})

export const passkeysArea = area(
  'Passkeys',
  'Passkeys by which people approve actions: enrol, list, revoke, and challenges to sign.',
  passkeys,
  {
    personal: passkeysPersonal,
    entities: [Passkey, PasskeyChallenge, EnrolmentGrant],
    announces: passkeyEvents,
    expiring: [
      // Expired challenges are kept for a day, so that late callers get a clear error.
      { table: 'passkey_challenges', column: 'expires_at', keptMs: days(1) },
      { table: 'enrolment_grants', column: 'expires_at', keptMs: 0 },
    ],
  },
)
