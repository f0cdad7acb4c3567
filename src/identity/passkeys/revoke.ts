import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { passkeysApi } from './api.ts'
import { revocationOf } from './ask.ts'
import { type Asserting, burnAssertion, verifyAssertion } from './assertions.ts'
import { lockPasskeys, passkeyStanding, revoke as revokePasskey } from './authority.ts'
import { Passkey } from './passkey.ts'
import { credentialIdOf } from './read-assertions.ts'
import { type Envelope, webauthnAssertion } from './schemas.ts'

/** In the console, only owners touch the passkeys of others. */
export const isForeign = ({ personId }: Passkey, { type, id, scopes }: Context['actor']): boolean =>
  type === 'console' && id !== personId && !scopes.has('people:write')

/** The tenant's passkeys are locked as a set, so that of two which revoke each other at once one is left. */
export const revoke: HandlerOf<typeof passkeysApi.revoke> = async ({ params: { id }, body }, context) => {
  const { records, sql, tenant, actor, refuse } = context
  const [, passkey, { active }] = await Promise.all([
    lockPasskeys(context),
    records.findOne(Passkey, { id, revokedAt: null }),
    passkeyStanding(sql, tenant),
  ])
  if (!passkey) return refuse('passkey_not_found')
  if (isForeign(passkey, actor)) return refuse('not_yours')
  const { data: envelope } = webauthnAssertion.safeParse(body.webauthnAssertion)
  const isSent = body.webauthnAssertion !== undefined
  if (active > 1) {
    const code = isSent ? await whyNotRevoked(passkey, envelope, context) : 'assertion_required'
    if (code) return refuse(code)
  } else if (envelope && (await isOvertaken(envelope, context))) return refuse('assertion_invalid')
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
 * The only passkey needs no assertion. But where one was signed by a passkey that has been revoked since, it was not the only
 * one when this was asked for: the two have revoked each other, and this one is left.
 */
async function isOvertaken(
  envelope: Envelope,
  { sql, tenant: { ownerId, mode } }: Pick<Context, 'sql' | 'tenant'>,
): Promise<boolean> {
  const values = [ownerId, mode, envelope.challengeId, credentialIdOf(envelope)]
  return (await sql(OVERTAKEN, values)).length > 0
}
